//! A scaffolded project, built and used as its owner would: every door leaves the same YAML, and drift is seen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::Value;

use crate::{
    project::Project,
    scaffold::command::{Run, cargo, checkout, command, target_folder, target_of_projects},
};

#[test]
fn a_new_project_builds_passes_its_tests_and_keeps_its_yaml_current() {
    let project = Project::new("namespaced", "demo --group demo.example.com --kind Widget");
    let said = project.cargo("build");
    assert!(!said.contains("warning"), "{said}");
    let built = project.deploy();
    for path in ["base/crds/demo.example.com_widgets.yaml", "base/rbac.yaml", "base/operator.yaml", "install.yaml"] {
        assert!(built.contains_key(path), "{:?}", built.keys());
    }
    project.cargo("test");

    project.check_opgen("generate --check", 0, "Unchanged deploy/");
    project.check_opgen("generate", 0, "Unchanged deploy/");
    assert_eq!(project.deploy(), built, "two doors, the same bytes");
    let generator = target_of_projects().join("opgen/demo-generator");
    assert_eq!(
        runtimes(&generator),
        runtimes(&project.root),
        "the build of the project has built all but the generator"
    );
    let install = project.cargo("run --quiet -- manifests");
    assert_eq!(install, built["install.yaml"], "the third door");

    drift_is_seen_and_mended(&project, &built);
    files_come_and_go(&project);
    the_operator_explains_itself(&project);
    let said = project.lint();
    assert_eq!(said, "");
}

/// Returns the files of the runtime that a build in a folder links.
#[track_caller]
fn runtimes(folder: &Path) -> BTreeSet<String> {
    let output =
        cargo(folder, &target_of_projects()).args(["build", "--message-format=json"]).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).expect("cargo prints JSON");
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let runtimes = messages.filter(|message| message["target"]["name"] == "opgen");
    let files: BTreeSet<_> = runtimes.map(|message| message["filenames"].to_string()).collect();
    assert!(!files.is_empty(), "the runtime is linked in {}", folder.display());
    files
}

fn drift_is_seen_and_mended(project: &Project, built: &BTreeMap<String, String>) {
    project.edit("api/src/widget.rs", "max = 50", "max = 60");
    let diff = project.check_opgen("generate --check", 1, "`deploy/` is not up to date\n\nhint: run `opgen generate`");
    let has = |sign: char, text: &str| diff.lines().any(|line| line.starts_with(sign) && line.contains(text));
    assert!(has('-', "maximum: 50") && has('+', "maximum: 60"), "{diff}");
    let planned =
        project.check_opgen("generate --dry-run", 0, "Different deploy/base/crds/demo.example.com_widgets.yaml");
    assert_eq!(planned, diff);
    let json: Value =
        serde_json::from_str(&project.check_opgen("generate --check --output json", 1, "")).expect("JSON");
    let drift = json["drift"].as_array().expect("a list");
    assert_eq!(drift[0]["path"], "base/crds/demo.example.com_widgets.yaml");
    assert_eq!(drift[0]["action"], "updated");
    assert_eq!(&project.deploy(), built, "nothing was written");

    let said = project.check_opgen("generate", 0, "Updated deploy/base/crds/demo.example.com_widgets.yaml");
    assert_eq!(said, "", "data only");
    project.check_opgen("generate --check", 0, "Unchanged deploy/");
    let generated = project.deploy();
    assert_ne!(&generated, built);
    project.cargo("build --quiet");
    assert_eq!(project.deploy(), generated, "the build has nothing to add");
}

fn the_operator_explains_itself(project: &Project) {
    assert!(project.check_opgen("tree", 0, "").contains("ConfigMap"));
    let drawing = project.check_opgen("tree widgets --output svg", 0, "");
    assert!(drawing.starts_with("<svg xmlns=") && drawing.contains(">ConfigMap<"), "{drawing}");
    assert!(project.check_opgen("tree --mermaid", 0, "").starts_with("flowchart TD\n"));
    assert!(project.check_opgen("tree -- --mermaid", 0, "").starts_with("flowchart TD\n"));
    let tree: Value = serde_json::from_str(&project.check_opgen("tree -o json", 0, "")).expect("JSON");
    assert_eq!(tree[0]["kind"], "Widget");
    project.check_opgen(
        "tree gadget/one",
        1,
        "error: demo does not control kind `gadget`\n\nhint: the operator controls Widget",
    );
    let rights = project.check_opgen("rbac explain", 0, "");
    assert!(rights.contains("node config, controller/src/widget.rs:"), "{rights}");
    let rights: Value = serde_json::from_str(&project.check_opgen("rbac explain -o json", 0, "")).expect("JSON");
    assert!(rights.as_array().is_some_and(|rules| rules.iter().any(|rule| rule["askedBy"]["node"] == "config")));
    fs::write(project.root.join("api/audit.log"), "{}\n").expect("a file");
    project.check_opgen("rbac verify audit.log", 1, "error: line 1 of the audit log is not an audit.k8s.io/v1 event");
    fs::remove_file(project.root.join("api/audit.log")).expect("a file");
}

