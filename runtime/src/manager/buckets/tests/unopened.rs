//! Tests that only the controllers that need a missing key-value bucket wait for it, that the other controllers of the operator run, and
//! that `/readyz` names the bucket.

use super::{Pump, PumpTree, Running, until};
use crate::{
    Operator, Provisioner, RunOptions,
    bucket::{Bucket, BucketDefinition, BucketError, MemoryBuckets, OpenBuckets},
    foreign::Foreign,
    log::Log,
    loopback::{free_addresses, get},
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

/// Returns an operator with a controller that needs the bucket of pumps, and one that does not.
fn operator(buckets: &LateBuckets) -> Operator {
    let operator = Operator::new("pumps").buckets(buckets.clone()).controls::<Pump, PumpTree>();
    operator.controls::<Foreign<ConfigMap>, SecretOfConfig>()
}

/// Creates a ConfigMap, and waits until the controller that needs no bucket has made its Secret.
async fn other_controller_works(sandbox: &Sandbox) {
    let mut config = ConfigMap::default();
    config.metadata.name = Some("settings".to_owned());
    let configs = Api::<ConfigMap>::namespaced(sandbox.client(), "default");
    configs.create(&Default::default(), &config).await.unwrap();
    let secrets = Api::<Secret>::namespaced(sandbox.client(), "default");
    until("the secret", async || secrets.get_opt("settings").await.unwrap()).await;
}

#[tokio::test(start_paused = true)]
async fn nats_u31_only_the_controllers_that_need_a_missing_bucket_wait() {
    let (log, sandbox, late) = (Log::capture(), Sandbox::builder().start(), LateBuckets::default());
    let running = Running::start(&operator(&late), sandbox.client());
    other_controller_works(&sandbox).await;
    let lines = log.lines();
    let names_bucket = |line: &String| line.contains("the bucket of Pump") && line.contains("not allowed");
    assert!(lines.iter().any(names_bucket), "{lines:?}");

    let pumps = late.buckets.bucket("pumps");
    pumps.put_raw("default.web", json!({"spec": {"rate": "slow"}}).to_string());
    late.exist.store(true, Ordering::Relaxed);
    let configs = Api::<ConfigMap>::namespaced(sandbox.client(), "default");
    until("the config of the pump", async || configs.get_opt("web").await.unwrap()).await;
    running.stop().await;
}

// A paused clock would advance while the runtime waits for the network.
#[tokio::test]
async fn nats_u31_readiness_names_a_missing_bucket_until_it_is_open() {
    let (sandbox, late) = (Sandbox::builder().start(), LateBuckets::default());
    let [probes] = free_addresses().await.unwrap();
    let options = RunOptions::default().probes(probes);
    let running = Running::start_with(&operator(&late), sandbox.client(), options);
    other_controller_works(&sandbox).await;
    let error = "bucket \"pumps\" does not exist, and can't be created: not allowed";
    let waiting = get(probes, "/readyz").await.unwrap();
    assert!(waiting.starts_with("HTTP/1.1 503 "), "{waiting}");
    assert!(waiting.contains(&format!("buckets: the bucket of Pump: {error}\n")), "{waiting}");
    assert!(waiting.contains("controller of Pump is not started"), "{waiting}");
    assert!(!waiting.contains("controller of ConfigMap"), "{waiting}");
    assert!(get(probes, "/readyz/buckets").await.unwrap().starts_with("HTTP/1.1 503 "));
    assert!(get(probes, "/livez").await.unwrap().starts_with("HTTP/1.1 200 "), "a restart would not help");

    late.exist.store(true, Ordering::Relaxed);
    let is_ready = |response: &String| response.starts_with("HTTP/1.1 200 ");
    let ready = until("a ready operator", async || get(probes, "/readyz").await.ok().filter(is_ready)).await;
    assert!(!ready.contains("the bucket of Pump") && ready.contains("Pump: ok\n"), "{ready}");
    let verbose = get(probes, "/readyz?verbose").await.unwrap();
    assert!(verbose.contains("[+]buckets ok\n"), "{verbose}");
    running.stop().await;
}
