//! Implements `LimitRanger`: sets default requests and limits, and enforces the bounds of LimitRanges.

use serde_json::{Map, Value, json};

use super::{
    lookup::stored_objects,
    pod_resources::{Amounts, amounts, containers, of_pod},
};
use crate::{
    admission::{Operation, Review},
    failure::Failure,
    object,
    quantity::Quantity,
};

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

pub(crate) fn mutate(review: &mut Review<'_>) {
    if !review.writes(Operation::Create, "", "pods") {
        return;
    }
    for range in stored_objects(review.request.server, "limitranges", Some(review.request.namespace)) {
        let (mut requests, mut limits) = (Map::new(), Map::new());
        for limit in of_type(&range, "Container") {
            limits.extend(limit["default"].as_object().cloned().unwrap_or_default());
            requests.extend(limit["defaultRequest"].as_object().cloned().unwrap_or_default());
        }
        let mut message_text = Vec::new();
        for (list, named) in [("containers", "container"), ("initContainers", "init container")] {
            let listed = object::map_at(&mut review.object, &["spec"]).get_mut(list).and_then(Value::as_array_mut);
            for container in listed.into_iter().flatten() {
                let name = object::text(container, &["name"]).to_owned();
                for (side, word, defaults) in [("requests", "request", &requests), ("limits", "limit", &limits)] {
                    let set = fill(container, side, defaults);
                    if !set.is_empty() {
                        message_text.push(format!("{} {word} for {named} {name}", set.join(", ")));
                    }
                }
            }
        }
        if !message_text.is_empty() {
            let message_text = format!("LimitRanger plugin set: {}", message_text.join("; "));
            let annotations = object::map_at(&mut review.object, &["metadata", "annotations"]);
            annotations.insert(ANNOTATION.into(), message_text.into());
        }
    }
}

/// Sets missing requests or limits of a container to the defaults; returns the names of the resources that it set.
fn fill(container: &mut Value, side: &str, defaults: &Map<String, Value>) -> Vec<String> {
    let missing = |name: &String| object::at(container, &["resources", side, name]).is_none();
    let set: Vec<String> = defaults.keys().filter(|name| missing(name)).cloned().collect();
    if !set.is_empty() {
        let held = object::map_at(container, &["resources", side]);
        held.extend(set.iter().filter_map(|name| Some((name.clone(), defaults.get(name)?.clone()))));
    }
    set
}

pub(crate) fn validate(review: &Review<'_>) -> Result<(), Failure> {
    let pod = review.writes(Operation::Create, "", "pods");
    let claim = [Operation::Create, Operation::Update]
        .into_iter()
        .any(|operation| review.writes(operation, "", "persistentvolumeclaims"));
    if !pod && !claim {
        return Ok(());
    }
    for range in stored_objects(review.request.server, "limitranges", Some(review.request.namespace)) {
        let mut wrong = Vec::new();
        if pod {
            check_pod(&range, &review.object, &mut wrong);
        } else {
            for limit in of_type(&range, "PersistentVolumeClaim") {
                check_claim(limit, &amounts(&review.object["spec"]["resources"]["requests"]), &mut wrong);
            }
        }
        let mut seen = Vec::new();
        wrong.retain(|wrong| {
            !seen.contains(wrong) && {
                seen.push(wrong.clone());
                true
            }
        });
        match wrong.as_slice() {
            [] => {}
            [one] => return Err(review.forbidden(one)),
            several => return Err(review.forbidden(&format!("[{}]", several.join(", ")))),
        }
    }
    Ok(())
}

fn check_pod(range: &Value, pod: &Value, wrong: &mut Vec<String>) {
    for limit in range["spec"]["limits"].as_array().into_iter().flatten() {
        match limit["type"].as_str() {
            Some("Container") => {
                for container in containers(pod, "containers").chain(containers(pod, "initContainers")) {
                    let resources = &container["resources"];
                    let usage =
                        Usage { requests: amounts(&resources["requests"]), limits: amounts(&resources["limits"]) };
                    usage.check(limit, "Container", wrong);
                }
            }
            Some("Pod") => {
                let usage = Usage { requests: of_pod(pod, "requests"), limits: of_pod(pod, "limits") };
                usage.check(limit, "Pod", wrong);
            }
            _ => {}
        }
    }
}

fn check_claim(limit: &Value, requests: &Amounts, wrong: &mut Vec<String>) {
    for (word, bounds, beyond) in [("minimum", "min", true), ("maximum", "max", false)] {
        for (name, bound) in amounts(&limit[bounds]) {
            let message_text = format!("{word} {name} usage per PersistentVolumeClaim is {bound}");
            match requests.get(&name) {
                None => wrong.push(format!("{message_text}.  No request is specified")),
                Some(request) if (*request < bound) == beyond && *request != bound => {
                    wrong.push(format!("{message_text}, but request is {request}"));
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
    fn check(&self, limit: &Value, of: &str, wrong: &mut Vec<String>) {
        for (name, bound) in amounts(&limit["min"]) {
            let message_text = format!("minimum {name} usage per {of} is {bound}");
            match (self.requests.get(&name), self.limits.get(&name)) {
                (None, _) => wrong.push(format!("{message_text}.  No request is specified")),
                (Some(request), _) if *request < bound => {
                    wrong.push(format!("{message_text}, but request is {request}"))
                }
                (_, Some(limit)) if *limit < bound => wrong.push(format!("{message_text}, but limit is {limit}")),
                _ => {}
            }
        }
        for (name, bound) in amounts(&limit["max"]) {
            let message_text = format!("maximum {name} usage per {of} is {bound}");
            match (self.requests.get(&name), self.limits.get(&name)) {
                (_, None) => wrong.push(format!("{message_text}.  No limit is specified")),
                (_, Some(limit)) if *limit > bound => wrong.push(format!("{message_text}, but limit is {limit}")),
                (Some(request), _) if *request > bound => {
                    wrong.push(format!("{message_text}, but request is {request}"))
                }
                _ => {}
            }
        }
        for (name, bound) in amounts(&limit["maxLimitRequestRatio"]) {
            let message_text = format!("{name} max limit to request ratio per {of} is {bound}");
            let positive = |amounts: &Amounts| amounts.get(&name).copied().filter(|amount| amount.is_positive());
            match (positive(&self.requests), positive(&self.limits)) {
                (None, _) => wrong.push(format!("{message_text}, but no request is specified or request is 0")),
                (_, None) => wrong.push(format!("{message_text}, but no limit is specified or limit is 0")),
                (Some(request), Some(limit)) if limit.ratio(request) > bound.ratio(Quantity::of(1)) => {
                    wrong.push(format!("{message_text}, but provided ratio is {:.6}", limit.ratio(request)));
                }
                _ => {}
            }
        }
    }
}

fn of_type<'a>(range: &'a Value, name: &'a str) -> impl Iterator<Item = &'a Value> {
    let limits = range["spec"]["limits"].as_array().into_iter().flatten();
    limits.filter(move |limit| limit["type"] == json!(name))
}