fn files_come_and_go(project: &Project) {
    let current = project.deploy();
    let file = |path: &str| project.root.join("deploy").join(path);
    fs::write(file("base/crds/gadgets.yaml"), &current["base/rbac.yaml"]).expect("a file");
    fs::write(file("mine.yaml"), "# by hand\n").expect("a file");
    fs::remove_file(file("base/rbac.yaml")).expect("a file");
    project.check_opgen("generate --check", 1, "Missing deploy/base/rbac.yaml");
    project.check_opgen("generate --check", 1, "Stale deploy/base/crds/gadgets.yaml");
    project.check_opgen("generate", 0, "Removed deploy/base/crds/gadgets.yaml");
    let mut after = project.deploy();
    assert_eq!(after.remove("mine.yaml").as_deref(), Some("# by hand\n"), "what a person wrote stays");
    assert_eq!(after, current);
    fs::remove_file(file("mine.yaml")).expect("a file");
}

#[test]
fn a_cluster_scoped_project_builds_and_passes_its_tests() {
    let args = "web-shop --group shop.example.com --kind HTTPShop --api-version v1beta2 --cluster-scoped";
    let project = Project::new("cluster-scoped", args);
    let said = project.cargo("build");
    assert!(!said.contains("warning"), "{said}");
    assert!(project.deploy()["install.yaml"].contains("scope: Cluster"));
    project.cargo("test");
    project.check_opgen("generate --check", 0, "Unchanged deploy/");
}

#[test]
fn code_that_does_not_compile_is_told_by_the_compiler_and_writes_nothing() {
    let project = Project::new("broken", "broken --group demo.example.com --kind Widget");
    project.edit("controller/src/widget.rs", "fn config(", "fn konfig(");
    let run = project.opgen("generate");
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("config") && run.stderr.contains("controller/src/widget.rs"), "{}", run.stderr);
    let end = "error: failed to build the project's code\n\nhint: run `cargo check` in the project to see the errors\n";
    assert!(run.stderr.ends_with(end), "{}", run.stderr);
    assert!(!project.root.join("deploy").exists());
}

#[test]
fn a_project_whose_operator_lost_its_build_dependencies_says_so() {
    let project = Project::new("undone", "undone --group demo.example.com --kind Widget");
    project.edit("operator/Cargo.toml", "[build-dependencies]\n", "[target.'cfg(windows)'.dependencies]\n");
    fs::remove_file(project.root.join("operator/build.rs")).expect("a file");
    project.check_opgen("generate", 1, "error: package `undone` has no build dependency `undone-controller`\n\nhint: ");
}

#[test]
fn a_project_that_is_a_part_of_a_larger_workspace_is_checked() {
    let mut check = command(&checkout().join("examples/webapp"), "generate --check");
    check.env("CARGO_TARGET_DIR", target_folder());
    let run = Run::of(check, checkout());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("Unchanged deploy/"), "{}", run.stderr);
}

#[test]
fn what_the_api_server_would_refuse_is_said_in_its_words_and_writes_nothing() {
    let project = Project::new("refused", "unserved --group demo.example.com --kind Widget");
    project.edit(
        "api/src/widget.rs",
        "    #[schemars(range(min = 0, max = 50))]",
        "    #[schemars(range(min = 0, max = 50), extend(\"x-kubernetes-validations\" = [{\"rule\": \"self >\"}]))]",
    );
    let run = project.opgen("generate");
    assert_eq!(run.code, 1, "{}", run.stderr);
    let refused = "the API server would reject the generated YAML; nothing was written\n  base/crds/demo.example.com_widgets.yaml: .spec.";
    assert!(run.stderr.contains(refused) && run.stderr.contains("x-kubernetes-validations[0].rule"), "{}", run.stderr);
    assert!(!project.root.join("deploy").exists());
}
