//! `opgen check`: the changes between the YAML of a project and an earlier release.

use std::{fs, process::Command};

use serde_json::Value;

use crate::scaffold::command::{Place, Run};

/// The YAML of a release, with the schema of the field `size` and the verbs on Secrets.
fn release(size: &str, verbs: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.demo.example.com}}
spec:
  group: demo.example.com
  scope: Namespaced
  names: {{kind: Widget, plural: widgets}}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {{type: object, properties: {{size: {size}}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: demo}}
rules: [{{apiGroups: [''], resources: [secrets], verbs: [{verbs}]}}]
"
    )
}

/// A project in git, whose first release has the tag `v1`.
fn project() -> Place {
    let place = Place::new();
    fs::write(place.path("opgen.toml"), "[project]\nname = \"demo\"\ngenerated = \"deploy\"\n").unwrap();
    fs::create_dir_all(place.path("deploy/base/crds")).unwrap();
    // The templates of a chart are no YAML.
    fs::create_dir_all(place.path("deploy/chart/templates")).unwrap();
    fs::write(place.path("deploy/chart/templates/role.yaml"), "{{- if true }}\n").unwrap();
    write(&place, &release("{type: integer, maximum: 10}", "get"));
    git(&place, &["init", "--quiet"]);
    git(&place, &["add", "."]);
    git(&place, &["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "One"]);
    git(&place, &["tag", "v1"]);
    place
}

fn write(place: &Place, yaml: &str) {
    fs::write(place.path("deploy/base/crds/widgets.yaml"), yaml).unwrap();
}

fn git(place: &Place, arguments: &[&str]) {
    let status = Command::new("git").arg("-C").arg(&place.root).args(arguments).status().expect("git is installed");
    assert!(status.success(), "git {arguments:?}");
}

#[track_caller]
fn assert_run(run: &Run, code: i32, stdout: &str, stderr: &str) {
    let expected = Run { code, stdout: stdout.to_owned(), stderr: stderr.to_owned() };
    assert_eq!(run, &expected);
}

#[test]
fn a_release_that_is_the_same_is_compatible() {
    let run = project().opgen("check --against v1");
    assert_run(&run, 0, "", "     Checked deploy is compatible with `v1`\n");
}

#[test]
fn a_breaking_change_since_a_revision_is_named_and_fails() {
    let place = project();
    write(&place, &release("{type: integer, maximum: 9}", "get, list"));
    let run = place.opgen("check --against v1 --sarif review.sarif");
    assert_run(
        &run,
        1,
        "breaking for stored objects, clients: widgets.demo.example.com v1alpha1 .spec.size: `maximum` was 10 and is 9: existing \
         values may be invalid\nClusterRole demo gains: list on secrets\n",
        "error: 1 change is breaking since `v1`\n\nhint: keep what clients and stored objects use, and make the change in a new \
         version\n",
    );
    let sarif: Value = serde_json::from_str(&fs::read_to_string(place.path("review.sarif")).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let levels: Vec<_> = results.iter().map(|result| (&result["ruleId"], &result["level"])).collect();
    assert_eq!(
        format!("{levels:?}"),
        r#"[(String("breaking-change"), String("error")), (String("new-permission"), String("warning"))]"#
    );
    let file = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(file, "deploy/base/crds/widgets.yaml");
}

#[test]
fn changes_of_an_alpha_version_can_be_allowed() {
    let place = project();
    write(&place, &release("{type: string}", "get"));
    let run = place.opgen("check --against v1 --allow-alpha --output json");
    assert_eq!(run.code, 0, "{run:?}");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let change = &found["changes"][0];
    assert_eq!((&change["path"], &change["version"]), (&".spec.size".into(), &"v1alpha1".into()));
    assert_eq!(change["breaks"], serde_json::json!({"storedObjects": true, "clients": true}));
}

#[test]
fn a_harmless_change_since_a_file_is_shown_and_passes() {
    let place = project();
    fs::rename(place.path("deploy/base/crds/widgets.yaml"), place.path("old.yaml")).unwrap();
    write(&place, &release("{type: integer, maximum: 20}", "get"));
    let run = place.opgen("check --against old.yaml");
    let change =
        "harmless: widgets.demo.example.com v1alpha1 .spec.size: `maximum` was 10 and is 20: more values are valid\n";
    assert_run(&run, 0, change, "     Checked deploy is compatible with `old.yaml`\n");
}

#[test]
fn a_release_that_does_not_exist_is_refused() {
    let place = project();
    assert_run(
        &place.opgen("check --against v2"),
        2,
        "",
        "error: `v2` is no file, no folder and no revision of git\n\nhint: name a tag or a branch, for example `--against v1.2.0`, or a \
         file\n",
    );
    fs::create_dir(place.path("empty")).unwrap();
    let run = place.opgen("check --against empty");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("`empty` has no YAML"), "{run:?}");
}
