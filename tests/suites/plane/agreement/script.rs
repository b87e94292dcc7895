//! Scripts for a cluster: what a user does, and what is waited for in between.

use std::{fmt, path::Path};

use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, EvictParams, Patch, PatchParams, PropagationPolicy},
    core::GroupVersionKind,
};
use opgen_tests::{Plane, wait};
use serde::Deserialize;
use serde_json::Value;

use crate::course::LONG;

/// What is played on both planes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
}

/// What an object is called: `apps/v1 Deployment web`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Target {
    kind: GroupVersionKind,
    name: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Step {
    /// Objects are applied, one after the other.
    Apply(Vec<Value>),
    /// An object is changed by a merge patch.
    Merge { of: Target, with: Value },
    /// An object is deleted: `Background`, `Foreground` or `Orphan`.
    Delete {
        of: Target,
        #[serde(default)]
        policy: Option<String>,
    },
    /// All Pods with these labels are deleted, or the first of them.
    DeletePods {
        labels: String,
        #[serde(default)]
        first: bool,
    },
    /// The first Pod with these labels, by name, is evicted; whether the server agrees.
    Evict { labels: String, agrees: bool },
    /// The namespace is deleted.
    DeleteNamespace,
    /// Waits until an object has all of this.
    Until { of: Target, has: Value },
    /// Waits until an object is gone.
    Gone(Target),
    /// Waits until so many Pods with these labels are there and ready.
    Pods { labels: String, ready: usize },
}

impl TryFrom<String> for Target {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let [version, kind, name] = text.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("`{text}` is not `VERSION KIND NAME`"));
        };
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        Ok(Self { kind: GroupVersionKind::gvk(group, version, kind), name: name.to_owned() })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.kind, self.name)
    }
}

/// All scripts of a file.
pub(super) fn read(path: &Path) -> Vec<Script> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Plays the steps in a namespace.
pub(super) async fn play(plane: &Plane, namespace: &str, script: &Script) -> Result<(), String> {
    let client = plane.client();
    for (number, step) in script.steps.iter().enumerate() {
        let done = do_step(plane, &client, namespace, step).await;
        done.map_err(|error| format!("{} on the {}, step {number}, {step:?}: {error}", script.name, plane.form()))?;
    }
    Ok(())
}

async fn do_step(plane: &Plane, client: &Client, namespace: &str, step: &Step) -> Result<(), String> {
    let of = |target: &Target| {
        Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&target.kind))
    };
    let pods = Api::<k8s_openapi::api::core::v1::Pod>::namespaced(client.clone(), namespace);
    match step {
        Step::Apply(objects) => {
            for object in objects {
                let mut object = with_namespace(object, namespace);
                object["metadata"]["namespace"] = namespace.into();
                plane.apply(&object.to_string()).await;
            }
        }
        Step::Merge { of: target, with } => {
            let with = with_namespace(with, namespace);
            let patched = of(target).patch(&target.name, &PatchParams::default(), &Patch::Merge(with)).await;
            patched.map_err(|error| error.to_string())?;
        }
        Step::Delete { of: target, policy } => {
            let policy = match policy.as_deref() {
                None => None,
                Some("Background") => Some(PropagationPolicy::Background),
                Some("Foreground") => Some(PropagationPolicy::Foreground),
                Some("Orphan") => Some(PropagationPolicy::Orphan),
                Some(other) => return Err(format!("no policy `{other}`")),
            };
            let params = DeleteParams { propagation_policy: policy, ..DeleteParams::default() };
            of(target).delete(&target.name, &params).await.map_err(|error| error.to_string())?;
        }
        Step::DeletePods { labels, first } => {
            for pod in named(&pods, labels).await?.iter().take(if *first { 1 } else { usize::MAX }) {
                pods.delete(pod, &DeleteParams::default()).await.map_err(|error| error.to_string())?;
            }
        }
        Step::Evict { labels, agrees } => {
            let all = named(&pods, labels).await?;
            let name = all.first().ok_or("no Pod")?;
            let answer = pods.evict(name, &EvictParams::default()).await;
            if answer.is_ok() != *agrees {
                return Err(format!("{answer:?}"));
            }
        }
        Step::DeleteNamespace => crate::course::delete_namespace(plane, namespace).await,
        Step::Until { of: target, has } => {
            let api = of(target);
            wait::within(LONG, async || {
                let object = api.get(&target.name).await.map_err(|error| error.to_string())?;
                let object = serde_json::to_value(&object).unwrap_or_default();
                if includes(&object, has) { Ok(()) } else { Err(object.to_string()) }
            })
            .await?;
        }
        Step::Gone(target) => {
            let api = of(target);
            wait::within(LONG, async || match api.get_opt(&target.name).await {
                Ok(None) => Ok(()),
                Ok(Some(object)) => Err(format!("{:?}", object.metadata)),
                Err(error) => Err(error.to_string()),
            })
            .await?;
        }
        Step::Pods { labels, ready } => {
            wait::within(LONG, async || {
                let all = pods.list(&kube::api::ListParams::default().labels(labels)).await;
                let all = all.map_err(|error| error.to_string())?.items;
                let all: Vec<_> = all.iter().map(|pod| serde_json::to_value(pod).unwrap_or_default()).collect();
                let is_ready = serde_json::json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
                let fit = all.iter().filter(|pod| includes(pod, &is_ready)).count();
                if (fit, all.len()) == (*ready, *ready) { Ok(()) } else { Err(format!("{fit} of {}", all.len())) }
            })
            .await?;
        }
    }
    Ok(())
}

/// An object or a patch of a script, with the name of the namespace in place of `$namespace`.
fn with_namespace(value: &Value, namespace: &str) -> Value {
    match value {
        Value::String(text) => text.replace("$namespace", namespace).into(),
        Value::Array(items) => items.iter().map(|item| with_namespace(item, namespace)).collect(),
        Value::Object(members) => {
            let replaced = members.iter().map(|(key, value)| (key.clone(), with_namespace(value, namespace)));
            Value::Object(replaced.collect())
        }
        other => other.clone(),
    }
}

/// The names of the Pods with these labels, in their order.
async fn named(pods: &Api<k8s_openapi::api::core::v1::Pod>, labels: &str) -> Result<Vec<String>, String> {
    let all = pods.list(&kube::api::ListParams::default().labels(labels)).await.map_err(|error| error.to_string())?;
    let mut names: Vec<_> = all.items.into_iter().filter_map(|pod| pod.metadata.name).collect();
    names.sort();
    Ok(names)
}

/// Whether the whole has all of the part; of lists each item of the part somewhere; of null nothing; of `$any` something.
fn includes(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (whole, Value::String(any)) if any == "$any" => !whole.is_null(),
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| includes(whole.get(key).unwrap_or(&Value::Null), part))
        }
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().all(|part| whole.iter().any(|whole| includes(whole, part)))
        }
        _ => whole == part,
    }
}
