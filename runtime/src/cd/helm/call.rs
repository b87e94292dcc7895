//! `HelmCall`: the arguments and the input of a run of the program `helm`. `HelmOutput`: the output of the run.

use crate::child_process::ProcessFailure;
use std::{fmt, io};

/// A run of the program `helm`, as a [simulation](crate::cd::helm::HelmProgram::simulated) gets it.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct HelmCall<'a> {
    /// The arguments. The first one is the command, and the second one the release.
    pub arguments: &'a [String],
    /// The standard input: the values of the chart as JSON, or nothing.
    pub input: &'a str,
    /// The kubeconfig of the cluster; `None` for that of the operator.
    pub kubeconfig: Option<&'a str>,
}

impl fmt::Debug for HelmCall<'_> {
    /// Shows the command only, since the other arguments, the input and the kubeconfig may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HelmCall").field("command", &self.arguments.first()).finish_non_exhaustive()
    }
}

/// The output of a run of the program `helm`.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct HelmOutput {
    /// Whether the run has succeeded.
    pub success: bool,
    /// The standard output.
    pub stdout: String,
    /// The end of the standard error.
    pub stderr: String,
}

impl HelmOutput {
    /// Returns the output of a run that has succeeded.
    pub fn succeeded(stdout: impl Into<String>) -> Self {
        Self { success: true, stdout: stdout.into(), stderr: String::new() }
    }

    /// Returns the output of a run that has failed. Helm writes `Error: ` before the error.
    pub fn failed(stderr: impl Into<String>) -> Self {
        Self { success: false, stdout: String::new(), stderr: stderr.into() }
    }
}

impl fmt::Debug for HelmOutput {
    /// Shows whether the run has succeeded, and not its output, since `helm status` prints the values of the release.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HelmOutput").field("success", &self.success).finish_non_exhaustive()
    }
}

/// Why a run has no output.
#[derive(Debug)]
pub(crate) enum HelmFailure {
    /// The files for the run can't be written.
    NoFolder(io::Error),
    /// The process has not ended regularly.
    Process(ProcessFailure),
}
