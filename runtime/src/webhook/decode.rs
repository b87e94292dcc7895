//! Decodes the objects of a review as the type of a kind.

use super::{
    admission::{Admission, AdmittedObjects},
    denied::Denied,
    review::{AdmissionRequest, Operation},
};
use crate::panic::{Closure, catch};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// Decodes the objects of an admission request as the type `K`.
///
/// # Errors
/// A refusal that names the field, if the object that is written or deleted can't be decoded. If the old object of an update can't be
/// decoded, it is left out, so that an update can repair it.
pub(super) fn admission<K: DeserializeOwned>(request: &Arc<AdmissionRequest>) -> Result<Admission<K>, Denied> {
    let objects = match request.operation {
        Operation::Delete => AdmittedObjects::Deleted(decode(&request.old_object)?),
        Operation::Create | Operation::Update => AdmittedObjects::Stored {
            new: decode(&request.object)?,
            old: (!request.old_object.is_null()).then(|| decode(&request.old_object).ok()).flatten(),
        },
    };
    Ok(Admission::new(request.clone(), objects))
}

/// Decodes one object as the type `K`.
///
/// # Errors
/// A refusal that names the field that can't be decoded. A failure if the decoding panics, for example in a `Deserialize` of the user.
fn decode<K: DeserializeOwned>(object: &Value) -> Result<K, Denied> {
    let decoded = catch(Closure::Object, || serde_path_to_error::deserialize(object));
    decoded.map_err(Denied::unexpected)?.map_err(|error: serde_path_to_error::Error<serde_json::Error>| {
        let field = error.path().to_string();
        Denied::invalid(field, format!("the operator can't read it: {}", error.inner()))
    })
}
