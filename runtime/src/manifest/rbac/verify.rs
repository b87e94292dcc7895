//! What an operator did, beside what its role grants: neither may be more than the other.

use crate::manifest::project::Project;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt, io::BufRead};
use {
    super::{
        Asker, AuditError, Grant, RuleScope,
        audit::{AuditedRequest, requests_of},
    },
    crate::manifest::rbac::grant::grants,
};

/// What a role and an audit log have to say about each other.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    user: String,
    requests: usize,
    rights: usize,
    lacking: Vec<Lacking>,
    unused: Vec<Unused>,
}

/// A request that the role is too small for.
#[derive(Clone, Debug)]
struct Lacking {
    said: String,
    /// Whether it was refused; else another role allowed it.
    is_denied: bool,
    /// Whether the generated role allows it, so that another one must be installed.
    is_granted: bool,
    times: usize,
    line: usize,
}

/// A right that nothing was done with.
#[derive(Clone, Debug)]
struct Unused {
    right: GrantedVerb,
    askers: Vec<Asker>,
}

/// One verb on one thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GrantedVerb {
    scope: RuleScope,
    group: String,
    resource: String,
    names: Vec<String>,
    url: String,
    verb: String,
}

/// Compares the role that is generated for a project with the requests of a user in an audit log (JSON lines of
/// `audit.k8s.io/v1`).
///
/// # Errors
/// With the first line that is broken, or if the log has no request of the user.
pub fn verify(project: &Project, user: &str, log: impl BufRead) -> Result<Comparison, AuditError> {
    let asked = requests_of(user, log)?;
    let rights = rights(&grants(project));
    let mut used = vec![false; rights.len()];
    let mut lacking: BTreeMap<(String, bool), Lacking> = BTreeMap::new();
    for asked in &asked {
        for verb in asked.verbs() {
            let mut is_granted = false;
            for ((right, _), used) in rights.iter().zip(&mut used) {
                if right.allows(asked, verb, &project.namespace) {
                    is_granted = true;
                    *used |= !asked.is_denied;
                }
            }
            if asked.is_denied || !(is_granted || is_everybodys(asked)) {
                let (said, is_denied) = (asked.said(verb), asked.is_denied);
                let new = Lacking { said: said.clone(), is_denied, is_granted, times: 0, line: asked.line };
                lacking.entry((said, is_denied)).or_insert(new).times += 1;
            }
        }
    }
    read_with_lists(&rights, &mut used);
    let unused = rights.iter().zip(&used).filter(|(_, used)| !**used);
    let unused = unused.map(|((right, askers), _)| Unused { right: right.clone(), askers: askers.clone() });
    Ok(Comparison {
        user: user.to_owned(),
        requests: asked.len(),
        rights: rights.len(),
        unused: unused.collect(),
        lacking: lacking.into_values().collect(),
    })
}

/// Who lists a kind may read its objects one by one: that gives nothing more, and an operator may need it in a race only.
fn read_with_lists(rights: &[(GrantedVerb, Vec<Asker>)], used: &mut [bool]) {
    for at in 0..rights.len() {
        let (get, _) = &rights[at];
        if get.verb != "get" || !get.url.is_empty() {
            continue;
        }
        let list = GrantedVerb { verb: "list".to_owned(), ..get.clone() };
        used[at] |= rights.iter().zip(&*used).any(|((right, _), used)| *used && *right == list);
    }
}

/// Every single right once, with all who ask for it.
fn rights(grants: &[Grant]) -> Vec<(GrantedVerb, Vec<Asker>)> {
    let mut rights: BTreeMap<GrantedVerb, Vec<Asker>> = BTreeMap::new();
    for grant in grants {
        let or_none = |list: &[String]| if list.is_empty() { vec![String::new()] } else { list.to_vec() };
        for group in or_none(&grant.rule.groups) {
            for resource in or_none(&grant.rule.resources) {
                for url in or_none(&grant.rule.urls) {
                    for verb in &grant.rule.verbs {
                        let (names, scope) = (grant.rule.resource_names.clone(), grant.scope.clone());
                        let (group, resource, url) = (group.clone(), resource.clone(), url.clone());
                        let right = GrantedVerb { scope, group, resource, names, url, verb: verb.clone() };
                        rights.entry(right).or_default().push(grant.asker.clone());
                    }
                }
            }
        }
    }
    rights.into_iter().collect()
}

