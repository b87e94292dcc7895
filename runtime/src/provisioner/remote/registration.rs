//! Registers other clusters with the continuous delivery (CD) systems that deploy applications into them.
//!
//! # Rule
//! A registration is a Secret in the operator's cluster. All applications that are deployed into one cluster share it, also those of other
//! owners and operators. It is used while an object has a label with its name, and deleted when a remote node was removed and no such
//! object is left. So nothing counts the users, and a crash can't make a count wrong.
//!
//! It has the credentials of one kubeconfig, which an annotation names. The objects name the kubeconfig of their node in the same
//! annotation. Another kubeconfig for the same server leaves the registration as it is while an object names the first one: else the two
//! would overwrite each other's credentials at each change of the Secret. When the last object with the first kubeconfig is removed, the
//! annotation is removed, and the next verification writes its own credentials.
//!
//! # Flow
//! 1. Before the nodes in a cluster are provisioned, its registrations are verified: the cluster answers, and the Secret has the
//!    credentials of the kubeconfig. This is repeated after a change of the Secret, and after a minute, so that changed credentials
//!    reach the CD system.
//! 2. Before applications are removed, the registrations are verified in any case.
//! 3. After the nodes in a cluster were removed, unused registrations are deleted. From the others, an annotation with a kubeconfig that
//!    no object names is removed.
//! 4. If the cluster is gone, the CD system can't remove what it deployed there. The objects of its applications are deleted without their
//!    finalizers.

use crate::{
    cache::{Header, ObjectKey, ResourceVersion, Uid},
    cd::{KUBECONFIG_ANNOTATION, REGISTRATION_LABEL, RegisteredCluster},
    client::{Deletion, Target},
    engine::{child::child_header, desired::NODE_ANNOTATION, pass::PassCore, pending::PendingObjects},
    error::{Error, Result},
    informer::watch::WatchState,
    kind::{Kind, kind_of},
    shape::{ClusterCredentials, Edge, Registration, Shape, is_below},
};
use k8s_openapi::{api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::api::{DeleteParams, Preconditions};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// When the registrations of a cluster are verified.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verification {
    /// If the last verification is too long ago, or the credentials have changed.
    IfDue,
    /// In any case.
    Always,
}

