//! Three replicas of the operator with accounts of their own, so that the audit log tells them apart.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use opgen_tests::{
    Entries, LeadReport, Plane,
    wait::{self, PATIENCE},
};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval};
use webapp_api::WebApp;

use super::replica::{NAMESPACE, Replica};
use crate::operator::{example::WEBAPP, fleet::Fleet, install::apply_quietly, owners::spec, program};

const LEASE: &str = "webapp.opgen.dev";
const REPLICAS: usize = 3;
/// The number of WebApps.
pub(super) const COUNT: usize = 8;
/// The time between two edits.
const EDIT_PERIOD: Duration = Duration::from_millis(50);

pub(in super::super) struct Team {
    pub(in super::super) plane: Arc<Plane>,
    pub(in super::super) replicas: Vec<Replica>,
    pub(in super::super) fleet: Arc<Fleet>,
    /// The requests before the team was started.
    earlier: Entries,
}

impl Team {
    /// Installs the operator, starts its replicas, and creates WebApps, which become available.
    pub(in super::super) async fn start(plane: Arc<Plane>) -> Self {
        Self::start_program(plane, &program::path(&WEBAPP)).await
    }

    /// As [`Team::start`], with replicas of this program.
    pub(super) async fn start_program(plane: Arc<Plane>, program: &Path) -> Self {
        let earlier = plane.audit().await;
        WEBAPP.install(&plane).await;
        apply_quietly(&plane, &accounts()).await;
        let mut replicas = Vec::new();
        for number in 0..REPLICAS {
            replicas.push(Replica::start(&plane, &format!("replica-{number}"), program).await);
        }
        let fleet = Fleet::new(&plane, COUNT).await;
        fleet.create(&fleet.names).await;
        fleet.available(COUNT).await;
        Self { plane, replicas, fleet: Arc::new(fleet), earlier }
    }

    /// Returns the identity of the holder of the Lease; an empty text without one.
    pub(super) async fn holder(&self) -> String {
        let leases = Api::<Lease>::namespaced(self.plane.client(), NAMESPACE);
        let lease = leases.get_opt(LEASE).await.unwrap();
        lease.and_then(|lease| lease.spec?.holder_identity).unwrap_or_default()
    }

    /// Waits until a process other than `earlier` holds the Lease, and returns its identity.
    pub(super) async fn holder_after(&self, earlier: &str) -> String {
        wait::until("another holder", PATIENCE, async || {
            let holder = self.holder().await;
            if holder.is_empty() || holder == earlier { Err(format!("`{holder}` holds it")) } else { Ok(holder) }
        })
        .await
    }

    /// Returns the number of the replica with an identity; `None` without one.
    pub(super) fn number_of(&self, identity: &str) -> Option<usize> {
        self.replicas.iter().position(|replica| replica.is_holder(identity))
    }

    /// Waits until all replicas are ready, and those that do not lead watch the Lease.
    pub(in super::super) async fn is_settled(&mut self) -> String {
        for replica in &mut self.replicas {
            replica.ready().await;
        }
        let holder = self.holder_after("").await;
        wait::until("the followers watch the Lease", PATIENCE, async || {
            let watches = self.plane.audit().await.resource("leases").verb("watch");
            let watched = |replica: &&Replica| {
                let started = format!("{:.6}", replica.started);
                let opened = watches.by_user(replica.access.user()).with(|entry| entry.received > started);
                replica.is_holder(&holder) || !opened.is_empty()
            };
            let count = self.replicas.iter().filter(watched).count();
            if count == REPLICAS { Ok(()) } else { Err(format!("{count} of {REPLICAS}")) }
        })
        .await;
        holder
    }

    /// Returns the users of the replicas.
    pub(in super::super) fn users(&self) -> BTreeSet<String> {
        self.replicas.iter().map(|replica| replica.access.user().to_owned()).collect()
    }

    /// Returns the requests since the team was started.
    pub(in super::super) async fn entries(&self) -> Entries {
        self.plane.audit().await.since(&self.earlier)
    }

    /// Checks the audit log.
    pub(in super::super) async fn report(&self) -> LeadReport {
        LeadReport::new(&self.entries().await, NAMESPACE, LEASE, &self.users())
    }

    /// Waits until all WebApps are as their last edit says, then deletes them, and stops the replicas.
    pub(in super::super) async fn ends(&mut self) {
        self.fleet.patch::<WebApp>(&self.fleet.names, &spec(json!({"greeting": "at last"}))).await;
        self.fleet.greets(COUNT, "at last").await;
        self.fleet.available(COUNT).await;
        self.fleet.delete::<WebApp>(&self.fleet.names).await;
        self.fleet.gone().await;
        for replica in &mut self.replicas {
            let status = replica.stop().await;
            assert!(status.success(), "{status}; {}", replica.process.log_tail(20));
            let log = replica.process.log();
            assert!(!log.contains("panicked"), "{log}");
        }
    }
}

/// Edits one WebApp after the other, for as long as it is polled.
pub(in super::super) async fn edit(fleet: &Fleet, edits: &AtomicUsize) {
    let mut ticks = interval(EDIT_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let edit = edits.fetch_add(1, Ordering::Relaxed);
        let name = &fleet.names[edit % fleet.names.len()..][..1];
        fleet.patch::<WebApp>(name, &spec(json!({"greeting": format!("edit {edit}")}))).await;
    }
}

/// Calls `tend` until `time` has passed.
pub(in super::super) async fn meanwhile(time: Duration, mut tend: impl FnMut()) {
    let end = Instant::now() + time;
    wait::until("the time has passed", time + PATIENCE, async || {
        tend();
        if Instant::now() >= end { Ok(()) } else { Err(String::new()) }
    })
    .await;
}

/// The accounts of the replicas, with the roles of the operator.
fn accounts() -> String {
    let kinds = [("RoleBinding", "Role", "\n  namespace: webapp-system"), ("ClusterRoleBinding", "ClusterRole", "")];
    let subject = |number| format!("- {{kind: ServiceAccount, name: replica-{number}, namespace: {NAMESPACE}}}\n");
    let subjects: String = (0..REPLICAS).map(subject).collect();
    let account = |number| {
        format!("apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: replica-{number}, namespace: {NAMESPACE}}}\n")
    };
    let binding = |(kind, role, namespace)| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: replicas{namespace}\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {role}, name: webapp}}\nsubjects:\n{subjects}"
        )
    };
    let documents: Vec<_> = (0..REPLICAS).map(account).chain(kinds.map(binding)).collect();
    documents.join("\n---\n")
}
