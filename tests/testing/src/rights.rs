//! What the role grants, beside what was done.

use std::collections::BTreeSet;

use opgen_sandbox::fault::{CallSeen, Timeline};
use serde_json::Value;

/// A verb on a resource, with the group in front.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Right {
    group: String,
    resource: String,
    verb: String,
}

impl std::fmt::Display for Right {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dot = if self.group.is_empty() { "" } else { "." };
        write!(f, "{} {}{dot}{}", self.verb, self.resource, self.group)
    }
}

/// Every single right of the roles among objects.
pub(crate) fn granted(objects: &[Value]) -> BTreeSet<Right> {
    let roles = objects.iter().filter(|object| object["kind"] == "ClusterRole" || object["kind"] == "Role");
    let rules = roles.flat_map(|role| role["rules"].as_array().into_iter().flatten());
    let words = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let mut rights = BTreeSet::new();
    for rule in rules {
        for group in words(&rule["apiGroups"]) {
            for resource in words(&rule["resources"]) {
                for verb in words(&rule["verbs"]) {
                    rights.insert(Right { group: group.clone(), resource: resource.clone(), verb });
                }
            }
        }
    }
    rights
}

/// The plurals with their groups of what the roles among objects allow to be changed or deleted.
pub(crate) fn in_reach(objects: &[Value]) -> BTreeSet<String> {
    let changes =
        |right: &Right| matches!(right.verb.as_str(), "delete" | "deletecollection" | "patch" | "update" | "*");
    let rights = granted(objects).into_iter().filter(changes);
    rights
        .map(
            |right| if right.group.is_empty() { right.resource } else { format!("{}.{}", right.resource, right.group) },
        )
        .collect()
}

/// What was done with success, and what the role was too small for. Who lists a kind may read its objects one by one: that gives
/// nothing more, and an operator may need it in a race only.
pub(crate) fn used(timeline: &Timeline) -> (BTreeSet<Right>, BTreeSet<Right>) {
    let (mut used, mut lacking) = (BTreeSet::new(), BTreeSet::new());
    for call in timeline.calls() {
        let of_fault = call.fault.is_some() && call.code != Some(201);
        match call.code {
            Some(403) if !of_fault => lacking.extend(rights(call)),
            // A 404 or a 409 was allowed, too: rights are judged first.
            Some(code) if code != 401 && code != 403 => {
                let done = rights(call);
                let lists = done.iter().filter(|right| right.verb == "list");
                used.extend(lists.map(|right| Right { verb: "get".to_owned(), ..right.clone() }));
                used.extend(done);
            }
            _ => {}
        }
    }
    (used, lacking)
}

/// What a call needs; an apply that makes something needs two.
fn rights(call: &CallSeen) -> Vec<Right> {
    let path = call.path();
    let words: Vec<&str> = path.split('/').filter(|word| !word.is_empty()).collect();
    let (group, rest) = match words[..] {
        ["api", _, ref rest @ ..] => ("", rest),
        ["apis", group, _, ref rest @ ..] => (group, rest),
        _ => return Vec::new(),
    };
    let rest = match rest {
        ["namespaces", _, rest @ ..] if !rest.is_empty() && !matches!(rest, ["status" | "finalize"]) => rest,
        rest => rest,
    };
    let Some(plural) = rest.first() else { return Vec::new() };
    let named = rest.len() > 1;
    let resource = rest.get(2).map_or_else(|| (*plural).to_owned(), |part| format!("{plural}/{part}"));
    let verb = match call.method.as_str() {
        "GET" if call.is_watch() => "watch",
        "GET" if named => "get",
        "GET" => "list",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" if named => "delete",
        "DELETE" => "deletecollection",
        _ => return Vec::new(),
    };
    let right = |verb: &str| Right { group: group.to_owned(), resource: resource.clone(), verb: verb.to_owned() };
    let mut rights = vec![right(verb)];
    if verb == "patch" && call.code == Some(201) {
        rights.push(right("create"));
    }
    rights
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(method: &str, uri: &str, code: u16) -> Vec<String> {
        let call = CallSeen { number: 1, method: method.into(), uri: uri.into(), code: Some(code), fault: None };
        rights(&call).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn calls_need_what_rbac_calls_them() {
        assert_eq!(call("GET", "/api/v1/configmaps?watch=true", 200), ["watch configmaps"]);
        assert_eq!(call("GET", "/api/v1/namespaces/a", 200), ["get namespaces"]);
        assert_eq!(
            call("PATCH", "/apis/apps/v1/namespaces/a/deployments/b", 201),
            ["patch deployments.apps", "create deployments.apps"]
        );
        assert_eq!(call("PATCH", "/apis/d.e/v1/namespaces/a/webs/b/status", 200), ["patch webs/status.d.e"]);
        assert_eq!(call("DELETE", "/api/v1/namespaces/a/pods", 200), ["deletecollection pods"]);
    }

    #[test]
    fn a_role_grants_each_verb_on_each_resource() {
        let role = json!({"kind": "Role", "rules": [{"apiGroups": ["", "apps"], "resources": ["a"], "verbs": ["get", "list"]}]});
        assert_eq!(granted(&[role]).len(), 4);
    }
}
