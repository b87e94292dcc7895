//! Handles a review, a request for a kind whose objects are not stored.

use http::StatusCode;
use serde_json::{Value, json};

use super::{access, rules, user};
use crate::{failure::Failure, fields, request::ResourceRequest, response::ApiResponse};

/// Handles the creation of a review. Returns a 405 error for other kinds that are not stored.
pub(crate) fn answer(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let decoded = request.decode()?;
    let mut review = decoded.object;
    request.set_name_from_path(&mut review)?;
    let response = match request.kind.kind.as_str() {
        "SelfSubjectRulesReview" => rules::answer(request, &review)?,
        "SelfSubjectReview" => user::self_review(request),
        "TokenReview" => user::review_token(request, with_managed_fields(request, review))?,
        "SubjectAccessReview" | "SelfSubjectAccessReview" | "LocalSubjectAccessReview" => {
            access::answer(request, with_managed_fields(request, review))?
        }
        _ => return Err(Failure::method_not_allowed()),
    };
    let response = with_type_meta(request, response);
    Ok(ApiResponse::json(StatusCode::CREATED, response.to_string().into()).with_warnings(decoded.warnings))
}

/// Returns the review with `managedFields`, as if it were stored.
fn with_managed_fields(request: ResourceRequest<'_>, mut review: Value) -> Value {
    fields::update(request, None, &mut review);
    review
}

/// Returns the review with the `apiVersion` and `kind` of the request, and an empty `metadata` if it has none.
fn with_type_meta(request: ResourceRequest<'_>, mut review: Value) -> Value {
    if let Value::Object(map) = &mut review {
        map.insert("apiVersion".into(), request.kind.api_version().into());
        map.insert("kind".into(), request.kind.kind.as_str().into());
        map.entry("metadata").or_insert_with(|| json!({}));
    }
    review
}
