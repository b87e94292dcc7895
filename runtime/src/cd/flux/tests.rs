#![allow(clippy::unwrap_used)]
use super::*;
use crate::{
    cd::application::{Application, ApplicationOwner},
    scope::Kubeconfig,
};

fn result<D: Driver>(application: Application) -> Result<Vec<Value>, InvalidApplication> {
    let owner = ApplicationOwner {
        operator: "demo",
        kind: "stacks.example.com".to_owned(),
        name: "one",
        namespace: Some("shop"),
        object_namespace: Some("shop"),
        cluster: "",
        node: "web",
    };
    D::objects(&application.resolve(&owner, None).unwrap())
}

/// Returns the kinds and the specs of the source and of the object that deploys it, with `SOURCE` and `NAME` in place of their names, or
/// `NAME` for both if these are equal.
fn objects<D: Driver>(application: Application) -> Vec<(String, Value)> {
    let objects = result::<D>(application).unwrap();
    let name = |at: usize| objects[at]["metadata"]["name"].as_str().unwrap().to_owned();
    let (source, name) = (name(0), name(1));
    assert!(source.starts_with(&name), "{source} {name}");
    let mut parts = Vec::new();
    for object in &objects {
        assert_eq!(object["metadata"]["namespace"], "shop");
        let mut text = object.to_string();
        if source != name {
            text = text.replace(&source, "SOURCE");
        }
        let object: Value = serde_json::from_str(&text.replace(&name, "NAME")).unwrap();
        parts.push((format!("{} {}", object["apiVersion"], object["kind"]).replace('"', ""), object["spec"].clone()));
    }
    parts
}

fn chart() -> Application {
    Application::chart("https://charts.example.com", "web", "1.2.3")
}

#[test]
fn a_chart_is_a_repository_and_a_release() {
    let application = chart()
        .create_namespace()
        .namespace("web")
        .parameter("image.tag", "v2")
        .values(json!({"image": {"name": "web"}}))
        .ignore_difference("apps", "Deployment", ["/spec/replicas"]);
    let release = json!({
        "interval": "10m",
        "releaseName": "NAME",
        "targetNamespace": "web",
        "storageNamespace": "web",
        "install": {"createNamespace": true, "disableWait": false, "strategy": {"name": "RetryOnFailure"}},
        "upgrade": {"disableWait": false, "strategy": {"name": "RetryOnFailure"}},
        "driftDetection": {
            "mode": "enabled",
            "ignore": [{"paths": ["/spec/replicas"], "target": {"group": "apps", "kind": "Deployment"}}],
        },
        "chart": {"spec": {
            "chart": "web", "version": "1.2.3", "sourceRef": {"kind": "HelmRepository", "name": "SOURCE"},
        }},
        "values": {"image": {"name": "web", "tag": "v2"}},
    });
    let repository = json!({"interval": "10m", "url": "https://charts.example.com"});
    let expected = [
        ("source.toolkit.fluxcd.io/v1 HelmRepository".to_owned(), repository),
        ("helm.toolkit.fluxcd.io/v2 HelmRelease".to_owned(), release),
    ];
    assert_eq!(objects::<HelmCharts>(application), expected);
}

