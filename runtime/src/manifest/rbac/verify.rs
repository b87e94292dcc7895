//! Compares the requests of an operator in an audit log with the rights of its generated role.

use crate::manifest::project::Project;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt, io::BufRead};
use {
    super::{
        AuditError, Grant, GrantReason, GrantSource, RuleScope,
        audit::{AuditedRequest, requests_of},
    },
    crate::manifest::rbac::grant::grants,
};

/// The result of [`verify`]: the rights that the role lacks, and those that the log does not use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    user: String,
    requests: usize,
    rights: usize,
    missing: Vec<MissingRight>,
    unused: Vec<UnusedRight>,
}

/// A request for which the generated role is too small, or that a different role decided.
#[derive(Clone, Debug)]
struct MissingRight {
    request: String,
    /// Whether the API server denied it; if not, another role allowed it.
    is_denied: bool,
    /// Whether the generated role allows it. A denied request then shows that another role is installed.
    is_granted: bool,
    times: usize,
    line: usize,
}

/// A right that no request of the log needed.
#[derive(Clone, Debug)]
struct UnusedRight {
    right: GrantedVerb,
    sources: Vec<GrantSource>,
}

/// One verb on one resource or URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GrantedVerb {
    scope: RuleScope,
    group: String,
    resource: String,
    names: Vec<String>,
    url: String,
    verb: String,
}

/// Compares the generated role of a project with the requests of a user in an audit log (JSON lines of `audit.k8s.io/v1`).
///
/// # Errors
/// Fails with the first line that is not an event, or if the log has no request of the user.
pub fn verify(project: &Project, user: &str, log: impl BufRead) -> Result<Comparison, AuditError> {
    let requests = requests_of(user, log)?;
    let rights = rights(&grants(project));
    let mut used = vec![false; rights.len()];
    let mut missing: BTreeMap<(String, bool), MissingRight> = BTreeMap::new();
    for request in &requests {
        for verb in request.verbs() {
            let mut is_granted = false;
            for ((right, _), used) in rights.iter().zip(&mut used) {
                if right.allows(request, verb, &project.namespace) {
                    is_granted = true;
                    *used |= !request.is_denied;
                }
            }
            if request.is_denied || !(is_granted || is_allowed_to_all(request)) {
                let (description, is_denied, line) = (request.description(verb), request.is_denied, request.line);
                let new = MissingRight { request: description.clone(), is_denied, is_granted, times: 0, line };
                missing.entry((description, is_denied)).or_insert(new).times += 1;
            }
        }
    }
    count_list_as_get(&rights, &mut used);
    let unused = rights.iter().zip(&used).filter(|(_, used)| !**used);
    // The rights of the process itself do not count if unused: the log may contain no scrape of the metrics and no creation of the
    // Lease.
    let is_of_process = |source: &GrantSource| matches!(source.reason, GrantReason::Process(_));
    let (not_counted, unused): (Vec<_>, Vec<_>) =
        unused.partition(|((_, sources), _)| sources.iter().all(is_of_process));
    let rights_count = rights.len() - not_counted.len();
    let unused =
        unused.into_iter().map(|((right, sources), _)| UnusedRight { right: right.clone(), sources: sources.clone() });
    Ok(Comparison {
        user: user.to_owned(),
        requests: requests.len(),
        rights: rights_count,
        unused: unused.collect(),
        missing: missing.into_values().collect(),
    })
}

/// Counts the right `get` as used where `list` is used. It gives nothing more, and an operator may need it only in a race.
fn count_list_as_get(rights: &[(GrantedVerb, Vec<GrantSource>)], used: &mut [bool]) {
    for index in 0..rights.len() {
        let (get, _) = &rights[index];
        if get.verb != "get" || !get.url.is_empty() {
            continue;
        }
        let list = GrantedVerb { verb: "list".to_owned(), ..get.clone() };
        used[index] |= rights.iter().zip(&*used).any(|((right, _), used)| *used && *right == list);
    }
}

/// Splits the rules into single rights, each with all its sources.
fn rights(grants: &[Grant]) -> Vec<(GrantedVerb, Vec<GrantSource>)> {
    let mut rights: BTreeMap<GrantedVerb, Vec<GrantSource>> = BTreeMap::new();
    for grant in grants {
        let or_empty = |list: &[String]| if list.is_empty() { vec![String::new()] } else { list.to_vec() };
        for group in or_empty(&grant.rule.groups) {
            for resource in or_empty(&grant.rule.resources) {
                for url in or_empty(&grant.rule.urls) {
                    for verb in &grant.rule.verbs {
                        let (names, scope) = (grant.rule.resource_names.clone(), grant.scope.clone());
                        let (group, resource, url) = (group.clone(), resource.clone(), url.clone());
                        let right = GrantedVerb { scope, group, resource, names, url, verb: verb.clone() };
                        rights.entry(right).or_default().push(grant.source.clone());
                    }
                }
            }
        }
    }
    rights.into_iter().collect()
}

