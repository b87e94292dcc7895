//! Every refusal: what is wrong, what to do, which exit code, and that nothing was written.

use std::{env, fs, os::unix::fs::PermissionsExt as _, path::Path};

use super::command::{GOOD, Place, Run};

#[track_caller]
fn check_refusal(place: &Place, args: &str, code: i32, expected: &str) {
    let before = place.files();
    let run = place.opgen(args);
    assert_eq!(run, Run { code, stdout: String::new(), stderr: expected.trim_start().to_owned() }, "opgen {args}");
    assert_eq!(place.files(), before, "opgen {args}");
}

#[test]
fn a_bad_answer_is_refused_with_a_better_one() {
    let place = Place::new();
    let rest = "--group demo.example.com --kind Widget";
    check_refusal(&place, &format!("new My_Demo {rest}"), 2, r"
error: `My_Demo` can't be the name of an operator: a name is made of lower case letters, digits and inner dashes

hint: for example `opgen new my-demo`
");
    check_refusal(&place, &format!("new 9lives {rest}"), 2, r"
error: `9lives` can't be the name of an operator: the name of a package starts with a letter

hint: for example `opgen new operator-9lives`
");
    check_refusal(&place, &format!("new match {rest}"), 2, r"
error: `match` can't be the name of an operator: it is a keyword of Rust

hint: for example `opgen new match-operator`
");
    check_refusal(&place, &format!("new std {rest}"), 2, r"
error: `std` can't be the name of an operator: it is a crate of Rust itself

hint: for example `opgen new std-operator`
");
    check_refusal(&place, &format!("new pod {rest}"), 2, r"
error: `pod` can't be the name of an operator: it is what Kubernetes calls a Pod

hint: for example `opgen new pod-operator`
");
    check_refusal(&place, "new demo --group demo --kind Widget", 2, r"
error: `demo` can't be an API group: it has no dot; only the groups of Kubernetes itself have none

hint: use a domain that is yours, for example `--group demo.example.com`
");
    check_refusal(&place, "new demo --group demo.k8s.io --kind Widget", 2, r"
error: `demo.k8s.io` can't be an API group: the API server keeps the groups below `k8s.io` and `kubernetes.io` for Kubernetes

hint: use a domain that is yours, for example `--group demo.example.com`
");
    check_refusal(&place, "new demo --group demo.example.com --kind my-widget", 2, r"
error: `my-widget` can't be a kind: a kind is written in PascalCase letters and digits

hint: for example `--kind MyWidget`
");
    check_refusal(&place, "new demo --group demo.example.com --kind Deployment", 2, r"
error: `Deployment` can't be a kind: Kubernetes has a kind of this name

hint: say what it is for, for example `--kind MyDeployment`
");
    check_refusal(&place, "new demo --group demo.example.com --kind Option", 2, r"
error: `Option` can't be a kind: the project's code has another `Option` in scope

hint: say what it is for, for example `--kind MyOption`
");
    check_refusal(&place, &format!("{GOOD} --api-version 1.0"), 2, r"
error: `1.0` can't be the version of an API: it is `v1`, `v2beta1`, `v1alpha2`, …

hint: `--api-version v1alpha1` is where most APIs begin
");
    check_refusal(&place, &format!("{GOOD} --opgen-path ."), 2, r"
error: `.` is no checkout of opgen

hint: `--opgen-path` takes the folder that holds opgen's `runtime/Cargo.toml`
");
}

#[test]
fn without_a_terminal_a_missing_answer_is_an_error() {
    let place = Place::new();
    let example = "hint: for example `opgen new demo --group demo.example.com --kind Widget`\n";
    check_refusal(&place, "new", 2, &format!("error: the name is missing\n\n{example}"));
    check_refusal(&place, "new demo --kind Widget", 2, &format!("error: `--group` is missing\n\n{example}"));
    check_refusal(&place, "new demo --group a.b", 2, &format!("error: `--kind` is missing\n\n{example}"));
}

#[test]
fn what_is_there_is_never_overwritten() {
    let place = Place::new();
    fs::create_dir(place.path("demo")).unwrap();
    fs::write(place.path("demo/thesis.tex"), "precious").unwrap();
    fs::write(place.path("file"), "precious").unwrap();
    check_refusal(&place, GOOD, 1, r"
error: `[here]/demo` exists and is not empty

hint: choose another folder with `--path`; nothing is ever overwritten
");
    check_refusal(&place, &format!("{GOOD} --path file --dry-run"), 1, r"
error: `[here]/file` is not a folder

hint: choose another folder with `--path`; nothing is ever overwritten
");
}

#[test]
fn a_machine_without_a_rust_toolchain_is_told_where_to_get_one() {
    let place = Place::new();
    fs::create_dir(place.path("bin")).unwrap();
    let before = place.files();
    let mut command = place.command(GOOD);
    let run = Run::of({ command.env("PATH", place.path("bin")); command }, &place.root);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert_eq!(run.stderr, "error: there is no working `cargo` on the PATH\n  caused by: No such file or directory (os error 2)\n\nhint: install Rust with https://rustup.rs\n");
    assert_eq!(place.files(), before);
}

#[test]
fn a_compiler_that_is_too_old_is_told_apart() {
    let place = Place::new();
    fs::create_dir(place.path("bin")).unwrap();
    script(&place.path("bin/cargo"), "echo 'cargo 1.88.0'");
    script(&place.path("bin/rustc"), "echo 'rustc 1.88.0 (6b00bc388 2025-06-23)'");
    let mut command = place.command(GOOD);
    let path = format!("{}:{}", place.path("bin").display(), env::var("PATH").unwrap());
    let run = Run::of({ command.env("PATH", path); command }, &place.root);
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with("error: rustc 1.88.0 is too old: opgen needs 1.89 or newer\n\nhint: "), "{}", run.stderr);
    assert!(!place.path("demo").exists());
}

fn script(path: &Path, line: &str) {
    fs::write(path, format!("#!/bin/sh\n{line}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn commands_for_a_project_say_where_they_belong() {
    let place = Place::new();
    for args in ["generate", "generate --check", "tree", "uninstall --dry-run"] {
        check_refusal(&place, args, 1, r"
error: there is no `opgen.toml` in `[here]` or above

hint: run this inside a project; `opgen new` makes one
");
    }
}

#[test]
fn a_command_line_that_clap_refuses_ends_in_2() {
    let place = Place::new();
    for args in ["", "make", "new --flavour x", "completions klingon", "generate --check --dry-run", "new --output yaml"] {
        let run = place.opgen(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "opgen {args}: {}", run.stderr);
    }
}
