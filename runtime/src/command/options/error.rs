//! `ConfigurationError`: the reasons why the configuration of an operator is refused, with hints for the user.

use crate::lease::options::LeaderElectionError;
use std::path::PathBuf;

/// The reason why a configuration is refused. Nothing was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// The file can't be read.
    #[error("failed to read the configuration file {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file is no YAML.
    #[error("failed to parse the configuration file {}: {message}", path.display())]
    Yaml {
        /// The file.
        path: PathBuf,
        /// The message of the parser, with the position.
        message: String,
    },
    /// The file has another `apiVersion` or `kind`, or none.
    #[error("{}: {key}: expected {expected}, found {}", path.display(), found.as_deref().unwrap_or("nothing"))]
    Header {
        /// The file.
        path: PathBuf,
        /// `apiVersion` or `kind`.
        key: &'static str,
        /// The expected value.
        expected: &'static str,
        /// The value in the file.
        found: Option<String>,
    },
    /// The file has a key that does not exist.
    #[error("{}: {key}: unknown key", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The path of the key, for example `controllers.wokers`.
        key: String,
        /// The path of the key that is probably meant.
        nearest: Option<String>,
    },
    /// A value has the wrong type or can't be used.
    #[error("{}: {key}: {message}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The path of the key, for example `controllers.workers`.
        key: String,
        /// The problem.
        message: String,
    },
    /// The file has options for a kind that the operator does not control.
    #[error("{}: kinds.{kind}: the operator {operator} does not control this kind", path.display())]
    UnknownKind {
        /// The file.
        path: PathBuf,
        /// The name of the kind in the file.
        kind: String,
        /// The name of the operator.
        operator: String,
        /// The kinds that the operator controls.
        known: Vec<String>,
        /// The kind that is probably meant.
        nearest: Option<String>,
    },
    /// The options of leader election contradict each other.
    #[error("failed to start leader election: {0}")]
    LeaderElection(LeaderElectionError),
    /// A flag or the file names credentials for NATS, and there is no URL of a server.
    #[error("there is a credentials file for NATS, {}, but no URL of a server", path.display())]
    CredentialsWithoutUrl {
        /// The credentials file.
        path: PathBuf,
    },
    /// The log can't be started.
    #[error("failed to start the log: {0}")]
    Log(String),
    /// The export of spans can't be started.
    #[error("{0}")]
    Otlp(String),
}

impl ConfigurationError {
    /// Returns advice for the user; `None` if there is none.
    pub fn hint(&self) -> Option<String> {
        let did_you_mean = |nearest: &String| format!("did you mean `{nearest}`?");
        match self {
            Self::Read { .. } => Some("check `--config` or OPGEN_CONFIG".to_owned()),
            Self::Yaml { .. } | Self::Log(_) => None,
            Self::Header { key, expected, .. } => Some(format!("write `{key}: {expected}` at the top of the file")),
            Self::UnknownKey { nearest, key, .. } => {
                let known = || format!("known keys are {}", super::keys::siblings(key).join(", "));
                Some(nearest.as_ref().map_or_else(known, did_you_mean))
            }
            Self::Value { .. } => {
                Some("the keys and their values are listed in OPTIONS.md of the crate opgen".to_owned())
            }
            Self::UnknownKind { nearest, known, .. } => {
                let known = || format!("the operator controls {}", known.join(", "));
                Some(nearest.as_ref().map_or_else(known, did_you_mean))
            }
            Self::CredentialsWithoutUrl { .. } => Some(
                "set `--nats-url` or NATS_URL (`nats.url` in the file), or remove `--nats-credentials` (`nats.credentials`)".to_owned(),
            ),
            Self::Otlp(_) => Some("change the options `--otlp-...`, or `otlp` in the file".to_owned()),
            Self::LeaderElection(_) => {
                Some("change the options `--leader-elect-...`, or `leaderElection` in the file".to_owned())
            }
        }
    }
}
