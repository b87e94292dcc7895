//! Every verb where the machine is not kind: a full standard output, words that are no UTF-8, outputs that are devices or
//! pipes, and signals. The verbs are those that `--help` lists, so a new one fails here until it has its row.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::Path,
    process::{Child, Command, Stdio},
};

use opgen_tests::{
    help,
    process::is_alive,
    wait::{PATIENCE, until},
};
use rustix::process::{Pid, Signal, kill_process};

use super::command::{GOOD, Place, Run, cargo, is_build_setting};

/// A command line that each verb takes.
const VERBS: [(&str, &str); 13] = [
    ("new", "demo --group demo.example.com --kind Widget"),
    ("generate", "--dry-run"),
    ("check", "--against opgen.toml"),
    ("tree", ""),
    ("rbac explain", ""),
    ("rbac verify", "audit.log"),
    ("why", "widget/a"),
    ("reconcile", "widget/a"),
    ("profile", ""),
    ("uninstall", ""),
    ("dev", "--port 0"),
    ("sandbox", ""),
    ("completions", "bash"),
];

/// The options that say where something is written.
const OUTPUTS: [(&str, &str); 5] =
    [("new", "--path"), ("check", "--sarif"), ("dev", "--report"), ("sandbox", "--data"), ("sandbox", "--folder")];

/// Cargo that knows the project and builds nothing: what is built is a script.
const CARGO: &str = r#"#!/bin/sh
case "$1" in
metadata) exec "$REAL_CARGO" "$@" ;;
build)
    env > "$FAKE/environment"
    if [ -e "$FAKE/hang" ]; then echo $$ > "$FAKE/pid.new"; mv "$FAKE/pid.new" "$FAKE/pid"; exec sleep 1000; fi
    printf '%s\n' "{\"reason\":\"compiler-artifact\",\"package_id\":\"demo\",\"manifest_path\":\"/demo\",\"target\":{\"kind\":[\"bin\"],\"crate_types\":[\"bin\"],\"name\":\"demo\",\"src_path\":\"/demo\",\"edition\":\"2024\",\"doc\":true,\"doctest\":false,\"test\":true},\"profile\":{\"opt_level\":\"0\",\"debuginfo\":0,\"debug_assertions\":true,\"overflow_checks\":true,\"test\":false},\"features\":[],\"filenames\":[],\"executable\":\"$FAKE/operator\",\"fresh\":true}" ;;
esac
"#;

/// An operator that says something, and a generator that finds drift.
const OPERATOR: &str = r#"#!/bin/sh
case "$*" in
*"--output json --dir"*) echo '{"drift": [{"path": "a.yaml", "action": "removed", "diff": "-a"}]}'; exit 1 ;;
esac
if [ -e "$FAKE/run" ]; then echo $$ > "$FAKE/pid.new"; mv "$FAKE/pid.new" "$FAKE/pid"; exec sleep 1000; fi
echo data || exit 1
"#;

const RUSTFMT: &str = r#"#!/bin/sh
if [ -e "$FAKE/hang" ]; then echo $$ > "$FAKE/pid.new"; mv "$FAKE/pid.new" "$FAKE/pid"; exec sleep 1000; fi
"#;

/// git and kubectl, which know nothing.
const CLIENT: &str = r#"#!/bin/sh
if [ -e "$FAKE/hang" ] || [ -e "$FAKE/run" ]; then
    echo $$ > "$FAKE/pid.new"; mv "$FAKE/pid.new" "$FAKE/pid"; exec sleep 1000
fi
exit 1
"#;

/// A definition, for what compares the YAML of the project.
const DEFINITION: &str = "kind: CustomResourceDefinition\nmetadata: {name: widgets.demo.example.com}\n";

/// A project whose cargo, operator, rustfmt, git and kubectl are scripts.
struct Scripted {
    place: Place,
    /// The scripts, and what they leave.
    fake: Place,
}

impl Scripted {
    fn new() -> Self {
        let (place, fake) = (Place::new(), Place::new());
        let run = place.opgen(&format!("{GOOD} --path ."));
        assert_eq!(run.code, 0, "{}", run.stderr);
        fs::write(place.path("Cargo.lock"), "version = 4\n").unwrap();
        let scripts =
            [("cargo", CARGO), ("operator", OPERATOR), ("rustfmt", RUSTFMT), ("git", CLIENT), ("kubectl", CLIENT)];
        for (name, text) in scripts {
            fs::write(fake.path(name), text).unwrap();
            fs::set_permissions(fake.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { place, fake }
    }

    fn command(&self, args: &str) -> Command {
        let mut command = self.place.command(args);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.fake.root.display()));
        command.env("REAL_CARGO", env!("CARGO")).env("FAKE", &self.fake.root);
        command
    }

    fn ask(&self, file: &str) {
        fs::write(self.fake.path(file), "").unwrap();
    }

