//! Chromium without a window: opens a page and says what became of it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

/// Turns a case that can't run for want of a browser from an ignored one into a failure.
pub(crate) const REQUIRE: &str = "OPGEN_REQUIRE_CHROMIUM";

/// Where the browser is, if it is not in `PATH`.
const PROGRAM: &str = "OPGEN_CHROMIUM";

/// Put before all else: collects what goes wrong.
const BEFORE: &str = "<script>window.wrong=[];addEventListener('error',e=>wrong.push(String(e.message)));\
    addEventListener('securitypolicyviolation',e=>wrong.push(e.violatedDirective+' '+e.blockedURI));</script>";

/// Put behind all else: measures, and leaves what it found in the document.
const PROBE: &str = include_str!("probe.js");

/// What the probe found; places and texts as they stand on the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Seen {
    /// Errors of scripts, and what the policy of the page held back.
    pub(crate) wrong: Vec<String>,
    /// What the browser wrote to its console.
    #[serde(default)]
    pub(crate) console: Vec<String>,
    /// What was fetched besides the page.
    pub(crate) fetched: Vec<String>,
    /// By how many pixels the page is wider than the window.
    pub(crate) sticks_out: i64,
    /// Texts that leave their box.
    pub(crate) cut: Vec<String>,
    /// Pairs of texts that lie upon each other.
    pub(crate) overlaps: Vec<String>,
    pub(crate) texts: usize,
    pub(crate) findings: usize,
    pub(crate) lanes: usize,
    pub(crate) marks: usize,
    pub(crate) stops: usize,
    pub(crate) hits: usize,
    /// Lines across the lanes that don't cross all of them.
    pub(crate) short: usize,
    pub(crate) phases: usize,
    /// The passes over objects, and how many of them can't be seen.
    pub(crate) passes: usize,
    pub(crate) flat: usize,
    /// Where a process was ended in order.
    pub(crate) ends: usize,
    /// What the line below the lanes says after keys.
    pub(crate) told: Vec<String>,
    /// Columns' widths: at first, wider, and with all in sight.
    pub(crate) steps: Vec<f64>,
    /// Lanes that are left by a filter that fits one object, and marks that are.
    pub(crate) sifted: (usize, usize),
    /// The same with a filter that fits nothing.
    pub(crate) none: (usize, usize),
}

/// The browser of this machine, or why there is none.
pub(crate) fn program() -> Result<PathBuf, String> {
    if let Some(path) = env::var_os(PROGRAM) {
        return Ok(path.into());
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = env::split_paths(&folders)
        .flat_map(|folder| ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name)))
        .collect();
    places.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        format!("Chromium is not installed; install Debian's package `chromium`, or set {PROGRAM} to its path")
    })
}

/// Opens a page in a window of a width.
pub(crate) fn open(page: &str, width: u32) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let probed = page.replacen("<meta charset", &format!("{BEFORE}<meta charset"), 1).replacen(
        "</body>",
        &format!("<script>{PROBE}</script></body>"),
        1,
    );
    let path = folder.path().join("page.html");
    fs::write(&path, probed).unwrap();
    let size = format!("--window-size={width},1000");
    let output = command(folder.path())
        .args([&size, "--dump-dom", "--enable-logging=stderr"])
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("the browser runs");
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {log}", output.status);
    let (_, found) =
        dom.split_once("<pre id=\"measured\">").unwrap_or_else(|| panic!("nothing measured: {log}\n{dom}"));
    let found = found.split_once("</pre>").unwrap().0;
    // What the browser writes is escaped as HTML is.
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ").replace("&amp;", "&");
    let mut seen: Seen = serde_json::from_str(&found).unwrap_or_else(|error| panic!("{error}: {found}"));
    seen.console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    seen
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(program().unwrap());
    command.args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    ]);
    command.args(["--disable-component-update", "--disable-dev-shm-usage", "--disable-extensions"]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command
}
