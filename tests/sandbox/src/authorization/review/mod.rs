//! Reviews: kinds that are only asked.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    failure::{Cause, Failure},
    fields,
    verb::Asked,
};

mod access;
mod rules;
mod user;

/// Answers a review.
pub(super) fn answer(asked: Asked<'_>) -> Result<Answer, Failure> {
    let decoded = asked.decode()?;
    let mut review = decoded.object;
    asked.place(&mut review)?;
    let answered = match asked.kind.kind.as_str() {
        "SelfSubjectRulesReview" => rules::answer(asked, &review)?,
        "SelfSubjectReview" => user::own(asked),
        "TokenReview" => user::of_token(asked, tracked(asked, review))?,
        "SubjectAccessReview" | "SelfSubjectAccessReview" | "LocalSubjectAccessReview" => {
            access::answer(asked, tracked(asked, review))?
        }
        _ => return Err(Failure::method_not_allowed()),
    };
    let answered = typed(asked, answered);
    Ok(Answer::json(StatusCode::CREATED, answered.to_string().into()).warning(decoded.warnings))
}

/// With the fields that the client wrote, as if the review were kept.
fn tracked(asked: Asked<'_>, mut review: Value) -> Value {
    fields::update(asked, None, &mut review);
    review
}

fn typed(asked: Asked<'_>, mut review: Value) -> Value {
    if let Value::Object(map) = &mut review {
        map.insert("apiVersion".into(), asked.kind.api_version().into());
        map.insert("kind".into(), asked.kind.kind.as_str().into());
        map.entry("metadata").or_insert_with(|| json!({}));
    }
    review
}

/// The 422 of an access review, which names neither a kind nor an object.
fn invalid(cause: &Cause) -> Failure {
    let mut failure =
        Failure::unprocessable(format!(".authorization.k8s.io \"\" is invalid: {}: {}", cause.field, cause.message));
    failure.details.insert("group".into(), "authorization.k8s.io".into());
    failure.with_causes(vec![json!({"reason": cause.reason, "message": cause.message, "field": cause.field})])
}
