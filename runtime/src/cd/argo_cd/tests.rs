#![allow(clippy::unwrap_used)]
use super::*;
use crate::{
    cd::{
        application::{Application, ApplicationOwner},
        source::GitRevision,
    },
    scope::Kubeconfig,
};

fn owner() -> ApplicationOwner<'static> {
    ApplicationOwner {
        operator: "demo",
        kind: "stacks.example.com".to_owned(),
        name: "one",
        namespace: Some("shop"),
        object_namespace: Some("shop"),
        cluster: "",
        node: "cert_manager",
    }
}

fn object(application: Application) -> Value {
    let mut objects = <ArgoCd>::objects(&application.resolve(&owner(), None).unwrap()).unwrap();
    assert_eq!(objects.len(), 1);
    objects.remove(0)
}

fn chart() -> Application {
    Application::chart("https://charts.jetstack.io", "cert-manager", "v1.19.1")
}

/// Unlike the seed, which has no retries (G5): without them Argo CD gives up after five.
fn retry() -> Value {
    json!({"limit": -1, "backoff": {"duration": "5s", "factor": 2, "maxDuration": "3m"}})
}

#[test]
fn argocd_g1_g4_a_minimal_chart() {
    let mut object = object(chart());
    let name = object["metadata"]["name"].take();
    assert!(name.as_str().unwrap().starts_with("cert-manager-"), "{name}");
    let expected = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {
            "name": null,
            "namespace": "argocd",
            "labels": {"opgen.dev/application": "cert-manager"},
            "finalizers": ["resources-finalizer.argocd.argoproj.io"],
        },
        "spec": {
            "project": "default",
            "source": {
                "repoURL": "https://charts.jetstack.io", "chart": "cert-manager", "targetRevision": "v1.19.1",
            },
            "destination": {"name": "in-cluster", "namespace": "shop"},
            "syncPolicy": {"automated": {"selfHeal": true, "prune": true}, "retry": retry()},
        },
    });
    assert_eq!(object, expected);
}

#[test]
fn argocd_g2_g5_a_chart_with_everything() {
    let application = chart()
        .release("one")
        .namespace("cert-manager")
        .create_namespace()
        .namespace_label("team", "web")
        .namespace_annotation("note", "a")
        .parameter("crds.enabled", "true")
        .parameter("prefix", "")
        .values(json!({"replicaCount": 2}))
        .server_side_apply()
        .ignore_difference("rbac.authorization.k8s.io", "ClusterRole", ["/rules"])
        .ignore_difference("", "Service", ["/spec/ports"])
        .allow_degraded();
    let expected = json!({
        "project": "default",
        "source": {
            "repoURL": "https://charts.jetstack.io", "chart": "cert-manager", "targetRevision": "v1.19.1",
            "helm": {
                "releaseName": "one",
                "parameters": [{"name": "crds.enabled", "value": "true"}, {"name": "prefix"}],
                "values": "{\n  \"replicaCount\": 2\n}",
            },
        },
        "destination": {"name": "in-cluster", "namespace": "cert-manager"},
        "syncPolicy": {
            "automated": {"selfHeal": true, "prune": true},
            "retry": retry(),
            "syncOptions": ["CreateNamespace=true", "ServerSideApply=true"],
            "managedNamespaceMetadata": {"labels": {"team": "web"}, "annotations": {"note": "a"}},
        },
        "ignoreDifferences": [
            {"group": "rbac.authorization.k8s.io", "kind": "ClusterRole", "jsonPointers": ["/rules"]},
            {"kind": "Service", "jsonPointers": ["/spec/ports"]},
        ],
        "info": [{"name": "opgen.dev/allow-degraded", "value": "true"}],
    });
    assert_eq!(object(application)["spec"], expected);
}

#[test]
fn argocd_g2_the_source_of_git_and_of_a_registry() {
    let git = Application::git_manifests("https://git.example.com/a", GitRevision::branch("main"), "deploy");
    let expected = json!({"repoURL": "https://git.example.com/a", "path": "deploy", "targetRevision": "main"});
    assert_eq!(object(git)["spec"]["source"], expected);
    let registry = Application::chart("oci://ghcr.io/example/charts", "web", "1.0.0");
    assert_eq!(object(registry)["spec"]["source"]["repoURL"], "ghcr.io/example/charts");
}

#[test]
fn settings_of_the_installation_are_used() {
    struct Other;
    impl ArgoCdSettings for Other {
        const NAMESPACE: &'static str = "gitops";
        const PROJECT: &'static str = "web";
        const CLUSTER: &'static str = "west";
    }
    let owner = ApplicationOwner {
        operator: "demo",
        kind: "stacks.example.com".to_owned(),
        name: "one",
        namespace: None,
        object_namespace: None,
        cluster: "",
        node: "web",
    };
    let objects = ArgoCd::<Other>::objects(&chart().resolve(&owner, None).unwrap()).unwrap();
    assert_eq!(objects[0]["metadata"]["namespace"], "gitops");
    assert_eq!(objects[0]["spec"]["project"], "web");
    assert_eq!(objects[0]["spec"]["destination"], json!({"name": "west", "namespace": "default"}));
}

#[test]
fn what_argo_cd_would_ignore_is_refused() {
    let problem = |application: Application| {
        let owner = ApplicationOwner {
            operator: "demo",
            kind: "stacks.example.com".to_owned(),
            name: "one",
            namespace: None,
            object_namespace: None,
            cluster: "",
            node: "web",
        };
        <ArgoCd>::objects(&application.resolve(&owner, None).unwrap()).unwrap_err().to_string()
    };
    let git = Application::git_manifests("https://git.example.com/a", GitRevision::tag("v1"), "deploy");
    assert_eq!(problem(git.parameter("a", "b")), "a release, parameters and values are for charts only");
    assert!(problem(chart().namespace_label("a", "b")).contains("need `create_namespace`"));
}

#[test]
fn an_application_goes_into_the_cluster_that_it_names() {
    let destination = |application: Application| {
        let objects = <ArgoCd>::objects(&application.resolve(&owner(), None).unwrap());
        objects.map(|objects| objects[0]["spec"]["destination"].clone()).map_err(|error| error.to_string())
    };
    let expected = json!({"name": "blue", "namespace": "shop"});
    assert_eq!(destination(chart().cluster("blue")), Ok(expected));
    let refused = "Argo CD reads no kubeconfig; register the cluster with Argo CD, and name it with `cluster`";
    assert_eq!(destination(chart().kubeconfig(Kubeconfig::vcluster("blue"))), Err(refused.to_owned()));
    let unnamed = chart().cluster("").resolve(&owner(), None).map(drop).map_err(|error| error.to_string());
    assert_eq!(unnamed, Err("the name of the cluster is empty".to_owned()));
}
