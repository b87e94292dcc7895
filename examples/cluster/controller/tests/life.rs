//! Tests the operator with fault injection on a sandbox: crashes at every call, faults, edits and deletions. Each cluster of a remote node
//! is a sandbox of its own, and Argo CD is simulated.

use cluster_api::SelectedApplication;
use cluster_controller::{operator, sample};
use opgen_testing::{Check, Trial, TrialError, trial};
use serde_json::json;

/// With the environment variable `OPGEN_WHOLE_TRIAL`, all checks of all kinds together, such as a stop at every call: that takes nine
/// minutes.
#[test]
fn clusters_within_clusters_live_through_stops_and_faults() -> Result<(), TrialError> {
    if std::env::var_os("OPGEN_WHOLE_TRIAL").is_some() {
        return trial(operator).run().verdict();
    }
    let checks = [Check::Convergence, Check::SteadyState, Check::TwoStops, Check::Finalizers, Check::RandomFaults];
    let two = trial(operator).sample(&sample::cluster_manager()).sample(&sample::kubernetes_cluster());
    two.only(checks).seeds(0..9).pairs(8).run().verdict()
}

#[test]
fn a_virtual_cluster_lives_through_everything() -> Result<(), TrialError> {
    let checks = Check::ALL.iter().copied().filter(|check| *check != Check::Role);
    trial(operator).sample(&sample::virtual_cluster()).only(checks).seeds(0..9).pairs(8).run().verdict()
}

#[test]
fn the_applications_of_a_set_come_and_go() -> Result<(), TrialError> {
    let versions = json!([{"version": "1.0.0", "repository": "https://charts.example.com", "chart": "books"}]);
    let books = json!({
        "apiVersion": "cd.opgen.dev/v1alpha1", "kind": "HelmApplication",
        "metadata": {"name": "books", "namespace": "default"}, "spec": {"versions": versions},
    });
    let mut set = sample::application_set();
    set.spec.applications = vec![SelectedApplication { name: "books".to_owned(), version: "1.0.0".to_owned() }];
    let mut cluster = sample::kubernetes_cluster();
    cluster.spec.pools.clear();
    let trial = trial(operator).sample(&sample::cluster_manager()).sample(&cluster).sample(&books).sample(&set);
    trial.only([Check::Convergence, Check::SteadyState, Check::Repair]).run().verdict()
}

/// Returns the applications that the operator creates, and those that it deletes, in order, without the hashes in their names.
fn applications_of(trial: &Trial) -> Result<[Vec<String>; 2], Box<dyn std::error::Error + Send + Sync>> {
    let timeline = trial.timeline("dice:1")?;
    let by = |method: &str| {
        let calls = timeline.calls().filter(|call| call.method == method && call.code.is_some_and(|code| code < 300));
        let names = calls.filter_map(|call| {
            let (_, name) = call.uri.split_once("/namespaces/argocd/applications/")?;
            let (name, _) = name.split('?').next()?.rsplit_once('-')?;
            Some(name.to_owned())
        });
        let mut names: Vec<_> = names.collect();
        names.dedup();
        names
    };
    Ok([by("PATCH"), by("DELETE")])
}

#[test]
fn unikorn_9_2_machines_and_network_come_together_and_go_last() -> Result<(), Box<dyn std::error::Error + Send + Sync>>
{
    let two = trial(operator).sample(&sample::cluster_manager()).sample(&sample::kubernetes_cluster());
    let [created, deleted] = applications_of(&two)?;
    let at = |names: &[String], name: &str| names.iter().position(|other| other == name);
    for (first, then) in
        [("machines", "cilium"), ("cilium", "cluster-autoscaler"), ("cluster-autoscaler", "cinder-csi")]
    {
        assert!(at(&created, first).is_some() && at(&created, first) < at(&created, then), "{created:?}");
    }
    let down = ["cinder-csi", "cluster-autoscaler", "cloud-provider", "cilium", "machines", "cluster-api", "vcluster"];
    for pair in down.windows(2) {
        assert!(at(&deleted, pair[0]).is_some() && at(&deleted, pair[0]) < at(&deleted, pair[1]), "{deleted:?}");
    }
    assert!(created.iter().all(|name| !name.contains("gpu-operator")), "no flavor has GPUs: {created:?}");
    Ok(())
}

#[test]
fn unikorn_9_2_the_autoscaler_exists_with_a_pool_that_follows_the_load()
-> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut cluster = sample::kubernetes_cluster();
    cluster.spec.pools[0].max_replicas = None;
    let [created, _] = applications_of(&trial(operator).sample(&sample::cluster_manager()).sample(&cluster))?;
    assert!(created.contains(&"cinder-csi".to_owned()), "{created:?}");
    assert!(!created.contains(&"cluster-autoscaler".to_owned()), "{created:?}");
    Ok(())
}
