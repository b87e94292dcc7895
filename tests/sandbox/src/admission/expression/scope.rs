//! Provides the variables of a CEL expression: the object, the request, and the variables of its policy.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use kube_cel::cel::{Context, ExecutionError, Value as Cel, context::VariableResolver};
use serde_json::Value;

use super::{
    authorizer::{Answers, Authorizer, Question},
    program::{Expression, FUNCTIONS, worded},
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
    answers: Arc<Answers>,
    variables: &'a Variables,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(
        review: &'a Review<'a>,
        hit: &MatchedKind,
        params: Option<&Value>,
        variables: &'a Variables,
    ) -> Self {
        let answers = Arc::new(Answers::default());
        let mut values = FUNCTIONS.new_inner_scope();
        let mut set = |name: &str, value: Cel| values.add_variable_from_value(name, value);
        set("object", value::of_json(&hit.in_matched_version(&review.object)));
        set("oldObject", review.old.as_ref().map_or(Cel::Null, |old| value::of_json(&hit.in_matched_version(old))));
        set("request", value::of_json(&review.admission_request(hit)));
        set("params", params.map_or(Cel::Null, value::of_json));
        set("namespaceObject", namespace(review));
        set("authorizer", Authorizer::asking(&answers, Question::default()));
        set(REQUEST_RESOURCE, Authorizer::asking(&answers, own_resource(review)));
        Self { review, values, answers, variables }
    }

    /// Evaluates an expression.
    pub(crate) fn evaluate(&self, expression: &Expression) -> Result<Cel, String> {
        loop {
            let lazy =
                Lazy { scope: self, known: Mutex::default(), failed: Mutex::default(), below: self.variables.len() };
            let mut context = self.values.new_inner_scope();
            context.set_variable_resolver(&lazy);
            let answered = expression.value(&context);
            let review = self.review;
            if self.answers.answer(|question| authorizer::allows(review, question)) {
                continue;
            }
            return answered.map_err(|error| lazy.failure().unwrap_or_else(|| worded(&error)));
        }
    }

    /// Evaluates an expression to a boolean.
    pub(crate) fn holds(&self, expression: &Expression) -> Result<bool, String> {
        match self.evaluate(expression)? {
            Cel::Bool(truth) => Ok(truth),
            _ => Err("no such overload".to_owned()),
        }
    }

    /// Returns the result of an expression if it is a string.
    pub(crate) fn text(&self, expression: &Expression) -> Option<String> {
        match self.evaluate(expression) {
            Ok(Cel::String(text)) => Some(text.to_string()),
            _ => None,
        }
    }
}

/// Evaluates variables on first use.
struct Lazy<'a> {
    scope: &'a Scope<'a>,
    known: Mutex<BTreeMap<String, Cel>>,
    /// The error of a variable that the expression used.
    failed: Mutex<Option<String>>,
    /// The number of variables that may be used, in their order.
    below: usize,
}

impl Lazy<'_> {
    fn failure(&self) -> Option<String> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn make(&self, name: &str) -> Result<Cel, String> {
        let variables = &self.scope.variables[..self.below];
        let found = variables.iter().position(|(own, _)| own == name);
        let (at, expression) = found.map(|at| (at, &variables[at].1)).ok_or_else(|| format!("no such key: {name}"))?;
        let inner = Lazy { scope: self.scope, known: Mutex::default(), failed: Mutex::default(), below: at };
        let mut context = self.scope.values.new_inner_scope();
        context.set_variable_resolver(&inner);
        let result: Result<Cel, ExecutionError> = expression.value(&context);
        result.map_err(|error| {
            let why = inner.failure().unwrap_or_else(|| worded(&error));
            format!("composited variable {name:?} fails to evaluate: {why}")
        })
    }
}

impl VariableResolver for Lazy<'_> {
    fn resolve(&self, variable: &str) -> Option<Cel> {
        let name = variable.strip_prefix(VARIABLE)?;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if known.is_some() {
            return known;
        }
        match self.make(name) {
            Ok(value) => {
                self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.clone());
                Some(value)
            }
            Err(why) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                None
            }
        }
    }
}

/// Returns the `namespaceObject`.
fn namespace(review: &Review<'_>) -> Cel {
    let request = review.request;
    if !request.kind.namespaced {
        return Cel::Null;
    }
    let held = request.server.store.get("namespaces", "", request.namespace);
    let held = held.and_then(|held| serde_json::from_slice::<Value>(&held.json).ok());
    held.map_or(Cel::Null, |mut namespace| {
        namespace["apiVersion"] = "v1".into();
        namespace["kind"] = "Namespace".into();
        if let Some(metadata) = namespace["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        value::of_json(&namespace)
    })
}

fn own_resource(review: &Review<'_>) -> Question {
    let request = review.request;
    Question {
        group: request.kind.group.clone(),
        resource: request.kind.plural.clone(),
        subresource: request.subresource.unwrap_or_default().to_owned(),
        namespace: request.namespace.to_owned(),
        name: review.known_name().to_owned(),
        ..Question::default()
    }
}
