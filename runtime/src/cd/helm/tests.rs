#![allow(clippy::unwrap_used)]
use super::*;
use crate::{
    cd::{
        application::{Application, ApplicationOwner},
        source::GitRevision,
    },
    scope::Kubeconfig,
    shape::ClusterCredentials,
};

fn result(application: Application, namespace: Option<&str>) -> Result<Value, String> {
    let owner = ApplicationOwner {
        operator: "demo",
        kind: "stacks.example.com".to_owned(),
        name: "one",
        namespace,
        object_namespace: namespace,
        cluster: "",
        node: "web",
    };
    let objects = Helm::objects(&application.resolve(&owner, None).unwrap()).map_err(|error| error.to_string())?;
    let [object] = <[Value; 1]>::try_from(objects).unwrap();
    Ok(object)
}

fn object(application: Application) -> Value {
    result(application, Some("shop")).unwrap()
}

fn refused(application: Application) -> String {
    result(application, Some("shop")).unwrap_err()
}

fn chart() -> Application {
    Application::chart("https://charts.example.com", "web", "v1.2.3")
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

#[test]
fn a_chart_is_one_deployment_with_the_defaults_of_the_application() {
    let object = object(chart());
    let release = object["spec"]["release"].as_str().unwrap();
    assert!(release.starts_with("web-") && name(&object).starts_with(&format!("{release}-")), "{object}");
    let expected = json!({
        "apiVersion": "cd.opgen.dev/v1alpha1",
        "kind": "HelmDeployment",
        "metadata": {"name": name(&object), "namespace": "shop"},
        "spec": {
            "repository": "https://charts.example.com", "chart": "web", "version": "v1.2.3",
            "release": release, "namespace": "shop", "createNamespace": false, "allowDegraded": false,
        },
    });
    assert_eq!(object, expected);
}

#[test]
fn a_chart_with_everything() {
    let application = Application::chart("oci://ghcr.io/example/charts", "web", "1.2.3")
        .release("one")
        .namespace("web")
        .create_namespace()
        .parameter("b", "1")
        .parameter("a[0]", "2")
        .values(json!({"replicas": 2}))
        .server_side_apply()
        .allow_degraded()
        .kubeconfig(Kubeconfig::cluster_api("blue"));
    let expected = json!({
        "repository": "oci://ghcr.io/example/charts", "chart": "web", "version": "1.2.3",
        "release": "one", "namespace": "web", "createNamespace": true, "allowDegraded": true,
        "values": {"replicas": 2},
        "parameters": [{"name": "b", "value": "1"}, {"name": "a[0]", "value": "2"}],
        "kubeconfig": {"name": "blue-kubeconfig", "key": "value"},
    });
    assert_eq!(object(application)["spec"], expected);
}

#[test]
fn an_owner_without_a_namespace_has_its_objects_in_the_default_one() {
    let object = result(chart(), None).unwrap();
    assert_eq!(
        (&object["metadata"]["namespace"], &object["spec"]["namespace"]),
        (&json!("default"), &json!("default"))
    );
}

#[test]
fn another_release_or_namespace_is_another_object_and_another_version_is_not() {
    let of = |application: Application| name(&object(application)).to_owned();
    let first = of(chart());
    assert_eq!(of(Application::chart("oci://other", "web", "2.0.0").values(json!({"a": 1}))), first);
    assert!(of(chart().release("one")) != first && of(chart().namespace("web")) != first);
    // A release does not run into its namespace.
    assert_ne!(of(chart().release("ab").namespace("c")), of(chart().release("a").namespace("bc")));
}

#[test]
fn what_helm_can_not_do_is_refused() {
    let git = Application::git_chart("https://git.example.com/a", GitRevision::tag("v1"), "charts/web");
    assert_eq!(refused(git), "Helm deploys charts of a repository or of a registry only");
    assert!(refused(chart().create_namespace().namespace_label("a", "b")).contains("add the Namespace to the tree"));
    let ignored = chart().ignore_difference("apps", "Deployment", ["/spec/replicas"]);
    assert_eq!(refused(ignored), "Helm repairs no differences, so it can't ignore one");
    assert!(refused(chart().cluster("blue")).starts_with("Helm has no registered clusters"));
    assert_eq!(
        refused(chart().kubeconfig(Kubeconfig::vcluster("blue").namespace("clusters"))),
        "a kubeconfig for Helm is in the namespace of its objects, shop, and Secret vc-blue is in clusters"
    );
}

#[test]
fn an_argument_that_helm_would_take_for_something_else_is_refused() {
    for repository in ["file:///charts", "charts.example.com", "https://a b", "--set=a=b"] {
        let problem = "the repository is not a URL with https, http or oci";
        assert_eq!(refused(Application::chart(repository, "web", "1")), problem);
    }
    for chart in ["--debug", "/charts/web", "./web", "a/../../web", "web chart"] {
        assert!(refused(Application::chart("https://a", chart, "1")).starts_with("the name of the chart"), "{chart}");
    }
    assert_eq!(refused(Application::chart("https://a", "web", "1 2")), "the version is empty, or has a space");
    let nested = object(Application::chart("https://a", "group/web_app-1.x", ">=1.2"));
    assert_eq!(nested["spec"]["chart"], "group/web_app-1.x");
}

#[test]
fn values_are_in_no_debug_text() {
    let application = chart().values(json!({"password": "hidden"})).parameter("key", "hidden");
    let spec: HelmDeploymentSpec = serde_json::from_value(object(application)["spec"].clone()).unwrap();
    let text = format!("{spec:?} {:?} {:?}", spec.parameters, HelmDeployment::new("a", spec.clone()));
    assert!(!text.contains("hidden") && text.contains("v1.2.3"), "{text}");
}

#[test]
fn a_cluster_is_registered_by_its_kubeconfig_beside_the_objects() {
    let credentials = ClusterCredentials {
        server: "https://blue.example.com:6443".to_owned(),
        token: Some("t".to_owned()),
        ..ClusterCredentials::default()
    };
    let secret = (REGISTRATION.secret)(&credentials, Some("shop"));
    assert_eq!(secret["metadata"]["namespace"], "shop");
    let kubeconfig = kube::config::Kubeconfig::from_yaml(secret["stringData"]["value"].as_str().unwrap()).unwrap();
    assert!(kubeconfig.auth_infos[0].auth_info.as_ref().unwrap().token.is_some());
    assert_eq!((REGISTRATION.secret)(&credentials, None)["metadata"]["namespace"], "default");
}
