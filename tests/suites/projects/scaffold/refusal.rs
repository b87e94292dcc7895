//! Every refusal: what is wrong, what to do, which exit code, and that nothing was written.

use std::{env, fs, path::Path, process::Command};

use super::command::{GOOD, Place, Run};

/// Runs what stands behind each `$`, and compares what it says and the exit code in brackets. Nothing may be written.
#[track_caller]
fn check_transcript(place: &Place, transcript: &str) {
    let before = place.files();
    for case in transcript.split("$ opgen ").skip(1) {
        let (args, expected) = case.split_once('\n').expect("a command line");
        let run = place.opgen(args);
        assert_eq!(format!("{}[{}]", run.stderr, run.code), expected.trim_end(), "opgen {args}");
        assert_eq!(run.stdout, "", "opgen {args}");
    }
    assert_eq!(place.files(), before);
}

#[test]
fn a_bad_name_is_refused_with_a_better_one() {
    check_transcript(
        &Place::new(),
        r"
$ opgen new My_Demo
error: `My_Demo` can't be the name of an operator: a name consists of lower case letters, digits and inner dashes

hint: for example `opgen new my-demo`
[2]
$ opgen new 9lives
error: `9lives` can't be the name of an operator: the name of a package starts with a letter

hint: for example `opgen new operator-9lives`
[2]
$ opgen new match
error: `match` can't be the name of an operator: it is a keyword of Rust

hint: for example `opgen new match-operator`
[2]
$ opgen new test
error: `test` can't be the name of an operator: it is a crate of the Rust standard library

hint: for example `opgen new test-operator`
[2]
$ opgen new kube
error: `kube` can't be the name of an operator: it is a crate that the project depends on

hint: for example `opgen new kube-operator`
[2]
$ opgen new pod
error: `pod` can't be the name of an operator: it is the name of the Kubernetes kind Pod

hint: for example `opgen new pod-operator`
[2]
",
    );
}

#[test]
fn a_bad_group_is_refused() {
    check_transcript(
        &Place::new(),
        r"
$ opgen new demo --group Demo.Example.com
error: `Demo.Example.com` can't be an API group: a group is a domain name: lower case letters, digits, inner dashes and dots

hint: use a domain that you own, for example `--group demo.example.com`
[2]
$ opgen new demo --group demo
error: `demo` can't be an API group: it has no dot, like the groups of Kubernetes itself

hint: use a domain that you own, for example `--group demo.example.com`
[2]
$ opgen new demo --group demo.k8s.io
error: `demo.k8s.io` can't be an API group: groups below `k8s.io` and `kubernetes.io` are reserved for Kubernetes

hint: use a domain that you own, for example `--group demo.example.com`
[2]
",
    );
}

#[test]
fn a_bad_kind_is_refused_with_a_better_one() {
    check_transcript(
        &Place::new(),
        r"
$ opgen new demo --group demo.example.com --kind my-widget
error: `my-widget` can't be a kind: a kind is written in PascalCase letters and digits

hint: for example `--kind MyWidget`
[2]
$ opgen new demo --group demo.example.com --kind Deployment
error: `Deployment` can't be a kind: it is a kind of Kubernetes

hint: use a more specific name, for example `--kind MyDeployment`
[2]
$ opgen new demo --group demo.example.com --kind Option
error: `Option` can't be a kind: the project's code imports another `Option`

hint: use a more specific name, for example `--kind MyOption`
[2]
$ opgen new demo --group demo.example.com --kind Match
error: `Match` can't be a kind: its module would be called `match`, which is a keyword of Rust

hint: use a more specific name, for example `--kind MyMatch`
[2]
",
    );
}

#[test]
fn a_bad_version_or_checkout_is_refused() {
    check_transcript(
        &Place::new(),
        r"
$ opgen new demo --group demo.example.com --kind Widget --api-version 1.0
error: `1.0` can't be the version of an API: it is `v1`, `v2beta1`, `v1alpha2`, …

hint: use `--api-version v1alpha1` for a new API
[2]
$ opgen new demo --group demo.example.com --kind Widget --opgen-path .
error: `.` is not a checkout of opgen

hint: set `--opgen-path` to the folder that contains opgen's `runtime/Cargo.toml`
[2]
",
    );
}

#[test]
fn a_kind_in_kubernetes_is_not_managed_without_it() {
    check_transcript(
        &Place::new(),
        r"
$ opgen new demo --group demo.example.com --kind Widget --without-kubernetes
error: `--without-kubernetes` needs a kind whose objects are not in Kubernetes

hint: add `--primary nats`, or remove `--without-kubernetes`
[2]
",
    );
}

