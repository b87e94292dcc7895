//! `webapp uninstall`, as a user runs it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

use opgen_tests::Access;

/// What it said, and whether it succeeded.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) error: String,
}

/// Runs it with the rights of an account.
pub(crate) async fn uninstall(access: &Access, arguments: &[&str]) -> Said {
    let mut command = tokio::process::Command::new(path());
    command.arg("uninstall").args(arguments).env("KUBECONFIG", access.kubeconfig()).stdin(Stdio::null());
    let Output { status, stdout, stderr } = command.output().await.expect("webapp can be run");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Said { code: status.code(), out: text(stdout), error: text(stderr) }
}

impl Said {
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!((self.code, self.error.as_str()), (Some(0), ""), "{}", self.out);
        self.out
    }
}

/// The program, built by the first call.
fn path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(build)
}

/// Builds into the target folder of the running suite, which is `<target>/<profile>/deps/<suite>`.
fn build() -> PathBuf {
    let suite = std::env::current_exe().expect("the path of the suite");
    let target = suite.ancestors().nth(3).expect("a target folder");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--package", "webapp", "--message-format=json", "--target-dir"]).arg(target);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().unwrap_or_else(|error| panic!("cargo can't be run: {error}"));
    assert!(output.status.success(), "`cargo build --package webapp`: {}", output.status);
    let messages = String::from_utf8_lossy(&output.stdout);
    let programs = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().filter(|_| message["target"]["name"] == "webapp").map(PathBuf::from)
    });
    programs.last().expect("cargo names the program it has built")
}
