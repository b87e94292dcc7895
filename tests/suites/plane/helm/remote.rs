//! Charts that the program `helm` deploys into another cluster, which the operator reaches by the kubeconfig in a Secret.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret},
};
use kube::{
    Api,
    api::{ListParams, ObjectMeta},
};
use opgen::{
    RunOptions,
    cd::{Application, helm::Helm},
    prelude::*,
    scope::Kubeconfig,
};
use opgen_tests::{Options, Plane, wait::until_gone};
use serde_json::json;

use super::{Rack, RackTree, helm_path, install, is_ready, rack, removal, runs_in, says, spec};
use crate::{
    charts::Charts,
    operator::{install::apply_quietly, site::Site},
};

/// The Secret with the kubeconfig of the other cluster.
const CLUSTER: &str = "blue";
/// The namespace of the release there.
const NAMESPACE: &str = "default";
/// The ServiceAccount of the kubeconfig.
const ACCOUNT: &str = "default";

/// The rights that the user of the kubeconfig needs for the chart.
const RIGHTS: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: releases, namespace: default}
rules:
- {apiGroups: [''], resources: [configmaps, secrets], verbs: ['*']}
- {apiGroups: [apps], resources: [deployments], verbs: ['*']}
- {apiGroups: [''], resources: [pods], verbs: [list]}
- {apiGroups: [apps], resources: [replicasets], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: releases, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: releases}
subjects:
- {kind: ServiceAccount, name: default, namespace: default}
";

/// The chart of a Rack in another cluster.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Rack)]
struct RemoteRackTree {
    #[provisioner(remote)]
    cluster: RackCluster,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Rack)]
struct RackCluster {
    #[provisioner(application(Helm))]
    web: Application,
}

impl RemoteRackTree {
    fn cluster(_: &Rack) -> Kubeconfig {
        Kubeconfig::secret(CLUSTER)
    }
}

impl RackCluster {
    fn web(rack: &Rack) -> Application {
        RackTree::web(rack)
    }
}

/// A script that runs `helm`, and records the path of the kubeconfig of each run.
struct HelmRecorder {
    script: PathBuf,
    log: PathBuf,
}

impl HelmRecorder {
    /// Writes the script to a folder.
    fn create(folder: &Path) -> Self {
        let (script, log) = (folder.join("recorded-helm"), folder.join("recorded-kubeconfigs"));
        let (recorded, helm) = (log.display(), helm_path());
        let text = format!("#!/bin/sh\necho \"$KUBECONFIG\" >> '{recorded}'\nexec '{}' \"$@\"\n", helm.display());
        fs::write(&script, text).expect("a script");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).expect("a script that can be run");
        Self { script, log }
    }

    /// Returns the paths of the kubeconfigs of all runs so far.
    fn kubeconfigs(&self) -> Vec<PathBuf> {
        fs::read_to_string(&self.log).unwrap_or_default().lines().map(PathBuf::from).collect()
    }
}

/// Writes the Secret with a kubeconfig for the other cluster, whose user has the rights for the chart.
async fn publish(site: &Site, other: &Plane) {
    apply_quietly(other, RIGHTS).await;
    let kubeconfig = other.service_account(NAMESPACE, ACCOUNT).await.embedded_kubeconfig();
    let secret = Secret {
        metadata: ObjectMeta { name: Some(CLUSTER.to_owned()), ..ObjectMeta::default() },
        string_data: Some([("value".to_owned(), kubeconfig)].into()),
        ..Secret::default()
    };
    site.create(&secret).await;
}

/// Returns the Secrets of the releases of Helm in all namespaces of a cluster.
async fn releases(plane: &Plane) -> Vec<String> {
    names(&Api::all(plane.client()), "owner=helm").await
}

/// Returns the names of the Secrets with a label.
async fn names(secrets: &Api<Secret>, label: &str) -> Vec<String> {
    let found = secrets.list(&ListParams::default().labels(label)).await.expect("the Secrets");
    found.iter().map(ResourceExt::name_any).collect()
}

/// The home cluster has nothing of the chart.
async fn is_not_at_home(plane: &Plane) {
    let everywhere = ListParams::default();
    let deployments = Api::<Deployment>::all(plane.client()).list(&everywhere).await.expect("the Deployments");
    assert!(deployments.items.is_empty(), "{:?}", deployments.items);
    let configs = Api::<ConfigMap>::all(plane.client()).list(&everywhere).await.expect("the ConfigMaps");
    assert!(configs.iter().all(|config| config.name_any() != "web-extra"));
    assert_eq!(releases(plane).await, Vec::<String>::new());
}

pub(super) async fn life(plane: Arc<Plane>) {
    let other = Plane::start(Options { form: plane.form(), ..Options::served() }).await.expect("another cluster");
    let (charts, site) = (Charts::serve(&plane).await, Site::new(&plane).await);
    let helm = HelmRecorder::create(plane.folder());
    let operator = site.operator().controls::<Rack, RemoteRackTree>();
    let operator = install(&site, operator, helm.script.clone()).await;
    let running = site.run(&operator, RunOptions::default()).await;
    publish(&site, &other).await;
    site.create(&rack(&charts)).await;
    is_ready(&site).await;
    let deployments = Api::<Deployment>::namespaced(other.client(), NAMESPACE);
    let configs = Api::<ConfigMap>::namespaced(other.client(), NAMESPACE);
    runs_in(&deployments, "1.0.0", 1).await;
    assert!(configs.get_opt("web-extra").await.expect("a response").is_some());
    assert_eq!(releases(&other).await.len(), 1);
    is_not_at_home(&plane).await;

    spec(&site, json!({"version": "2.0.0", "replicas": 2, "extra": false})).await;
    runs_in(&deployments, "2.0.0", 2).await;
    until_gone(&configs, "web-extra").await;
    is_ready(&site).await;

    // With this name, the chart is no YAML.
    spec(&site, json!({"name": "web: other"})).await;
    says(&site, "YAML parse error on web/templates/all.yaml").await;
    runs_in(&deployments, "2.0.0", 2).await;
    spec(&site, json!({"name": "web", "replicas": 1})).await;
    runs_in(&deployments, "2.0.0", 1).await;
    is_ready(&site).await;
    is_not_at_home(&plane).await;
    let registrations = site.api::<Secret>();
    assert_eq!(names(&registrations, "opgen.dev/registration").await.len(), 1);

    removal(&site).await;
    running.end_now().await;
    assert!(deployments.list(&ListParams::default()).await.expect("the Deployments").items.is_empty());
    assert!(configs.get_opt("web-extra").await.expect("a response").is_none());
    assert_eq!(releases(&other).await, Vec::<String>::new());
    assert_eq!(names(&registrations, "opgen.dev/registration").await, Vec::<String>::new());
    let denied = other.audit().await.by_account(NAMESPACE, ACCOUNT).denied();
    assert!(denied.is_empty(), "{denied}");
    no_kubeconfig_remains(&helm, plane.folder());
}

/// Each run had a kubeconfig of its own, which does not exist any more. The kubeconfig for the home cluster is in `home`.
fn no_kubeconfig_remains(helm: &HelmRecorder, home: &Path) {
    let kubeconfigs = helm.kubeconfigs();
    assert!(!kubeconfigs.is_empty(), "helm was not run");
    for path in kubeconfigs {
        assert!(path.is_absolute() && !path.starts_with(home), "{} is for the home cluster", path.display());
        assert!(!path.exists(), "{} remains", path.display());
    }
}
