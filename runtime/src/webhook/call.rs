//! Wraps the user's webhook functions, each for one Rust type, in functions that take an admission request of any kind.

use super::{
    admission::Admission,
    decode,
    denied::Denied,
    handler::AdmissionFunction,
    merge::merge,
    review::{AdmissionAnswer, AdmissionRequest},
};
use crate::client::Client;
use futures::{FutureExt, future::ready};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;

/// Wraps `check`, the user's function of a validating webhook for one Rust type, in a function that takes any admission request: it decodes
/// the objects, calls `check`, and returns an answer with the refusal, if there is one, and the warnings. A request that can't be decoded
/// is denied.
pub(crate) fn validating<K, F>(check: impl Fn(Admission<K>, &Client) -> F + Send + Sync + 'static) -> AdmissionFunction
where
    K: DeserializeOwned + Send + Sync + 'static,
    F: Future<Output = Result<(), Denied>> + Send + 'static,
{
    Arc::new(move |request, client| {
        let admission = match decode::admission::<K>(&request) {
            Ok(admission) => admission,
            Err(denied) => return ready(refusal(denied)).boxed(),
        };
        let checked = check(admission.clone(), client);
        async move {
            let denied = checked.await.err();
            AdmissionAnswer { denied, patch: None, warnings: admission.take_warnings() }
        }
        .boxed()
    })
}

/// Wraps `default`, the user's function of a defaulting webhook for one Rust type, in a function that takes any admission request: it
/// decodes the objects, calls `default`, and returns an answer with the changes as a JSON patch. A request that can't be decoded is denied.
pub(crate) fn defaulting<K, F>(
    default: impl Fn(Admission<K>, K, &Client) -> F + Send + Sync + 'static,
) -> AdmissionFunction
where
    K: DeserializeOwned + Serialize + Clone + Send + Sync + 'static,
    F: Future<Output = Result<K, Denied>> + Send + 'static,
{
    Arc::new(move |request, client| {
        let admission = match decode::admission::<K>(&request) {
            Ok(admission) => admission,
            Err(denied) => return ready(refusal(denied)).boxed(),
        };
        let defaulted = default(admission.clone(), admission.object().clone(), client);
        async move {
            let patch = match defaulted.await {
                Ok(object) => patch(&request, admission.object(), &object),
                Err(denied) => Err(denied),
            };
            let warnings = admission.take_warnings();
            match patch {
                Ok(patch) => AdmissionAnswer { denied: None, patch, warnings },
                Err(denied) => AdmissionAnswer { denied: Some(denied), patch: None, warnings },
            }
        }
        .boxed()
    })
}

/// Returns an answer that denies the write, without warnings.
fn refusal(denied: Denied) -> AdmissionAnswer {
    AdmissionAnswer { denied: Some(denied), ..AdmissionAnswer::default() }
}

/// Returns a JSON patch for the object in the request that makes the changes from `before`, the decoded object, to `after`, the object with
/// defaults. Fields that the type `K` doesn't have stay as they are. Returns `None` if nothing changes.
///
/// # Errors
/// A refusal that names the field, if a changed field has another form in the request than the type writes. A failure if an object can't be
/// encoded.
fn patch<K: Serialize>(request: &AdmissionRequest, before: &K, after: &K) -> Result<Option<json_patch::Patch>, Denied> {
    let json = |object: &K| serde_json::to_value(object).map_err(Denied::unexpected);
    let merged = merge(&request.object, &json(before)?, &json(after)?);
    let merged = merged.map_err(|error| {
        Denied::invalid(
            error.field.clone(),
            "its default can't be set, since its value is written in another form than the operator writes",
        )
    })?;
    let patch = json_patch::diff(&request.object, &merged);
    Ok(Some(patch).filter(|patch| !patch.0.is_empty()))
}