#[test]
fn a_chart_of_a_registry_has_an_oci_repository() {
    let objects = objects::<OciCharts>(Application::chart("oci://ghcr.io/example/charts/", "web", "1.2.3+a"));
    let layer = json!({"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "operation": "copy"});
    let repository = json!({
        "interval": "10m", "url": "oci://ghcr.io/example/charts/web", "ref": {"tag": "1.2.3_a"}, "layerSelector": layer,
    });
    assert_eq!(objects[0], ("source.toolkit.fluxcd.io/v1 OCIRepository".to_owned(), repository));
    assert_eq!(objects[1].1["chartRef"], json!({"kind": "OCIRepository", "name": "SOURCE"}));
    assert_eq!(objects[1].1["chart"], Value::Null);
}

#[test]
fn manifests_in_git_are_a_repository_and_a_kustomization() {
    let git = |revision| Application::git_manifests("https://git.example.com/a", revision, "deploy");
    let objects = objects::<GitManifests>(git(GitRevision::branch("main")));
    let repository = json!({"interval": "10m", "url": "https://git.example.com/a", "ref": {"branch": "main"}});
    let kustomization = json!({
        "interval": "10m", "path": "./deploy", "prune": true, "wait": true,
        "sourceRef": {"kind": "GitRepository", "name": "SOURCE"},
    });
    let expected = [
        ("source.toolkit.fluxcd.io/v1 GitRepository".to_owned(), repository),
        ("kustomize.toolkit.fluxcd.io/v1 Kustomization".to_owned(), kustomization),
    ];
    assert_eq!(objects, expected);
    let in_namespace = self::objects::<GitManifests>(git(GitRevision::branch("main")).namespace("web"));
    assert_eq!(in_namespace[1].1["targetNamespace"], "web");
    let reference = |revision| self::objects::<GitManifests>(git(revision))[0].1["ref"].clone();
    assert_eq!(reference(GitRevision::tag("v1")), json!({"tag": "v1"}));
    assert_eq!(reference(GitRevision::commit("abc")), json!({"commit": "abc"}));
}

#[test]
fn a_chart_in_git_is_a_repository_and_a_release() {
    let chart = Application::git_chart("https://git.example.com/a", GitRevision::tag("v1"), "charts/web");
    let objects = objects::<GitCharts>(chart);
    assert_eq!(objects[0].0, "source.toolkit.fluxcd.io/v1 GitRepository");
    let chart = json!({"spec": {
        "chart": "./charts/web", "sourceRef": {"kind": "GitRepository", "name": "SOURCE"}, "reconcileStrategy": "Revision",
    }});
    assert_eq!(objects[1].1["chart"], chart);
}

#[test]
fn what_flux_can_not_do_is_refused() {
    let of_chart = |application| result::<HelmCharts>(application).unwrap_err().to_string();
    let labelled = chart().create_namespace().namespace_label("a", "b");
    assert!(of_chart(labelled).contains("add the Namespace to the tree"));
    assert!(of_chart(chart().parameter("a[0]", "b")).contains("must be a path of fields"));
    let of_git = |application| result::<GitManifests>(application).unwrap_err().to_string();
    let git = || Application::git_manifests("https://git.example.com/a", GitRevision::tag("v1"), "deploy");
    assert_eq!(of_git(git().values(json!({"a": 1}))), "a release, parameters and values are for charts only");
    assert!(of_git(git().create_namespace()).contains("add the Namespace to the tree"));
    assert!(of_git(git().namespace_label("a", "b")).contains("add the Namespace to the tree"));
    assert!(of_git(git().ignore_difference("", "Service", ["/spec"])).contains("charts only"));
}

#[test]
fn a_source_of_another_driver_is_refused_with_the_name_of_that_driver() {
    let git = || Application::git_manifests("https://git.example.com/a", GitRevision::tag("v1"), "deploy");
    let problem = result::<HelmCharts>(git()).unwrap_err().to_string();
    assert_eq!(problem, "use the driver `flux::GitManifests` for manifests in git");
    let problem = result::<OciCharts>(chart()).unwrap_err().to_string();
    assert_eq!(problem, "use the driver `flux::HelmCharts` for a chart of a repository");
    assert!(result::<HelmCharts>(Application::chart("oci://a", "b", "1")).is_err());
    assert!(result::<GitCharts>(git()).is_err() && result::<GitManifests>(chart()).is_err());
}

#[test]
fn another_version_of_a_registry_or_of_git_has_another_source() {
    let chart = |version: &str| result::<OciCharts>(Application::chart("oci://ghcr.io/a", "web", version)).unwrap();
    let (one, two) = (chart("1.0.0"), chart("2.0.0"));
    assert_eq!(one[1]["metadata"]["name"], two[1]["metadata"]["name"]);
    assert_ne!(one[0]["metadata"]["name"], two[0]["metadata"]["name"]);
    assert_ne!(one[1]["spec"], two[1]["spec"], "the release has a new generation");
}

#[test]
fn another_repository_has_another_source() {
    let of_repository = |name: &str| {
        let git = format!("https://git.example.com/{name}");
        let [tag, branch] = [GitRevision::tag("v1"), GitRevision::branch("main")];
        [
            result::<HelmCharts>(Application::chart(format!("https://charts.example.com/{name}"), "web", "1.0.0")),
            result::<OciCharts>(Application::chart(format!("oci://ghcr.io/{name}"), "web", "1.0.0")),
            result::<GitCharts>(Application::git_chart(&git, tag, "charts/web")),
            result::<GitManifests>(Application::git_manifests(&git, branch, "deploy")),
        ]
    };
    for (one, two) in of_repository("a").into_iter().zip(of_repository("b")) {
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_ne!(one[0]["metadata"]["name"], two[0]["metadata"]["name"]);
        assert_eq!(one[1]["metadata"]["name"], two[1]["metadata"]["name"]);
        assert_ne!(one[1]["spec"], two[1]["spec"], "what deploys it has a new generation");
    }
}

#[test]
fn a_release_goes_into_the_cluster_of_its_kubeconfig() {
    let release = objects::<HelmCharts>(chart().kubeconfig(Kubeconfig::cluster_api("blue"))).remove(1).1;
    assert_eq!(release["kubeConfig"], json!({"secretRef": {"name": "blue-kubeconfig", "key": "value"}}));
    let refused = |application: Application| result::<HelmCharts>(application).unwrap_err().to_string();
    assert_eq!(
        refused(chart().kubeconfig(Kubeconfig::vcluster("blue").namespace("clusters"))),
        "Flux reads a kubeconfig from namespace shop only, and Secret vc-blue is in clusters"
    );
    assert_eq!(
        refused(chart().cluster("blue")),
        "Flux has no registered clusters; name the kubeconfig of the cluster with `kubeconfig`"
    );
}