impl PassCore<'_> {
    /// Returns the registration of the other cluster that this `PassCore` is for, with a CD system. The objects of the kind `users` use it.
    /// `None` for the operator's cluster, and in a plan.
    ///
    /// # Errors
    /// A yield if a CD system can't use the credentials for the cluster.
    pub(crate) fn registered_cluster(
        &self,
        registration: Registration,
        users: &Kind,
    ) -> Result<Option<RegisteredCluster>> {
        let Some(cluster) = self.remote_cluster() else { return Ok(None) };
        Ok(Some(self.registered_with(registration, users, &*cluster.credentials()?)))
    }

    /// Returns the registration with these credentials of the other cluster. The objects of the kind `users` use it.
    fn registered_with(
        &self,
        registration: Registration,
        users: &Kind,
        credentials: &ClusterCredentials,
    ) -> RegisteredCluster {
        let owner_namespace = self.in_operator_cluster().owner.default_namespace();
        RegisteredCluster::new(registration, credentials, self.kubeconfig_path(), owner_namespace, users)
    }

    /// Writes and verifies the registrations that the applications of `tree` need for the other cluster. Does nothing for the operator's
    /// cluster.
    ///
    /// # Errors
    /// A yield if the cluster does not answer, or if a CD system can't use the credentials. The error of a failed call.
    pub(super) async fn register_cluster(&self, tree: &'static Shape, verification: Verification) -> Result<()> {
        let Some(cluster) = self.remote_cluster() else { return Ok(()) };
        let mut edges = Vec::new();
        let is_registered = |edge: &&Edge| edge.registration.is_some();
        // Applications in a further cluster, below a nested remote node, have another registration.
        tree.walk(&mut |visit| {
            edges.extend(visit.edge.filter(is_registered).filter(|_| visit.group_cluster.is_empty()));
        });
        // A tree without registrations needs no credentials that a CD system can use.
        if edges.is_empty() {
            return Ok(());
        }
        let credentials = cluster.credentials()?;
        let registered = self.registered_clusters(&edges, &credentials);
        let is_verified = |key: &ObjectKey| cluster.is_registration_verified(key, &credentials);
        if verification == Verification::IfDue && registered.keys().all(is_verified) {
            return Ok(());
        }
        // This reads the kubeconfig again, so the credentials may be others now.
        cluster.verify_connection().await?;
        let credentials = cluster.credentials()?;
        for (key, (registered, users)) in self.registered_clusters(&edges, &credentials) {
            let version = self.write_registration(&registered, &users).await?;
            cluster.record_verified_registration(key, credentials.clone(), version);
        }
        Ok(())
    }

    /// Returns the registrations that these applications need for a cluster, by their Secret, each with the kind of the objects that use
    /// it.
    fn registered_clusters(
        &self,
        edges: &[&'static Edge],
        credentials: &ClusterCredentials,
    ) -> BTreeMap<ObjectKey, (RegisteredCluster, Kind)> {
        let registered = edges.iter().filter_map(|edge| {
            let (registration, users) = edge.registration.zip(deploying_kind(edge.shape))?;
            let registered = self.registered_with(registration, &users, credentials);
            Some((registered.key(), (registered, users)))
        });
        registered.collect()
    }

    /// Writes the Secret of a registration, unless the stored Secret is equal, or keeps the credentials of another kubeconfig. Returns the
    /// version of the stored Secret.
    ///
    /// # Errors
    /// A yield while the Secret is being deleted. The error of a failed call.
    async fn write_registration(&self, registered: &RegisteredCluster, users: &Kind) -> Result<ResourceVersion> {
        let (kind, core) = (kind_of::<Secret>(), self.in_operator_cluster());
        let target = Target { kind: &kind, namespace: Some(registered.namespace()), name: registered.name() };
        let version =
            |metadata: &ObjectMeta| ResourceVersion::from(&*metadata.resource_version.clone().unwrap_or_default());
        if let Some(found) = core.shared.client.get::<Secret>(target).await? {
            if found.metadata.deletion_timestamp.is_some() {
                return Err(being_deleted_error(&registered.key()));
            }
            if is_as_registered(&found, &registered.secret) || core.keeps_other(registered, &found, users).await? {
                return Ok(version(&found.metadata));
            }
        }
        let manager = &core.shared.operator;
        let applied = core.shared.client.apply::<Secret>(target, &registered.secret, manager).await?;
        tracing::info!(secret = registered.name(), "registered a cluster with a CD system");
        Ok(version(&applied.object.metadata))
    }

    /// Returns whether the stored Secret `found` keeps the credentials of another kubeconfig for the same server. The certificate authority
    /// of either kubeconfig is valid: both have been used to connect to the server.
    ///
    /// # Errors
    /// The error of a failed call.
    async fn keeps_other(&self, registered: &RegisteredCluster, found: &Secret, users: &Kind) -> Result<bool> {
        let own = &*registered.kubeconfig;
        let annotations = found.metadata.annotations.as_ref();
        let Some(other) = annotations.and_then(|annotations| annotations.get(KUBECONFIG_ANNOTATION)) else {
            return Ok(false);
        };
        if other == own {
            return Ok(false);
        }
        let target = Target { kind: users, namespace: Some(registered.namespace()), name: "" };
        let labels = format!("{REGISTRATION_LABEL}={}", registered.name());
        let objects: Vec<Value> = self.shared.client.metadata_client().list(target, Some(&labels)).await?;
        let headers = objects.iter().filter_map(|object| child_header(object.to_string().as_bytes()).ok());
        Ok(is_kept(other, own, &headers.filter_map(|header| kubeconfig_of(&header)).collect()))
    }

    /// Deletes the registrations for applications of `tree` that no object names in its label. Removes the kubeconfig that a registration
    /// names in its annotation if no object uses that kubeconfig.
    ///
    /// # Errors
    /// A yield until they are gone, and while an application of a former owner of the node is being deleted. The error of a failed call.
    pub(super) async fn collect_registrations(&self, node: &str, tree: &'static Shape) -> Result<()> {
        let (core, secret) = (self.in_operator_cluster(), kind_of::<Secret>());
        let client = core.shared.client.metadata_client();
        // Only the namespace and the kind of the users are needed. They don't depend on the credentials.
        let registrations = self.registered_clusters(&tree.applications_to_register(), &ClusterCredentials::default());
        for (key, (_, users)) in &registrations {
            let all_of = |kind| Target { kind, namespace: key.namespace(), name: "" };
            // The value of the label is the kind of the users on a registration, and the name of the registration on a user.
            let users_name = users.full_name();
            let labels = format!("{REGISTRATION_LABEL}={users_name}");
            let secrets: Vec<Value> = client.list(all_of(&secret), Some(&labels)).await?;
            if secrets.is_empty() {
                continue;
            }
            let (mut used, mut kubeconfigs) = (BTreeSet::new(), BTreeSet::new());
            let found: Vec<Value> = client.list(all_of(users), Some(REGISTRATION_LABEL)).await?;
            for user in found.iter().filter_map(|user| child_header(user.to_string().as_bytes()).ok()) {
                if core.is_of_former_owner(&user)
                    && is_below(user.annotations.get(NODE_ANNOTATION).unwrap_or_default(), node)
                {
                    let message = format!("{users} {} of a former owner is being deleted", user.key);
                    return Err(Error::yielding("WaitingFor", message));
                }
                let registration = user.labels.get(REGISTRATION_LABEL).unwrap_or_default().to_owned();
                kubeconfigs.extend(kubeconfig_of(&user).map(|kubeconfig| (registration.clone(), kubeconfig)));
                used.insert(registration);
            }
            for header in secrets.iter().filter_map(|secret| child_header(secret.to_string().as_bytes()).ok()) {
                let name = header.key.name();
                if !used.contains(name) {
                    core.delete_registration(&secret, &header).await?;
                } else if let Some(kubeconfig) = kubeconfig_of(&header)
                    && !kubeconfigs.contains(&(name.to_owned(), kubeconfig))
                {
                    core.remove_kubeconfig(&secret, &header).await?;
                }
            }
        }
        Ok(())
    }

    /// Deletes a registration, unless it has changed since it was listed.
    ///
    /// # Errors
    /// A yield until it is gone. The error of a failed call.
    async fn delete_registration(&self, kind: &Kind, header: &Header) -> Result<()> {
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: Some(header.uid.to_string()),
                resource_version: Some(header.resource_version.to_string()),
            }),
            ..DeleteParams::default()
        };
        if !header.deleting {
            tracing::info!(secret = %header.key, "deleting the registration of a cluster that no application uses");
        }
        match self.shared.client.delete(target, &params).await? {
            Deletion::Started => Err(being_deleted_error(&header.key)),
            _ => Ok(()),
        }
    }

    /// Removes the annotation with the kubeconfig from a registration, so that the next verification writes the credentials of another one.
    /// Does nothing if the registration has changed since it was listed.
    ///
    /// # Errors
    /// The error of a failed call.
    async fn remove_kubeconfig(&self, kind: &Kind, header: &Header) -> Result<()> {
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        let patch = json!({"metadata": {
            "uid": header.uid.to_string(),
            "resourceVersion": header.resource_version.to_string(),
            "annotations": {KUBECONFIG_ANNOTATION: null},
        }});
        self.patch_unless_changed(target, &patch).await
    }

    /// Deletes the objects of all applications below a node without their finalizers, so that the CD system removes nothing, and then the
    /// registrations that no object uses.
    ///
    /// # Errors
    /// A yield until they are gone. The error of a failed call.
    pub(super) async fn give_up_applications(&self, node: &str, tree: &'static Shape) -> Result<()> {
        self.drop_applications(node, tree).await?;
        self.collect_registrations(node, tree).await
    }

    /// Deletes the objects of all applications below a node without their finalizers, so that the CD system does not remove what it
    /// deployed.
    ///
    /// # Errors
    /// A yield until they are gone.
    async fn drop_applications(&self, node: &str, tree: &'static Shape) -> Result<()> {
        let core = self.in_operator_cluster();
        let mut pending = PendingObjects::new(node);
        for kind in core.served_kinds_of_applications(tree)? {
            let children = core.shared.children(&kind)?;
            for entry in core.children_below(children, node) {
                core.delete_child(&kind, &entry, None).await?;
                core.remove_finalizers(&kind, &entry.header.key, &entry.header.uid).await?;
            }
            for path in core.nodes_with_pending_deletions_below(&kind, node) {
                core.check_deletions(children, &kind, &path, &mut pending).await?;
            }
        }
        pending.into_result()
    }

    /// Returns whether an object of an application below a node exists in the operator's cluster, or is still being deleted.
    ///
    /// # Errors
    /// A yield if a cache can't be read yet.
    pub(super) fn has_applications(&self, node: &str, tree: &'static Shape) -> Result<bool> {
        let core = self.in_operator_cluster();
        for kind in core.served_kinds_of_applications(tree)? {
            let is_deleting = !core.nodes_with_pending_deletions_below(&kind, node).is_empty();
            if is_deleting || !core.children_below(core.shared.children(&kind)?, node).is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the kinds of the objects that the CD systems' drivers create for the applications of a remote tree. Kinds that the
    /// operator's cluster does not serve are omitted, since no object of them can exist.
    ///
    /// # Errors
    /// A yield if a cache can't be read yet.
    fn served_kinds_of_applications(&self, tree: &'static Shape) -> Result<Vec<Kind>> {
        let applications = tree.applications_to_register().into_iter();
        let kinds: BTreeSet<Kind> = applications.flat_map(|edge| edge.shape.applied_kinds()).collect();
        let mut served = Vec::new();
        for kind in kinds {
            let children = self.shared.children(&kind)?;
            if children.health.state() != WatchState::Missing {
                children.check_readable()?;
                served.push(kind);
            }
        }
        Ok(served)
    }

    /// Returns the paths of the nodes below `node` whose deleted objects are not confirmed to be gone.
    fn nodes_with_pending_deletions_below(&self, kind: &Kind, node: &str) -> Vec<String> {
        let mut paths = self.owner_states().nodes_with_pending_deletions(&self.owner, kind);
        paths.retain(|path| is_below(path, node));
        paths.into_iter().collect()
    }

    /// Removes all finalizers of an object that is being deleted.
    async fn remove_finalizers(&self, kind: &Kind, key: &ObjectKey, uid: &Uid) -> Result<()> {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let patch = json!({"metadata": {"uid": uid.to_string(), "finalizers": null}});
        self.patch_unless_changed(target, &patch).await
    }

    /// Sends a merge patch with the uid of an object. Does nothing if the object is gone or has changed, or if another one has its name.
    ///
    /// # Errors
    /// The error of a failed call.
    async fn patch_unless_changed(&self, target: Target<'_>, patch: &Value) -> Result<()> {
        match self.shared.client.merge(target, patch, &self.shared.operator).await {
            // It is gone or changed, or another object has its name.
            Err(error) if matches!(error.code(), 404 | 409 | 422) => Ok(()),
            outcome => Ok(outcome.map(drop)?),
        }
    }
}

/// Returns the kind of the objects that deploy an application: the last kind of its driver.
pub(crate) fn deploying_kind(application: &'static Shape) -> Option<Kind> {
    application.applied_kinds().pop()
}

/// Returns the yield until the Secret of a registration is gone.
fn being_deleted_error(secret: &ObjectKey) -> Error {
    let message = format!("Secret {secret}, which registers a cluster, is being deleted");
    Error::yielding("WaitingFor", message)
}

/// Returns whether a Secret has the labels, the annotations and the data of a registration.
fn is_as_registered(found: &Secret, registered: &Value) -> bool {
    let Ok(wanted) = serde_json::from_value::<Secret>(registered.clone()) else { return false };
    found.data == wanted.data
        && has_all(found.metadata.labels.as_ref(), wanted.metadata.labels)
        && has_all(found.metadata.annotations.as_ref(), wanted.metadata.annotations)
}

/// Returns whether all wanted labels or annotations are found.
fn has_all(found: Option<&BTreeMap<String, String>>, wanted: Option<BTreeMap<String, String>>) -> bool {
    let is_found = |(name, value): (String, String)| found.and_then(|found| found.get(&name)) == Some(&value);
    wanted.into_iter().flatten().all(is_found)
}

/// Returns the kubeconfig of a registration or of an object that uses it; `None` if an earlier version has written it.
fn kubeconfig_of(header: &Header) -> Option<String> {
    header.annotations.get(KUBECONFIG_ANNOTATION).map(str::to_owned)
}

/// Returns whether a registration keeps the credentials of the kubeconfig `other`, and does not get those of `own`. `used` has the
/// kubeconfigs of the objects that use the registration. If no object uses one of the two, the first one in alphabetical order wins, so
/// that they do not replace each other in turns.
fn is_kept(other: &str, own: &str, used: &BTreeSet<String>) -> bool {
    used.contains(other) || (!used.contains(own) && other < own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(kubeconfigs: &[&str]) -> BTreeSet<String> {
        kubeconfigs.iter().map(|&kubeconfig| kubeconfig.to_owned()).collect()
    }

    #[test]
    fn a_registration_keeps_its_kubeconfig_while_an_object_uses_it() {
        assert!(is_kept("b", "a", &used(&["a", "b"])) && is_kept("a", "b", &used(&["a", "b"])));
        assert!(is_kept("b", "a", &used(&["b"])));
        assert!(!is_kept("a", "b", &used(&["b"])));
    }

    #[test]
    fn one_of_two_kubeconfigs_without_objects_is_kept() {
        assert!(is_kept("a", "b", &used(&[])) && !is_kept("b", "a", &used(&[])));
    }
}
