//! The wire format of `AdmissionReview` in version `admission.k8s.io/v1`.

use super::denied::Denied;
use k8s_openapi::{ByteString, api::authentication::v1::UserInfo};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The only version that the webhooks understand, which every supported API server sends.
const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// The write that a webhook is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Operation {
    /// A new object.
    Create,
    /// A change of an object, by a replacement or by any kind of patch.
    Update,
    /// The deletion of an object. There is only the old object.
    Delete,
}

impl Operation {
    /// Returns the name in the rules of a webhook configuration.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// The request of a review, with undecoded objects.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AdmissionRequest {
    pub(super) uid: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: Option<String>,
    pub(super) operation: Operation,
    #[serde(default)]
    pub(super) sub_resource: Option<String>,
    #[serde(default)]
    pub(super) user_info: UserInfo,
    #[serde(default)]
    pub(super) object: Value,
    #[serde(default)]
    pub(super) old_object: Value,
    #[serde(default)]
    pub(super) dry_run: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AdmissionReview {
    api_version: String,
    kind: String,
    request: Option<AdmissionRequest>,
}

/// The answer to a review.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AdmissionAnswer {
    pub(super) denied: Option<Denied>,
    /// The JSON patch of a defaulting webhook that changes something.
    pub(super) patch: Option<json_patch::Patch>,
    pub(super) warnings: Vec<String>,
}

impl AdmissionRequest {
    /// Parses the body of an `AdmissionReview` and returns its request.
    ///
    /// # Errors
    /// A sentence for the client, if the body is no `AdmissionReview` of the version `admission.k8s.io/v1`.
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        let review: AdmissionReview =
            serde_json::from_slice(body).map_err(|error| format!("the body is not an AdmissionReview: {error}"))?;
        if (review.api_version.as_str(), review.kind.as_str()) != (API_VERSION, KIND) {
            return Err(format!("expected {KIND} of {API_VERSION}, got {} of {}", review.kind, review.api_version));
        }
        review.request.ok_or_else(|| format!("the {KIND} has no request"))
    }

    /// Returns whether the request updates an object that is being deleted and changes nothing but its finalizers, of which it adds none.
    pub(super) fn is_removal_of_finalizers(&self) -> bool {
        let finalizers = |object: &Value| object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
        let without_finalizers = |object: &Value| {
            let mut object = object.clone();
            if let Some(metadata) = object["metadata"].as_object_mut() {
                // The API server sets the fields other than `finalizers` in each write.
                for field in ["finalizers", "managedFields", "resourceVersion", "generation"] {
                    metadata.remove(field);
                }
            }
            object
        };
        let old_finalizers = finalizers(&self.old_object);
        self.operation == Operation::Update
            && self.sub_resource.as_deref().is_none_or(str::is_empty)
            && !self.old_object["metadata"]["deletionTimestamp"].is_null()
            && finalizers(&self.object).iter().all(|finalizer| old_finalizers.contains(finalizer))
            && without_finalizers(&self.old_object) == without_finalizers(&self.object)
    }
}

impl AdmissionAnswer {
    /// Returns the `AdmissionReview` that a webhook sends back: the response to the request with this uid.
    pub(super) fn to_review(&self, uid: &str) -> serde_json::Result<Value> {
        let mut response = json!({"uid": uid, "allowed": self.denied.is_none()});
        if let Some(denied) = &self.denied {
            response["status"] = denied.to_status();
        }
        if let Some(patch) = &self.patch {
            response["patchType"] = json!("JSONPatch");
            response["patch"] = serde_json::to_value(ByteString(serde_json::to_vec(patch)?))?;
        }
        if !self.warnings.is_empty() {
            response["warnings"] = json!(self.warnings);
        }
        Ok(json!({"apiVersion": API_VERSION, "kind": KIND, "response": response}))
    }

    /// Reads the answer from the `AdmissionReview` that a webhook has sent back, the reverse of [`AdmissionAnswer::to_review`].
    pub(super) fn from_review(review: &Value) -> serde_json::Result<Self> {
        let response = &review["response"];
        let denied = (response["allowed"] != true).then(|| Denied::from_status(&response["status"]));
        let patch = match &response["patch"] {
            Value::Null => None,
            patch => Some(serde_json::from_slice(&ByteString::deserialize(patch)?.0)?),
        };
        let warnings = response["warnings"].as_array().into_iter().flatten();
        let warnings = warnings.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { denied, patch, warnings })
    }
}

/// Returns an `AdmissionReview` with a request, as an API server sends it.
pub(super) fn review(request: Value) -> Value {
    json!({"apiVersion": API_VERSION, "kind": KIND, "request": request})
}
