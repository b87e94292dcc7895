//! Handles a review, a request for a kind whose objects are not stored.

use http::StatusCode;
use serde_json::{Value, json};

use super::{access, rules, user};
use crate::{failure::Failure, fields, request::ResourceRequest, response::ApiResponse};

/// Handles a review.
pub(crate) fn answer(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let decoded = request.decode()?;
    let mut review = decoded.object;
    request.place(&mut review)?;
    let answered = match request.kind.kind.as_str() {
        "SelfSubjectRulesReview" => rules::answer(request, &review)?,
        "SelfSubjectReview" => user::own(request),
        "TokenReview" => user::of_token(request, tracked(request, review))?,
        "SubjectAccessReview" | "SelfSubjectAccessReview" | "LocalSubjectAccessReview" => {
            access::answer(request, tracked(request, review))?
        }
        _ => return Err(Failure::method_not_allowed()),
    };
    let answered = typed(request, answered);
    Ok(ApiResponse::json(StatusCode::CREATED, answered.to_string().into()).with_warnings(decoded.warnings))
}

/// Returns the review with `managedFields`, as if it were stored.
fn tracked(request: ResourceRequest<'_>, mut review: Value) -> Value {
    fields::update(request, None, &mut review);
    review
}

fn typed(request: ResourceRequest<'_>, mut review: Value) -> Value {
    if let Value::Object(map) = &mut review {
        map.insert("apiVersion".into(), request.kind.api_version().into());
        map.insert("kind".into(), request.kind.kind.as_str().into());
        map.entry("metadata").or_insert_with(|| json!({}));
    }
    review
}
