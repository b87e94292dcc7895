//! An operator in this process, with an account of its own, so that the audit log tells its requests from others'.

use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleRef, Subject};
use kube::{Api, api::ObjectMeta};
use opgen::{
    Operator, RunError, RunOptions,
    manifest::{self, Describe as _},
};
use opgen_tests::{Access, Plane, wait::PATIENCE};
use tokio::{sync::oneshot, task::JoinHandle, time::timeout};

/// A running operator. Dropping it ends it.
pub(crate) struct Running {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), RunError>>,
}

impl Running {
    /// Starts it; in all namespaces, or in one.
    pub(crate) fn start(operator: Operator, access: &Access, namespace: Option<&str>) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let (client, namespace) = (access.client(), namespace.map(str::to_owned));
        let task = tokio::spawn(async move {
            let mut options = RunOptions::default();
            options.namespaces = namespace.into_iter().collect();
            let stopped = async {
                let _ = stopped.await;
            };
            operator.run_with(client, options, stopped).await
        });
        Self { stop, task }
    }

    /// Asks it to end, and waits until it has; it must have ended well.
    pub(crate) async fn stop(self) {
        drop(self.stop);
        timeout(PATIENCE, self.task).await.expect("an end in time").expect("no panic").expect("a good end");
    }
}

/// The access of the `default` account of a namespace, which may do everything.
pub(crate) async fn almighty(plane: &Plane, namespace: &str) -> Access {
    let binding = ClusterRoleBinding {
        metadata: ObjectMeta { name: Some(format!("almighty-{namespace}")), ..ObjectMeta::default() },
        role_ref: RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "ClusterRole".to_owned(),
            name: "cluster-admin".to_owned(),
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: "default".to_owned(),
            namespace: Some(namespace.to_owned()),
            ..Subject::default()
        }]),
    };
    Api::<ClusterRoleBinding>::all(plane.client()).create(&Default::default(), &binding).await.unwrap();
    plane.service_account(namespace, "default").await
}

/// Installs the definitions of an operator's kinds, which may be there already.
pub(crate) async fn define(plane: &Plane, operator: &Operator) {
    let rendered = manifest::files(&operator.project().expect("a project")).unwrap_or_else(|error| panic!("{error}"));
    for file in rendered.files.iter().filter(|file| file.path.starts_with("base/crds/")) {
        let warnings = plane.apply(&file.text).await;
        assert!(warnings.is_empty(), "{warnings}");
        let name = file.text.lines().find_map(|line| line.strip_prefix("  name: ")).expect("the definition's name");
        plane.until_established(name).await;
    }
}
