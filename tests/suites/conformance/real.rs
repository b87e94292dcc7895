//! The real API server of a run: a plane of its own, in which nothing happens by itself but what is compared.

use std::sync::{Arc, Mutex, PoisonError};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use opgen_tests::{Form, Options, Plane};
use tokio::sync::OnceCell;

/// A kubeconfig of an administrator: compares with that cluster instead of one of our own.
const KUBECONFIG: &str = "OPGEN_CONFORMANCE_KUBECONFIG";

/// What the sandbox does by itself as well. With the controllers of workloads on, objects would change while they are
/// looked at.
const CONTROLLERS: &str = "garbage-collector-controller,namespace-controller,serviceaccount-controller,\
                           root-ca-certificate-publisher-controller,clusterrole-aggregation-controller";

/// Started by the first case that asks for it.
#[derive(Default)]
pub(crate) struct Real {
    client: OnceCell<Client>,
    plane: Mutex<Option<Arc<Plane>>>,
}

impl Real {
    pub(crate) async fn client(&self) -> Result<Client, String> {
        self.client.get_or_try_init(async || self.start().await).await.cloned()
    }

    async fn start(&self) -> Result<Client, String> {
        if let Some(path) = std::env::var_os(KUBECONFIG) {
            let written = Kubeconfig::read_from(&path).map_err(|error| error.to_string())?;
            let config = Config::from_custom_kubeconfig(written, &KubeConfigOptions::default()).await;
            let mut config = config.map_err(|error| error.to_string())?;
            config.default_retry = false;
            return Client::try_from(config).map_err(|error| error.to_string());
        }
        let options = Options {
            form: Form::ControlPlane,
            kubelet: false,
            controllers: Some(CONTROLLERS.to_owned()),
            ..Options::default()
        };
        let plane = Plane::start(options).await.map_err(|missing| missing.to_string())?;
        let client = plane.client();
        *self.plane.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(plane));
        Ok(client)
    }

    /// Ends it.
    pub(crate) fn stop(&self) {
        drop(self.plane.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
