//! What goes to stdout and what to stderr, and in which form.

use serde_json::Value;

use super::command::{GOOD, Place, Run};

#[test]
fn a_new_project_is_told_on_stderr_file_by_file() {
    let place = Place::new();
    let run = place.opgen(GOOD);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let lines: Vec<_> = run.stderr.lines().collect();
    let files = place.files();
    assert_eq!(lines.len(), files.len() + 3, "{}", run.stderr);
    for ((path, _), line) in files.iter().zip(&lines) {
        assert_eq!(*line, format!("    Creating {path}"));
    }
    assert_eq!(lines[files.len()], "     Created operator `demo` for `Widget` of `demo.example.com/v1alpha1`");
    assert_eq!(lines[files.len() + 2], "  cd demo && cargo build     builds it and writes its YAML to deploy/");
}

#[test]
fn a_project_with_a_bucket_names_it() {
    let place = Place::new();
    let run = place.opgen(&format!("{GOOD} --primary nats"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let created =
        "Created operator `demo` for `Widget` of `demo.example.com/v1alpha1`, in the bucket `widgets` of NATS\n";
    assert!(run.stderr.contains(created), "{}", run.stderr);
    let types = std::fs::read_to_string(place.path("demo/api/src/widget.rs")).expect("the types");
    assert!(types.contains("#[managed(nats(bucket = \"widgets\"))]\n"), "{types}");
}

#[test]
fn a_dry_run_lists_the_plan_and_writes_nothing() {
    let place = Place::new();
    let planned = place.opgen(&format!("{GOOD} --dry-run"));
    assert_eq!(place.files(), []);
    assert_eq!(planned.stderr, format!("     Planned {} files; nothing was written\n", planned.stdout.lines().count()));
    assert_eq!(place.opgen(GOOD).code, 0);
    let written = place.files().into_iter().map(|(path, _)| path + "\n").collect::<String>();
    assert_eq!(planned.stdout, written);
}

#[test]
fn json_is_one_document_on_stdout() {
    let place = Place::new();
    let planned = place.opgen(&format!("--output json {GOOD} --dry-run --quiet"));
    let written = place.opgen(&format!("{GOOD} --output json --quiet"));
    let [planned, written] = [planned, written].map(|run| {
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        serde_json::from_str::<Value>(&run.stdout).expect("JSON")
    });
    assert_eq!((&planned["written"], &written["written"]), (&Value::Bool(false), &Value::Bool(true)));
    assert_eq!(planned["files"], written["files"]);
    assert_eq!(written["path"], "[here]/demo");
    let files = written["files"].as_array().expect("a list").iter();
    let files: Vec<_> = files.map(|file| format!("demo/{}", file.as_str().expect("a path"))).collect();
    assert_eq!(files, place.files().into_iter().map(|(path, _)| path).collect::<Vec<_>>());
}

#[test]
fn quiet_leaves_errors_only() {
    let place = Place::new();
    assert_eq!(place.opgen(&format!("{GOOD} --quiet")), Run { code: 0, stdout: String::new(), stderr: String::new() });
    assert!(place.opgen(&format!("{GOOD} --quiet")).stderr.starts_with("error: `[here]/demo` exists"));
}

#[test]
fn colours_come_when_asked_for_and_never_against_no_color() {
    let place = Place::new();
    let stderr = |wishes: &[(&str, &str)]| {
        let mut command = place.command("new");
        command.envs(wishes.iter().copied());
        Run::of(command, &place.root).stderr
    };
    assert!(!stderr(&[]).contains('\u{1b}'), "no terminal");
    assert!(stderr(&[("CLICOLOR_FORCE", "1")]).starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m the name is missing"));
    assert!(!stderr(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn an_empty_folder_is_filled_and_stays_the_same_folder() {
    use std::os::unix::fs::MetadataExt as _;
    let place = Place::new();
    let inode = || std::fs::metadata(&place.root).expect("the folder").ino();
    let before = inode();
    let run = place.opgen(&format!("{GOOD} --path ."));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(inode(), before);
    let files = place.files();
    assert!(files.iter().any(|(path, _)| path == "opgen.toml"), "{files:?}");
    assert!(!files.iter().any(|(path, _)| path.starts_with(".opgen-new-")), "{files:?}");
}

#[test]
fn folders_above_are_made_and_a_checkout_above_is_named_by_a_relative_path() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("fork/runtime")).expect("a folder");
    std::fs::write(place.path("fork/runtime/Cargo.toml"), "[package]\nname = \"opgen\"\n").expect("a file");
    let run = place.opgen(&format!("{GOOD} --path fork/examples/deep/demo --opgen-path fork"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let manifest = std::fs::read_to_string(place.path("fork/examples/deep/demo/Cargo.toml")).expect("a manifest");
    assert!(manifest.contains("opgen = { path = \"../../../runtime\" }\n"), "{manifest}");
}

#[test]
fn every_shell_gets_completions() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = place.opgen(&format!("completions {shell}"));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        for word in ["uninstall", "rbac", "explain", "verify", "svg"] {
            assert!(run.stdout.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn help_is_data_and_fits_a_terminal() {
    let place = Place::new();
    let verbs = ["new", "generate", "tree", "rbac", "rbac explain", "rbac verify", "uninstall", "completions", ""];
    for args in verbs.into_iter().chain(["why", "reconcile"]).map(|verb| format!("{verb} --help")) {
        let run = place.opgen(&args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "{}", run.stdout);
    }
}
