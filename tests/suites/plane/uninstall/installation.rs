//! `webapp` in a cluster, with some objects; and what is left of it.

use std::{collections::BTreeSet, sync::Arc};

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, ResourceExt as _,
    api::{ApiResource, DynamicObject, GroupVersionKind, PostParams},
};
use opgen_tests::{Access, Plane, kubectl, wait};
use serde_json::Value;
use webapp_api::{WebApp, WebAppSpec};

use crate::kinds::running::{self, Running};

/// Everything that is applied, in the two files of it.
const FILES: [&str; 2] = [
    include_str!("../../../../examples/webapp/deploy/install.yaml"),
    include_str!("../../../../examples/webapp/deploy/finalizer-policy.yaml"),
];
pub(crate) const HOME: &str = "webapp-system";
pub(crate) const FINALIZER: &str = "demo.example.com/webapp";
/// What stays if objects are to be kept.
pub(crate) const DEFINITION: &str = "CustomResourceDefinition webapps.demo.example.com";

/// A control plane with `webapp` on it.
pub(crate) struct Installation {
    pub(crate) plane: Arc<Plane>,
    /// Where its objects are.
    pub(crate) namespace: String,
    /// Of the one who takes it out.
    pub(crate) access: Access,
    pub(crate) apps: Api<WebApp>,
}

impl Installation {
    pub(crate) async fn new(plane: Arc<Plane>) -> Self {
        let namespace = plane.namespace("apps").await;
        let access = running::almighty(&plane, &namespace).await;
        let apps = Api::namespaced(plane.client(), &namespace);
        let new = Self { plane, namespace, access, apps };
        new.install().await;
        new.until_new_apps_are_claimed(true).await;
        new
    }

    /// Applies both files.
    pub(crate) async fn install(&self) {
        for file in FILES {
            self.plane.apply(file).await;
            self.plane.until_established("webapps.demo.example.com").await;
        }
    }

    /// What the files put into a cluster.
    pub(crate) fn objects() -> Vec<Value> {
        let documents = FILES.iter().flat_map(|file| file.split("\n---\n").skip(1));
        documents.map(|document| serde_saphyr::from_str(document).unwrap()).collect()
    }

    /// The operator, with the rights of its account.
    pub(crate) async fn operate(&self) -> Running {
        let access = self.plane.service_account(HOME, "webapp").await;
        Running::start(webapp_controller::operator(), &access, None)
    }

    /// Creates objects and waits until they are available.
    pub(crate) async fn create(&self, names: &[&str]) {
        for name in names {
            self.apps.create(&PostParams::default(), &app(name)).await.unwrap();
        }
        for name in names {
            wait::until_object(&self.apps, name, "is available", |app| {
                let held = app.status.iter().flat_map(|status| &status.conditions);
                held.into_iter().any(|held| held.type_ == "Available" && held.status == "True")
            })
            .await;
        }
    }

    /// Waits until the policy gives a new object the finalizer, or does not. It is told with a delay.
    pub(crate) async fn until_new_apps_are_claimed(&self, claimed: bool) {
        wait::until(format!("new objects get the finalizer: {claimed}"), wait::PATIENCE, async || {
            let dry = PostParams { dry_run: true, ..PostParams::default() };
            let made = self.apps.create(&dry, &app("trial")).await.map_err(|error| error.to_string())?;
            let has = made.finalizers().iter().any(|finalizer| finalizer == FINALIZER);
            if has == claimed { Ok(()) } else { Err(format!("{:?}", made.finalizers())) }
        })
        .await;
    }

    /// What of the two files is in the cluster, and what else has the operator's name on it; outside the namespace of the
    /// objects, whose own parts have that name, too.
    pub(crate) async fn remains(&self) -> BTreeSet<String> {
        let mut left = BTreeSet::new();
        for object in Self::objects() {
            let (api, name) = self.find(&object);
            match api.get_metadata_opt(&name).await {
                Ok(None) => {}
                Ok(Some(_)) => drop(left.insert(format!("{} {name}", object["kind"].as_str().unwrap()))),
                Err(error) => panic!("{object}: {error}"),
            }
        }
        let kinds = kubectl::succeed(&self.plane, &["api-resources", "--verbs=list,delete", "--output=name"]);
        let kinds = kinds.lines().collect::<Vec<_>>().join(",");
        for label in ["app.kubernetes.io/name=webapp", "app.kubernetes.io/managed-by=webapp"] {
            let template = "--template={{range .items}}{{.kind}} {{.metadata.name}} {{.metadata.namespace}}\n{{end}}";
            let found =
                kubectl::succeed(&self.plane, &["get", &kinds, "-A", "-l", label, "-o", "go-template", template]);
            let elsewhere = found.lines().filter(|line| !line.ends_with(&format!(" {}", self.namespace)));
            left.extend(elsewhere.map(|line| line.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ")));
        }
        left
    }

    /// The namespace of the objects has what it has from the start, and no more.
    pub(crate) fn children(&self) -> String {
        let kinds = "configmaps,services,deployments,replicasets,pods,webapps";
        let found = run_or_empty(&self.plane, &["get", kinds, "-n", &self.namespace, "-o", "name"]);
        found.lines().filter(|line| *line != "configmap/kube-root-ca.crt").collect::<Vec<_>>().join("\n")
    }

    pub(crate) async fn delete_home(&self) {
        let namespaces = Api::<Namespace>::all(self.plane.client());
        namespaces.delete(HOME, &Default::default()).await.unwrap();
        wait::until_gone(&namespaces, HOME).await;
    }

    fn find(&self, object: &Value) -> (Api<DynamicObject>, String) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
        let api = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(self.plane.client(), namespace, &resource),
            None => Api::all_with(self.plane.client(), &resource),
        };
        (api, text(&object["metadata"]["name"]))
    }
}

/// A small WebApp of that name.
pub(crate) fn app(name: &str) -> WebApp {
    WebApp::new(name, WebAppSpec { image: "example.com/web:1".to_owned(), replicas: 1, port: 8080, greeting: None })
}

/// Without its definition a kind is none that kubectl knows.
fn run_or_empty(plane: &Plane, arguments: &[&str]) -> String {
    let output = kubectl::run(plane, plane.admin(), arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() || error.contains("\"webapps\""), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
