//! Implements the CEL variable `authorizer`, which checks the rights of the user or of a ServiceAccount.
//!
//! An expression cannot call the server. An unanswered check ends the evaluation; the caller answers it and evaluates
//! again.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube_cel::cel::{Context, ExecutionError, Value, extractors::This, objects::Opaque};

/// A check of the authorizer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Question {
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

/// The checks of an evaluation and their answers so far.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<BTreeMap<Question, Option<bool>>>);

impl Answers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Question, Option<bool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the open checks; returns whether there were any.
    pub(super) fn answer(&self, allows: impl Fn(&Question) -> bool) -> bool {
        let mut held = self.lock();
        let mut any = false;
        for (question, answer) in held.iter_mut().filter(|(_, answer)| answer.is_none()) {
            *answer = Some(allows(question));
            any = true;
        }
        any
    }
}

/// The CEL variable `authorizer`: a check under construction.
#[derive(Clone, Debug)]
pub(crate) struct Authorizer {
    question: Question,
    answers: Arc<Answers>,
}

impl PartialEq for Authorizer {
    fn eq(&self, other: &Self) -> bool {
        self.question == other.question
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
    pub(crate) fn asking(answers: &Arc<Answers>, question: Question) -> Value {
        Self { question, answers: answers.clone() }.value()
    }

    fn value(self) -> Value {
        Value::Opaque(Arc::new(self))
    }

    fn check(mut self, verb: &str) -> Result<Value, ExecutionError> {
        verb.clone_into(&mut self.question.verb);
        match *self.answers.lock().entry(self.question).or_insert(None) {
            Some(allowed) => Ok(Value::Opaque(Arc::new(AuthorizerDecision { allowed }))),
            None => Err(ExecutionError::function_error("check", "the authorizer was not asked yet")),
        }
    }
}

/// Registers the methods of the authorizer and of its decisions.
pub(super) fn register(context: &mut Context<'_>) {
    type Word = Arc<String>;
    let with = |set: fn(&mut Question, &str)| {
        move |This(this): This<Value>, word: Word| -> Result<Value, ExecutionError> {
            let mut authorizer = authorizer(&this)?;
            set(&mut authorizer.question, &word);
            Ok(authorizer.value())
        }
    };
    context.add_function("group", with(|question, word| word.clone_into(&mut question.group)));
    context.add_function("resource", with(|question, word| word.clone_into(&mut question.resource)));
    context.add_function("subresource", with(|question, word| word.clone_into(&mut question.subresource)));
    context.add_function("namespace", with(|question, word| word.clone_into(&mut question.namespace)));
    context.add_function("name", with(|question, word| word.clone_into(&mut question.name)));
    context.add_function("path", with(|question, word| question.path = Some(word.to_owned())));
    context.add_function(
        "serviceAccount",
        |This(this): This<Value>, namespace: Word, name: Word| -> Result<Value, ExecutionError> {
            let mut authorizer = authorizer(&this)?;
            authorizer.question.account = Some((namespace.to_string(), name.to_string()));
            Ok(authorizer.value())
        },
    );
    context.add_function("check", |This(this): This<Value>, verb: Word| authorizer(&this)?.check(&verb));
    context.add_function("allowed", |This(this): This<Value>| decision(&this).map(Value::Bool));
    context.add_function("errored", |This(this): This<Value>| decision(&this).map(|_| Value::Bool(false)));
    let empty = |This(this): This<Value>| decision(&this).map(|_| Value::String(Arc::default()));
    context.add_function("reason", empty);
    context.add_function("error", empty);
}

fn authorizer(value: &Value) -> Result<Authorizer, ExecutionError> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<Authorizer>().cloned().ok_or(ExecutionError::NoSuchOverload),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn decision(value: &Value) -> Result<bool, ExecutionError> {
    let found = match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<AuthorizerDecision>().map(|decision| decision.allowed),
        _ => None,
    };
    found.ok_or(ExecutionError::NoSuchOverload)
}
