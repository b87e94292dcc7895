//! `Scope`: evaluates the CEL expressions of an admission policy or a webhook with the variables that they can use, such as `object`,
//! `request` and `params`.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use kube_cel::cel::{Context, ExecutionError, Value as Cel, context::VariableResolver};
use serde_json::Value;

use super::{
    authorizer::{AccessCheck, Authorizer, CheckResults},
    program::{Expression, FUNCTIONS, error_message},
    rewrite::{REQUEST_RESOURCE, VARIABLE},
    value,
};
use crate::admission::{authorizer, match_rules::MatchedKind, review::Review};

/// The variables of a policy, in their order; each may use those before it.
pub(crate) type Variables = [(String, Expression)];

/// The variables that the expressions of one policy or webhook can use.
pub(crate) struct Scope<'a> {
    review: &'a Review<'a>,
    values: Context<'static>,
    results: Arc<CheckResults>,
    variables: &'a Variables,
}

impl<'a> Scope<'a> {
    /// Creates the scope in which the expressions of a policy or webhook are evaluated for a write: the variables `object`, `oldObject`,
    /// `request` and so on. The objects have the version of the matched kind. `params` is the parameter of a policy; `None` for a webhook.
    pub(crate) fn new(
        review: &'a Review<'a>,
        matched_kind: &MatchedKind,
        params: Option<&Value>,
        variables: &'a Variables,
    ) -> Self {
        let results = Arc::new(CheckResults::default());
        let mut values = FUNCTIONS.new_inner_scope();
        let mut set = |name: &str, value: Cel| values.add_variable_from_value(name, value);
        set("object", value::of_json(&matched_kind.in_matched_version(&review.object)));
        set(
            "oldObject",
            review.old.as_ref().map_or(Cel::Null, |old| value::of_json(&matched_kind.in_matched_version(old))),
        );
        set("request", value::of_json(&review.admission_request(matched_kind)));
        set("params", params.map_or(Cel::Null, value::of_json));
        set("namespaceObject", namespace_object(review));
        set("authorizer", Authorizer::cel_value(&results, AccessCheck::default()));
        set(REQUEST_RESOURCE, Authorizer::cel_value(&results, request_resource_check(review)));
        Self { review, values, results, variables }
    }

    /// Evaluates an expression. Returns the message of cel-go if the evaluation fails.
    pub(crate) fn evaluate(&self, expression: &Expression) -> Result<Cel, String> {
        loop {
            let variables = LazyVariables {
                scope: self,
                evaluated: Mutex::default(),
                failed: Mutex::default(),
                available: self.variables.len(),
            };
            let mut context = self.values.new_inner_scope();
            context.set_variable_resolver(&variables);
            let result = expression.evaluate(&context);
            let review = self.review;
            // An authorizer check without a result ends the evaluation. With the result of the check, the next round gets further.
            if self.results.resolve_pending(|check| authorizer::allows(review, check)) {
                continue;
            }
            return result.map_err(|error| variables.take_error().unwrap_or_else(|| error_message(&error)));
        }
    }

    /// Evaluates an expression to a boolean. Returns an error message if the evaluation fails or the result is not a boolean.
    pub(crate) fn evaluate_bool(&self, expression: &Expression) -> Result<bool, String> {
        match self.evaluate(expression)? {
            Cel::Bool(truth) => Ok(truth),
            _ => Err("no such overload".to_owned()),
        }
    }

    /// Returns the result of an expression; `None` if the evaluation fails or the result is not a string.
    pub(crate) fn evaluate_text(&self, expression: &Expression) -> Option<String> {
        match self.evaluate(expression) {
            Ok(Cel::String(text)) => Some(text.to_string()),
            _ => None,
        }
    }
}

/// Evaluates the variables of a policy on first use.
struct LazyVariables<'a> {
    scope: &'a Scope<'a>,
    evaluated: Mutex<BTreeMap<String, Cel>>,
    /// The error of a variable that the expression used.
    failed: Mutex<Option<String>>,
    /// The number of variables that may be used, in their order.
    available: usize,
}

impl LazyVariables<'_> {
    /// Returns the error of a variable that the expression used; `None` if there was none.
    fn take_error(&self) -> Option<String> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Evaluates a variable of the policy. Its expression may use only the variables before it. Returns an error message if the variable is
    /// not defined or its evaluation fails.
    fn evaluate_variable(&self, name: &str) -> Result<Cel, String> {
        let variables = &self.scope.variables[..self.available];
        let position = variables.iter().position(|(variable, _)| variable == name);
        let (index, expression) =
            position.map(|index| (index, &variables[index].1)).ok_or_else(|| format!("no such key: {name}"))?;
        let inner = LazyVariables {
            scope: self.scope,
            evaluated: Mutex::default(),
            failed: Mutex::default(),
            available: index,
        };
        let mut context = self.scope.values.new_inner_scope();
        context.set_variable_resolver(&inner);
        let result: Result<Cel, ExecutionError> = expression.evaluate(&context);
        result.map_err(|error| {
            let why = inner.take_error().unwrap_or_else(|| error_message(&error));
            format!("composited variable {name:?} fails to evaluate: {why}")
        })
    }
}

impl VariableResolver for LazyVariables<'_> {
    /// Returns the value of a policy variable, whose name in the rewritten expression starts with `variables.`, and caches it. Records the
    /// error and returns `None` if the evaluation fails. Also returns `None` for other names.
    fn resolve(&self, variable: &str) -> Option<Cel> {
        let name = variable.strip_prefix(VARIABLE)?;
        let evaluated = self.evaluated.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if evaluated.is_some() {
            return evaluated;
        }
        match self.evaluate_variable(name) {
            Ok(value) => {
                self.evaluated.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.clone());
                Some(value)
            }
            Err(why) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                None
            }
        }
    }
}

/// Returns the value of the CEL variable `namespaceObject`: the Namespace of the request without `managedFields`; null for a cluster-scoped
/// object.
fn namespace_object(review: &Review<'_>) -> Cel {
    let request = review.request;
    if !request.kind.namespaced {
        return Cel::Null;
    }
    let namespace = request.server.store.get("namespaces", "", request.namespace);
    let namespace = namespace.and_then(|namespace| serde_json::from_slice::<Value>(&namespace.json).ok());
    namespace.map_or(Cel::Null, |mut namespace| {
        namespace["apiVersion"] = "v1".into();
        namespace["kind"] = "Namespace".into();
        if let Some(metadata) = namespace["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        value::of_json(&namespace)
    })
}

/// Returns the initial permission check of `authorizer.requestResource`: the resource and object of the request, still without a verb.
fn request_resource_check(review: &Review<'_>) -> AccessCheck {
    let request = review.request;
    AccessCheck {
        group: request.kind.group.clone(),
        resource: request.kind.plural.clone(),
        subresource: request.subresource.unwrap_or_default().to_owned(),
        namespace: request.namespace.to_owned(),
        name: review.known_name().to_owned(),
        ..AccessCheck::default()
    }
}
