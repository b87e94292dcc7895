//! Defines the faults of webhook calls, and falsifies the responses of webhooks.

use std::fmt;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

/// The UID in a falsified review or object.
const OTHER_UID: &str = "00000000-0000-4000-8000-000000000000";

/// A fault of a webhook call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum WebhookFault {
    /// The webhook is down: the connection is refused.
    Refused,
    /// The webhook does not respond until the call times out.
    TimedOut,
    /// The webhook responds with HTTP 500.
    ServerError,
    /// The webhook responds with a text that is not JSON.
    NotJson,
    /// The response has the UID of another request.
    OtherRequest,
    /// The response has no `allowed`, or lacks one of the converted objects.
    Incomplete,
    /// A converted object has another name; no fault for admission.
    OtherName,
    /// A converted object has another UID; no fault for admission.
    OtherUid,
    /// A converted object has another version; no fault for admission.
    OtherVersion,
}

impl WebhookFault {
    /// All faults.
    pub const ALL: [Self; 9] = [
        Self::Refused,
        Self::TimedOut,
        Self::ServerError,
        Self::NotJson,
        Self::OtherRequest,
        Self::Incomplete,
        Self::OtherName,
        Self::OtherUid,
        Self::OtherVersion,
    ];

    /// Returns whether only conversions can have the fault.
    #[must_use]
    pub fn needs_conversion(self) -> bool {
        matches!(self, Self::OtherName | Self::OtherUid | Self::OtherVersion)
    }

    /// Returns the response of a webhook, changed by the fault. Leaves the response unchanged for `Refused` and `TimedOut`, which have
    /// none.
    pub(crate) fn falsify(self, mut response: Response<Bytes>) -> Response<Bytes> {
        match self {
            Self::Refused | Self::TimedOut => return response,
            Self::ServerError => {
                *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                *response.body_mut() = Bytes::new();
                return response;
            }
            Self::NotJson => {
                *response.body_mut() = Bytes::from_static(b"<html>it works</html>");
                return response;
            }
            _ => {}
        }
        let Ok(mut review) = serde_json::from_slice(response.body()) else { return response };
        self.falsify_review(&mut review);
        *response.body_mut() = Bytes::from(review.to_string());
        response
    }

    /// Changes `response` in an AdmissionReview or ConversionReview by the fault. Faults of converted objects change the last object.
    fn falsify_review(self, review: &mut Value) {
        let is_conversion = review["kind"] == "ConversionReview";
        let Some(response) = review["response"].as_object_mut() else { return };
        if self == Self::OtherRequest {
            response.insert("uid".to_owned(), json!(OTHER_UID));
        }
        if !is_conversion {
            if self == Self::Incomplete {
                response.remove("allowed");
            }
            return;
        }
        let Some(Value::Array(objects)) = response.get_mut("convertedObjects") else { return };
        if self == Self::Incomplete {
            objects.pop();
        }
        let Some(object) = objects.last_mut() else { return };
        match self {
            Self::OtherName => object["metadata"]["name"] = json!("another"),
            Self::OtherUid => object["metadata"]["uid"] = json!(OTHER_UID),
            Self::OtherVersion => object["apiVersion"] = json!("example.com/v0"),
            _ => {}
        }
    }
}

impl fmt::Display for WebhookFault {
    /// Formats the fault as a line of the timeline shows it after the webhook call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "connection refused",
            Self::TimedOut => "timeout",
            Self::ServerError => "HTTP 500",
            Self::NotJson => "response is not JSON",
            Self::OtherRequest => "response to another request",
            Self::Incomplete => "incomplete response",
            Self::OtherName => "object with another name",
            Self::OtherUid => "object with another UID",
            Self::OtherVersion => "object with another version",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the status code and the body of a response with a fault.
    fn falsified(fault: WebhookFault, review: &Value) -> (u16, Value) {
        let response = fault.falsify(Response::new(Bytes::from(review.to_string())));
        (response.status().as_u16(), serde_json::from_slice(response.body()).unwrap_or_default())
    }

    #[test]
    fn an_admission_response_is_falsified() {
        let review = json!({"kind": "AdmissionReview", "response": {"uid": "1", "allowed": true}});
        let review_with = |response: Value| (200, json!({"kind": "AdmissionReview", "response": response}));
        assert_eq!(falsified(WebhookFault::ServerError, &review), (500, Value::Null));
        assert_eq!(falsified(WebhookFault::NotJson, &review), (200, Value::Null));
        let other = review_with(json!({"uid": OTHER_UID, "allowed": true}));
        assert_eq!(falsified(WebhookFault::OtherRequest, &review), other);
        assert_eq!(falsified(WebhookFault::Incomplete, &review), review_with(json!({"uid": "1"})));
        for fault in WebhookFault::ALL.into_iter().filter(|fault| fault.needs_conversion()) {
            assert_eq!(falsified(fault, &review), (200, review.clone()));
        }
    }

    #[test]
    fn a_conversion_response_is_falsified() {
        let object = |version: &str, name: &str, uid: &str| json!({"apiVersion": version, "metadata": {"name": name, "uid": uid}});
        let review_with =
            |objects: Value| json!({"kind": "ConversionReview", "response": {"uid": "1", "convertedObjects": objects}});
        let (first, second) = (object("a.io/v1", "a", "2"), object("a.io/v1", "b", "3"));
        let review = review_with(json!([first, second]));
        for (fault, objects) in [
            (WebhookFault::Incomplete, json!([first])),
            (WebhookFault::OtherName, json!([first, object("a.io/v1", "another", "3")])),
            (WebhookFault::OtherUid, json!([first, object("a.io/v1", "b", OTHER_UID)])),
            (WebhookFault::OtherVersion, json!([first, object("example.com/v0", "b", "3")])),
        ] {
            assert_eq!(falsified(fault, &review), (200, review_with(objects)), "{fault}");
        }
    }
}
