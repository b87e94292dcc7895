//! `UpgradeHook`: work that a new version of an operator does once in a cluster, before its controller reconciles.

use crate::{
    error::{Error, Result},
    kind::Kind,
    shape::{Access, Provisioner},
};
use futures::future::{BoxFuture, FutureExt};
use http::{Method, Request, StatusCode};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
    client::Body,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
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
            client: guard_specs(client.clone(), &record.kind),
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

/// Returns the name of the ConfigMap that records the upgrades of an operator.
pub(crate) fn record_name(operator: &str) -> String {
    format!("{operator}-upgrades")
}

/// The record of the upgrades of one kind: an entry of the operator's ConfigMap, as JSON.
#[derive(Clone)]
pub(crate) struct UpgradeRecord {
    pub(crate) client: kube::Client,
    pub(crate) operator: String,
    /// The namespace of the operator.
    pub(crate) namespace: String,
    pub(crate) kind: Kind,
}

/// The entry of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordEntry {
    /// The version for which the hook succeeded last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The checkpoint of a run that has not succeeded yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unfinished: Option<Unfinished>,
}

impl RecordEntry {
    /// Returns whether the text of an entry says that the hook has succeeded for this version.
    pub(crate) fn is_finished(text: &str, version: &str) -> bool {
        serde_json::from_str::<Self>(text).is_ok_and(|entry| entry.version.as_deref() == Some(version))
    }
}

/// How far a hook has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unfinished {
    /// The version that the hook upgrades to.
    pub(crate) version: String,
    checkpoint: String,
}

impl UpgradeRecord {
    /// Reads the entry; an empty one if the ConfigMap or its key does not exist.
    ///
    /// # Errors
    /// If the call fails, or if the entry can't be decoded.
    pub(crate) async fn read(&self) -> Result<RecordEntry> {
        let name = record_name(&self.operator);
        let stored = self.api().get_opt(&name).await.map_err(|error| self.call_error("read", error))?;
        let data = stored.and_then(|stored| stored.data).unwrap_or_default();
        let Some(text) = data.get(&self.kind.full_name()) else { return Ok(RecordEntry::default()) };
        serde_json::from_str(text).map_err(|error| {
            let message =
                format!("key {} of ConfigMap {}/{name} is invalid: {error}", self.kind.full_name(), self.namespace);
            Error::blocked("InvalidUpgradeRecord", message)
        })
    }

    /// Writes the entry, and creates the ConfigMap if it does not exist.
    async fn write(&self, entry: &RecordEntry) -> Result<()> {
        let (name, json) = (record_name(&self.operator), serde_json::to_string(entry)?);
        let data = json!({"data": {self.kind.full_name(): json}});
        let patch = async || self.api().patch(&name, &self.patch_params(), &Patch::Merge(&data)).await;
        match patch().await {
            Err(kube::Error::Api(status)) if status.code == StatusCode::NOT_FOUND => {}
            result => return result.map(drop).map_err(|error| self.call_error("write", error)),
        }
        let created: ConfigMap = serde_json::from_value(json!({"metadata": {"name": name}, "data": data["data"]}))?;
        let params = PostParams { field_manager: Some(self.operator.clone()), ..PostParams::default() };
        match self.api().create(&params, &created).await {
            // Another controller of the operator has created it.
            Err(kube::Error::Api(status)) if status.code == StatusCode::CONFLICT => {
                patch().await.map(drop).map_err(|error| self.call_error("write", error))
            }
            result => result.map(drop).map_err(|error| self.call_error("create", error)),
        }
    }

    fn api(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn patch_params(&self) -> PatchParams {
        PatchParams { field_manager: Some(self.operator.clone()), ..PatchParams::default() }
    }

    fn call_error(&self, verb: &'static str, source: kube::Error) -> Error {
        let (namespace, name) = (self.namespace.clone(), record_name(&self.operator));
        Error::unexpected(UpgradeRecordError { verb, namespace, name, source })
    }
}

/// A failed call for the record of upgrades.
#[derive(Debug, thiserror::Error)]
#[error("failed to {verb} ConfigMap {namespace}/{name}, which records the upgrades of the operator")]
struct UpgradeRecordError {
    verb: &'static str,
    namespace: String,
    name: String,
    source: kube::Error,
}

/// Wraps a client so that it refuses requests that change the spec of an existing object of a kind.
fn guard_specs(client: kube::Client, kind: &Kind) -> kube::Client {
    let (namespace, kind) = (client.default_namespace().to_owned(), kind.clone());
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, kind) = (client.clone(), kind.clone());
        async move {
            if !matches!(*request.method(), Method::PUT | Method::PATCH) || !is_object_of(&kind, request.uri().path()) {
                return client.send(request).await;
            }
            let (parts, body) = request.into_parts();
            let bytes = body.collect_bytes().await.map_err(|error| kube::Error::Service(error.into()))?;
            if has_spec(&bytes) {
                let refusal =
                    format!("an upgrade hook must not change the spec of a {kind}, which belongs to its user");
                return Err(kube::Error::Service(refusal.into()));
            }
            client.send(Request::from_parts(parts, Body::from(bytes))).await
        }
    });
    kube::Client::new(service, namespace)
}

