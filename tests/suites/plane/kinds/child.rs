//! One child, as the server has it.

use std::time::Duration;

use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams},
};
use opgen::Kind;
use opgen_tests::wait;
use serde_json::{Map, Value, json};

use super::{
    NAME,
    sample::{self, KEPT, Sample, Whose},
    tree,
};

/// The field manager of edits that the operator knows nothing of.
const STRANGER: &str = "stranger";
/// A label and an annotation of the stranger's.
const STRANGE: &str = "stranger.example.com/added";

/// Sixty kinds at once on a busy two-core machine.
pub(crate) const LONG: Duration = Duration::from_secs(180);

/// An object that a Probe is made of.
pub(crate) struct Child {
    pub(crate) sample: &'static Sample,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    whose: Whose,
    api: Api<DynamicObject>,
}

/// All children of a Probe.
pub(crate) fn all(client: &Client, namespace: &str, whose: &Whose) -> Vec<Child> {
    let mut children = Vec::new();
    for kind in tree::kinds() {
        let resource = ApiResource {
            group: kind.group.to_string(),
            version: kind.version.to_string(),
            api_version: kind.api_version(),
            kind: kind.kind.to_string(),
            plural: kind.plural.to_string(),
        };
        let api = match kind.namespaced {
            true => Api::namespaced_with(client.clone(), namespace, &resource),
            false => Api::all_with(client.clone(), &resource),
        };
        for sample in sample::all().iter().filter(|sample| sample.is_of(&kind)) {
            let (name, kind, api) = (sample.name(whose), kind.clone(), api.clone());
            children.push(Child { sample, kind, name, whose: whose.clone(), api });
        }
    }
    children
}

impl Child {
    /// As it is now.
    pub(crate) async fn state(&self) -> Value {
        let object = self.api.get(&self.name).await.unwrap_or_else(|error| panic!("{self}: {error}"));
        serde_json::to_value(object).unwrap()
    }

    /// A ConfigMap or a Secret without lists was created by POST, and everything else by apply.
    pub(crate) fn check_way(&self, made: &Value) {
        let is_plain = ["configmaps", "secrets"].contains(&&*self.kind.plural) && self.finalizers().is_null();
        let entries = made["metadata"]["managedFields"].as_array().into_iter().flatten();
        let is_applied = entries.into_iter().any(|entry| entry["manager"] == NAME && entry["operation"] == "Apply");
        assert_eq!(is_applied, !is_plain, "{self}: {:#}", made["metadata"]["managedFields"]);
    }

    /// The finalizers that are wanted of it; null if there are none.
    fn finalizers(&self) -> Value {
        self.sample.wanted(&self.whose)["metadata"]["finalizers"].take()
    }

    /// Removes the finalizers that are wanted of it, once it is being deleted.
    pub(crate) async fn release(&self) {
        if self.finalizers().is_null() {
            return;
        }
        wait::until(format!("{self} is being deleted"), LONG, async || {
            let metadata = self.state().await["metadata"].take();
            if metadata["deletionTimestamp"].is_null() { Err(format!("{metadata:#}")) } else { Ok(()) }
        })
        .await;
        let released = json!({"metadata": {"finalizers": null}});
        self.patch(&PatchParams::default(), &Patch::Merge(&released)).await;
    }

    /// What a stranger adds: a label, an annotation, and what the sample says.
    pub(crate) async fn add(&self) {
        let mut object = Value::Object(self.sample.addition.clone());
        object["apiVersion"] = self.kind.api_version().into();
        object["kind"] = self.kind.kind.clone().into();
        let strange = json!({ STRANGE: "yes" });
        object["metadata"] = json!({"name": self.name, "labels": strange, "annotations": strange});
        self.patch(&PatchParams::apply(STRANGER), &Patch::Apply(&object)).await;
    }

    /// Whether all that a stranger added is there.
    pub(crate) fn check_added(&self, state: &Value) {
        let addition = Value::Object(self.sample.addition.clone());
        assert!(includes(state, &addition), "{self}: what a stranger added is gone: {addition}\n{state:#}");
        self.check_marked(state);
    }

