//! Implements the verb `profile`: fetches a CPU profile or the memory statistics of a running operator.

mod error;
#[cfg(feature = "profiling")]
mod fetch;
#[cfg(not(feature = "profiling"))]
#[path = "unavailable.rs"]
mod fetch;
mod pod;
mod request;
mod viewer;

use crate::{
    command::{
        connect::Connection,
        profile::{error::ProfileError, pod::OperatorPods, request::PodRequest},
        terminal::{print, with_runtime},
    },
    manager::operator::Operator,
    manifest::{Describe, METRICS_PORT, OutputFormat, exit_with_error},
    metrics::handler::{MEMORY_PATH, PROFILE_PATH},
};
use serde_json::json;
use std::{
    fs, io,
    io::IsTerminal as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

#[derive(Debug, clap::Args)]
pub(crate) struct ProfileArgs {
    /// The Pod to profile; by default the leader, or the first Pod that is ready
    #[arg(value_name = "POD")]
    pod: Option<String>,
    /// The namespace of the operator; by default the one in its manifests
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Duration of the CPU profile, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=300))]
    seconds: u64,
    /// Print memory statistics, and take no CPU profile
    #[arg(long, conflicts_with_all = ["seconds", "file", "no_open"])]
    memory: bool,
    /// File for the profile; an existing file is replaced [default: <POD>-<TIME>.pb]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Do not open the profile
    #[arg(long)]
    no_open: bool,
    /// Port of the metrics server in the Pod
    #[arg(long, value_name = "PORT", default_value_t = METRICS_PORT)]
    port: u16,
    /// ServiceAccount in the operator's namespace whose token is sent; it needs the right to get /debug/*
    #[arg(long, value_name = "NAME", default_value = "profiler")]
    service_account: String,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: OutputFormat,
    #[command(flatten)]
    connection: Connection,
}

impl ProfileArgs {
    /// Runs the verb `profile`, and prints its error with a hint.
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        with_runtime(async {
            match self.profile(operator).await {
                Ok(code) => code,
                Err(error) => exit_with_error(&error, error.hint().as_deref()),
            }
        })
    }

    /// Fetches a CPU profile from a Pod and writes it to a file, or prints the memory statistics of the Pod.
    async fn profile(&self, operator: &Operator) -> Result<ExitCode, ProfileError> {
        self.file.as_deref().map_or(Ok(()), check_file)?;
        if !cfg!(feature = "profiling") {
            return Err(ProfileError::NoFeature);
        }
        let project = operator.project().map_err(|error| ProfileError::Project(Box::new(error)))?;
        let namespace = self.namespace.as_deref().unwrap_or(&project.namespace);
        let config = self.connection.config().await.map_err(ProfileError::Config)?;
        let limit = self.connection.timeout() + Duration::from_secs(if self.memory { 0 } else { self.seconds });
        // The forwarded port carries no data while the operator takes the profile, so its client needs a longer read timeout.
        let mut forwarding_config = config.clone();
        forwarding_config.read_timeout = Some(limit);
        let forwarding_client = kube::Client::try_from(forwarding_config).map_err(ProfileError::Client)?;
        let pods = OperatorPods::connect(config, &project, namespace)?;
        let pod = pods.choose(self.pod.as_deref()).await?;
        let token = pods.token(&self.service_account).await?;
        let path = match self.memory {
            true => MEMORY_PATH.to_owned(),
            false => format!("{PROFILE_PATH}?seconds={}", self.seconds),
        };
        if !self.memory {
            eprint_line(&format!("profiling Pod {namespace}/{pod} for {} s", self.seconds));
        }
        let account = &*self.service_account;
        let request = PodRequest { pod: &pod, namespace, port: self.port, path: &path, account, token: &token };
        let bytes = fetch::send(&request, forwarding_client, limit).await?;
        if self.memory {
            return Ok(self.print_memory(&pod, &String::from_utf8_lossy(&bytes)));
        }
        let default_file =
            || PathBuf::from(format!("{pod}-{}.pb", operator.environment.now().strftime("%Y%m%dT%H%M%SZ")));
        let file = self.file.clone().unwrap_or_else(default_file);
        fs::write(&file, &bytes).map_err(|source| ProfileError::Write { file: file.clone(), source })?;
        Ok(self.show(&pod, &file))
    }

    /// Prints the memory statistics of a Pod, which are lines `name: value`, as they are or as one JSON object.
    fn print_memory(&self, pod: &str, text: &str) -> ExitCode {
        match self.output {
            OutputFormat::Text => print(text),
            OutputFormat::Json => {
                let lines = text.lines().filter_map(|line| line.split_once(':'));
                let values: serde_json::Map<_, _> =
                    lines.map(|(name, value)| (name.to_owned(), json!(value.trim()))).collect();
                print(&format!("{}\n", json!({"pod": pod, "memory": values})))
            }
        }
    }

    /// Prints the path of the profile. On a terminal it also opens the profile in a viewer, unless `--no-open` or JSON output is set.
    fn show(&self, pod: &str, file: &Path) -> ExitCode {
        if self.output == OutputFormat::Json {
            return print(&format!("{}\n", json!({"pod": pod, "file": file})));
        }
        let printed = print(&format!("{}\n", file.display()));
        if self.no_open || !io::stdout().is_terminal() || printed != ExitCode::SUCCESS {
            return printed;
        }
        match viewer::open(file) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => exit_with_error(&error, error.hint().as_deref()),
        }
    }
}

/// Fails if a profile can't be written to `file`, before one is taken: its folder does not exist, or it is no regular file. A pipe would
/// block the command, and a device would lose the profile.
fn check_file(file: &Path) -> Result<(), ProfileError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |source| Err(ProfileError::Write { file: file.to_owned(), source });
    if !folder.is_dir() {
        return failed(io::Error::new(io::ErrorKind::NotFound, "its folder does not exist"));
    }
    if file.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return failed(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(())
}

/// Prints a line about the progress. A closed standard error is no failure.
fn eprint_line(line: &str) {
    use io::Write as _;
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::{Command, id};

    #[test]
    fn a_profile_is_written_to_a_regular_file_in_an_existing_folder() {
        let folder = std::env::temp_dir().join(format!("opgen-profile-{}", id()));
        fs::create_dir_all(&folder).unwrap();
        let (existing, pipe) = (folder.join("existing.pb"), folder.join("pipe"));
        fs::write(&existing, "").unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for file in [&existing, &folder.join("new.pb"), Path::new("new.pb")] {
            assert!(check_file(file).is_ok(), "{}", file.display());
        }
        for refused in [&pipe, &folder, Path::new("/dev/null"), &folder.join("none/new.pb")] {
            let error = check_file(refused).unwrap_err();
            assert!(matches!(error, ProfileError::Write { .. }) && error.hint().is_some(), "{}", refused.display());
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
