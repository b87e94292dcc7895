//! Implements the CEL variable `authorizer`, which checks the permissions of the user or of a ServiceAccount.
//!
//! An expression cannot call the server. A check without a result ends the evaluation; the caller provides the result and
//! evaluates again.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube_cel::cel::{Context, ExecutionError, Value, extractors::This, objects::Opaque};

/// A permission check of an expression: `SubjectAccessReview` attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AccessCheck {
    /// Namespace and name of the ServiceAccount; `None` for the user of the request.
    pub(crate) account: Option<(String, String)>,
    /// A non-resource path.
    pub(crate) path: Option<String>,
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) verb: String,
}

/// The checks of an evaluation and their results so far; `None` for a check that has no result yet.
#[derive(Debug, Default)]
pub(crate) struct CheckResults(Mutex<BTreeMap<AccessCheck, Option<bool>>>);

impl CheckResults {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<AccessCheck, Option<bool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the results of the checks that have none yet. Returns whether there were any, so that the caller evaluates the expression
    /// again.
    pub(super) fn resolve_pending(&self, allows: impl Fn(&AccessCheck) -> bool) -> bool {
        let mut results = self.lock();
        let mut resolved = false;
        for (check, result) in results.iter_mut().filter(|(_, result)| result.is_none()) {
            *result = Some(allows(check));
            resolved = true;
        }
        resolved
    }
}

/// The CEL variable `authorizer`: a check under construction.
#[derive(Clone, Debug)]
pub(crate) struct Authorizer {
    check: AccessCheck,
    results: Arc<CheckResults>,
}

impl PartialEq for Authorizer {
    fn eq(&self, other: &Self) -> bool {
        self.check == other.check
    }
}

impl Eq for Authorizer {}

impl Opaque for Authorizer {
    fn runtime_type_name(&self) -> &str {
        "kubernetes.authorization.Authorizer"
    }
}

/// The answer to a check.
#[derive(Debug, PartialEq, Eq)]
struct AuthorizerDecision {
    allowed: bool,
}

impl Opaque for AuthorizerDecision {
    fn runtime_type_name(&self) -> &str {
        "kubernetes.authorization.Decision"
    }
}

impl Authorizer {
    /// Returns an authorizer as a CEL value, with the attributes that `check` already has.
    pub(crate) fn cel_value(results: &Arc<CheckResults>, check: AccessCheck) -> Value {
        Self { check, results: results.clone() }.value()
    }

    fn value(self) -> Value {
        Value::Opaque(Arc::new(self))
    }

    /// Returns the decision for the check with this verb. If the check has no result yet, records it and returns an error, which ends the
    /// evaluation; the caller resolves the check and evaluates the expression again.
    fn evaluate(mut self, verb: &str) -> Result<Value, ExecutionError> {
        verb.clone_into(&mut self.check.verb);
        match *self.results.lock().entry(self.check).or_insert(None) {
            Some(allowed) => Ok(Value::Opaque(Arc::new(AuthorizerDecision { allowed }))),
            None => Err(ExecutionError::function_error("check", "the authorizer was not asked yet")),
        }
    }
}

/// Registers the CEL methods of the authorizer, such as `authorizer.group(...).resource(...).check(...)`, and of its decisions, such as
/// `allowed()`.
pub(super) fn register(context: &mut Context<'_>) {
    type CelString = Arc<String>;
    // Returns a CEL method that sets one attribute of the check and returns the authorizer, such as `group(...)`.
    let setter = |set: fn(&mut AccessCheck, &str)| {
        move |This(this): This<Value>, text: CelString| -> Result<Value, ExecutionError> {
            let mut authorizer = downcast_authorizer(&this)?;
            set(&mut authorizer.check, &text);
            Ok(authorizer.value())
        }
    };
    context.add_function("group", setter(|check, text| text.clone_into(&mut check.group)));
    context.add_function("resource", setter(|check, text| text.clone_into(&mut check.resource)));
    context.add_function("subresource", setter(|check, text| text.clone_into(&mut check.subresource)));
    context.add_function("namespace", setter(|check, text| text.clone_into(&mut check.namespace)));
    context.add_function("name", setter(|check, text| text.clone_into(&mut check.name)));
    context.add_function("path", setter(|check, text| check.path = Some(text.to_owned())));
    context.add_function(
        "serviceAccount",
        |This(this): This<Value>, namespace: CelString, name: CelString| -> Result<Value, ExecutionError> {
            let mut authorizer = downcast_authorizer(&this)?;
            authorizer.check.account = Some((namespace.to_string(), name.to_string()));
            Ok(authorizer.value())
        },
    );
    context
        .add_function("check", |This(this): This<Value>, verb: CelString| downcast_authorizer(&this)?.evaluate(&verb));
    context.add_function("allowed", |This(this): This<Value>| is_allowed(&this).map(Value::Bool));
    // The sandbox's authorizer never fails and gives no reasons.
    context.add_function("errored", |This(this): This<Value>| is_allowed(&this).map(|_| Value::Bool(false)));
    let empty_string = |This(this): This<Value>| is_allowed(&this).map(|_| Value::String(Arc::default()));
    context.add_function("reason", empty_string);
    context.add_function("error", empty_string);
}

/// Returns the authorizer in a CEL value; fails with "no such overload" for any other value.
fn downcast_authorizer(value: &Value) -> Result<Authorizer, ExecutionError> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<Authorizer>().cloned().ok_or(ExecutionError::NoSuchOverload),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

/// Returns whether the decision in a CEL value allows the check; fails with "no such overload" for any other value.
fn is_allowed(value: &Value) -> Result<bool, ExecutionError> {
    let found = match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<AuthorizerDecision>().map(|decision| decision.allowed),
        _ => None,
    };
    found.ok_or(ExecutionError::NoSuchOverload)
}
