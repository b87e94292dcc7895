//! The options of the operator.

use clap::Args;

/// The options of the operator. Each is a flag of `run` and an environment variable.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The domain of the virtual clusters. Default: clusters.example.com
    #[arg(long, env = "CLUSTER_DOMAIN", value_name = "DOMAIN", default_value = "clusters.example.com")]
    #[arg(hide_default_value = true)]
    pub domain: String,
    /// The namespace of the catalog of applications. Default: default
    #[arg(long, env, value_name = "NAMESPACE", default_value = "default", hide_default_value = true)]
    pub catalog: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { domain: "clusters.example.com".to_owned(), catalog: "default".to_owned() }
    }
}