impl GrantedVerb {
    fn allows(&self, asked: &AuditedRequest, verb: &str, home: &str) -> bool {
        let fits = |granted: &str, asked: &str| granted == asked || granted == "*";
        if !fits(&self.verb, verb) {
            return false;
        }
        if asked.resource.is_empty() {
            return !self.url.is_empty() && is_below(&self.url, &asked.url);
        }
        // The name of an object that is still to be made is in the log, but the authorizer didn't know it.
        let named = self.names.is_empty() || (self.names.contains(&asked.name) && (verb != "create" || asked.made));
        let here = match self.scope {
            RuleScope::Own => asked.namespace == home,
            RuleScope::In(namespace) => asked.namespace == namespace,
            RuleScope::Cluster => true,
        };
        self.url.is_empty() && fits(&self.group, &asked.group) && fits(&self.resource, &asked.resource) && named && here
    }
}

/// A URL of a rule may end in `*`.
fn is_below(granted: &str, asked: &str) -> bool {
    granted.strip_suffix('*').map_or(granted == asked, |start| asked.starts_with(start))
}

/// What the cluster lets everybody do who has a name: its default roles `system:discovery`, `system:basic-user` and
/// `system:public-info-viewer`.
fn is_everybodys(asked: &AuditedRequest) -> bool {
    if !asked.resource.is_empty() {
        let own = ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"];
        return asked.verb == "create" && own.contains(&asked.resource.as_str());
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
    asked.verb == "get" && open.iter().any(|url| is_below(url, &asked.url))
}

impl Comparison {
    /// Whether all that was done is granted, and all that is granted was done.
    pub fn is_equal(&self) -> bool {
        self.lacking.is_empty() && self.unused.is_empty()
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let lacking = |lacking: &Lacking| {
            json!({
                "request": lacking.said, "denied": lacking.is_denied, "granted": lacking.is_granted,
                "times": lacking.times, "line": lacking.line,
            })
        };
        let unused = |unused: &Unused| {
            let GrantedVerb { scope, group, resource, names, url, verb } = &unused.right;
            json!({
                "apiGroup": group, "resource": resource, "resourceNames": names, "nonResourceURL": url, "verb": verb,
                "clusterwide": *scope == RuleScope::Cluster, "askedBy": unused.askers.iter().map(Asker::to_json).collect::<Vec<_>>(),
            })
        };
        json!({
            "user": self.user,
            "requests": self.requests,
            "rights": self.rights,
            "equal": self.is_equal(),
            "tooSmall": self.lacking.iter().map(lacking).collect::<Vec<_>>(),
            "tooLarge": self.unused.iter().map(unused).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (self.is_denied, self.is_granted) {
            (true, false) => "was refused",
            (true, true) => "was refused, though the generated role grants it: another one is installed",
            (false, _) => "was allowed by another role than the generated one",
        };
        let times = if self.times == 1 { "once".to_owned() } else { format!("{} times", self.times) };
        write!(f, "{} {what}: {times}, first in line {}", self.said, self.line)
    }
}

/// `create configmaps: node config of Widget, controller/src/widget.rs:21`.
impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GrantedVerb { group, resource, names, url, verb, .. } = &self.right;
        let of = if group.is_empty() { String::new() } else { format!(" of {group}") };
        let named = if names.is_empty() { String::new() } else { format!(" named {}", names.join(", ")) };
        write!(f, "{verb} {resource}{url}{of}{named}, which is asked for by")?;
        for asker in &self.askers {
            write!(f, "\n      {}: {asker}", asker.kind)?;
        }
        Ok(())
    }
}

/// Says what is wrong, in words; or that nothing is.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.lacking.is_empty() {
            writeln!(f, "The role is too small:")?;
            self.lacking.iter().try_for_each(|lacking| writeln!(f, "  - {lacking}"))?;
        }
        if !self.unused.is_empty() {
            writeln!(f, "The role is too large, or the log too short; never used:")?;
            self.unused.iter().try_for_each(|unused| writeln!(f, "  - {unused}"))?;
        }
        let verdict = match self.is_equal() {
            true => "used every right, and lacked none",
            false => "are not what the role grants",
        };
        writeln!(f, "{} requests of {}, {} rights: they {verdict}.", self.requests, self.user, self.rights)
    }
}

#[cfg(test)]
mod tests;
