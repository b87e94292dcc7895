//! Answers SubjectAccessReviews, SelfSubjectAccessReviews and LocalSubjectAccessReviews.

use serde_json::{Value, json};

use crate::{
    authorization::{AccessTarget, Attributes, Decision, decide},
    failure::{Cause, Failure},
    object,
    request::ResourceRequest,
    user::User,
};

/// Sets the status of a SubjectAccessReview, SelfSubjectAccessReview or LocalSubjectAccessReview. Returns a 422 error
/// if the review is invalid.
pub(super) fn answer(request: ResourceRequest<'_>, mut review: Value) -> Result<Value, Failure> {
    let is_self = request.kind.kind == "SelfSubjectAccessReview";
    let ReviewParts { spec, resource, path } = parts(&review);
    validate(request, &review, is_self).map_or(Ok(()), |cause| Err(invalid(&cause)))?;
    let user = if is_self { request.call.user.clone() } else { subject(spec) };
    let attribute = |attributes_of: &'_ Option<Value>, key: &str| {
        attributes_of.as_ref().map(|attributes_of| object::text(attributes_of, &[key]).to_owned()).unwrap_or_default()
    };
    let resource_attribute = |key| attribute(&resource, key);
    let (verb, group, namespace, name) = (
        resource_attribute("verb"),
        resource_attribute("group"),
        resource_attribute("namespace"),
        resource_attribute("name"),
    );
    let (kind, subresource) = (resource_attribute("resource"), resource_attribute("subresource"));
    let (path_verb, url) = (attribute(&path, "verb"), attribute(&path, "path"));
    let attributes = if resource.is_some() {
        let target = AccessTarget::Resource {
            group: &group,
            namespace: &namespace,
            resource: &kind,
            subresource: &subresource,
            name: &name,
        };
        Attributes { user: &user, verb: &verb, target }
    } else {
        Attributes { user: &user, verb: &path_verb, target: AccessTarget::Path(&url) }
    };
    let (allowed, reason) = match decide(request.server, &attributes) {
        Decision::Allowed(reason) => (true, reason),
        Decision::Denied(reason) => (false, reason),
    };
    let mut status = json!({"allowed": allowed});
    if !reason.is_empty() {
        status["reason"] = reason.into();
    }
    review["status"] = status;
    Ok(review)
}

/// The parts of an access review.
struct ReviewParts<'a> {
    spec: &'a Value,
    /// `spec.resourceAttributes`
    resource: Option<Value>,
    /// `spec.nonResourceAttributes`
    path: Option<Value>,
}

/// Returns the parts of the spec of a review.
fn parts(review: &Value) -> ReviewParts<'_> {
    let spec = &review["spec"];
    let part = |key| object::at(spec, &[key]).cloned();
    ReviewParts { spec, resource: part("resourceAttributes"), path: part("nonResourceAttributes") }
}

/// Returns the user in the spec of a SubjectAccessReview, whose access is reviewed.
fn subject(spec: &Value) -> User {
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let extra = spec["extra"].as_object().into_iter().flatten();
    User {
        name: object::text(spec, &["user"]).to_owned(),
        uid: object::text(spec, &["uid"]).to_owned(),
        groups: strings(&spec["groups"]),
        extra: extra.map(|(key, values)| (key.clone(), strings(values))).collect(),
    }
}

/// Returns the first validation error of an access review; `None` if the review is valid. `is_self` states whether the review is a
/// SelfSubjectAccessReview, which needs no user.
fn validate(request: ResourceRequest<'_>, review: &Value, is_self: bool) -> Option<Cause> {
    let ReviewParts { spec, resource, path } = parts(review);
    let shown = |attributes: &Value| json!({"Path": attributes["path"], "Verb": attributes["verb"]});
    // Of the three kinds only LocalSubjectAccessReview is namespaced.
    let is_local = request.kind.namespaced;
    if let Some(path) = path.as_ref().filter(|_| is_local) {
        let why = "disallowed on this kind of request";
        return Some(Cause::invalid("spec.nonResourceAttributes", &shown(path), why));
    }
    let metadata = review["metadata"].as_object().filter(|_| !is_local);
    match (&resource, &path) {
        (Some(_), Some(path)) => {
            let why = "cannot be specified in combination with resourceAttributes";
            return Some(Cause::invalid("spec.nonResourceAttributes", &shown(path), why));
        }
        (None, None) => {
            let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            return Some(Cause::invalid("spec.resourceAttributes", &Value::Null, why));
        }
        _ => {}
    }
    let has_no_groups = spec["groups"].as_array().is_none_or(Vec::is_empty);
    if !is_self && object::text(spec, &["user"]).is_empty() && has_no_groups {
        return Some(Cause::invalid("spec.user", &"".into(), "at least one of user or group must be specified"));
    }
    if let Some(metadata) = metadata.filter(|metadata| metadata.keys().any(|key| key != "managedFields")) {
        return Some(Cause::invalid("metadata", &Value::Object(metadata.clone()), "must be empty"));
    }
    let namespace = resource.as_ref().map(|resource| object::text(resource, &["namespace"])).unwrap_or_default();
    if is_local && namespace != request.namespace {
        let why = "must match metadata.namespace";
        return Some(Cause::invalid("spec.resourceAttributes.namespace", &namespace.into(), why));
    }
    None
}

/// Returns the 422 error of an access review, which names neither a kind nor an object.
fn invalid(cause: &Cause) -> Failure {
    let mut failure =
        Failure::unprocessable(format!(".authorization.k8s.io \"\" is invalid: {}: {}", cause.field, cause.message));
    failure.details.insert("group".into(), "authorization.k8s.io".into());
    failure.with_causes(vec![json!({"reason": cause.reason, "message": cause.message, "field": cause.field})])
}
