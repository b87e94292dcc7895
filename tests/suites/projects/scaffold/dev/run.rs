//! `opgen dev` as a process, and what it says line by line.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use opgen_tests::wait::{self, PATIENCE};
use rustix::process::{Pid, Signal, kill_process};

use super::SOON;
use crate::scaffold::command::{checkout, command, target_folder, target_of_projects};

/// A build may have to begin with the dependencies.
const BUILD: Duration = Duration::from_secs(900);

pub(super) struct Line {
    pub(super) at: Instant,
    pub(super) text: String,
}

/// Kills it when dropped.
pub(super) struct Running {
    child: Child,
    stdout: Receiver<Line>,
    stderr: Receiver<Line>,
    heard: Vec<String>,
    pub(super) kubeconfig: PathBuf,
}

impl Running {
    /// `opgen dev` in a folder, with the target folder of the suite.
    pub(super) fn start(folder: &Path) -> Self {
        Self::start_as("dev", folder)
    }

    /// `opgen dev` in a scaffolded project, with the target folder of such projects.
    pub(super) fn start_project(folder: &Path) -> Self {
        Self::built_in(&target_of_projects(), command(folder, "dev"))
    }

    pub(super) fn start_as(args: &str, folder: &Path) -> Self {
        Self::of(command(folder, args))
    }

    /// With a kubeconfig in the environment.
    pub(super) fn start_in(kubeconfig: &Path, args: &str, folder: &Path) -> Self {
        let mut command = command(folder, args);
        command.env("KUBECONFIG", kubeconfig);
        Self::of(command)
    }

    /// With the URL of a NATS server in the environment.
    pub(super) fn start_with_nats(url: &str, folder: &Path) -> Self {
        let mut command = command(folder, "dev");
        command.env("NATS_URL", url);
        Self::of(command)
    }

    fn of(command: Command) -> Self {
        Self::built_in(target_folder(), command)
    }

    fn built_in(target: &Path, mut command: Command) -> Self {
        command.env("CARGO_TARGET_DIR", target).env_remove("RUST_LOG");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("opgen runs");
        let stdout = lines(child.stdout.take().expect("a pipe"));
        let stderr = lines(child.stderr.take().expect("a pipe"));
        Self { child, stdout, stderr, heard: Vec::new(), kubeconfig: PathBuf::new() }
    }

    /// The next line of data that holds a text.
    #[track_caller]
    pub(super) fn stdout(&mut self, text: &str) -> Line {
        next(&self.stdout, text, &mut self.heard).unwrap_or_else(|| panic!("no `{text}` in\n{}", self.all()))
    }

    /// The next line beside the data that holds a text.
    #[track_caller]
    pub(super) fn stderr(&mut self, text: &str) -> Line {
        next(&self.stderr, text, &mut self.heard).unwrap_or_else(|| panic!("no `{text}` in\n{}", self.all()))
    }

    /// What was read up to now.
    pub(super) fn said(&self) -> String {
        self.heard.join("\n")
    }

    fn all(&mut self) -> String {
        self.heard.extend(self.stderr.try_iter().map(|line| line.text));
        self.said()
    }

    /// The new operator runs, in time beside what the compiler took.
    #[track_caller]
    pub(super) fn is_restarted_soon_after(&mut self, saved: Instant) {
        let noticed = self.stderr("Changed ").at.saturating_duration_since(saved);
        let line = self.stderr("Restarted ").text;
        let after = line.rsplit_once(", ").and_then(|(_, after)| after.split_once(" s after the build"));
        let after = Duration::from_secs_f32(after.expect("a time").0.parse().expect("seconds"));
        println!("from saving to the build: {noticed:?}, from the build to the restart: {after:?}");
        assert!(noticed + after < SOON, "{noticed:?} {after:?}");
    }

    pub(super) async fn client(&self) -> Client {
        let kubeconfig = Kubeconfig::read_from(&self.kubeconfig).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        Client::try_from(config.expect("a configuration")).expect("a client")
    }

    /// What kubectl prints with the kubeconfig; `None` where there is no kubectl.
    #[track_caller]
    pub(super) fn kubectl(&self, args: &[&str]) -> Option<String> {
        let built = fs::read_dir(checkout().join("target/controlplane")).into_iter().flatten().flatten();
        let built = built.map(|entry| entry.path().join("kubectl")).find(|path| path.is_file());
        let mut command = Command::new(built.unwrap_or_else(|| "kubectl".into()));
        command.args(args).env("KUBECONFIG", &self.kubeconfig).arg("--cache-dir").arg(self.folder().join("cache"));
        let output = command.output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The folder that goes with it.
    pub(super) fn folder(&self) -> &Path {
        self.kubeconfig.parent().expect("the folder of the kubeconfig")
    }

    /// The operator's process.
    pub(super) fn operator(&self) -> Option<i32> {
        let found = processes_of(self.folder()).into_iter().find(|(_, line)| line.ends_with(" run"));
        found.map(|(id, _)| id)
    }

    /// How an object fares, as it is drawn on a terminal.
    pub(super) fn tree(&self, object: &str) -> String {
        let operator = self.operator().expect("the operator runs");
        let program = fs::read_link(format!("/proc/{operator}/exe")).expect("its program");
        let output = Command::new(program).args(["tree", object]).env("KUBECONFIG", &self.kubeconfig).output();
        String::from_utf8(output.expect("it runs").stdout).expect("UTF-8")
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }

    /// Asks it to end; it does so in order, and leaves nothing.
    pub(super) async fn end_with(&mut self, signal: Signal) {
        self.end(signal).await;
        self.leaves_nothing().await;
    }

    pub(super) async fn end(&mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
        let status = self.ended().await;
        assert!(status.success(), "{status}\n{}", self.said());
    }

    pub(super) async fn ended(&mut self) -> ExitStatus {
        wait::until("it ends", PATIENCE, async || {
            self.child.try_wait().expect("it can be asked").ok_or_else(|| "it runs".to_owned())
        })
        .await
    }

    /// Neither a process nor a file.
    pub(super) async fn leaves_nothing(&self) {
        wait::until("nothing is left", PATIENCE, async || {
            match (processes_of(self.folder()), self.folder().exists()) {
                (processes, false) if processes.is_empty() => Ok(()),
                left => Err(format!("{left:?}")),
            }
        })
        .await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The processes whose command line names a folder, with their command lines.
pub(super) fn processes_of(folder: &Path) -> Vec<(i32, String)> {
    let ids = fs::read_dir("/proc").expect("a Linux").flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let line =
        |id| Some(fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?.trim_end_matches('\0').replace('\0', " "));
    let processes = ids.filter_map(|id| Some((id, line(id)?)));
    processes.filter(|(_, line)| line.contains(&*folder.to_string_lossy())).collect()
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<Line> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for text in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(Line { at: Instant::now(), text }).is_err() {
                return;
            }
        }
    });
    receiver
}

fn next(lines: &Receiver<Line>, text: &str, heard: &mut Vec<String>) -> Option<Line> {
    let end = Instant::now() + BUILD;
    while let Ok(line) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
        heard.push(line.text.clone());
        if line.text.contains(text) {
            return Some(line);
        }
    }
    None
}
