//! Finds the programs `prometheus` and `promtool` on this machine.

use std::{
    env,
    path::{Path, PathBuf},
};

use libtest_mimic::Trial;

/// Turns a case that can't run for want of Prometheus from an ignored one into a failure.
const REQUIRE: &str = "OPGEN_REQUIRE_PROMETHEUS";

/// The folder of both programs, if they are not in `PATH`.
const FOLDER: &str = "OPGEN_PROMETHEUS";

/// The path of `prometheus` or `promtool`, or why there is none.
pub(super) fn program(name: &str) -> Result<PathBuf, String> {
    let folders = env::var_os(FOLDER).or_else(|| env::var_os("PATH")).unwrap_or_default();
    let found = env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| Path::is_file(path));
    found.ok_or_else(|| {
        format!("`{name}` is not installed; install Debian's package `prometheus`, or set {FOLDER} to its folder")
    })
}

/// A case with Prometheus: ignored where there is none, and it shows why where libtest shows a kind.
pub(super) fn needs_prometheus(case: Trial) -> Trial {
    let Some(why) = ["prometheus", "promtool"].into_iter().find_map(|name| program(name).err()) else { return case };
    let required = env::var_os(REQUIRE).is_some_and(|value| value != "0");
    let kind = why.clone();
    Trial::test(case.name(), move || Err(why.into())).with_kind(kind).with_ignored_flag(!required)
}
