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

/// Compares the generated role of a project with the requests of a user in an audit log (JSON lines of `audit.k8s.io/v1`). Returns the
/// requests that the role doesn't allow or the API server denied, and the rights of the role that no request used.
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
                // A denied request uses no right: if the generated role grants it, another role is installed.
                if right.allows(request, verb, &project.namespace) {
                    is_granted = true;
                    *used |= !request.is_denied;
                }
            }
            if request.is_denied || !(is_granted || is_allowed_to_all(request)) {
                let (description, is_denied, line) = (request.description(verb), request.is_denied, request.line);
                let first = MissingRight { request: description.clone(), is_denied, is_granted, times: 0, line };
                missing.entry((description, is_denied)).or_insert(first).times += 1;
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

/// Marks the right `get` on a resource as used if `list` on the same resource is used: a client with `list` can read the same objects, and
/// an operator may send a `get` only in a rare race.
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

/// Splits the rules into single rights: one verb on one resource of one group, or on one URL. Returns each right with the sources of all
/// rules that contain it.
fn rights(grants: &[Grant]) -> Vec<(GrantedVerb, Vec<GrantSource>)> {
    let mut rights: BTreeMap<GrantedVerb, Vec<GrantSource>> = BTreeMap::new();
    for grant in grants {
        // A rule has either groups and resources or URLs. An empty text takes the place of a missing list, so that the loops run once.
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
    /// Returns whether the right allows `verb` on the object or URL of a request, by the rules of the RBAC authorizer. `operator_namespace`
    /// is the namespace to which the scope [`RuleScope::OperatorNamespace`] refers.
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
    let public_urls = [
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
    request.verb == "get" && public_urls.iter().any(|url| url_matches(url, &request.url))
}

impl Comparison {
    /// Returns whether the role and the log match: the role grants every request, and the requests use every right of the role.
    pub fn is_equal(&self) -> bool {
        self.missing.is_empty() && self.unused.is_empty()
    }

    /// Returns the comparison as JSON, with the missing rights in `tooSmall` and the unused rights in `tooLarge`.
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
    /// Writes the request, how it differs from the generated role, how often it occurs, and the first line of the log with it.
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

impl fmt::Display for UnusedRight {
    /// Writes `create configmaps, which is needed by`, and then a line such as `Widget: node config, controller/src/widget.rs:21` for each
    /// source of the right.
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

impl fmt::Display for Comparison {
    /// Writes the rights that the generated role lacks, the rights that no request used, and a summary.
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
