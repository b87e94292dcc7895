//! Which rights a role gives, and which were used.

use std::{collections::BTreeSet, fmt};

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule, Role};
use kube::Api;
use opgen_tests::{Entries, Plane};

/// A verb on a resource, in the words of a role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Right {
    group: String,
    resource: String,
    verb: String,
}

/// `apps/deployments: get`.
impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.group.is_empty() { "" } else { "/" };
        write!(f, "{}{slash}{}: {}", self.group, self.resource, self.verb)
    }
}

/// Of all that an operator asked for nothing was refused, and it took every right of its ClusterRole.
pub(crate) async fn all_are_used(plane: &Plane, role: &str, asked: &Entries) {
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    let (granted, used) = (granted(plane, role).await, used(asked));
    let unused: Vec<_> = granted.difference(&used).map(ToString::to_string).collect();
    assert!(unused.is_empty(), "granted and not used:\n{}", unused.join("\n"));
}

/// What an operator asks for only when somebody reads its metrics.
const OF_METRICS: [&str; 2] = ["tokenreviews", "subjectaccessreviews"];

/// The rights of a ClusterRole, but for those that only readers of the metrics make use of.
pub(crate) async fn granted(plane: &Plane, role: &str) -> BTreeSet<Right> {
    let role = Api::<ClusterRole>::all(plane.client()).get(role).await.unwrap();
    let rights = role.rules.iter().flatten().flat_map(of_rule);
    rights.filter(|right| !OF_METRICS.contains(&right.resource.as_str())).collect()
}

/// The rights of a Role, without those of leader election: most operators of the cases run alone.
pub(crate) async fn granted_in(plane: &Plane, namespace: &str, role: &str) -> BTreeSet<Right> {
    let role = Api::<Role>::namespaced(plane.client(), namespace).get(role).await.unwrap();
    let rights = role.rules.iter().flatten().flat_map(of_rule);
    rights.filter(|right| right.group != "coordination.k8s.io").collect()
}

fn of_rule(rule: &PolicyRule) -> Vec<Right> {
    let mut rights = Vec::new();
    for group in rule.api_groups.iter().flatten() {
        for resource in rule.resources.iter().flatten() {
            let right = |verb: &String| Right { group: group.clone(), resource: resource.clone(), verb: verb.clone() };
            rights.extend(rule.verbs.iter().map(right));
        }
    }
    rights
}

/// The rights without which these requests would have failed. An apply that makes an object needs `create` as well; who lists a kind
/// may read its objects one by one, for races.
pub(crate) fn used(entries: &Entries) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    for entry in entries.iter().filter(|entry| entry.code != 403) {
        let resource = match entry.subresource.as_str() {
            "" => entry.resource.clone(),
            subresource => format!("{}/{subresource}", entry.resource),
        };
        let right =
            |verb: &str| Right { group: entry.group.clone(), resource: resource.clone(), verb: verb.to_owned() };
        rights.insert(right(&entry.verb));
        if entry.verb == "patch" && entry.code == 201 {
            rights.insert(right("create"));
        }
        if entry.verb == "list" {
            rights.insert(right("get"));
        }
    }
    rights
}
