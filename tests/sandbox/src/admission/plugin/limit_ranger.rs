//! Implements `LimitRanger`: sets default requests and limits, and enforces the bounds of LimitRanges.

use serde_json::{Map, Value, json};

use super::{
    lookup::stored_objects,
    pod_resources::{Amounts, amounts, containers, pod_total},
};
use crate::{
    admission::{Operation, Review},
    failure::Failure,
    object,
    quantity::Quantity,
};

/// The annotation that lists the defaults set in a Pod.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Sets the requests and limits that the containers of a new Pod omit to the defaults of the LimitRanges in its namespace. Lists the
/// changes in an annotation of the Pod.
pub(crate) fn mutate(review: &mut Review<'_>) {
    if !review.writes(Operation::Create, "", "pods") {
        return;
    }
    for range in stored_objects(review.request.server, "limitranges", Some(review.request.namespace)) {
        let (mut requests, mut limits) = (Map::new(), Map::new());
        for limit in limits_of_type(&range, "Container") {
            limits.extend(limit["default"].as_object().cloned().unwrap_or_default());
            requests.extend(limit["defaultRequest"].as_object().cloned().unwrap_or_default());
        }
        let mut messages = Vec::new();
        for (list, container_type) in [("containers", "container"), ("initContainers", "init container")] {
            let container_list =
                object::map_at(&mut review.object, &["spec"]).get_mut(list).and_then(Value::as_array_mut);
            for container in container_list.into_iter().flatten() {
                let name = object::text(container, &["name"]).to_owned();
                for (field, noun, defaults) in [("requests", "request", &requests), ("limits", "limit", &limits)] {
                    let set_names = set_defaults(container, field, defaults);
                    if !set_names.is_empty() {
                        messages.push(format!("{} {noun} for {container_type} {name}", set_names.join(", ")));
                    }
                }
            }
        }
        if !messages.is_empty() {
            let message = format!("LimitRanger plugin set: {}", messages.join("; "));
            let annotations = object::map_at(&mut review.object, &["metadata", "annotations"]);
            annotations.insert(ANNOTATION.into(), message.into());
        }
    }
}

/// Sets the `requests` or `limits` (`field`) that a container omits to the defaults. Returns the names of the resources that were set.
fn set_defaults(container: &mut Value, field: &str, defaults: &Map<String, Value>) -> Vec<String> {
    let missing = |name: &String| object::at(container, &["resources", field, name]).is_none();
    let names: Vec<String> = defaults.keys().filter(|name| missing(name)).cloned().collect();
    if !names.is_empty() {
        let amounts = object::map_at(container, &["resources", field]);
        amounts.extend(names.iter().filter_map(|name| Some((name.clone(), defaults.get(name)?.clone()))));
    }
    names
}

/// Rejects a new Pod, or a new or changed PersistentVolumeClaim, that violates a LimitRange of its namespace.
pub(crate) fn validate(review: &Review<'_>) -> Result<(), Failure> {
    let is_pod = review.writes(Operation::Create, "", "pods");
    let is_claim = [Operation::Create, Operation::Update]
        .into_iter()
        .any(|operation| review.writes(operation, "", "persistentvolumeclaims"));
    if !is_pod && !is_claim {
        return Ok(());
    }
    for range in stored_objects(review.request.server, "limitranges", Some(review.request.namespace)) {
        let mut violations = Vec::new();
        if is_pod {
            check_pod(&range, &review.object, &mut violations);
        } else {
            for limit in limits_of_type(&range, "PersistentVolumeClaim") {
                check_claim(limit, &amounts(&review.object["spec"]["resources"]["requests"]), &mut violations);
            }
        }
        // Two containers can cause the same message, which is reported once.
        let mut seen = Vec::new();
        violations.retain(|violation| {
            !seen.contains(violation) && {
                seen.push(violation.clone());
                true
            }
        });
        match violations.as_slice() {
            [] => {}
            [violation] => return Err(review.forbidden(violation)),
            several => return Err(review.forbidden(&format!("[{}]", several.join(", ")))),
        }
    }
    Ok(())
}

