//! Admission policies: expressions that change a write or refuse it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::{
    Review,
    expression::{Expression, Scope},
    matching::{Hit, Matching},
};
use crate::{object, store::Stored};

pub(super) use mutating::mutate;
pub(super) use validating::validate;
pub(super) use written::check;

mod apply;
mod json_patch;
mod mutating;
mod params;
mod validating;
mod written;

/// How many read objects are remembered before all are forgotten.
const REMEMBERED: usize = 1024;

/// What was made of objects, so that expressions are compiled once.
#[derive(Debug)]
pub(crate) struct Cache<T>(Mutex<Made<T>>);

/// By uid, with the version that it was made of.
type Made<T> = BTreeMap<Arc<str>, (u64, Arc<T>)>;

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }
}

impl<T> Cache<T> {
    /// What is made of an object in its version.
    pub(super) fn get(&self, stored: &Stored, make: impl FnOnce(&Value) -> T) -> Arc<T> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, made)) = held.get(&stored.uid)
            && *version == stored.version
        {
            return made.clone();
        }
        if held.len() >= REMEMBERED {
            held.clear();
        }
        let made = Arc::new(make(&serde_json::from_slice(&stored.json).unwrap_or_default()));
        held.insert(stored.uid.clone(), (stored.version, made.clone()));
        made
    }
}

/// The policies and bindings that were read.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    mutating: Cache<mutating::Policy>,
    validating: Cache<validating::Policy>,
    bindings: Cache<Binding>,
}

/// What both sorts of a policy have.
#[derive(Debug)]
pub(super) struct Head {
    name: String,
    /// `failurePolicy: Ignore`.
    ignores_failure: bool,
    matching: Matching,
    /// `apiVersion` and `kind` of the parameters.
    param_kind: Option<(String, String)>,
    conditions: Vec<Result<Expression, String>>,
    variables: Vec<(String, Expression)>,
}

/// Puts a policy into effect.
#[derive(Debug)]
pub(super) struct Binding {
    name: String,
    policy: String,
    /// Null where there is none.
    param: Value,
    matching: Matching,
    actions: Vec<String>,
}

/// One policy and binding that match a write, with one parameter.
struct Match<'a> {
    binding: &'a Binding,
    hit: Hit,
    /// Why there is no parameter, or the parameter; null where there is none to have.
    params: Result<Value, String>,
}

impl Head {
    fn of(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let list = |key: &str| spec[key].as_array().into_iter().flatten();
        let word = |value: &Value, key: &str| object::text(value, &[key]).to_owned();
        let compiled = |value: &Value| Expression::compile(object::text(value, &["expression"]));
        let param = &spec["paramKind"];
        Self {
            name: object::name(policy).to_owned(),
            ignores_failure: spec["failurePolicy"] == "Ignore",
            matching: Matching::of(&spec["matchConstraints"], "resourceRules"),
            param_kind: param.is_object().then(|| (word(param, "apiVersion"), word(param, "kind"))),
            conditions: list("matchConditions").map(compiled).collect(),
            variables: list("variables").filter_map(|own| Some((word(own, "name"), compiled(own).ok()?))).collect(),
        }
    }

    /// Whether the conditions hold: a false one decides, then errors do.
    fn conditions_hold(&self, scope: &Scope<'_>) -> Result<bool, String> {
        conditions_hold(&self.conditions, scope)
    }
}

/// Whether all conditions hold: a false one decides, then errors do.
pub(super) fn conditions_hold(conditions: &[Result<Expression, String>], scope: &Scope<'_>) -> Result<bool, String> {
    let mut wrong = Vec::new();
    for condition in conditions {
        match condition {
            Err(why) => wrong.push(why.clone()),
            Ok(condition) => match scope.holds(condition) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(why) => wrong.push(failed(condition, &why)),
            },
        }
    }
    match wrong.as_slice() {
        [] => Ok(true),
        [one] => Err(one.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}

/// An expression that has no value, as the real server tells it.
fn failed(expression: &Expression, why: &str) -> String {
    format!("expression '{}' resulted in error: {why}", expression.source)
}

impl Binding {
    fn of(binding: &Value) -> Self {
        let spec = &binding["spec"];
        let actions = spec["validationActions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Self {
            name: object::name(binding).to_owned(),
            policy: object::text(spec, &["policyName"]).to_owned(),
            param: spec["paramRef"].clone(),
            matching: Matching::of(&spec["matchResources"], "resourceRules"),
            actions: actions.map(str::to_owned).collect(),
        }
    }
}

/// The bindings of a sort, by name. Without any no policy is looked at.
fn bindings(review: &Review<'_>, shelf: &str) -> Vec<Arc<Binding>> {
    let server = review.asked.server;
    let (_, items) = server.store.list(shelf, None);
    items.iter().map(|item| server.admission.policies.bindings.get(item, Binding::of)).collect()
}

/// Where a policy matches a write, by its bindings and their parameters.
fn matches<'a>(head: &Head, bindings: &'a [Arc<Binding>], review: &Review<'_>) -> Vec<Match<'a>> {
    let own: Vec<&Binding> =
        bindings.iter().map(|binding| &**binding).filter(|binding| binding.policy == head.name).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let Some(hit) = head.matching.hit(review) else { return Vec::new() };
    let mut found = Vec::new();
    for binding in own {
        if binding.matching.hit(review).is_none() {
            continue;
        }
        match params::of(head, binding, review) {
            Ok(all) => {
                found.extend(all.into_iter().map(|params| Match { binding, hit: hit.clone(), params: Ok(params) }))
            }
            Err(why) => found.push(Match { binding, hit: hit.clone(), params: Err(why) }),
        }
    }
    found
}

/// What no policy is asked about: policies and what puts them into effect.
fn is_exempt(review: &Review<'_>) -> bool {
    let kind = review.asked.kind;
    kind.group == "admissionregistration.k8s.io" && kind.custom().is_none()
}