    /// Whether what a stranger wrote into the metadata is there.
    pub(crate) fn check_marked(&self, state: &Value) {
        let strange = json!({ STRANGE: "yes" });
        let marks = json!({"metadata": {"labels": strange, "annotations": strange}});
        assert!(includes(state, &marks), "{self}: a stranger's label or annotation is gone\n{state:#}");
    }

    /// A stranger changes what is ours, in one call: it edits, takes away, or applies by force.
    pub(crate) async fn edit(&self) {
        let edited = |value: Value| {
            let mut patch = Value::Object(self.sample.edit.clone());
            patch["metadata"] = json!({"labels": {KEPT: value}});
            patch
        };
        let parameters = PatchParams { field_manager: Some(STRANGER.to_owned()), ..PatchParams::default() };
        match (self.sample.number("edit", 3) as i64 + self.whose.seed) % 3 {
            0 => self.patch(&parameters, &Patch::Merge(edited("edited".into()))).await,
            1 => self.patch(&parameters, &Patch::Merge(edited(Value::Null))).await,
            _ => {
                let mut object = json!({"metadata": {"name": self.name, "labels": {KEPT: "edited"}}});
                object["apiVersion"] = self.kind.api_version().into();
                object["kind"] = self.kind.kind.clone().into();
                let parameters = PatchParams::apply("stranger-by-force").force();
                self.patch(&parameters, &Patch::Apply(&object)).await;
            }
        }
    }

    async fn patch(&self, parameters: &PatchParams, patch: &Patch<impl serde::Serialize + std::fmt::Debug>) {
        let patched = self.api.patch(&self.name, parameters, patch).await;
        patched.unwrap_or_else(|error| panic!("{self}: {patch:?}: {error}"));
    }

    /// Waits until all that is wanted again is as it was.
    pub(crate) async fn until_as(&self, before: &Value) {
        let ours = covered(before, &self.sample.wanted(&self.whose));
        wait::until(format!("{self} is repaired"), LONG, async || {
            let now = self.state().await;
            if includes(&now, &ours) { Ok(()) } else { Err(format!("{now:#}\nwanted:\n{ours:#}")) }
        })
        .await;
    }

    /// What was given up is not there any more, or has another value: the server's own.
    pub(crate) fn check_given_up(&self, before: &Value, now: &Value) {
        for path in self.sample.given_up() {
            let (before, now) = (at(before, &path), at(now, &path));
            assert!(!before.is_empty(), "{self}: {path:?} was never there");
            let still = now.iter().find(|value| before.contains(value));
            assert!(still.is_none(), "{self}: {path:?} was given up and still is {still:?}");
        }
    }

    pub(crate) async fn until_gone(&self) {
        wait::until(format!("{self} is gone"), LONG, async || match self.api.get_metadata_opt(&self.name).await {
            Ok(None) => Ok(()),
            Ok(Some(object)) => Err(format!("{:?}", object.metadata)),
            Err(error) => Err(error.to_string()),
        })
        .await;
    }
}

impl std::fmt::Display for Child {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// What `state` has at the places where `wanted` speaks; a list counts as one place.
fn covered(state: &Value, wanted: &Value) -> Value {
    match (state, wanted) {
        (Value::Object(state), Value::Object(wanted)) => {
            let fields = state.iter().filter_map(|(name, value)| Some((name, value, wanted.get(name)?)));
            let fields = fields.map(|(name, value, wanted)| (name.clone(), covered(value, wanted)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        _ => state.clone(),
    }
}

/// Whether `whole` has everything that `part` has; items of lists in any order.
fn includes(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, below)| whole.get(name).is_some_and(|own| includes(own, below)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().all(|item| whole.iter().any(|own| includes(own, item)))
        }
        _ => whole == part,
    }
}

/// All values at a path in which `*` stands for each item of a list.
fn at<'a>(value: &'a Value, path: &[String]) -> Vec<&'a Value> {
    match (path, value) {
        ([], value) => vec![value],
        ([step, rest @ ..], Value::Array(items)) if step == "*" => {
            items.iter().flat_map(|item| at(item, rest)).collect()
        }
        ([step, rest @ ..], value) => value.get(step).map_or_else(Vec::new, |below| at(below, rest)),
    }
}
