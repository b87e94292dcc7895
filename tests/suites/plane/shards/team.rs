//! `Team`: several replicas of an operator with shards, each with its own ServiceAccount, and the objects that they reconcile.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use kube::ResourceExt as _;
use opgen::{
    Operator, RunOptions,
    environment::Environment,
    leader_election::LeaderElection,
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{
    LeadReport, Plane,
    wait::{self, PATIENCE},
};
use serde_json::json;

use crate::operator::{
    install::apply_quietly,
    kinds::{Note, NoteSpec, NoteTree, available},
    site::{NAME, Running, Site},
};

/// The number of shards of all cases.
pub(super) const SHARDS: u16 = 12;

/// Some replicas in one namespace.
pub(super) struct Team {
    pub(super) site: Site,
    pub(super) replicas: Vec<Replica>,
    users: BTreeSet<String>,
}

/// A replica that runs.
pub(super) struct Replica {
    pub(super) operator: Operator,
    /// The user name of its account.
    pub(super) user: String,
    pub(super) running: Running,
}

/// Times that make a crash short, and with which a busy machine loses no Lease: each replica renews several.
pub(super) fn election() -> LeaderElection {
    let election = LeaderElection::default().lease_duration(Duration::from_secs(8));
    election.renew_deadline(Duration::from_secs(6)).retry_period(Duration::from_secs(1))
}

/// Returns the operator of a replica with an identity of its own.
pub(super) fn operator(site: &Site, number: u64, shards: u16) -> Operator {
    let (plane, dice) = (site.plane.clone(), Seeded::new(number));
    let environment = Environment::new(move || plane.now(), move || dice.bits());
    let operator = Operator::new(NAME).namespace(&site.namespace).namespaced().environment(environment);
    operator.controls::<Note, NoteTree>().leader_election(election()).shards(shards)
}

impl Team {
    /// Installs the operator and starts replicas of it.
    pub(super) async fn start(plane: &Arc<Plane>, count: u64) -> Self {
        let site = Site::new(plane).await;
        site.install(&operator(&site, 0, SHARDS)).await;
        let mut team = Self { site, replicas: Vec::new(), users: BTreeSet::new() };
        for number in 1..=count {
            team.join(number, SHARDS).await;
        }
        team
    }

    /// Starts one more replica.
    pub(super) async fn join(&mut self, number: u64, shards: u16) {
        let (namespace, name) = (&self.site.namespace, format!("{NAME}-{number}"));
        apply_quietly(&self.site.plane, &account(namespace, &name)).await;
        let client = self.site.plane.service_account(namespace, &name).await.client();
        let operator = operator(&self.site, number, shards);
        let running = Site::run_with(&operator, client, RunOptions::default());
        let user = format!("system:serviceaccount:{namespace}:{name}");
        self.users.insert(user.clone());
        self.replicas.push(Replica { operator, user, running });
    }

    /// Waits until the replicas hold these numbers of shards, and reconcile their objects.
    pub(super) async fn holds(&self, expected: &[u64]) {
        wait::until(format!("the replicas hold {expected:?} shards"), PATIENCE, async || {
            let held: Vec<_> = self.replicas.iter().map(|replica| replica.value("opgen_shards_held")).collect();
            if held == expected { Ok(()) } else { Err(format!("{held:?}")) }
        })
        .await;
    }

    /// Creates notes.
    pub(super) async fn create(&self, names: impl IntoIterator<Item = String>) {
        for name in names {
            self.site.create(&Note::new(&name, NoteSpec { pause: false, text: "one".to_owned() })).await;
        }
    }

    /// Changes the text of all notes.
    pub(super) async fn edit(&self, text: &str) {
        for note in self.notes().await {
            self.site.patch::<Note>(&note.name_any(), &json!({"spec": {"text": text}})).await;
        }
    }

    /// Waits until the last text of each note is in its ConfigMap.
    pub(super) async fn is_settled(&self) {
        wait::until("all notes are reconciled", PATIENCE, async || {
            let waiting = |note: &&Note| {
                let is_current =
                    note.metadata.generation == note.status.as_ref().and_then(|status| status.observed_generation);
                !is_current || available(note.status.as_ref()).is_none_or(|(is, _, _)| is != "True")
            };
            let notes = self.notes().await;
            let waiting: Vec<_> = notes.iter().filter(waiting).map(|note| note.name_any()).collect();
            if waiting.is_empty() { Ok(()) } else { Err(format!("{waiting:?}")) }
        })
        .await;
    }

    pub(super) async fn notes(&self) -> Vec<Note> {
        self.site.api::<Note>().list(&Default::default()).await.unwrap().items
    }

    /// Checks by the audit log that each note and its ConfigMap were written only by the holder of their shard.
    pub(super) async fn has_one_writer(&self) {
        let entries = self.site.plane.audit().await.namespace(&self.site.namespace);
        let notes = self.notes().await;
        let mut writes = 0;
        for shard in 0..SHARDS {
            let lease = format!("{NAME}.opgen.dev-shard-{shard}");
            let is_of_shard = |note: &&Note| shard_of(&note.uid().unwrap_or_default()) == shard;
            let names: BTreeSet<_> = notes.iter().filter(is_of_shard).map(|note| note.name_any()).collect();
            let of_shard = entries.with(|entry| match entry.resource.as_str() {
                "leases" => entry.name == lease,
                "notes" | "configmaps" => names.contains(&entry.name),
                _ => false,
            });
            if of_shard.iter().any(|entry| entry.holder.is_some()) {
                let report = LeadReport::new(&of_shard, &self.site.namespace, &lease, &self.users);
                assert!(report.violations.is_empty(), "shard {shard}: {report}");
                writes += report.writes;
                continue;
            }
            // The sandbox records no bodies, but its entries are in the order in which they took effect.
            let mut holder = None;
            for entry in of_shard.iter().filter(|entry| entry.is_write() && entry.code < 300) {
                if entry.resource == "leases" {
                    holder = Some(entry.user.clone());
                } else if self.users.contains(&entry.user) {
                    assert_eq!(holder.as_ref(), Some(&entry.user), "shard {shard}: {entry}");
                    writes += 1;
                }
            }
        }
        assert!(writes >= notes.len(), "{writes} writes");
    }
}

impl Replica {
    /// Returns the value of a metric, by its name with labels; 0 without one.
    pub(super) fn value(&self, metric: &str) -> u64 {
        let text = self.operator.metrics().text().unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(metric)?.strip_prefix(' ')?.parse().ok());
        value.unwrap_or_default()
    }

    /// Returns the number of cached objects of a resource.
    pub(super) fn cached(&self, resource: &str) -> u64 {
        self.value(&format!(r#"opgen_cache_objects{{resource="{resource}"}}"#))
    }
}

/// Returns the names of notes.
pub(super) fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("note-{number}"))
}

/// Returns the shard of an object: the hash is FNV-1a with 64 bits.
pub(super) fn shard_of(uid: &str) -> u16 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = uid.bytes().fold(0xcbf2_9ce4_8422_2325, add);
    u16::try_from((u128::from(hash) * u128::from(SHARDS)) >> 64).unwrap()
}

/// Returns an account of a replica, with the rights of the operator.
fn account(namespace: &str, name: &str) -> String {
    let metadata = json!({"name": name, "namespace": namespace});
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    });
    format!("{account}\n---\n{binding}")
}
