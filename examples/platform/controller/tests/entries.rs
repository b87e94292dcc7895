//! The life of a workload, from the entry that another client puts to the purge of it.

use std::{error::Error, time::Duration};

use futures::{StreamExt, stream::BoxStream};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use kube::Api;
use opgen::{
    RunOptions,
    bucket::{Bucket, BucketError, BucketEvent, MemoryBuckets},
};
use opgen_sandbox::Sandbox;
use platform_controller::{operator, sample_tier, sample_workload};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::timeout};

const KEY: &str = "default.books";
const CLAIM: &str = "_claim.default.books";
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns an entry as other clients put it: with a spec, and no metadata.
fn entry(spec: &impl Serialize) -> String {
    json!({"spec": spec}).to_string()
}

type Changes = BoxStream<'static, Result<BucketEvent, BucketError>>;

/// Waits for a change of a bucket.
async fn change(changes: &mut Changes, what: &str, is_it: impl Fn(&BucketEvent) -> bool) -> Result<(), Box<dyn Error>> {
    let found = async {
        while let Some(event) = changes.next().await {
            if is_it(&event?) {
                return Ok(());
            }
        }
        Err(BucketError::unavailable("memory", "the watch has ended"))
    };
    timeout(PATIENCE, found).await.map_err(|_| format!("{what} did not happen within {PATIENCE:?}"))??;
    Ok(())
}

fn is_put(event: &BucketEvent, key: &str) -> bool {
    matches!(event, BucketEvent::Put(entry) if entry.key == key)
}

fn is_removed(event: &BucketEvent, key: &str) -> bool {
    matches!(event, BucketEvent::Removed { key: removed, .. } if removed == key)
}

/// Whether the status in an entry says that the workload is available.
fn is_available(event: &BucketEvent) -> bool {
    let BucketEvent::Put(entry) = event else { return false };
    let object: Value = serde_json::from_slice(&entry.value).unwrap_or_default();
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    entry.key == KEY && conditions.into_iter().any(|it| it["type"] == "Available" && it["status"] == "True")
}

#[tokio::test]
async fn an_entry_gets_its_objects_and_a_purged_one_loses_them() -> Result<(), Box<dyn Error>> {
    let sandbox = Sandbox::builder().workloads(true).start();
    let buckets = MemoryBuckets::default();
    let (tiers, workloads, routes) = (buckets.bucket("tiers"), buckets.bucket("workloads"), buckets.bucket("routes"));
    let (mut changes, mut route_changes): (Changes, Changes) = (workloads.watch(), routes.watch());
    let (stop, stopped) = oneshot::channel::<()>();
    let client = sandbox.client();
    let running = tokio::spawn(async move {
        operator().buckets(buckets).run_with(client, RunOptions::default(), async { drop(stopped.await) }).await
    });
    let deployments = Api::<Deployment>::namespaced(sandbox.client(), "default");
    let services = Api::<Service>::namespaced(sandbox.client(), "default");

    workloads.put_raw(KEY, entry(&sample_workload().spec));
    tiers.put_raw("small", entry(&sample_tier().spec));
    change(&mut route_changes, "the creation of the route", |event| is_put(event, KEY)).await?;
    assert!(deployments.get_opt("books").await?.is_some() && services.get_opt("books").await?.is_some());
    change(&mut changes, "availability", is_available).await?;

    workloads.purge_raw(KEY);
    change(&mut route_changes, "the removal of the route", |event| is_removed(event, KEY)).await?;
    change(&mut changes, "the end of the claim", |event| is_removed(event, CLAIM)).await?;
    assert!(deployments.get_opt("books").await?.is_none() && services.get_opt("books").await?.is_none());
    assert!(workloads.list().await?.is_empty() && routes.list().await?.is_empty());

    drop(stop);
    running.await??;
    Ok(())
}
