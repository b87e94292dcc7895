//! Calls an admission webhook: sends the `AdmissionReview` and reads the response.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{error::internal_error, hook::Hook, version::in_version};
use crate::{
    admission::{match_rules::MatchedKind, review::Review},
    failure::Failure,
    object, webhook,
};

/// The response of a webhook to a write.
pub(super) struct AdmissionResponse {
    /// The failure if the webhook denies the write; `None` if it allows the write.
    pub(super) denial: Option<Failure>,
    pub(super) patch: Option<Value>,
    pub(super) warnings: Vec<String>,
}

/// The error of a failed call.
pub(super) enum CallError {
    /// The failure policy determines whether the write fails.
    Ignorable(String),
    /// The write fails regardless of the failure policy.
    Failure(Failure),
}

impl Hook {
    /// Sends a write to the webhook and returns the response. `may_patch` is `true` for a mutating webhook.
    pub(super) async fn call(
        &self,
        review: &Review<'_>,
        matched_kind: &MatchedKind,
        may_patch: bool,
    ) -> Result<AdmissionResponse, CallError> {
        if review.is_dry_run() && !self.allows_dry_run {
            let why = format!("admission webhook {:?} does not support dry run", self.name);
            return Err(CallError::Failure(Failure::bad_request(why)));
        }
        let server = review.request.server;
        let uid = server.environment.uid();
        let body = admission_review(review, matched_kind, &uid).await.map_err(CallError::Failure)?;
        let answer = webhook::call(server, &self.client, &body, self.timeout).await;
        let answer = answer.map_err(|why| CallError::Ignorable(format!("failed to call webhook: {why}")))?;
        self.parse_response(&answer, &uid, may_patch).map_err(CallError::Ignorable)
    }

    /// Returns the failure of a write whose webhook call failed.
    pub(super) fn call_failure(&self, why: &str) -> Failure {
        internal_error(&format!("failed calling webhook {:?}: {why}", self.name))
    }

    /// Parses the `AdmissionReview` that the webhook returned. Returns the error of kube-apiserver
    /// (`VerifyAdmissionResponse`) if the review is invalid.
    fn parse_response(&self, review: &Value, uid: &str, may_patch: bool) -> Result<AdmissionResponse, String> {
        let invalid = |why: String| format!("received invalid webhook response: {why}");
        let (version, kind) = (object::text(review, &["apiVersion"]), object::text(review, &["kind"]));
        if (version, kind) != ("admission.k8s.io/v1", "AdmissionReview") {
            let version_name = version.rsplit('/').next().unwrap_or_default();
            return Err(match kind {
                "AdmissionReview" => format!(
                    "failed to call webhook: converting ({version_name}.AdmissionReview) to (v1.AdmissionReview): unknown conversion"
                ),
                _ => invalid(format!(
                    "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {version}, Kind={kind}"
                )),
            });
        }
        let response = &review["response"];
        if !response.is_object() {
            return Err(invalid("webhook response was absent".to_owned()));
        }
        let response_uid = object::text(response, &["uid"]);
        if response_uid != uid {
            return Err(invalid(format!("expected response.uid={uid:?}, got {response_uid:?}")));
        }
        let patch = object::text(response, &["patch"]);
        let patch_type = object::text(response, &["patchType"]);
        let patch = match (patch, patch_type) {
            ("", "") => None,
            (_, _) if !may_patch && !patch.is_empty() => {
                return Err(invalid("validating webhook may not return response.patch".to_owned()));
            }
            (_, _) if !may_patch => {
                return Err(invalid("validating webhook may not return response.patchType".to_owned()));
            }
            ("", _) => return Err(invalid("webhook returned response.patchType but not response.patch".to_owned())),
            (_, "") => return Err(invalid("webhook returned response.patch but not response.patchType".to_owned())),
            (patch, "JSONPatch") => {
                let bytes = STANDARD.decode(patch).map_err(|error| invalid(error.to_string()))?;
                Some(serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?)
            }
            (_, other) => {
                return Err(invalid(format!("webhook returned invalid response.patchType of {other:?}")));
            }
        };
        let warnings = response["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Ok(AdmissionResponse {
            denial: (response["allowed"] != true).then(|| self.denial_failure(&response["status"])),
            patch,
            warnings: warnings.map(str::to_owned).collect(),
        })
    }

    /// Returns the failure of a denied write with the message, reason, code and details of the status that the webhook returned, worded as
    /// by kube-apiserver.
    fn denial_failure(&self, status: &Value) -> Failure {
        let mut failure = Failure::bad_request("");
        let (message, reason) = (object::text(status, &["message"]), object::text(status, &["reason"]));
        failure.message = match (message, reason) {
            ("", "") => format!("admission webhook {:?} denied the request without explanation", self.name),
            ("", why) | (why, _) => format!("admission webhook {:?} denied the request: {why}", self.name),
        };
        failure.reason = known_reason(reason);
        let code = object::number(status, &["code"]).and_then(|code| u16::try_from(code).ok());
        // A denial never has the code of a success.
        failure.code = code.filter(|code| *code >= 400).unwrap_or(400);
        if let Some(details) = status["details"].as_object() {
            failure.details.clone_from(details);
        }
        failure
    }
}

/// Returns the reason if Kubernetes defines it; otherwise an empty string.
fn known_reason(reason: &str) -> &'static str {
    const KNOWN: [&str; 18] = [
        "Unauthorized",
        "Forbidden",
        "NotFound",
        "AlreadyExists",
        "Conflict",
        "Gone",
        "Invalid",
        "ServerTimeout",
        "StoreReadError",
        "Timeout",
        "TooManyRequests",
        "BadRequest",
        "MethodNotAllowed",
        "NotAcceptable",
        "RequestEntityTooLarge",
        "UnsupportedMediaType",
        "InternalError",
        "ServiceUnavailable",
    ];
    KNOWN.into_iter().find(|known| *known == reason).unwrap_or_default()
}

/// Returns the `AdmissionReview` for the webhook, with the objects in the version that the rules match.
///
/// # Errors
/// If the conversion to this version fails.
async fn admission_review(review: &Review<'_>, matched_kind: &MatchedKind, uid: &str) -> Result<Value, Failure> {
    let server = review.request.server;
    let mut request = review.admission_request(matched_kind);
    request["uid"] = uid.into();
    request["object"] = in_version(server, &matched_kind.kind, &review.object).await?;
    request["oldObject"] = match &review.old {
        Some(old) => in_version(server, &matched_kind.kind, old).await?,
        None => Value::Null,
    };
    Ok(json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}))
}
