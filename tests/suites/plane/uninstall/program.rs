//! `webapp uninstall`, as a user runs it.

use std::process::{Output, Stdio};

use opgen_tests::Access;

use crate::operator::{example::WEBAPP, program::path};

/// What it said, and whether it succeeded.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) error: String,
}

/// Runs it with the rights of an account.
pub(crate) async fn uninstall(access: &Access, arguments: &[&str]) -> Said {
    let mut command = tokio::process::Command::new(path(&WEBAPP));
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
