//! Runs the loop of `opgen dev`: rebuilds and restarts the operator after each change.

use std::{collections::BTreeMap, future::pending, path::PathBuf};

use serde_json::json;
use tokio::time::sleep_until;

use super::{
    build::{self, Program},
    cluster::DevCluster,
    document::Document,
    install,
    nats::{self, NatsServer},
    operator_process::{OperatorEvent, OperatorProcess, StartOptions},
    process_group::ProcessGroup,
    recording::Recording,
    sources::{SourceChange, Sources},
    status_display::StatusDisplay,
};
use crate::{
    args::Dev,
    error::{Error, Result, ResultExt as _},
    generator::cargo,
    project::Project,
    toolchain,
    ui::{self, Ui},
};

/// A session of `opgen dev`: an operator and everything to run it.
#[derive(Debug)]
pub(crate) struct Session {
    project: Project,
    ui: Ui,
    log: String,
    sources: Sources,
    display: StatusDisplay,
    operator: Option<OperatorProcess>,
    /// The applied text of each sample.
    samples: BTreeMap<PathBuf, String>,
    /// Whether an operator was started, and the kubeconfig printed.
    is_announced: bool,
    recording: Option<Recording>,
    /// `None` until an operator has kinds in buckets.
    nats: Option<NatsServer>,
    // Declared before `cluster`, so that the processes end before the folder is removed.
    process_group: ProcessGroup,
    cluster: DevCluster,
}

impl Session {
    /// Finds the project, checks the toolchain and the package, watches the sources, and starts the sandbox. With `--cluster` there is no
    /// sandbox; the first build connects to the user's cluster.
    pub(crate) async fn open(args: &Dev, ui: Ui) -> Result<Self> {
        let project = Project::find_above(&args.path)?;
        let recording = args.report.as_deref().map(Recording::new).transpose()?;
        toolchain::check()?;
        let metadata = cargo::metadata_with_dependencies(&project)?;
        build::check_package(&project, &metadata)?;
        let sources = Sources::watch(&project, &metadata)?;
        let target = metadata.target_directory.as_std_path();
        let cluster = if args.cluster {
            DevCluster::cluster(target)?
        } else {
            DevCluster::sandbox(args.port, target, recording.clone()).await?
        };
        let process_group = ProcessGroup::start(cluster.folder())?;
        Ok(Self {
            project,
            ui,
            log: args.log.clone(),
            sources,
            display: StatusDisplay::new(ui),
            operator: None,
            samples: BTreeMap::new(),
            is_announced: false,
            recording,
            nats: None,
            process_group,
            cluster,
        })
    }

    /// Builds and starts the operator. Then loops: rebuilds the operator after changes of the code, applies changed samples, prints the
    /// operator's output, and refreshes the display of the samples. Returns only after an error; a drop of the future also ends the loop.
    pub(crate) async fn run(&mut self) -> Result<()> {
        self.rebuild().await?;
        loop {
            let refresh = self.display.next_refresh();
            tokio::select! {
                change = self.sources.next_change() => match change? {
                    SourceChange::Code(path) => {
                        self.display.clear();
                        self.ui.status("Changed", &self.relative_path(&path));
                        self.note(|| format!("{} changed", self.relative_path(&path)));
                        self.sources.watch_new_folders()?;
                        self.rebuild().await?;
                    }
                    SourceChange::Samples => self.apply_samples().await,
                },
                event = next_event(&mut self.operator) => self.handle_event(event?),
                () = sleep_until(refresh), if self.operator.is_some() => self.refresh_display().await,
            }
        }
    }

    /// Stops the operator and the sandbox.
    pub(crate) async fn close(&mut self) {
        self.display.clear();
        if let Some(operator) = &mut self.operator {
            operator.stop().await;
        }
        self.cluster.stop(self.ui).await;
    }

    /// Writes the report of `--report`, and prints its path. Does nothing without `--report`.
    pub(crate) fn report(&self) -> Result<()> {
        if let Some(recording) = &self.recording {
            self.ui.status("Wrote", &recording.write(&self.project.name)?.display().to_string());
        }
        Ok(())
    }

    /// Adds a note to the recording, if there is one.
    fn note(&self, text: impl FnOnce() -> String) {
        if let Some(recording) = &self.recording {
            recording.note(text());
        }
    }

    /// Builds and restarts the operator, and applies the samples. If the code does not compile or the manifests can't be applied, prints
    /// why and keeps the previous operator running.
    async fn rebuild(&mut self) -> Result<()> {
        self.ui.status("Building", &self.project.name);
        let built = build::build(&self.project, self.cluster.folder(), &self.process_group, !self.is_announced).await?;
        let Some(program) = built else {
            let state = if self.operator.is_some() { "the previous build keeps running" } else { "nothing runs" };
            self.ui.warning(&format!("{} does not compile; {state} until the next change", self.project.name));
            return Ok(());
        };
        if self.operator.as_ref().is_some_and(|operator| operator.program.is_same_build(&program)) {
            self.ui.status("Unchanged", &self.project.name);
            return Ok(());
        }
        self.cluster.connect(&program.path, &self.process_group, self.ui).await?;
        match self.replace_operator(&program).await {
            Ok(()) => self.apply_samples().await,
            Err(error) => ui::error(&mut ui::stderr(), &error),
        }
        self.sources.watch_new_folders()
    }