    /// Starts a command and waits until one of its scripts hangs. Returns also the process id of the script.
    async fn hanging(&self, mut command: Command) -> (Child, u32) {
        drop(fs::remove_file(self.fake.path("pid")));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pid = until(format!("{command:?} runs a script"), PATIENCE, async || {
            let text = fs::read_to_string(self.fake.path("pid")).map_err(|error| error.to_string())?;
            text.trim().parse().map_err(|_| text)
        });
        (child, pid.await)
    }
}

/// A command line for each verb there is.
fn rows(place: &Place) -> Vec<(String, String)> {
    let verbs = help::subcommands(&|verb: &str| place.opgen(&format!("{verb} --help")).stdout);
    assert!(verbs.len() >= VERBS.len(), "{verbs:?}");
    let row = |verb: String| {
        let row = VERBS.iter().find(|(known, _)| *known == verb);
        let (_, args) = row.unwrap_or_else(|| panic!("`{verb}` has no row in this table"));
        (verb.clone(), format!("{verb} {args}"))
    };
    verbs.into_iter().map(row).collect()
}

#[test]
fn a_full_stdout_is_a_failure_of_every_verb() {
    let scripted = Scripted::new();
    let mut lines: Vec<String> = rows(&scripted.place).into_iter().map(|(_, line)| line).collect();
    // It says what it would write, and nothing where it writes.
    lines[0] = format!("{GOOD} --path other --dry-run");
    // What it says is the last that it does.
    lines.retain(|line| !line.starts_with("dev"));
    for line in lines.iter().map(String::as_str).chain(["--version", "--help", "tree --help"]) {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = scripted.command(line).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "opgen {line}\n{said}");
    }
}

#[test]
fn words_that_are_no_utf8_are_refused_before_anything_is_written() {
    let scripted = Scripted::new();
    let word = OsStr::from_bytes(b"x\xff");
    for (verb, line) in rows(&scripted.place) {
        let mut lines = vec![vec![word.to_owned()]];
        lines.extend(OUTPUTS.iter().filter(|(of, _)| *of == verb).map(|(_, option)| vec![option.into(), word.into()]));
        for more in lines {
            // Servers that take such a path would go on; `dev` finds the project around it.
            let served = ["dev", "sandbox"].contains(&verb.as_str());
            let more = if served { [more, vec!["--port".into(), "x".into()]].concat() } else { more };
            check_refused(&scripted, &line, &more);
        }
    }
    let named =
        scripted.command("new demo --group demo.example.com --kind Widget --output json --path").arg(word).output();
    let named = named.unwrap();
    assert_eq!(named.status.code(), Some(2), "{}", String::from_utf8_lossy(&named.stderr));
    assert!(!scripted.place.root.join(word).exists());
}

/// It may be that such a word is passed on; but nothing panics, and nothing is written.
#[track_caller]
fn check_refused(scripted: &Scripted, line: &str, more: &[OsString]) {
    let before = names(&scripted.place.root);
    let output = scripted.command(line).args(more).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0..=2)) && !said.contains("panicked"), "opgen {line} {more:?}\n{said}");
    assert_eq!(names(&scripted.place.root), before, "opgen {line} {more:?}\n{said}");
}

fn names(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    // Cargo itself makes it.
    names.retain(|name| name != "target");
    names.sort();
    names
}

#[test]
fn devices_and_pipes_are_not_replaced_by_files() {
    let scripted = Scripted::new();
    for (verb, _) in rows(&scripted.place) {
        let help = scripted.place.opgen(&format!("{verb} --help")).stdout;
        for option in help::path_options(&help) {
            assert!(OUTPUTS.contains(&(&verb, option)), "`{verb} {option}` has no row in the table of outputs");
        }
    }
    let place = &scripted.place;
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/full", place.path("device")).unwrap();
    for special in ["pipe", "device"] {
        let folder = place.path(&format!("{special}-folder"));
        fs::create_dir(&folder).unwrap();
        fs::rename(place.path(special), folder.join("kubeconfig")).unwrap();
        let path = format!("{special}-folder/kubeconfig");
        for (verb, option) in OUTPUTS {
            let value = if option == "--folder" { format!("{special}-folder") } else { path.clone() };
            let (_, args) = VERBS.iter().find(|(known, _)| *known == verb).unwrap();
            let run = Run::of(scripted.command(&format!("{verb} {args} {option} {value}")), &place.root);
            assert!([1, 2].contains(&run.code), "{verb} {option} {value}: {}", run.stderr);
            let there = fs::metadata(folder.join("kubeconfig")).unwrap();
            assert!(!there.is_file() && !there.is_dir(), "{verb} {option} {value} replaced it");
        }
    }
}

