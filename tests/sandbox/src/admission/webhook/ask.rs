//! A webhook is asked: the `AdmissionReview` and what may come back.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::Hook;
use crate::{
    admission::{Review, matching::Hit},
    failure::Failure,
    object, webhook,
};

/// What a webhook says to a write.
pub(super) struct Verdict {
    /// `None` if it allows the write.
    pub(super) refusal: Option<Failure>,
    pub(super) patch: Option<Value>,
    pub(super) warnings: Vec<String>,
}

/// Why there is no verdict.
pub(super) enum Silence {
    /// The failure policy decides.
    Ignorable(String),
    /// Nothing but an error will do.
    Failure(Failure),
}

impl Hook {
    /// Asks it about a write.
    pub(super) async fn ask(&self, review: &Review<'_>, hit: &Hit, patches: bool) -> Result<Verdict, Silence> {
        if review.is_dry() && !self.harmless {
            let why = format!("admission webhook {:?} does not support dry run", self.name);
            return Err(Silence::Failure(Failure::bad_request(why)));
        }
        let server = review.asked.server;
        let uid = server.environment.uid();
        let body = body(review, hit, &uid);
        let answer = webhook::call(server, &self.client, &body, self.patience).await;
        let answer = answer.map_err(|why| Silence::Ignorable(format!("failed to call webhook: {why}")))?;
        self.verdict(&answer, &uid, patches).map_err(Silence::Ignorable)
    }

    /// Why a write fails because of it.
    pub(super) fn failed(&self, why: &str) -> Failure {
        internal(&format!("failed calling webhook {:?}: {why}", self.name))
    }

    fn verdict(&self, answer: &Value, uid: &str, patches: bool) -> Result<Verdict, String> {
        let invalid = |why: String| format!("received invalid webhook response: {why}");
        let (version, kind) = (object::text(answer, &["apiVersion"]), object::text(answer, &["kind"]));
        if (version, kind) != ("admission.k8s.io/v1", "AdmissionReview") {
            let own = version.rsplit('/').next().unwrap_or_default();
            return Err(match kind {
                "AdmissionReview" => format!(
                    "failed to call webhook: converting ({own}.AdmissionReview) to (v1.AdmissionReview): unknown conversion"
                ),
                _ => invalid(format!(
                    "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {version}, Kind={kind}"
                )),
            });
        }
        let response = &answer["response"];
        if !response.is_object() {
            return Err(invalid("webhook response was absent".to_owned()));
        }
        let answered = object::text(response, &["uid"]);
        if answered != uid {
            return Err(invalid(format!("expected response.uid={uid:?}, got {answered:?}")));
        }
        let patch = object::text(response, &["patch"]);
        let typed = object::text(response, &["patchType"]);
        let patch = match (patch, typed) {
            ("", "") => None,
            (_, _) if !patches && !patch.is_empty() => {
                return Err(invalid("validating webhook may not return response.patch".to_owned()));
            }
            (_, _) if !patches => {
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
        Ok(Verdict {
            refusal: (response["allowed"] != true).then(|| self.refusal(&response["status"])),
            patch,
            warnings: warnings.map(str::to_owned).collect(),
        })
    }

    /// What the client is told: the webhook's own status, worded by the server.
    fn refusal(&self, status: &Value) -> Failure {
        let mut failure = Failure::bad_request("");
        let (message, reason) = (object::text(status, &["message"]), object::text(status, &["reason"]));
        failure.message = match (message, reason) {
            ("", "") => format!("admission webhook {:?} denied the request without explanation", self.name),
            ("", why) | (why, _) => format!("admission webhook {:?} denied the request: {why}", self.name),
        };
        failure.reason = known(reason);
        let code = object::number(status, &["code"]).and_then(|code| u16::try_from(code).ok());
        failure.code = code.filter(|code| *code > 0).unwrap_or(400);
        if let Some(details) = status["details"].as_object() {
            failure.details.clone_from(details);
        }
        failure
    }
}

/// 500 with its message as the cause, as the real server has it.
pub(super) fn internal(why: &str) -> Failure {
    let failure = Failure::internal(format!("Internal error occurred: {why}"));
    failure.with_causes(vec![json!({"message": why})])
}

/// A reason that Kubernetes knows; others are not kept.
fn known(reason: &str) -> &'static str {
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

fn body(review: &Review<'_>, hit: &Hit, uid: &str) -> Value {
    let mut request = review.request(hit);
    request["uid"] = uid.into();
    request["object"] = review.object.clone();
    request["oldObject"] = review.old.clone().unwrap_or_default();
    json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request})
}