    /// Applies the manifests of a newly built operator, stops the running operator, and starts the new one. Prints and records the
    /// restart; after the first start, also prints the kubeconfig.
    async fn replace_operator(&mut self, program: &Program) -> Result<()> {
        let requirements = install::requirements(&program.path, &self.process_group).await?;
        let kubeconfig = self.cluster.prepare(&requirements.documents).await?;
        if !requirements.buckets.is_empty() {
            self.open_nats(&requirements.buckets).await?;
        }
        if let Some(old_operator) = &mut self.operator {
            old_operator.stop().await;
            old_operator.program.remove();
            self.recording.iter().for_each(Recording::record_exit);
        }
        let verb = if self.is_announced { "restarted" } else { "started" };
        self.recording.iter().for_each(|recording| recording.record_start(verb));
        let options = StartOptions {
            kubeconfig: kubeconfig.as_deref(),
            nats_url: self.nats.as_ref().map(|server| server.url.as_str()),
            log: &self.log,
            recording: self.recording.as_ref(),
        };
        self.operator = Some(OperatorProcess::start(program, options, &self.process_group)?);
        let delay = program.built_at.elapsed().as_secs_f32();
        let text = format!("{}, {delay:.1} s after the build", self.project.name);
        self.ui.status(if self.is_announced { "Restarted" } else { "Started" }, &text);
        if !self.is_announced {
            self.is_announced = true;
            self.cluster.print_kubeconfig(self.ui);
        }
        Ok(())
    }

    /// Starts or connects to the NATS server for the buckets and prints its URL, unless a server of an earlier call still runs.
    async fn open_nats(&mut self, buckets: &[String]) -> Result<()> {
        if self.nats.as_mut().is_none_or(NatsServer::has_ended) {
            let is_cluster = self.cluster.kubeconfig().is_none();
            let server = NatsServer::open(self.cluster.folder(), is_cluster, &self.process_group).await?;
            self.ui.status("Using", &format!("{}, for the buckets {}", server.url, buckets.join(", ")));
            self.ui.data(&format!("export {}={}", nats::URL_VARIABLE, server.url));
            self.ui.json(&json!({"natsUrl": server.url, "buckets": buckets}));
            self.nats = Some(server);
        }
        Ok(())
    }

    /// Applies the sample files whose text has changed since they were applied, and shows the state of all samples that can be parsed.
    /// Prints errors; the next call tries a failed sample again. Does nothing without a running operator.
    async fn apply_samples(&mut self) {
        if self.operator.is_none() {
            return;
        }
        let (samples, failures) = self.read_samples();
        let mut failures = failures;
        let mut shown = Vec::new();
        for (path, text) in samples {
            match Document::parse(&text, &format!("`{}`", self.relative_path(&path))) {
                Ok(documents) => {
                    if self.samples.get(&path) != Some(&text) {
                        match self.cluster.apply(&documents).await {
                            Ok(()) => {
                                self.display.suspend(|| self.ui.status("Applied", &self.relative_path(&path)));
                                self.note(|| format!("{} applied", self.relative_path(&path)));
                                self.samples.insert(path, text);
                            }
                            Err(error) => failures.push(error),
                        }
                    }
                    shown.extend(documents);
                }
                Err(error) => failures.push(error),
            }
        }
        self.display.set_samples(shown);
        for failure in failures {
            self.display.suspend(|| ui::error(&mut ui::stderr(), &failure));
        }
    }

    /// Reads the YAML files in the folder `samples`. Returns the text of each file, and an error for each file that can't be read.
    fn read_samples(&self) -> (BTreeMap<PathBuf, String>, Vec<Error>) {
        let (mut samples, mut failures) = (BTreeMap::new(), Vec::new());
        // The folder may not exist.
        let entries = fs_err::read_dir(self.project.generated_folder().join("samples")).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        for path in paths.filter(|path| path.extension().is_some_and(|end| end == "yaml" || end == "yml")) {
            match fs_err::read_to_string(&path).or_failed(|| "failed to read a sample".to_owned()) {
                Ok(text) => _ = samples.insert(path, text),
                Err(error) => failures.push(error),
            }
        }
        (samples, failures)
    }

    /// Prints a line of the operator's output. After its exit, records the exit and prints an error with the last lines; the operator
    /// starts again only after the next change.
    fn handle_event(&mut self, event: OperatorEvent) {
        let name = &self.project.name;
        match event {
            OperatorEvent::Line(line) => self.display.suspend(|| self.ui.note(&format!("{name} | {line}"))),
            OperatorEvent::Exit(status, last_lines) => {
                self.operator = None;
                self.recording.iter().for_each(Recording::record_exit);
                self.display.clear();
                let text: String = last_lines.iter().map(|line| format!("\n{name} | {line}")).collect();
                let cause =
                    if text.is_empty() { "it printed nothing".to_owned() } else { format!("its last output:{text}") };
                let error = Error::failed(format!("{name} exited unexpectedly: {status}")).because(cause);
                ui::error(&mut ui::stderr(), &error.hint("it restarts after the next change"));
            }
        }
    }

    /// Reads and shows the state of the samples; does nothing without a running operator.
    async fn refresh_display(&mut self) {
        if let Some(operator) = &self.operator {
            self.display.refresh(&operator.program.path, self.cluster.kubeconfig(), &self.process_group).await;
        }
    }

    /// Returns a path relative to the root of the project, for messages.
    fn relative_path(&self, path: &std::path::Path) -> String {
        path.strip_prefix(&self.project.root).unwrap_or(path).display().to_string()
    }
}

/// Waits for the next event of the operator; waits forever without an operator, so that `select!` ignores this branch.
async fn next_event(operator: &mut Option<OperatorProcess>) -> Result<OperatorEvent> {
    match operator {
        Some(operator) => operator.event().await,
        None => pending().await,
    }
}
