//! Tests the generated files of the Helm chart of an operator as text. Another test suite renders and installs them with Helm.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::manifest::{File, files as all_files, fixture};

/// The files of the chart by their paths in it.
fn chart(project: &Project) -> Vec<(String, String)> {
    let of_chart = |file: File| Some((file.path.strip_prefix("chart/")?.to_owned(), file.text));
    all_files(project).unwrap().files.into_iter().filter_map(of_chart).collect()
}

fn text(project: &Project, path: &str) -> String {
    chart(project).into_iter().find(|(file, _)| file == path).unwrap().1
}

#[test]
fn templates_have_the_names_of_the_release_and_no_placeholders() {
    let own_name = "demo-system";
    for (path, text) in chart(&fixture::project()) {
        let has_placeholder = ["opgen-release", "$CHART", "$LEASE", "$CONFIG"].iter().any(|part| text.contains(part));
        assert!(!has_placeholder && !text.contains(own_name), "{path}:\n{text}");
    }
}

#[test]
fn a_lease_of_the_code_is_that_of_every_release() {
    let mut project = fixture::project();
    let helpers = |project: &Project| text(project, "templates/_helpers.tpl");
    assert!(helpers(&project).contains("default (printf \"%s.opgen.dev\" (include \"demo.fullname\" .))"));
    project.lease = "shared".into();
    assert!(helpers(&project).contains("default \"shared\" (dig"));
}

#[test]
fn an_operator_of_one_namespace_watches_that_of_its_release() {
    let mut project = fixture::project();
    let helpers = |project: &Project| text(project, "templates/_helpers.tpl");
    let own = "set $defaults \"namespaces\" (list .Release.Namespace)";
    assert!(!helpers(&project).contains(own));
    project.namespaced = true;
    project.controllers.truncate(1);
    assert!(helpers(&project).contains(own));
}

#[test]
fn every_option_is_in_the_values_with_its_meaning() {
    let values = text(&fixture::project(), "values.yaml");
    let mut found = 0;
    let mut groups = vec![options::schema(&fixture::project())];
    while let Some(group) = groups.pop() {
        for (name, option) in group["properties"].as_object().unwrap() {
            if option["properties"].is_object() {
                groups.push(option.clone());
                continue;
            }
            let meaning = option["description"].as_str().unwrap().lines().next().unwrap();
            let is_key = |line: &str| line.trim_start_matches([' ', '#']).starts_with(&format!("{name}:"));
            assert!(values.contains(meaning) && values.lines().any(is_key), "{name}: {meaning}");
            found += 1;
        }
    }
    assert!(found > 20, "{found}");
    for (path, value) in options::defaults(&fixture::project()) {
        let key = path.rsplit('.').next().unwrap();
        assert!(values.contains(&format!("\n    {key}: {value}\n")), "{path}");
    }
}

#[test]
fn a_priority_class_is_the_default_of_its_value() {
    let mut project = fixture::project();
    assert!(text(&project, "values.yaml").contains("\npriorityClassName: \"\"\n"));
    project.priority_class = Some("system-cluster-critical".into());
    assert!(text(&project, "values.yaml").contains("\npriorityClassName: \"system-cluster-critical\"\n"));
    let operator = all_files(&project).unwrap().text("base/operator.yaml").unwrap().to_owned();
    assert!(operator.contains("\n      priorityClassName: system-cluster-critical\n"), "{operator}");
}

#[test]
fn a_chart_has_a_semantic_version() {
    for version in ["0.1.0", "1.2.3-rc.1+build.7", "10.20.30"] {
        assert_eq!(chart_version(version), version);
    }
    for version in ["", "v1.0.0", "1.2", "1.02.3", "latest", "1.2.3-", "1.2.3+", "1.2.3-a..b", "1.2.3-rc_1"] {
        assert_eq!(chart_version(version), "0.0.0", "{version}");
    }
}

#[test]
fn the_connection_with_nats_is_a_value_of_an_operator_with_kinds_in_buckets() {
    let mut project = fixture::project();
    let deployment = |project: &Project| text(project, "templates/deployment.yaml");
    assert!(!text(&project, "values.yaml").contains("\nnats:\n") && !deployment(&project).contains("NATS"));
    project.controllers[0].bucket = Some(crate::bucket::BucketDefinition::new("widgets"));
    assert!(text(&project, "values.yaml").contains("\nnats:\n  url: \"\"\n  credentialsSecret: \"\"\n"));
    assert!(text(&project, "values.schema.json").contains("\"credentialsSecret\""));
    // The variables of the container would take precedence over the configuration file.
    assert!(options::schema(&project)["properties"].get("nats").is_none());
    assert!(!text(&project, "values.yaml").contains("# nats:"));
    let deployment = deployment(&project);
    for part in [
        "{{- if .Values.nats.url }}\n        - name: NATS_URL\n          value: {{ .Values.nats.url | quote }}\n",
        "- name: NATS_CREDS\n          value: /etc/nats/operator.creds\n",
        "secretName: {{ .Values.nats.credentialsSecret | quote }}\n",
        "- mountPath: /etc/nats\n",
    ] {
        assert!(deployment.contains(part), "{part}\n{deployment}");
    }
    assert!(!deployment.contains("secretKeyRef"), "{deployment}");
}
