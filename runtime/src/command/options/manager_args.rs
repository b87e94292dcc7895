//! `ManagerArgs`: the flags of an operator's process, for a binary that has a command line of its own.

use super::{
    configuration::OperatorConfiguration, error::ConfigurationError, file::ConfigurationFile, group::ManagerOptions,
};
use clap::Args;
use std::path::PathBuf;

/// The flags of an operator's process: those of the verb `run` of an operator's binary, for a binary with a command line of its own.
///
/// Each flag can be set by an environment variable and by the configuration file as well. A flag overrides the environment variable,
/// which overrides the file, which overrides the code of the operator, which overrides the default of the library. `OPTIONS.md` of
/// this crate lists all of them.
///
/// # Example
///
/// ```no_run
/// use clap::Parser;
/// use opgen::{Operator, RunOptions, command::ManagerArgs};
///
/// #[derive(Parser)]
/// struct Cli {
///     #[command(flatten)]
///     manager: ManagerArgs,
///     #[arg(long, help = "An option of your own")]
///     region: String,
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let cli = Cli::parse();
///     let configuration = cli.manager.load()?;
///     tokio::spawn(configuration.start_log()?.follow_file());
///     let (operator, options) = configuration.apply_to(Operator::new("teams"), RunOptions::default())?;
///     Ok(operator.run(options).await?)
/// }
/// ```
#[derive(Args, Clone, Debug, Default)]
#[group(skip)]
pub struct ManagerArgs {
    /// Configuration file in YAML; flags and environment variables override it
    #[arg(long, env = "OPGEN_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    options: ManagerOptions,
}

impl ManagerArgs {
    /// Reads the configuration file, if there is one.
    ///
    /// # Errors
    /// Fails if the file can't be read, or if a key or a value in it is wrong.
    pub fn load(&self) -> Result<OperatorConfiguration, ConfigurationError> {
        let path = self.config.as_ref().filter(|path| !path.as_os_str().is_empty());
        let file = path.map(|path| ConfigurationFile::read(path)).transpose()?;
        Ok(OperatorConfiguration { flags: self.options.clone(), file })
    }
}
