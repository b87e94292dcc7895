//! From change to change.

use std::{collections::BTreeMap, future::pending, path::PathBuf};

use tokio::time::sleep_until;

use super::{
    build::{self, Program},
    document::Document,
    install,
    lifeline::Lifeline,
    live::Live,
    operator::{Event, Operator, Start},
    place::Place,
    recording::Recording,
    sources::{Change, Sources},
};
use crate::{
    args::Dev,
    error::{Error, Explain as _, Result},
    generator::cargo,
    project::Project,
    toolchain,
    ui::{self, Ui},
};

/// An operator under development, and all it takes to run it.
#[derive(Debug)]
pub(crate) struct Session {
    project: Project,
    ui: Ui,
    log: String,
    sources: Sources,
    live: Live,
    operator: Option<Operator>,
    /// The texts of the samples as they were applied.
    samples: BTreeMap<PathBuf, String>,
    is_announced: bool,
    recording: Option<Recording>,
    // What was started ends before the folder goes.
    lifeline: Lifeline,
    place: Place,
}

impl Session {
    /// Finds the project, watches its sources, and starts the sandbox.
    pub(crate) async fn open(args: &Dev, ui: Ui) -> Result<Self> {
        let project = Project::around(&args.path)?;
        let recording = args.report.as_deref().map(Recording::new).transpose()?;
        toolchain::check()?;
        let metadata = cargo::metadata_with_dependencies(&project)?;
        build::check(&project, &metadata)?;
        let sources = Sources::watch(&project, &metadata)?;
        let target = metadata.target_directory.as_std_path();
        let place = if args.cluster {
            Place::cluster(target)?
        } else {
            Place::sandbox(args.port, target, recording.clone()).await?
        };
        let lifeline = Lifeline::start(place.folder())?;
        Ok(Self {
            project,
            ui,
            log: args.log.clone(),
            sources,
            live: Live::new(ui),
            operator: None,
            samples: BTreeMap::new(),
            is_announced: false,
            recording,
            lifeline,
            place,
        })
    }

    /// Goes on until it is dropped, or can't.
    pub(crate) async fn run(&mut self) -> Result<()> {
        self.renew().await?;
        loop {
            let look = self.live.due();
            tokio::select! {
                change = self.sources.changed() => match change? {
                    Change::Code(path) => {
                        self.live.hide();
                        self.ui.status("Changed", &self.shown(&path));
                        self.note(|| format!("{} changed", self.shown(&path)));
                        self.sources.follow()?;
                        self.renew().await?;
                    }
                    Change::Samples => self.apply_samples().await,
                },
                event = next_event(&mut self.operator) => self.hear(event?),
                () = sleep_until(look), if self.operator.is_some() => self.look().await,
            }
        }
    }

    /// Ends everything in order.
    pub(crate) async fn close(&mut self) {
        self.live.hide();
        if let Some(operator) = &mut self.operator {
            operator.stop().await;
        }
        self.place.stop(self.ui).await;
    }

    /// Writes the page that was asked for, if any.
    pub(crate) fn report(&self) -> Result<()> {
        if let Some(recording) = &self.recording {
            self.ui.status("Wrote", &recording.write(&self.project.name)?.display().to_string());
        }
        Ok(())
    }

    fn note(&self, text: impl FnOnce() -> String) {
        if let Some(recording) = &self.recording {
            recording.note(text());
        }
    }

    /// Builds the operator and has the new one run; where that fails, the old one goes on.
    async fn renew(&mut self) -> Result<()> {
        self.ui.status("Building", &self.project.name);
        let built = build::build(&self.project, self.place.folder(), &self.lifeline, !self.is_announced).await?;
        let Some(program) = built else {
            let goes_on = if self.operator.is_some() { "the one before goes on" } else { "nothing runs" };
            self.ui.warning(&format!("{} does not compile; {goes_on} until the next change", self.project.name));
            return Ok(());
        };
        if self.operator.as_ref().is_some_and(|operator| operator.program.is(&program)) {
            self.ui.status("Unchanged", &self.project.name);
            return Ok(());
        }
        self.place.connect(&program.path, &self.lifeline, self.ui).await?;
        match self.replace(&program).await {
            Ok(()) => self.apply_samples().await,
            Err(error) => ui::error(&mut ui::screen(), &error),
        }
        self.sources.follow()
    }

