//! Tests the options as a whole: their sources, the file, the published schema and the page of options.

#[cfg(feature = "otlp")]
mod correlation;
mod file;
mod otlp;
mod page;
mod precedence;
mod reload;

use super::{ConfigurationError, ManagerArgs, OperatorConfiguration};
use clap::Parser;

/// A binary with a command line of its own.
#[derive(Debug, Parser)]
struct OwnCli {
    #[command(flatten)]
    manager: ManagerArgs,
}

/// Loads the configuration that a command line describes.
fn load(arguments: &[String]) -> Result<OperatorConfiguration, ConfigurationError> {
    let words = std::iter::once("operator".to_owned()).chain(arguments.iter().cloned());
    OwnCli::try_parse_from(words).unwrap().manager.load()
}