#[test]
fn rules_that_the_schema_would_lack_are_refused_before_anything_is_written() {
    let scripted = Scripted::new();
    let source = scripted.place.path("api/src/widget.rs");
    let nested = "#[derive(JsonSchema)]\nstruct Parts {\n    #[schemars(length(max = 5))]\n    labels: BTreeMap<String, String>,\n}\n";
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, format!("{text}\n{nested}")).unwrap();
    // What the compiler has read.
    fs::write(scripted.fake.path("operator.d"), format!("operator: {}\n", source.display())).unwrap();
    let run = Run::of(scripted.command("generate"), &scripted.place.root);
    let line = text.lines().count() + 4;
    let found =
        format!("nothing was written\n  api/src/widget.rs:{line}: `Parts.labels`: `length` has no effect on a map; ");
    assert!(run.code == 1 && run.stderr.contains(&found) && run.stderr.contains("\nhint: "), "{}", run.stderr);
    assert!(!scripted.place.path("deploy").exists());
}

#[tokio::test]
async fn a_signal_ends_what_a_verb_has_started() {
    let scripted = Scripted::new();
    // The servers and `new` have tests of their own, and `completions` starts nothing.
    let others = ["dev", "sandbox", "completions", "new"];
    let rows = rows(&scripted.place).into_iter().filter(|(verb, _)| !others.contains(&verb.as_str()));
    // `check` starts git for a revision, and kubectl for a cluster.
    let (checks, mut lines): (Vec<_>, Vec<_>) = rows.partition(|(verb, _)| verb == "check");
    for (verb, _) in checks {
        lines.extend(["v1", "cluster"].map(|release| (verb.clone(), format!("{verb} --against {release}"))));
    }
    let generated = scripted.place.path("deploy");
    fs::create_dir(&generated).unwrap();
    fs::write(generated.join("widgets.yaml"), DEFINITION).unwrap();
    for (hang, signal, code) in [("hang", Signal::TERM, 143), ("run", Signal::INT, 130)] {
        scripted.ask(hang);
        for (_, line) in &lines {
            let (mut child, script) = scripted.hanging(scripted.command(line)).await;
            kill_process(Pid::from_child(&child), signal).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(code), "opgen {line}");
            until(format!("opgen {line} leaves nothing running"), PATIENCE, async || {
                if is_alive(script) { Err("it runs".to_owned()) } else { Ok(()) }
            })
            .await;
        }
        fs::remove_file(scripted.fake.path(hang)).unwrap();
    }
}

/// Returns the variables that `cargo run` sets for a package with a build script.
fn variables_of_cargo_run() -> Vec<(String, String)> {
    let package = Place::new();
    let manifest = "[package]\nname = \"package\"\nedition = \"2024\"\n\n[workspace]\n";
    let print = "fn main() { std::env::vars().for_each(|(name, value)| println!(\"{name}={value}\")) }";
    fs::create_dir(package.path("src")).unwrap();
    for (path, text) in [("Cargo.toml", manifest), ("build.rs", "fn main() {}"), ("src/main.rs", print)] {
        fs::write(package.path(path), text).unwrap();
    }
    let output = cargo(&package.root, &package.path("target")).args(["run", "--quiet"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let variables = printed.lines().filter_map(|line| line.split_once('='));
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[tokio::test]
async fn builds_have_no_variables_of_the_package_that_cargo_runs() {
    let outer = variables_of_cargo_run();
    let of_package =
        |(name, _): &&(String, String)| (name.starts_with("CARGO_") && !is_build_setting(name)) || name == "OUT_DIR";
    let of_package: Vec<_> = outer.iter().filter(of_package).cloned().collect();
    assert!(
        ["CARGO_PKG_NAME", "OUT_DIR"].iter().all(|name| of_package.iter().any(|(other, _)| other == name)),
        "{outer:?}"
    );
    let scripted = Scripted::new();
    scripted.ask("hang");
    for line in ["dev --port 0", "generate --dry-run", "tree"] {
        let mut command = scripted.command(line);
        command.envs(of_package.clone()).env("CARGO_INCREMENTAL", "0");
        let (mut child, _) = scripted.hanging(command).await;
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        child.wait().unwrap();
        let environment = fs::read_to_string(scripted.fake.path("environment")).unwrap();
        let has = |name: &str, value: &str| environment.lines().any(|line| line == format!("{name}={value}"));
        for (name, value) in &of_package {
            assert!(!has(name, value), "opgen {line}: {name}={value}");
        }
        // A setting of the user, which the build keeps.
        assert!(has("CARGO_INCREMENTAL", "0"), "opgen {line}\n{environment}");
        fs::remove_file(scripted.fake.path("environment")).unwrap();
    }
}

#[tokio::test]
async fn a_signal_leaves_nothing_of_a_half_written_project() {
    let scripted = Scripted::new();
    scripted.ask("hang");
    let empty = Place::new();
    let line = format!("{GOOD} --path {}/deep/demo", empty.root.display());
    let (mut child, formatter) = scripted.hanging(scripted.command(&line)).await;
    assert!(names(&empty.root).iter().any(|name| name.to_string_lossy().starts_with(".opgen-new-")));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(names(&empty.root), [""; 0]);
    until("rustfmt is ended", PATIENCE, async || if is_alive(formatter) { Err("it runs".to_owned()) } else { Ok(()) })
        .await;
}
