//! Replicas of an operator with accounts of their own, so that the audit log tells them apart.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use opgen_tests::{
    Entries, LeadReport, Plane,
    wait::{self, PATIENCE},
};

use super::replica::Replica;
use crate::operator::{example::Example, install::apply_quietly};

/// The number of replicas.
const COUNT: usize = 3;

/// An example that runs several times, and its arguments.
#[derive(Clone, Copy)]
pub(in super::super) struct Operator {
    pub(in super::super) example: Example,
    pub(in super::super) arguments: &'static [&'static str],
}

impl Operator {
    /// Returns the namespace of its replicas and of its Lease.
    pub(super) fn namespace(self) -> String {
        format!("{}-system", self.example.name)
    }

    fn lease(self) -> String {
        format!("{}.opgen.dev", self.example.name)
    }
}

pub(in super::super) struct Replicas {
    pub(in super::super) plane: Arc<Plane>,
    pub(in super::super) replicas: Vec<Replica>,
    operator: Operator,
    /// The requests before they were started.
    earlier: Entries,
}

impl Replicas {
    /// Starts replicas of this program for an operator that is installed.
    pub(in super::super) async fn start(plane: Arc<Plane>, operator: Operator, program: &Path) -> Self {
        let earlier = plane.audit().await;
        apply_quietly(&plane, &accounts(operator)).await;
        let mut replicas = Vec::new();
        for number in 0..COUNT {
            replicas.push(Replica::start(&plane, &format!("replica-{number}"), operator, program).await);
        }
        Self { plane, replicas, operator, earlier }
    }

    /// Returns the identity of the holder of the Lease; an empty text without one.
    pub(super) async fn holder(&self) -> String {
        let leases = Api::<Lease>::namespaced(self.plane.client(), &self.operator.namespace());
        let lease = leases.get_opt(&self.operator.lease()).await.unwrap();
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
            if count == COUNT { Ok(()) } else { Err(format!("{count} of {COUNT}")) }
        })
        .await;
        holder
    }

    /// Returns the users of the replicas.
    pub(in super::super) fn users(&self) -> BTreeSet<String> {
        self.replicas.iter().map(|replica| replica.access.user().to_owned()).collect()
    }

    /// Returns the requests since they were started.
    pub(in super::super) async fn entries(&self) -> Entries {
        self.plane.audit().await.since(&self.earlier)
    }

    /// Checks the audit log.
    pub(in super::super) async fn report(&self) -> LeadReport {
        LeadReport::new(&self.entries().await, &self.operator.namespace(), &self.operator.lease(), &self.users())
    }

    /// Stops all replicas, and checks that none panicked.
    pub(in super::super) async fn stop(&mut self) {
        for replica in &mut self.replicas {
            let status = replica.stop().await;
            assert!(status.success(), "{status}; {}", replica.process.log_tail(20));
            let log = replica.process.log();
            assert!(!log.contains("panicked"), "{log}");
        }
    }
}

/// The accounts of the replicas, with the roles of the operator.
fn accounts(operator: Operator) -> String {
    let (name, namespace) = (operator.example.name, operator.namespace());
    let in_namespace = format!("\n  namespace: {namespace}");
    let kinds = [("RoleBinding", "Role", in_namespace.as_str()), ("ClusterRoleBinding", "ClusterRole", "")];
    let subject = |number| format!("- {{kind: ServiceAccount, name: replica-{number}, namespace: {namespace}}}\n");
    let subjects: String = (0..COUNT).map(subject).collect();
    let account = |number| {
        format!("apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: replica-{number}, namespace: {namespace}}}\n")
    };
    let binding = |(kind, role, in_namespace)| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {name}-replicas{in_namespace}\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {role}, name: {name}}}\nsubjects:\n{subjects}"
        )
    };
    let documents: Vec<_> = (0..COUNT).map(account).chain(kinds.map(binding)).collect();
    documents.join("\n---\n")
}
