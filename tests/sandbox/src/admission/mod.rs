//! Admission: what may change an object on its way, and what may refuse it.

use serde_json::Value;

use crate::{failure::Failure, verb::Asked};

/// A write that is looked at.
pub(crate) struct Review<'a> {
    pub(crate) asked: Asked<'a>,
    pub(crate) operation: Operation,
    /// The new state; null of a deletion.
    pub(crate) object: Value,
    pub(crate) old: Option<Value>,
    /// What the client is told beside the answer.
    pub(crate) warnings: Vec<String>,
}

/// As admission names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

impl<'a> Review<'a> {
    pub(crate) fn create(asked: Asked<'a>, object: Value) -> Self {
        Self { asked, operation: Operation::Create, object, old: None, warnings: Vec::new() }
    }

    pub(crate) fn update(asked: Asked<'a>, object: Value, old: Value) -> Self {
        Self { asked, operation: Operation::Update, object, old: Some(old), warnings: Vec::new() }
    }

    pub(crate) fn delete(asked: Asked<'a>, old: Value) -> Self {
        Self { asked, operation: Operation::Delete, object: Value::Null, old: Some(old), warnings: Vec::new() }
    }
}

/// Lets everything that may change the object do so, in Kubernetes' order.
pub(crate) async fn mutate(review: &mut Review<'_>) -> Result<(), Failure> {
    let _ = review;
    Ok(())
}

/// Asks everything that may refuse the write.
pub(crate) async fn validate(review: &mut Review<'_>) -> Result<(), Failure> {
    let _ = review;
    Ok(())
}
