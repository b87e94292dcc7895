//! `ProfileError`: the reasons why there is no profile, and how the user resolves them.

#[cfg(feature = "profiling")]
use crate::error::BoxError;
use crate::{client::CallError, manifest::ProjectError};
use http::StatusCode;
use std::{io, path::PathBuf};

/// The reasons why the verb `profile` fails.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProfileError {
    #[error(transparent)]
    Project(Box<ProjectError>),
    #[error("failed to load a kubeconfig or the in-cluster configuration")]
    Config(#[source] kube::config::InferConfigError),
    #[error("failed to create a Kubernetes client")]
    Client(#[source] kube::Error),
    #[error(transparent)]
    Call(#[from] Box<CallError>),
    #[error("no Pod of {operator} is ready in namespace {namespace}")]
    NoPod { operator: String, namespace: String },
    #[error("{namespace}/{pod} is no Pod of {operator}")]
    OtherPod { operator: String, namespace: String, pod: String, known: Vec<String> },
    #[error("ServiceAccount {namespace}/{name} not found")]
    NoAccount { operator: String, namespace: String, name: String },
    #[error("this binary was built without the feature `profiling` of opgen")]
    NoFeature,
    #[cfg(feature = "profiling")]
    #[error("failed to get a response from port {port} of Pod {pod}")]
    Connect { pod: String, port: u16, source: BoxError },
    #[cfg_attr(not(feature = "profiling"), allow(dead_code))]
    #[error("Pod {pod} did not respond within {seconds} s")]
    Timeout { pod: String, seconds: u64 },
    #[cfg_attr(not(feature = "profiling"), allow(dead_code))]
    #[error("Pod {pod} responded with {status}: {message}")]
    Refused { pod: String, status: StatusCode, message: String, account: String },
    #[error("failed to write `{}`", file.display())]
    Write { file: PathBuf, source: io::Error },
    #[error("failed to run `{program}`")]
    Viewer { program: String, source: io::Error },
    #[error("`{program}` failed with {status}")]
    ViewerFailed { program: String, status: std::process::ExitStatus },
}

impl ProfileError {
    /// Returns how the user can resolve the error; `None` if no hint applies.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::Config(_) => Some("set KUBECONFIG to the cluster of the operator".to_owned()),
            Self::NoPod { .. } => Some("use `--namespace` to choose the namespace".to_owned()),
            Self::OtherPod { known, .. } if known.is_empty() => {
                Some("use `--namespace` to choose the namespace".to_owned())
            }
            Self::OtherPod { known, .. } => Some(format!("its Pods are {}", known.join(", "))),
            Self::NoAccount { operator, namespace, name } => Some(format!(
                "create it: kubectl -n {namespace} create serviceaccount {name}; \
                 kubectl create clusterrole {operator}-profiler --verb=get --non-resource-url='/debug/*'; \
                 kubectl create clusterrolebinding {operator}-profiler --clusterrole={operator}-profiler \
                 --serviceaccount={namespace}:{name}"
            )),
            Self::NoFeature => {
                Some("add `features = [\"profiling\"]` to the dependency opgen of the operator's package".to_owned())
            }
            #[cfg(feature = "profiling")]
            Self::Connect { .. } => Some("use `--port` if the metrics server has another port".to_owned()),
            Self::Refused { status, account, .. } => match status.as_u16() {
                401 | 403 => Some(format!("give ServiceAccount {account} the right to get /debug/*")),
                404 => Some("run the operator with `--profiling`".to_owned()),
                409 => Some("wait until the other profile is complete".to_owned()),
                501 => Some("build the operator with the feature `profiling` of opgen".to_owned()),
                _ => None,
            },
            Self::Write { .. } => Some("use `--file` with a file in an existing folder, such as `demo.pb`".to_owned()),
            Self::Viewer { .. } => Some("use `--no-open`, and open the file with pprof".to_owned()),
            _ => None,
        }
    }
}
