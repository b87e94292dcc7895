#![allow(clippy::unwrap_used)]
use super::*;
use serde_json::{Value, json};

fn application(name: &str, versions: Value) -> Arc<HelmApplication> {
    let spec = serde_json::from_value(json!({"versions": versions})).unwrap();
    Arc::new(HelmApplication::new(name, spec))
}

fn version(version: &str, more: Value) -> Value {
    let mut object = json!({"version": version, "repository": "https://charts.example.com", "chart": "web"});
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

#[test]
fn application_a1_a_version_is_found_by_its_meaning() {
    let web = application("web", json!([version("v1.2.0", json!({})), version("2.0.0-rc.1+build", json!({}))]));
    for wanted in ["v1.2.0", "1.2.0", "1.2", "V1.2", "1.2.0+other"] {
        assert_eq!(web.find_version(wanted).unwrap().version, "v1.2.0", "{wanted}");
    }
    assert_eq!(web.find_version("v2-rc.1").unwrap().version, "2.0.0-rc.1+build");
    for missing in ["2", "1.2.1", "1.2.0-rc.1", "", "latest"] {
        let error = web.find_version(missing).unwrap_err().to_string();
        assert_eq!(error, format!("application web has no version {missing}"));
    }
    let latest = application("web", json!([version("latest", json!({}))]));
    assert!(latest.find_version("latest").is_ok(), "a text that is no version is compared as text");
}

#[test]
fn application_a1_the_first_of_equal_versions_counts() {
    let one = version("1.0.0", json!({"chart": "one"}));
    let web = application("web", json!([one, version("v1.0", json!({"chart": "two"}))]));
    assert_eq!(web.find_version("1.0.0").unwrap().chart.as_deref(), Some("one"));
}

#[test]
fn application_a5_the_label_names_the_application() {
    let mut web = HelmApplication::new("object", HelmApplicationSpec::default());
    assert_eq!(web.application_name(), "object");
    web.metadata.labels = Some([(NAME_LABEL.to_owned(), "web".to_owned())].into());
    assert_eq!(web.application_name(), "web");
}

#[test]
fn application_a8_a9_a10_settings_of_the_version_are_those_of_the_application() {
    let settings = json!({
        "release": "one", "namespace": "web", "createNamespace": true, "serverSideApply": true,
        "parameters": [{"name": "b", "value": "1"}, {"name": "a", "value": "2"}],
    });
    let web = application("web", json!([version("1.0.0", settings)]));
    let owner = super::super::ApplicationOwner {
        operator: "demo",
        kind: "stacks.example.com".to_owned(),
        name: "one",
        namespace: Some("shop"),
        object_namespace: Some("shop"),
        cluster: "",
        node: "node",
    };
    let own = web.application("v1.0").unwrap().parameter("c", "3").namespace("own");
    let spec = own.resolve(&owner, None).unwrap();
    assert_eq!((spec.name.as_str(), spec.release.as_deref(), spec.namespace.as_str()), ("web", Some("one"), "own"));
    assert!(spec.create_namespace && spec.server_side_apply);
    assert_eq!(spec.parameters.iter().map(|parameter| &*parameter.name).collect::<Vec<_>>(), ["b", "a", "c"]);
}

#[test]
fn a_version_is_a_chart_or_a_branch() {
    let git =
        json!({"version": "1.0.0", "repository": "https://git.example.com/a", "branch": "main", "path": "charts/a"});
    let nothing = json!({"version": "2.0.0", "repository": "https://git.example.com/a"});
    let web = application("web", json!([git, nothing]));
    assert!(format!("{:?}", web.application("1.0.0").unwrap()).contains("GitChart"));
    let error = web.application("2.0.0").unwrap_err().to_string();
    assert_eq!(error, "version 2.0.0 of application web has neither a chart nor a branch");
    let invalid = |json: &Value| serde_json::from_value::<HelmApplicationVersion>(json.clone()).unwrap().validate(None);
    assert!(invalid(&version_at(&web, 0)).is_ok() && invalid(&version_at(&web, 1)).is_err());
}

fn version_at(web: &HelmApplication, at: usize) -> Value {
    serde_json::to_value(&web.spec.versions[at]).unwrap()
}

#[test]
fn all_conflicts_of_a_selection_are_named() {
    let needs = |name: &str, constraints: &str| json!({"dependencies": [{"name": name, "constraints": constraints}]});
    let applications = [
        application("web", json!([version("1.0.0", needs("database", ">=1.2, <2"))])),
        application("shop", json!([version("1.0.0", needs("cache", ""))])),
        application("odd", json!([version("1.0.0", needs("database", "about 3"))])),
        application("database", json!([version("1.4.0", json!({})), version("2.0.0", json!({}))])),
    ];
    let errors = |selected: &[(&'static str, &'static str)]| -> Vec<String> {
        conflicts(&applications, &selected.iter().copied().collect()).iter().map(ToString::to_string).collect()
    };
    assert_eq!(errors(&[("web", "v1"), ("database", "1.4")]), Vec::<String>::new());
    let expected = [
        "there is no application none",
        "odd 1 needs database about 3, whose constraints can't be read",
        "shop 1.0 needs cache, which is not selected",
        "web v1 needs database >=1.2, <2, but 2.0.0 is selected",
    ];
    let selected = [("web", "v1"), ("database", "2.0.0"), ("shop", "1.0"), ("odd", "1"), ("none", "1")];
    assert_eq!(errors(&selected), expected);
}

#[test]
fn constraints_can_have_alternatives() {
    for (version, constraints, expected) in [
        ("1.4.0", "^1 || ^2", Some(true)),
        ("v2.1", "^1 || ^2", Some(true)),
        ("3.0.0", "^1 || ^2", Some(false)),
        ("latest", "^1", Some(false)),
        ("1.0.0", "", Some(true)),
        ("1.4.0", ">=v1.2 <2", Some(true)),
        ("2.0.0", ">= 1.2, < 2", Some(false)),
        ("1.4.0", "1.2", Some(true)),
        ("1.0.0", "^1 ||", None),
        ("1.0.0", "about 1", None),
    ] {
        assert_eq!(is_within(version, constraints), expected, "{version} {constraints}");
    }
}

#[test]
fn an_application_with_two_objects_is_ambiguous() {
    let applications = [application("web", json!([])), application("web", json!([]))];
    let error = find(&applications, "web").unwrap_err().to_string();
    assert_eq!(error, "several objects have the application name web");
}
