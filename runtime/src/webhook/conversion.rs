//! `Converter` answers a `ConversionReview`: it converts objects between the versions of their kind.

use crate::{
    counters::Counters,
    kind::{Kind, group_of},
    panic::{Closure, catch},
    versions::{FieldProblem, Versions},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use std::{collections::BTreeMap, sync::Arc};

/// The path of the webhook that converts the objects of all kinds of an operator.
pub(crate) const CONVERSION_PATH: &str = "/convert";

/// The only version of reviews that the webhook understands, which every supported API server sends.
const API_VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "ConversionReview";

/// The kinds whose objects the operator converts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Converter {
    /// The kinds by group and kind.
    kinds: Arc<BTreeMap<(String, String), (Kind, Versions)>>,
}

/// The objects of a review, as the API server sends them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConversionReview<'a> {
    api_version: String,
    kind: String,
    #[serde(borrow)]
    request: Option<ConversionRequest<'a>>,
}

#[derive(Deserialize)]
struct ConversionRequest<'a> {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired_api_version: String,
    #[serde(borrow)]
    objects: Vec<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConversionAnswer<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: ConversionResponse<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConversionResponse<'a> {
    uid: &'a str,
    result: ConversionResult,
    converted_objects: Vec<Box<RawValue>>,
}

#[derive(Serialize)]
#[serde(tag = "status")]
enum ConversionResult {
    Success,
    #[serde(rename = "Failed")]
    Failed {
        message: String,
    },
}

impl Converter {
    /// Creates a converter of the kinds with several versions.
    pub(crate) fn new(kinds: BTreeMap<Kind, Versions>) -> Self {
        let by_name =
            |(kind, versions): (Kind, Versions)| ((kind.group.to_string(), kind.kind.to_string()), (kind, versions));
        Self { kinds: Arc::new(kinds.into_iter().map(by_name).collect()) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns the answer to a `ConversionReview`, as JSON. The converted objects are in the order of the request. If one object can't be
    /// converted, the answer has the result `Failed` and no objects, since the API server accepts all objects or none.
    ///
    /// # Errors
    /// A sentence for the client, if the body is no `ConversionReview` of the version `apiextensions.k8s.io/v1`.
    pub(super) fn answer(&self, body: &[u8], counters: &Counters) -> Result<Vec<u8>, String> {
        let review: ConversionReview<'_> =
            serde_json::from_slice(body).map_err(|error| format!("the body is not a ConversionReview: {error}"))?;
        if (review.api_version.as_str(), review.kind.as_str()) != (API_VERSION, KIND) {
            let (version, kind) = (review.api_version, review.kind);
            return Err(format!("expected {KIND} of {API_VERSION}, got {kind} of {version}"));
        }
        let request = review.request.ok_or_else(|| format!("the {KIND} has no request"))?;
        let (_, version) = request.desired_api_version.rsplit_once('/').unwrap_or(("", &request.desired_api_version));
        let converted: Result<Vec<_>, String> =
            request.objects.iter().map(|object| self.convert(object, version, counters)).collect();
        let (result, converted_objects) = match converted {
            Ok(objects) => (ConversionResult::Success, objects),
            Err(message) => (ConversionResult::Failed { message }, Vec::new()),
        };
        if let ConversionResult::Failed { message } = &result {
            tracing::error!(version = request.desired_api_version, message, "a conversion failed");
        }
        let response = ConversionResponse { uid: &request.uid, result, converted_objects };
        let answer = ConversionAnswer { api_version: API_VERSION, kind: KIND, response };
        serde_json::to_vec(&answer).map_err(|error| format!("the answer can't be written as JSON: {error}"))
    }

    /// Converts one object to `version`, the name of a version without the group. Logs and counts the fields that could not be converted;
    /// the result lacks these.
    ///
    /// # Errors
    /// A sentence for the client, if the object is invalid, the operator does not convert its kind, or the conversion fails or panics.
    fn convert(&self, raw: &RawValue, version: &str, counters: &Counters) -> Result<Box<RawValue>, String> {
        let mut object: Value =
            serde_json::from_str(raw.get()).map_err(|error| format!("an object is invalid: {error}"))?;
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let (group, kind) = (group_of(&text("apiVersion")).to_owned(), text("kind"));
        let Some((of_kind, versions)) = self.kinds.get(&(group.clone(), kind.clone())) else {
            return Err(format!("the operator does not convert objects of the kind {kind:?} of the group {group:?}"));
        };
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        let failed = |error: &dyn std::fmt::Display| format!("{kind} {namespace}/{name}: {error}");
        let result = catch(Closure::Webhook, || versions.convert(&mut object, version));
        let problems = result.map_err(|panicked| {
            counters.count_panic(Closure::Webhook);
            failed(&panicked)
        })?;
        let problems = problems.map_err(|error| failed(&error))?;
        counters.count_unconverted_fields(problems.len());
        report(of_kind, (&namespace, &name), version, &problems);
        serde_json::value::to_raw_value(&object).map_err(|error| failed(&error))
    }
}

/// Logs the fields of an object that could not be converted. Their values are not in the log.
fn report(kind: &Kind, (namespace, name): (&str, &str), version: &str, problems: &[FieldProblem]) {
    for FieldProblem { path, .. } in problems {
        tracing::warn!(%kind, namespace, name, version, field = path, "a field could not be converted, and is left out");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