impl GrantedVerb {
    /// Returns whether the right allows a verb on the object or URL of a request.
    fn allows(&self, request: &AuditedRequest, verb: &str, operator_namespace: &str) -> bool {
        let matches = |pattern: &str, request: &str| pattern == request || pattern == "*";
        if !matches(&self.verb, verb) {
            return false;
        }
        if request.resource.is_empty() {
            return !self.url.is_empty() && url_matches(&self.url, &request.url);
        }
        // The log has the name of a created object, but the authorizer knows it only if a patch created the object.
        let is_name_known = verb != "create" || request.created_by_patch;
        let name_matches = self.names.is_empty() || (is_name_known && self.names.contains(&request.name));
        let scope_matches = match self.scope {
            RuleScope::OperatorNamespace => request.namespace == operator_namespace,
            RuleScope::Namespace(namespace) => request.namespace == namespace,
            RuleScope::Cluster => true,
        };
        self.url.is_empty()
            && matches(&self.group, &request.group)
            && matches(&self.resource, &request.resource)
            && name_matches
            && scope_matches
    }
}

/// Returns whether a non-resource URL matches the URL of a rule, which may end in `*`.
fn url_matches(pattern: &str, request: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == request, |start| request.starts_with(start))
}

/// Returns whether the default roles `system:discovery`, `system:basic-user` and `system:public-info-viewer` allow a request to
/// every authenticated user.
fn is_allowed_to_all(request: &AuditedRequest) -> bool {
    if !request.resource.is_empty() {
        let self_reviews = ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"];
        return request.verb == "create" && self_reviews.contains(&request.resource.as_str());
    }
    let open = [
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/",
    ];
    request.verb == "get" && open.iter().any(|url| url_matches(url, &request.url))
}

impl Comparison {
    /// Returns whether the role grants every request, and the log uses every right.
    pub fn is_equal(&self) -> bool {
        self.missing.is_empty() && self.unused.is_empty()
    }

    /// Returns the result as JSON.
    pub fn to_json(&self) -> Value {
        let missing = |missing: &MissingRight| {
            json!({
                "request": missing.request, "denied": missing.is_denied, "granted": missing.is_granted,
                "times": missing.times, "line": missing.line,
            })
        };
        let unused = |unused: &UnusedRight| {
            let GrantedVerb { scope, group, resource, names, url, verb } = &unused.right;
            json!({
                "apiGroup": group, "resource": resource, "resourceNames": names, "nonResourceURL": url, "verb": verb,
                "clusterwide": *scope == RuleScope::Cluster, "askedBy": unused.sources.iter().map(GrantSource::to_json).collect::<Vec<_>>(),
            })
        };
        json!({
            "user": self.user,
            "requests": self.requests,
            "rights": self.rights,
            "equal": self.is_equal(),
            "tooSmall": self.missing.iter().map(missing).collect::<Vec<_>>(),
            "tooLarge": self.unused.iter().map(unused).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for MissingRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference = match (self.is_denied, self.is_granted) {
            (true, false) => "was denied",
            (true, true) => "was denied, although the generated role grants it: another role is installed",
            (false, _) => "was allowed by a role other than the generated one",
        };
        let times = if self.times == 1 { "once".to_owned() } else { format!("{} times", self.times) };
        write!(f, "{} {difference}: {times}, first in line {}", self.request, self.line)
    }
}

/// Writes `create configmaps, which is needed by`, and below it a line such as `Widget: node config, controller/src/widget.rs:21` for each
/// source.
impl fmt::Display for UnusedRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GrantedVerb { group, resource, names, url, verb, .. } = &self.right;
        let of = if group.is_empty() { String::new() } else { format!(" of {group}") };
        let named = if names.is_empty() { String::new() } else { format!(" named {}", names.join(", ")) };
        write!(f, "{verb} {resource}{url}{of}{named}, which is needed by")?;
        for source in &self.sources {
            write!(f, "\n      {}: {source}", source.kind)?;
        }
        Ok(())
    }
}

/// Writes the missing and the unused rights, and a summary.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.missing.is_empty() {
            writeln!(f, "The role is too small:")?;
            self.missing.iter().try_for_each(|missing| writeln!(f, "  - {missing}"))?;
        }
        if !self.unused.is_empty() {
            writeln!(f, "The role is too large, or the log too short; never used:")?;
            self.unused.iter().try_for_each(|unused| writeln!(f, "  - {unused}"))?;
        }
        let verdict = match self.is_equal() {
            true => "used every right and lacked none",
            false => "do not match the role",
        };
        writeln!(f, "{} requests of {}, {} rights: they {verdict}.", self.requests, self.user, self.rights)
    }
}

#[cfg(test)]
mod tests;
