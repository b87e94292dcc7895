//! Disturbs the other simulated clusters of an operator: interrupts connections, changes credentials, empties, replaces or restores
//! clusters.

use std::{collections::BTreeMap, time::Duration};

use opgen_sandbox::Sandbox;
use tokio::time::sleep;

use super::remote_clusters::{RemoteCluster, RemoteClusters, create_namespace, is_inside, is_kubeconfig};
use crate::{admin, cluster_disturbance::ClusterDisturbance, schedule::Propagation};

/// How long no connection works in a partition.
const PARTITION: Duration = Duration::from_secs(90);

/// The time until new credentials are in the Secrets.
const ROTATION: Duration = Duration::from_secs(1);

/// The time until another cluster replaces one that has ended.
const REPLACEMENT: Duration = Duration::from_secs(20);

/// The gap in the resourceVersions of a restored cluster for [`ClusterDisturbance::RestoreAhead`].
const AHEAD: u64 = 1_000_000;

impl RemoteClusters {
    /// Disturbs all clusters. Slow disturbances continue in background tasks.
    pub(crate) async fn disturb(&self, disturbance: ClusterDisturbance) {
        match disturbance {
            ClusterDisturbance::Partition => self.connections.cut(PARTITION),
            ClusterDisturbance::Credentials => self.rotate_credentials(),
            ClusterDisturbance::Emptying => self.empty().await,
            ClusterDisturbance::Replacement => self.replace().await,
            ClusterDisturbance::Restore => self.restore(0).await,
            ClusterDisturbance::RestoreAhead => self.restore(AHEAD).await,
        }
    }

    /// Replaces the credentials of all clusters at once, and publishes the new ones in their Secrets after [`ROTATION`].
    fn rotate_credentials(&self) {
        let mut clusters = self.lock();
        clusters.values_mut().for_each(|cluster| cluster.credentials = cluster.credentials.rotated());
        let (hosts, clusters): (Vec<_>, _) = (clusters.keys().cloned().collect(), self.clone());
        tokio::spawn(async move {
            sleep(ROTATION).await;
            for host in hosts {
                clusters.publish(&host).await;
            }
        });
    }

    /// Deletes all objects in all clusters, except the Secrets with the kubeconfigs of nested clusters, which the system that makes those
    /// clusters would keep.
    async fn empty(&self) {
        let clusters: Vec<_> =
            self.lock().values().map(|cluster| (cluster.sandbox.clone(), cluster.base_version)).collect();
        for (sandbox, version) in clusters {
            for object in sandbox.objects(version).iter().filter(|object| !is_kubeconfig(object)) {
                // The garbage collector may be faster.
                let _ = admin::delete(&sandbox, object, &[], Propagation::Background).await;
            }
        }
    }

    /// Ends all clusters with their Secrets, and 20 seconds later starts empty clusters in place of the outer ones. A cluster nested in
    /// another one starts again when the program writes its record, which names its Secret, into the new outer cluster.
    async fn replace(&self) {
        let ended = std::mem::take(&mut *self.lock());
        self.connections.cut(Duration::ZERO);
        let mut outer: Vec<(String, RemoteCluster)> = Vec::new();
        for (host, cluster) in ended {
            let secret = cluster.secret_object(&host);
            // A cluster that is not ready yet has no Secret.
            let _ = admin::delete(&cluster.enclosing, &secret, &[], Propagation::Background).await;
            outer.push((host, cluster));
        }
        let hosts: Vec<_> = outer.iter().map(|(host, _)| host.clone()).collect();
        outer.retain(|(host, _)| !hosts.iter().any(|other| is_inside(host, other)));
        let clusters = self.clone();
        tokio::spawn(async move {
            sleep(REPLACEMENT).await;
            for (host, cluster) in &outer {
                clusters.start_again(host, cluster).await;
            }
        });
    }

    /// Replaces all clusters by ones restored from a backup, whose next resourceVersions are `ahead` above the one of the backup, and ends
    /// all connections. Then creates the Secrets with the kubeconfigs of nested clusters again, which the backups may lack.
    async fn restore(&self, ahead: u64) {
        let nested: Vec<(String, Sandbox, String)> = {
            let mut clusters = self.lock();
            let restored: BTreeMap<String, Sandbox> = clusters
                .iter()
                .filter_map(|(host, cluster)| Some((host.clone(), self.restore_from_backup(host, cluster, ahead)?)))
                .collect();
            let mut nested = Vec::new();
            for (host, cluster) in clusters.iter_mut() {
                if let Some(sandbox) = restored.get(host) {
                    cluster.sandbox = sandbox.clone();
                }
                // The restored cluster that directly encloses this one has the longest host name.
                let outer = restored.iter().filter(|(other, _)| is_inside(host, other));
                if let Some((_, sandbox)) = outer.max_by_key(|(other, _)| other.len()) {
                    cluster.enclosing = sandbox.clone();
                    nested.push((host.clone(), sandbox.clone(), cluster.secret.namespace.clone()));
                }
            }
            nested
        };
        self.connections.cut(Duration::ZERO);
        for (host, enclosing, namespace) in nested {
            create_namespace(&enclosing, &namespace).await;
            self.publish(&host).await;
        }
    }

    /// Builds a sandbox with the state that a cluster had after half of its writes since the start. The next resourceVersion is `ahead`
    /// versions above that of this state; with 0, the lost resourceVersions are given again. Returns `None` if the cluster is not ready
    /// yet, or if its history does not reach back to the state.
    fn restore_from_backup(&self, host: &str, cluster: &RemoteCluster, ahead: u64) -> Option<Sandbox> {
        let writes = cluster.sandbox.version().checked_sub(cluster.base_version)?;
        let version = cluster.base_version + writes / 2;
        // A different seed, so that new objects do not get the UIDs of lost ones.
        let seed_key = (host, cluster.credentials, ahead, version);
        Some(self.builder(seed_key).restored(&cluster.sandbox, version, version + ahead)?.start())
    }
}
