//! `authorizer`: what the user, or an account, may do, asked from within an expression.
//!
//! An expression can't reach the server. A question that has no answer yet ends the evaluation; whoever evaluates answers
//! it and evaluates again.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube_cel::cel::{Context, ExecutionError, Value, extractors::This, objects::Opaque};

/// What is asked of the authorizer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Question {
    /// Namespace and name of the account that is asked about; `None` for the user of the request.
    pub(crate) account: Option<(String, String)>,
    /// A path that is no resource.
    pub(crate) path: Option<String>,
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) verb: String,
}

/// What was asked, and the answers that are there.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<BTreeMap<Question, Option<bool>>>);

impl Answers {
    fn held(&self) -> MutexGuard<'_, BTreeMap<Question, Option<bool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers what is open; whether there was anything.
    pub(super) fn answer(&self, allows: impl Fn(&Question) -> bool) -> bool {
        let mut held = self.held();
        let mut any = false;
        for (question, answer) in held.iter_mut().filter(|(_, answer)| answer.is_none()) {
            *answer = Some(allows(question));
            any = true;
        }
        any
    }
}

/// The variable: a question that is being put together.
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

/// The answer to a question.
#[derive(Debug, PartialEq, Eq)]
struct Decision {
    allowed: bool,
}

impl Opaque for Decision {
    fn runtime_type_name(&self) -> &str {
        "kubernetes.authorization.Decision"
    }
}

impl Authorizer {
    pub(crate) fn new(answers: &Arc<Answers>, question: Question) -> Value {
        Self { question, answers: answers.clone() }.value()
    }

    fn value(self) -> Value {
        Value::Opaque(Arc::new(self))
    }

    fn check(mut self, verb: &str) -> Result<Value, ExecutionError> {
        verb.clone_into(&mut self.question.verb);
        match *self.answers.held().entry(self.question).or_insert(None) {
            Some(allowed) => Ok(Value::Opaque(Arc::new(Decision { allowed }))),
            None => Err(ExecutionError::function_error("check", "the authorizer was not asked yet")),
        }
    }
}

/// The methods of the authorizer and of its answers.
pub(super) fn register(context: &mut Context<'_>) {
    type Text = Arc<String>;
    let with = |set: fn(&mut Question, &str)| {
        move |This(this): This<Value>, word: Text| -> Result<Value, ExecutionError> {
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
        |This(this): This<Value>, namespace: Text, name: Text| -> Result<Value, ExecutionError> {
            let mut authorizer = authorizer(&this)?;
            authorizer.question.account = Some((namespace.to_string(), name.to_string()));
            Ok(authorizer.value())
        },
    );
    context.add_function("check", |This(this): This<Value>, verb: Text| authorizer(&this)?.check(&verb));
    context.add_function("allowed", |This(this): This<Value>| decision(&this).map(|allowed| Value::Bool(allowed)));
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
        Value::Opaque(opaque) => opaque.downcast_ref::<Decision>().map(|decision| decision.allowed),
        _ => None,
    };
    found.ok_or(ExecutionError::NoSuchOverload)
}