/// Returns whether a path is that of an object of the kind, in any version, and of no subresource.
fn is_object_of(kind: &Kind, path: &str) -> bool {
    let mut segments = path.trim_matches('/').split('/').skip_while(|segment| !matches!(*segment, "api" | "apis"));
    let group = match segments.next() {
        Some("apis") => segments.next().unwrap_or_default(),
        _ => "",
    };
    let rest: Vec<_> = segments.skip(1).collect();
    let rest = match rest.as_slice() {
        ["namespaces", _, rest @ ..] if rest.len() == 2 => rest,
        rest => rest,
    };
    group == kind.group && matches!(rest, [plural, _] if *plural == kind.plural)
}

/// Returns whether the body of a write has a spec, as an object, as a merge patch, or as an operation of a JSON patch. A body that
/// can't be decoded counts as one that has.
fn has_spec(body: &[u8]) -> bool {
    let touches_spec = |path: &Value| {
        path.as_str().is_none_or(|path| path.is_empty() || path == "/spec" || path.starts_with("/spec/"))
    };
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Array(operations)) => operations.iter().any(|operation| {
            operation["op"] != "test"
                && (touches_spec(&operation["path"]) || operation["op"] == "move" && touches_spec(&operation["from"]))
        }),
        Ok(object) => object.get("spec").is_some(),
        // An apply may be YAML.
        Err(_) => serde_saphyr::from_slice::<Value>(body).map_or(true, |object| object.get("spec").is_some()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Namespace};

    #[test]
    fn only_writes_of_an_object_itself_are_checked_for_a_spec() {
        let (deployment, namespace) = (kind_of::<Deployment>(), kind_of::<Namespace>());
        for (kind, path, expected) in [
            (&deployment, "/apis/apps/v1/namespaces/shop/deployments/web", true),
            (&deployment, "/apis/apps/v1beta1/namespaces/shop/deployments/web", true),
            (&deployment, "/k8s/apis/apps/v1/namespaces/shop/deployments/web", true),
            (&deployment, "/apis/apps/v1/namespaces/shop/deployments/web/status", false),
            (&deployment, "/apis/apps/v1/namespaces/shop/deployments", false),
            (&deployment, "/apis/other/v1/namespaces/shop/deployments/web", false),
            (&deployment, "/api/v1/namespaces/shop", false),
            (&namespace, "/api/v1/namespaces/shop", true),
            (&namespace, "/api/v1/namespaces/shop/status", false),
            (&namespace, "/api/v1/namespaces/shop/configmaps/web", false),
        ] {
            assert_eq!(is_object_of(kind, path), expected, "{path}");
        }
    }

    #[test]
    fn unikorn_n6_a_spec_is_found_in_every_form_of_a_write() {
        for (body, expected) in [
            (r#"{"metadata": {"labels": {"a": "b"}}}"#, false),
            (r#"{"spec": {"size": 1}}"#, true),
            (r#"{"spec": null}"#, true),
            ("metadata: {name: a}", false),
            ("spec: {size: 1}", true),
            (r#"[{"op": "add", "path": "/metadata/labels/a", "value": "b"}]"#, false),
            (r#"[{"op": "test", "path": "/spec/size", "value": 1}]"#, false),
            (r#"[{"op": "remove", "path": "/spec/size"}]"#, true),
            (r#"[{"op": "move", "from": "/spec/size", "path": "/metadata/labels/a"}]"#, true),
            (r#"[{"op": "replace", "path": "", "value": {}}]"#, true),
            (r#"[{"op": "add", "path": "/specification", "value": 1}]"#, false),
            ("{", true),
        ] {
            assert_eq!(has_spec(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn an_entry_without_a_finished_run_is_empty() {
        assert_eq!(serde_json::from_str::<RecordEntry>("{}").unwrap(), RecordEntry::default());
        let entry = RecordEntry { version: Some("0.1.0".to_owned()), unfinished: None };
        assert_eq!(serde_json::to_string(&entry).unwrap(), r#"{"version":"0.1.0"}"#);
    }
}
