//! Handles SelfSubjectReview and TokenReview.

use serde_json::{Map, Value, json};

use crate::{authentication, failure::Failure, object, request::ResourceRequest, user::User};

/// Returns a SelfSubjectReview with the user of the request.
pub(super) fn self_review(request: ResourceRequest<'_>) -> Value {
    let created = request.server.environment.time();
    json!({"metadata": {"creationTimestamp": created}, "status": {"userInfo": user_info(&request.call.user)}})
}

/// Sets the status of a TokenReview: the user and the audiences of the token, or the error if the token is invalid. Returns a 400 error if
/// the review has no token.
pub(super) fn review_token(request: ResourceRequest<'_>, mut review: Value) -> Result<Value, Failure> {
    let token = object::text(&review, &["spec", "token"]);
    if token.is_empty() {
        return Err(Failure::bad_request("token is required for TokenReview in authentication"));
    }
    let audiences = review["spec"]["audiences"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let audiences: Vec<String> = audiences.map(str::to_owned).collect();
    review["status"] = match authentication::authenticate_token(request.server, token, &audiences) {
        Ok((user, common)) => json!({"authenticated": true, "user": user_info(&user), "audiences": common}),
        Err(why) => json!({"user": {}, "error": why.to_string()}),
    };
    Ok(review)
}

/// Returns the `UserInfo` of a user without its empty fields.
fn user_info(user: &User) -> Value {
    let mut info = Map::new();
    let mut put = |key: &str, value: Value| info.insert(key.to_owned(), value);
    if !user.name.is_empty() {
        put("username", user.name.as_str().into());
    }
    if !user.uid.is_empty() {
        put("uid", user.uid.as_str().into());
    }
    if !user.groups.is_empty() {
        put("groups", json!(user.groups));
    }
    if !user.extra.is_empty() {
        let extra: Map<_, _> = user.extra.iter().map(|(key, values)| (key.clone(), json!(values))).collect();
        put("extra", Value::Object(extra));
    }
    Value::Object(info)
}