#[test]
fn without_a_terminal_a_missing_answer_is_an_error() {
    check_transcript(
        &Place::new(),
        r"
$ opgen new
error: the name is missing

hint: for example `opgen new demo --group demo.example.com --kind Widget`
[2]
$ opgen new demo --kind Widget
error: `--group` is missing

hint: for example `opgen new demo --group demo.example.com --kind Widget`
[2]
$ opgen new demo --group demo.example.com
error: `--kind` is missing

hint: for example `opgen new demo --group demo.example.com --kind Widget`
[2]
",
    );
}

#[test]
fn what_is_there_is_never_overwritten() {
    let place = Place::new();
    fs::create_dir(place.path("demo")).unwrap();
    fs::write(place.path("demo/thesis.tex"), "precious").unwrap();
    fs::write(place.path("file"), "precious").unwrap();
    check_transcript(
        &place,
        r"
$ opgen new demo --group demo.example.com --kind Widget
error: `[here]/demo` exists and is not empty

hint: choose another folder with `--path`; existing files are never overwritten
[1]
$ opgen new demo --group demo.example.com --kind Widget --path file --dry-run
error: `[here]/file` is not a folder

hint: choose another folder with `--path`; existing files are never overwritten
[1]
",
    );
}

#[test]
fn commands_for_a_project_say_where_they_belong() {
    let place = Place::new();
    let verbs =
        ["dev", "generate", "generate --check", "tree", "tree widget/one -n shop -o svg", "uninstall --dry-run"];
    let objects = ["why widget/one -n shop", "reconcile widget/one"];
    for args in verbs.into_iter().chain(objects).chain(["rbac explain", "rbac verify audit.log"]) {
        let said = "error: `opgen.toml` not found in `[here]` or its parent folders\n\n\
                    hint: run this inside a project, or create one with `opgen new`\n[1]";
        check_transcript(&place, &format!("$ opgen {args}\n{said}"));
    }
}

#[test]
fn pictures_are_of_trees_and_have_one_form() {
    check_transcript(
        &Place::new(),
        r"
$ opgen generate --output svg
error: `--output svg` is for trees only

hint: use it with `opgen tree`, or choose `text` or `json`
[2]
$ opgen tree --mermaid -o json
error: `--mermaid` and `--output json` can't be combined

hint: remove one of them
[2]
",
    );
}

#[test]
fn a_machine_without_a_rust_toolchain_is_told_where_to_get_one() {
    let place = Place::new();
    fs::create_dir(place.path("bin")).unwrap();
    let before = place.files();
    let mut command = place.command(GOOD);
    command.env("PATH", place.path("bin"));
    let run = Run::of(command, &place.root);
    let said = "error: no working `cargo` found on the PATH\n  caused by: No such file or directory (os error 2)\n";
    assert_eq!(run.stderr, format!("{said}\nhint: install Rust with https://rustup.rs\n"));
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert_eq!(place.files(), before);
}

#[test]
fn a_compiler_that_is_too_old_is_told_apart() {
    let place = Place::new();
    fs::create_dir(place.path("bin")).unwrap();
    script(&place.path("bin/cargo"), "echo 'cargo 1.88.0'");
    script(&place.path("bin/rustc"), "echo 'rustc 1.88.0 (6b00bc388 2025-06-23)'");
    let mut command = place.command(GOOD);
    command.env("PATH", format!("{}:{}", place.path("bin").display(), env::var("PATH").unwrap()));
    let run = Run::of(command, &place.root);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.starts_with("error: rustc 1.88.0 is too old: opgen needs 1.89 or newer\n\nhint: "),
        "{}",
        run.stderr
    );
    assert!(!place.path("demo").exists());
}

/// Written by another process: a file that this one has open while it forks can't be run ("text file busy").
fn script(path: &Path, line: &str) {
    let write = r#"printf '#!/bin/sh\n%s\n' "$1" > "$0" && chmod +x "$0""#;
    let status = Command::new("sh").args(["-c", write]).arg(path).arg(line).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_command_line_that_clap_refuses_ends_in_2() {
    let place = Place::new();
    for args in [
        "",
        "make",
        "new --flavour x",
        "completions klingon",
        "generate --check --dry-run",
        "new --output yaml",
        "rbac",
        "rbac verify",
    ] {
        let run = place.opgen(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "opgen {args}: {}", run.stderr);
    }
}
