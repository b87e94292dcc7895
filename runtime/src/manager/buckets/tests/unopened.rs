//! Tests that only the controllers that need a missing key-value bucket wait for it, and the other controllers of the operator run.

use super::{Pump, PumpTree, Running, until};
use crate::{
    Operator, Provisioner,
    bucket::{Bucket, BucketDefinition, BucketError, MemoryBuckets, OpenBuckets},
    foreign::Foreign,
    log::Log,
};
use futures::{FutureExt as _, future::BoxFuture};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use opgen_sandbox::Sandbox;
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Buckets that don't exist until another client creates them.
#[derive(Clone, Debug, Default)]
struct LateBuckets {
    buckets: MemoryBuckets,
    exist: Arc<AtomicBool>,
}

impl OpenBuckets for LateBuckets {
    fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
        if self.exist.load(Ordering::Relaxed) {
            return self.buckets.open(definition);
        }
        let error = BucketError::not_created(definition.name.to_string(), "not allowed");
        async move { Err(error) }.boxed()
    }
}

/// A tree without kinds in buckets.
#[derive(Provisioner)]
#[provisioner(serial, owner = Foreign<ConfigMap>, crate = "crate")]
struct SecretOfConfig {
    #[provisioner(resource)]
    secret: Secret,
}

impl SecretOfConfig {
    fn secret(_: &ConfigMap) -> Secret {
        Secret::default()
    }
}

#[tokio::test(start_paused = true)]
async fn nats_u31_only_the_controllers_that_need_a_missing_bucket_wait() {
    let (log, sandbox, late) = (Log::capture(), Sandbox::builder().start(), LateBuckets::default());
    let operator = Operator::new("pumps").buckets(late.clone()).controls::<Pump, PumpTree>();
    let operator = operator.controls::<Foreign<ConfigMap>, SecretOfConfig>();
    let running = Running::start(&operator, sandbox.client());
    let configs = Api::<ConfigMap>::namespaced(sandbox.client(), "default");
    let mut config = ConfigMap::default();
    config.metadata.name = Some("settings".to_owned());
    configs.create(&Default::default(), &config).await.unwrap();
    let secrets = Api::<Secret>::namespaced(sandbox.client(), "default");
    until("the secret", async || secrets.get_opt("settings").await.unwrap()).await;
    let lines = log.lines();
    let names_bucket = |line: &String| line.contains("the bucket of Pump") && line.contains("not allowed");
    assert!(lines.iter().any(names_bucket), "{lines:?}");

    let pumps = late.buckets.bucket("pumps");
    pumps.put_raw("default.web", json!({"spec": {"rate": "slow"}}).to_string());
    late.exist.store(true, Ordering::Relaxed);
    until("the config of the pump", async || configs.get_opt("web").await.unwrap()).await;
    running.stop().await;
}