    async fn replace(&mut self, program: &Program) -> Result<()> {
        let manifests = install::manifests(&program.path, &self.lifeline).await?;
        let kubeconfig = self.place.prepare(&manifests).await?;
        if let Some(before) = &mut self.operator {
            before.stop().await;
            before.program.remove();
            self.recording.iter().for_each(Recording::end);
        }
        let begun = if self.is_announced { "restarted" } else { "started" };
        self.recording.iter().for_each(|recording| recording.begin(begun));
        let start = Start { kubeconfig: kubeconfig.as_deref(), log: &self.log, recording: self.recording.as_ref() };
        self.operator = Some(Operator::start(program, start, &self.lifeline)?);
        let since = program.built.elapsed().as_secs_f32();
        let what = format!("{}, {since:.1} s after it was built", self.project.name);
        self.ui.status(if self.is_announced { "Restarted" } else { "Started" }, &what);
        if !self.is_announced {
            self.is_announced = true;
            self.place.announce(self.ui);
        }
        Ok(())
    }

    /// Applies the samples whose text is new. What was changed in the cluster since stays so.
    async fn apply_samples(&mut self) {
        if self.operator.is_none() {
            return;
        }
        let (samples, failures) = self.read_samples();
        let mut failures = failures;
        let mut all = Vec::new();
        for (path, text) in samples {
            match Document::all(&text, &format!("`{}`", self.shown(&path))) {
                Ok(documents) => {
                    if self.samples.get(&path) != Some(&text) {
                        match self.place.apply(&documents).await {
                            Ok(()) => {
                                self.live.aside(|| self.ui.status("Applied", &self.shown(&path)));
                                self.note(|| format!("{} applied", self.shown(&path)));
                                self.samples.insert(path, text);
                            }
                            Err(error) => failures.push(error),
                        }
                    }
                    all.extend(documents);
                }
                Err(error) => failures.push(error),
            }
        }
        self.live.follow(all);
        for failure in failures {
            self.live.aside(|| ui::error(&mut ui::screen(), &failure));
        }
    }

    /// The files of samples with their texts, by name.
    fn read_samples(&self) -> (BTreeMap<PathBuf, String>, Vec<Error>) {
        let (mut samples, mut failures) = (BTreeMap::new(), Vec::new());
        // A project without samples has no such folder.
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

    /// Passes on what the operator says.
    fn hear(&mut self, event: Event) {
        let name = &self.project.name;
        match event {
            Event::Said(line) => self.live.aside(|| self.ui.note(&format!("{name} | {line}"))),
            Event::Ended(status, last) => {
                self.operator = None;
                self.recording.iter().for_each(Recording::end);
                self.live.hide();
                let last: String = last.iter().map(|line| format!("\n{name} | {line}")).collect();
                let last =
                    if last.is_empty() { "it said nothing".to_owned() } else { format!("its last lines:{last}") };
                let error = Error::failed(format!("{name} ended by itself: {status}")).because(last);
                ui::error(&mut ui::screen(), &error.hint("it is started again after the next change"));
            }
        }
    }

    async fn look(&mut self) {
        if let Some(operator) = &self.operator {
            self.live.look(&operator.program.path, self.place.kubeconfig(), &self.lifeline).await;
        }
    }

    /// A path as people at this project know it.
    fn shown(&self, path: &std::path::Path) -> String {
        path.strip_prefix(&self.project.root).unwrap_or(path).display().to_string()
    }
}

async fn next_event(operator: &mut Option<Operator>) -> Result<Event> {
    match operator {
        Some(operator) => operator.event().await,
        None => pending().await,
    }
}