/// Adds messages to `violations` about the containers of a Pod, and the Pod as a whole, that violate a LimitRange.
fn check_pod(range: &Value, pod: &Value, violations: &mut Vec<String>) {
    for limit in range["spec"]["limits"].as_array().into_iter().flatten() {
        match limit["type"].as_str() {
            Some("Container") => {
                for container in containers(pod, "containers").chain(containers(pod, "initContainers")) {
                    let resources = &container["resources"];
                    let usage =
                        Usage { requests: amounts(&resources["requests"]), limits: amounts(&resources["limits"]) };
                    usage.check(limit, "Container", violations);
                }
            }
            Some("Pod") => {
                let usage = Usage { requests: pod_total(pod, "requests"), limits: pod_total(pod, "limits") };
                usage.check(limit, "Pod", violations);
            }
            _ => {}
        }
    }
}

/// Adds messages to `violations` about requests of a PersistentVolumeClaim that are below the minimum or above the maximum of a limit.
fn check_claim(limit: &Value, requests: &Amounts, violations: &mut Vec<String>) {
    for (word, bounds, is_minimum) in [("minimum", "min", true), ("maximum", "max", false)] {
        for (name, bound) in amounts(&limit[bounds]) {
            let rule = format!("{word} {name} usage per PersistentVolumeClaim is {bound}");
            match requests.get(&name) {
                None => violations.push(format!("{rule}.  No request is specified")),
                // A request equal to the bound is allowed.
                Some(request) if (*request < bound) == is_minimum && *request != bound => {
                    violations.push(format!("{rule}, but request is {request}"));
                }
                Some(_) => {}
            }
        }
    }
}

/// The requests and limits of one container, or of a whole Pod.
struct Usage {
    requests: Amounts,
    limits: Amounts,
}

impl Usage {
    /// Adds messages to `violations` if the usage violates `min`, `max` or `maxLimitRequestRatio` of a limit. `type_name` is `Container` or
    /// `Pod`, for the messages.
    fn check(&self, limit: &Value, type_name: &str, violations: &mut Vec<String>) {
        for (name, bound) in amounts(&limit["min"]) {
            let rule = format!("minimum {name} usage per {type_name} is {bound}");
            match (self.requests.get(&name), self.limits.get(&name)) {
                (None, _) => violations.push(format!("{rule}.  No request is specified")),
                (Some(request), _) if *request < bound => violations.push(format!("{rule}, but request is {request}")),
                (_, Some(limit)) if *limit < bound => violations.push(format!("{rule}, but limit is {limit}")),
                _ => {}
            }
        }
        for (name, bound) in amounts(&limit["max"]) {
            let rule = format!("maximum {name} usage per {type_name} is {bound}");
            match (self.requests.get(&name), self.limits.get(&name)) {
                (_, None) => violations.push(format!("{rule}.  No limit is specified")),
                (_, Some(limit)) if *limit > bound => violations.push(format!("{rule}, but limit is {limit}")),
                (Some(request), _) if *request > bound => violations.push(format!("{rule}, but request is {request}")),
                _ => {}
            }
        }
        for (name, bound) in amounts(&limit["maxLimitRequestRatio"]) {
            let rule = format!("{name} max limit to request ratio per {type_name} is {bound}");
            let positive = |amounts: &Amounts| amounts.get(&name).copied().filter(|amount| amount.is_positive());
            match (positive(&self.requests), positive(&self.limits)) {
                (None, _) => violations.push(format!("{rule}, but no request is specified or request is 0")),
                (_, None) => violations.push(format!("{rule}, but no limit is specified or limit is 0")),
                (Some(request), Some(limit)) if limit.ratio(request) > bound.ratio(Quantity::of(1)) => {
                    violations.push(format!("{rule}, but provided ratio is {:.6}", limit.ratio(request)));
                }
                _ => {}
            }
        }
    }
}

/// Returns the limits of a LimitRange for a type: `Container`, `Pod` or `PersistentVolumeClaim`.
fn limits_of_type<'a>(range: &'a Value, type_name: &'a str) -> impl Iterator<Item = &'a Value> {
    let limits = range["spec"]["limits"].as_array().into_iter().flatten();
    limits.filter(move |limit| limit["type"] == json!(type_name))
}
