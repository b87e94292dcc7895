#![allow(clippy::unwrap_used)]
use super::*;
use serde_json::json;

fn owner<'a>(name: &'a str, node: &'a str) -> ApplicationOwner<'a> {
    ApplicationOwner {
        operator: "demo",
        kind: "stacks.example.com".to_owned(),
        name,
        namespace: Some("shop"),
        object_namespace: Some("shop"),
        cluster: "",
        node,
    }
}

fn chart() -> Application {
    Application::chart("https://charts.example.com", "web", "v1.2.3")
}

fn problem(application: Application) -> String {
    application.resolve(&owner("one", "web"), None).unwrap_err().to_string()
}

#[test]
fn application_a2_the_text_of_the_version_is_kept() {
    let spec = chart().resolve(&owner("one", "web"), None).unwrap();
    let version = "v1.2.3".to_owned();
    let (repository, chart) = ("https://charts.example.com".to_owned(), "web".to_owned());
    assert_eq!(spec.source, ApplicationSource::Chart { repository, chart, version });
}

#[test]
fn application_a6_two_owners_and_two_nodes_have_different_applications() {
    let name = |owner_name, node| chart().resolve(&owner(owner_name, node), None).unwrap().object_name;
    let elsewhere =
        ApplicationOwner { namespace: Some("other"), object_namespace: Some("other"), ..owner("one", "web") };
    let elsewhere = chart().resolve(&elsewhere, None).unwrap().object_name;
    let other_operator = ApplicationOwner { operator: "other", ..owner("one", "web") };
    let other_operator = chart().resolve(&other_operator, None).unwrap().object_name;
    let nodes = [name("one", "pools[a]/web"), name("one", "pools[b]/web")];
    let names = [vec![name("one", "web"), name("two", "web"), elsewhere, other_operator], nodes.to_vec()].concat();
    for (at, name) in names.iter().enumerate() {
        assert!(name.starts_with("web-") && name.len() == "web-".len() + HASH, "{name}");
        assert!(!names[..at].contains(name), "{names:?}");
    }
    assert_eq!(name("one", "web"), names[0]);
}

#[test]
fn object_names_are_labels_that_helm_accepts_as_releases() {
    for (name, stem) in [
        ("cert_manager", "cert-manager-"),
        ("CertManager", "certmanager-"),
        ("-a-", "a-"),
        ("3scale", "app-"),
        ("日本", "app-"),
        ("", "app-"),
        (&"long-".repeat(30), "long-long-"),
    ] {
        let name = chart().name(name).resolve(&owner("one", "web"), None).unwrap().object_name;
        assert!(name.starts_with(stem) && name.len() <= MAX_RELEASE_NAME, "{name}");
        assert!(is_dns_label(&name) && !name.contains("--"), "{name}");
    }
}

#[test]
fn application_a8_the_namespace_is_that_of_the_application_or_of_the_owner_or_the_default() {
    let spec = chart().namespace("other").resolve(&owner("one", "web"), None).unwrap();
    assert_eq!((spec.namespace.as_str(), spec.owner_namespace.as_deref()), ("other", Some("shop")));
    assert_eq!(chart().namespace("").resolve(&owner("one", "web"), None).unwrap().namespace, "shop");
    assert_eq!(problem(chart().namespace("Web")), "the namespace must be a DNS label");
    let cluster = ApplicationOwner { namespace: None, object_namespace: None, ..owner("one", "web") };
    assert_eq!(chart().resolve(&cluster, None).unwrap().namespace, "default");
}

#[test]
fn application_a9_an_empty_release_is_none() {
    assert_eq!(chart().release("").resolve(&owner("one", "web"), None).unwrap().release, None);
    assert_eq!(chart().release("one").resolve(&owner("one", "web"), None).unwrap().release.as_deref(), Some("one"));
}

#[test]
fn application_a10_parameters_keep_their_order_and_have_different_names() {
    let spec = chart().parameter("b", "1").parameter("a", "2").resolve(&owner("one", "web"), None).unwrap();
    let names: Vec<_> = spec.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    assert_eq!(names, ["b", "a"]);
    let twice = chart()
        .parameter("a", "1")
        .parameter("b", "2")
        .parameter("a", "3")
        .resolve(&owner("one", "web"), None)
        .unwrap();
    let values: Vec<_> = twice.parameters.iter().map(|parameter| (&*parameter.name, &*parameter.value)).collect();
    assert_eq!(values, [("b", "2"), ("a", "3")], "the later one wins, as in Helm");
}

#[test]
fn application_a11_values_are_a_map_without_nulls() {
    let values = json!({"a": null, "b": {"c": null, "d": 1}});
    let spec = chart().values(values).resolve(&owner("one", "web"), None).unwrap();
    assert_eq!(spec.values, Some(json!({"b": {"d": 1}})));
    assert_eq!(chart().values(Option::<u8>::None).resolve(&owner("one", "web"), None).unwrap().values, None);
    assert_eq!(problem(chart().values([1])), "the values must be a map");
}

#[test]
fn an_invalid_application_is_refused_without_its_values() {
    assert_eq!(problem(Application::chart("", "web", "1.0.0")), "the repository is empty");
    assert_eq!(problem(Application::chart("https://a", "web", "")), "the version is empty");
    assert_eq!(problem(Application::git_chart("https://a", GitRevision::branch(""), "web")), "the revision is empty");
    assert_eq!(problem(chart().parameter("", "hidden")), "the name of a parameter is empty");
    assert!(problem(chart().release("Web")).starts_with("the name of the release is not"));
    assert!(problem(chart().release("a".repeat(54))).contains("longer than 53"));
    assert!(problem(chart().ignore_difference("apps", "Deployment", ["spec"])).contains("JSON pointers"));
}

#[test]
fn values_and_parameters_are_in_no_debug_text() {
    let application = chart().parameter("password", "hidden").values(json!({"password": "hidden"}));
    assert!(!format!("{application:?}").contains("hidden"));
    let spec = application.resolve(&owner("one", "web"), None).unwrap();
    assert!(!format!("{spec:?} {:?}", spec.parameters).contains("hidden"));
}
