//! Keeps records of the other clusters in which a remote node of a tree has objects: one ConfigMap for each cluster, in the namespace of
//! the operator.

use crate::{
    cache::Header,
    client::Target,
    engine::{identity::OwnerNaming, owner_mark::OWNER_ANNOTATION, pass::PassCore},
    error::{Error, Result},
    kind::{Kind, kind_of},
    scope::{ClusterRecord, KubeconfigSecret, is_record},
    shape::ResourceOptions,
    text_hash::text_hash,
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use std::sync::Arc;

/// The begin of the name of each record.
const RECORD_PREFIX: &str = "opgen-cluster";

impl PassCore<'_> {
    /// Returns the records of a node from the cache: the ConfigMaps that name the clusters in which the node may have objects.
    ///
    /// # Errors
    /// A yield if the cache of records can't be read yet.
    pub(super) fn records(&self, node: &Arc<str>) -> Result<Vec<Header>> {
        let children = self.shared.children(&record_kind())?;
        children.check_readable()?;
        let mut records: Vec<_> =
            self.children_of_node(children, node).into_iter().map(|entry| entry.header.clone()).collect();
        // A record in another namespace is ignored: a user who may write there could name a Secret that they have no right to.
        records.retain(|record| record.key.namespace() == Some(self.record_namespace()));
        Ok(records)
    }

    /// Takes over the records of a former owner of the same name, which was deleted by force: writes the current owner into their
    /// annotation. Does nothing if the node has records of its own.
    ///
    /// # Errors
    /// A conflict after a takeover, so that the pass is repeated when the cache shows the records. The error of a failed call.
    pub(super) async fn adopt_records(&self, node: &Arc<str>) -> Result<()> {
        if !self.records(node)?.is_empty() {
            return Ok(());
        }
        let kind = record_kind();
        let mut adopted = None;
        for entry in self.shared.children(&kind)?.store.entries() {
            let header = &entry.header;
            let is_former = is_record(header) && entry.node() == &**node && self.is_of_former_owner(header);
            if is_former && !header.deleting && header.key.namespace() == Some(self.record_namespace()) {
                let naming = if self.owner.is_remote() { OwnerNaming::RemoteMark } else { OwnerNaming::Mark };
                let mark = self.owner.named_by(naming).mark();
                let patch = json!({"metadata": {
                    "uid": header.uid.to_string(),
                    "resourceVersion": header.resource_version.to_string(),
                    "annotations": {OWNER_ANNOTATION: mark},
                }});
                let target = Target { kind: &kind, namespace: header.key.namespace(), name: header.key.name() };
                self.shared.client.merge(target, &patch, &self.shared.operator).await?;
                adopted = Some(header.key.clone());
            }
        }
        match adopted {
            None => Ok(()),
            Some(record) => {
                let sentence = format!("took over ConfigMap {record}, the record of a cluster, from a former owner");
                Err(Error::conflict("RecordTakenOver", sentence))
            }
        }
    }

    /// Returns the namespace of the records: the namespace of the operator. That may not exist in another cluster, where the records of
    /// nested remote nodes are in the default namespace of the owner.
    fn record_namespace(&self) -> &str {
        match self.owner.is_remote() {
            true => self.owner.default_namespace().unwrap_or_default(),
            false => &self.shared.namespace,
        }
    }

    /// Checks that the operator watches the namespace of its records: else a later pass would not find them in the cache.
    ///
    /// # Errors
    /// A blocked error if the operator does not watch the namespace.
    pub(super) fn check_record_namespace(&self) -> Result<()> {
        let namespace = self.record_namespace();
        if self.shared.namespaces.contains(namespace) {
            return Ok(());
        }
        let sentence = format!(
            "the operator keeps records of clusters in its namespace {namespace}, which it does not watch; \
             add it to the watched namespaces"
        );
        Err(Error::blocked("RecordsNotWatched", sentence))
    }

    /// Writes the record of the cluster that a node uses, and deletes all other records of the node. Without a `record`, it deletes all.
    ///
    /// The record has no owner reference: else the garbage collector could delete it before the teardown needs it.
    pub(super) async fn converge_records(&self, node: &Arc<str>, record: Option<&ClusterRecord>) -> Result<()> {
        let records = self.for_marked_objects();
        let objects = record.map(|record| self.record_object(node, record)).into_iter().collect();
        let outcome = records.converge(node, &record_kind(), ResourceOptions::DEFAULT, None, objects).await;
        self.add_side_effects(records);
        outcome
    }

    /// Returns the ConfigMap with the record of a cluster that a node uses.
    fn record_object(&self, node: &str, record: &ClusterRecord) -> Value {
        let KubeconfigSecret { namespace, name, .. } = &record.secret;
        // The hash has the owner's name and not its uid: a new owner of that name takes over the record with the objects.
        let (kind, owner) = (self.owner.kind.full_name(), self.owner.key.to_string());
        let hash = text_hash([&*kind, &*owner, node, &**namespace, &**name], 8);
        json!({"metadata": {
            "name": format!("{RECORD_PREFIX}-{hash}"),
            "namespace": self.record_namespace(),
            "annotations": record.annotations(),
        }})
    }
}

/// Returns the kind of the records.
fn record_kind() -> Kind {
    kind_of::<ConfigMap>()
}
