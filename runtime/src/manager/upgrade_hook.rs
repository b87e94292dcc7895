//! `UpgradeHook`: work that a new version of an operator does once in a cluster, before its controller reconciles.

use crate::{
    error::Result,
    manager::{
        spec_guard::forbid_spec_changes,
        upgrade_record::{RecordEntry, Unfinished, UpgradeRecord},
    },
    shape::{Access, Provisioner},
};
use futures::future::{BoxFuture, FutureExt};
use std::{fmt, sync::Arc};

/// Work that a new version of an operator does once in a cluster, for example to label or to move the objects of earlier releases.
///
/// The hook runs when the process leads and the watches of the controller have synced. Until it has succeeded, no pass of its
/// controller runs; other controllers work. The ConfigMap `<operator>-upgrades` in the namespace of the operator records the version
/// for which it has succeeded, so a restart doesn't run it again. After a failure it runs again, with a growing delay of at most a
/// minute: `/readyz` and the verb `why` say so. A hook that was interrupted continues at its [checkpoint](Upgrade::checkpoint).
///
/// A hook never changes the spec of an object of its own kind, which belongs to the user: its client refuses such a request.
///
/// # Example
/// ```
/// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ResourceQuota};
/// # use kube::api::{Api, ListParams, Patch, PatchParams};
/// # use opgen::{controller::{Upgrade, UpgradeHook}, prelude::*};
/// # #[derive(Provisioner)]
/// # #[provisioner(serial, owner = Foreign<Namespace>)]
/// # struct Tree {
/// #     #[provisioner(resource)]
/// #     quota: ResourceQuota,
/// # }
/// # impl Tree {
/// #     fn quota(_: &Namespace) -> ResourceQuota { ResourceQuota::default() }
/// # }
/// // Labels the ConfigMaps that releases before 0.2 wrote without a label. The attribute becomes a rule of the role.
/// #[derive(Provisioner)]
/// #[provisioner(access(ConfigMap: list, patch))]
/// struct LabelConfigMaps;
///
/// impl UpgradeHook for LabelConfigMaps {
///     async fn upgrade(upgrade: &Upgrade) -> Result<()> {
///         let all = Api::<ConfigMap>::all(upgrade.client());
///         for config in all.list(&ListParams::default().labels("app=demo,!tier")).await?.items {
///             let (name, namespace) = (config.metadata.name.unwrap_or_default(), config.metadata.namespace.unwrap_or_default());
///             let patch = Patch::Merge(serde_json::json!({"metadata": {"labels": {"tier": "config"}}}));
///             let api = Api::<ConfigMap>::namespaced(upgrade.client(), &namespace);
///             api.patch_metadata(&name, &PatchParams::default(), &patch).await?;
///         }
///         Ok(())
///     }
/// }
///
/// # let operator =
/// Operator::new("demo").controls_with::<Foreign<Namespace>, Tree>(|c| c.upgrade::<LabelConfigMaps>())
/// # ;
/// ```
pub trait UpgradeHook: Provisioner {
    /// Brings the objects of earlier releases up to date. It may run again after it succeeded, if the record of that was lost, so
    /// it must not depend on running once.
    ///
    /// # Errors
    /// After an error, the hook runs again.
    fn upgrade(upgrade: &Upgrade) -> impl Future<Output = Result<()>> + Send;
}

/// The arguments of an [`UpgradeHook`].
#[derive(Clone)]
pub struct Upgrade {
    client: kube::Client,
    record: UpgradeRecord,
    version: String,
    previous_version: Option<String>,
    checkpoint: Option<String>,
}

impl Upgrade {
    /// Returns the client for the work. It refuses requests that change the spec of an object of the hook's own kind.
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// Returns the version of this operator.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the version for which the hook succeeded last, which is newer after a rollback; `None` if there is no record.
    pub fn previous_version(&self) -> Option<&str> {
        self.previous_version.as_deref()
    }

    /// Returns the last checkpoint of an interrupted run for the same version; `None` if the hook starts from the beginning.
    pub fn checkpoint(&self) -> Option<&str> {
        self.checkpoint.as_deref()
    }

    /// Stores how far the hook has come, for example the continue token of a list, at most about 100 KiB. The next run for the same
    /// version gets it as [`Upgrade::checkpoint`].
    ///
    /// # Errors
    /// If the write fails.
    pub async fn save_checkpoint(&self, checkpoint: impl Into<String>) -> Result<()> {
        let unfinished = Unfinished { version: self.version.clone(), checkpoint: checkpoint.into() };
        let entry = RecordEntry { version: self.previous_version.clone(), unfinished: Some(unfinished) };
        self.record.write(&entry).await
    }
}

impl fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upgrade")
            .field("version", &self.version)
            .field("previous", &self.previous_version)
            .finish_non_exhaustive()
    }
}

type UpgradeFn = dyn for<'u> Fn(&'u Upgrade) -> BoxFuture<'u, Result<()>> + Send + Sync;

/// An [`UpgradeHook`] without its type.
#[derive(Clone)]
pub(crate) struct BoxUpgradeHook {
    run: Arc<UpgradeFn>,
    /// The permissions that the attribute of the hook declares.
    pub(crate) permissions: &'static [Access],
}

impl BoxUpgradeHook {
    pub(crate) fn new<H: UpgradeHook>() -> Self {
        Self { run: Arc::new(|upgrade| H::upgrade(upgrade).boxed()), permissions: const { H::SHAPE.access } }
    }

    /// Runs the hook unless the record says that it has succeeded for this version, and records its success. Returns whether it ran.
    ///
    /// # Errors
    /// Those of the hook, and those of reading or writing the record.
    pub(crate) async fn run_once(&self, client: &kube::Client, record: &UpgradeRecord, version: &str) -> Result<bool> {
        let entry = record.read().await?;
        if entry.version.as_deref() == Some(version) {
            return Ok(false);
        }
        let checkpoint = entry.unfinished.filter(|unfinished| unfinished.version == version);
        let upgrade = Upgrade {
            client: forbid_spec_changes(client.clone(), &record.kind),
            record: record.clone(),
            version: version.to_owned(),
            previous_version: entry.version,
            checkpoint: checkpoint.map(|unfinished| unfinished.checkpoint),
        };
        (self.run)(&upgrade).await?;
        record.write(&RecordEntry { version: Some(version.to_owned()), unfinished: None }).await?;
        Ok(true)
    }
}

impl fmt::Debug for BoxUpgradeHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxUpgradeHook").field("permissions", &self.permissions).finish_non_exhaustive()
    }
}
