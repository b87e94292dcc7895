//! Handles SubjectAccessReview and its variants.

use serde_json::{Value, json};

use crate::{
    authorization::{About, Attributes, Decision, decide},
    failure::{Cause, Failure},
    object,
    request::ResourceRequest,
    user::User,
};

pub(super) fn answer(request: ResourceRequest<'_>, mut review: Value) -> Result<Value, Failure> {
    let own = request.kind.kind == "SelfSubjectAccessReview";
    let (spec, resource, path) = parts(&review);
    check(request, &review, own).map_or(Ok(()), |cause| Err(invalid(&cause)))?;
    let user = if own { request.call.user.clone() } else { subject(spec) };
    let part = |of: &'_ Option<Value>, key: &str| {
        of.as_ref().map(|of| object::text(of, &[key]).to_owned()).unwrap_or_default()
    };
    let word = |key| part(&resource, key);
    let (verb, group, namespace, name) = (word("verb"), word("group"), word("namespace"), word("name"));
    let (kind, subresource) = (word("resource"), word("subresource"));
    let (path_verb, url) = (part(&path, "verb"), part(&path, "path"));
    let attributes = if resource.is_some() {
        let about = About::Resource {
            group: &group,
            namespace: &namespace,
            resource: &kind,
            subresource: &subresource,
            name: &name,
        };
        Attributes { user: &user, verb: &verb, about }
    } else {
        Attributes { user: &user, verb: &path_verb, about: About::Path(&url) }
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

fn parts(review: &Value) -> (&Value, Option<Value>, Option<Value>) {
    let spec = &review["spec"];
    let part = |key| object::at(spec, &[key]).cloned();
    (spec, part("resourceAttributes"), part("nonResourceAttributes"))
}

/// Returns the user that a review describes.
fn subject(spec: &Value) -> User {
    let words = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let extra = spec["extra"].as_object().into_iter().flatten();
    User {
        name: object::text(spec, &["user"]).to_owned(),
        uid: object::text(spec, &["uid"]).to_owned(),
        groups: words(&spec["groups"]),
        extra: extra.map(|(key, values)| (key.clone(), words(values))).collect(),
    }
}

/// Returns the first validation error of a review.
fn check(request: ResourceRequest<'_>, review: &Value, own: bool) -> Option<Cause> {
    let (spec, resource, path) = parts(review);
    let written = |of: &Value| json!({"Path": of["path"], "Verb": of["verb"]});
    let local = request.kind.namespaced;
    if let Some(path) = path.as_ref().filter(|_| local) {
        let why = "disallowed on this kind of request";
        return Some(Cause::invalid("spec.nonResourceAttributes", &written(path), why));
    }
    let metadata = review["metadata"].as_object().filter(|_| !local);
    match (&resource, &path) {
        (Some(_), Some(path)) => {
            let why = "cannot be specified in combination with resourceAttributes";
            return Some(Cause::invalid("spec.nonResourceAttributes", &written(path), why));
        }
        (None, None) => {
            let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            return Some(Cause::invalid("spec.resourceAttributes", &Value::Null, why));
        }
        _ => {}
    }
    let groups = spec["groups"].as_array().is_none_or(Vec::is_empty);
    if !own && object::text(spec, &["user"]).is_empty() && groups {
        return Some(Cause::invalid("spec.user", &"".into(), "at least one of user or group must be specified"));
    }
    if let Some(metadata) = metadata.filter(|metadata| metadata.keys().any(|key| key != "managedFields")) {
        return Some(Cause::invalid("metadata", &Value::Object(metadata.clone()), "must be empty"));
    }
    let namespace = resource.as_ref().map(|resource| object::text(resource, &["namespace"])).unwrap_or_default();
    if local && namespace != request.namespace {
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
