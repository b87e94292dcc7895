//! An API server's audit log: what was asked, by whom, and whether it was allowed.
//!
//! Source: the types of `audit.k8s.io/v1`. The authorizer notes its decision as an annotation of each event; an answer of
//! 403 without it may as well be admission's.

use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashSet},
    io::{self, BufRead, Read as _},
};

/// An event holds a request and its answer at most, of which an API server takes 3 MiB each.
const LONGEST_LINE: u64 = 64 << 20;

/// Why an audit log can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The log can't be read.
    #[error("failed to read the audit log after line {line}")]
    Read {
        /// The last line that could be read.
        line: usize,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A line is no event.
    #[error("line {line} of the audit log is no event of audit.k8s.io/v1")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it, if it is JSON no more.
        #[source]
        source: Option<serde_json::Error>,
    },
    /// Nobody of that name asked for anything.
    #[error("the audit log has no request of {user}")]
    Nobody {
        /// The user.
        user: String,
    },
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct AuditedRequest {
    /// Where the log has it, from 1.
    pub(super) line: usize,
    pub(super) verb: String,
    pub(super) group: String,
    /// With its subresource; empty for what is no resource.
    pub(super) resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// The path, without the query.
    pub(super) url: String,
    pub(super) is_denied: bool,
    pub(super) made: bool,
}

/// The requests of one user, in their order.
///
/// # Errors
/// With the first line that is broken, or if there is no request at all.
pub(super) fn requests_of(user: &str, log: impl BufRead) -> Result<Vec<AuditedRequest>, AuditError> {
    let (mut asked, mut begun) = (Vec::new(), HashSet::new());
    let mut log = log;
    for line in 1.. {
        let Some(text) = next_line(&mut log).map_err(|source| AuditError::Read { line: line - 1, source })? else {
            break;
        };
        if text.trim().is_empty() {
            continue;
        }
        let event: AuditEvent =
            serde_json::from_str(&text).map_err(|source| AuditError::Line { line, source: Some(source) })?;
        if event.kind != "Event" || !event.api_version.starts_with("audit.k8s.io/") {
            return Err(AuditError::Line { line, source: None });
        }
        // Who is impersonated is who has to have the right.
        let asker = event.impersonated_user.as_ref().unwrap_or(&event.user);
        // A long request is there from the start of its response, and again at its end.
        if asker.username == user && event.stage != "RequestReceived" && begun.insert(event.audit_id.clone()) {
            asked.push(AuditedRequest::new(line, event));
        }
    }
    if asked.is_empty() { Err(AuditError::Nobody { user: user.to_owned() }) } else { Ok(asked) }
}

/// The next line, without its end; an endless one is an error before it fills the memory.
fn next_line(log: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    if log.by_ref().take(LONGEST_LINE).read_line(&mut text)? == 0 {
        return Ok(None);
    }
    if text.len() as u64 >= LONGEST_LINE && !text.ends_with('\n') {
        let what = format!("the next line is longer than {} MiB", LONGEST_LINE >> 20);
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(Some(text))
}

impl AuditedRequest {
    fn new(line: usize, event: AuditEvent) -> Self {
        let object = event.object_ref.unwrap_or_default();
        let code = event.response_status.map_or(0, |status| status.code);
        let slash = if object.subresource.is_empty() { "" } else { "/" };
        let is_denied = match event.annotations.get("authorization.k8s.io/decision") {
            Some(decision) => decision == "forbid",
            None => code == 403,
        };
        Self {
            line,
            made: code == 201 && event.verb == "patch",
            verb: event.verb,
            group: object.api_group,
            resource: format!("{}{slash}{}", object.resource, object.subresource),
            namespace: object.namespace,
            name: object.name,
            url: event.request_uri.split('?').next().unwrap_or_default().to_owned(),
            is_denied,
        }
    }

    /// The verbs it needed: an apply that made the object needed `create`, too.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &str> {
        [self.verb.as_str()].into_iter().chain(self.made.then_some("create"))
    }

    /// `patch deployments/status of apps in namespace shop`.
    pub(super) fn said(&self, verb: &str) -> String {
        if self.resource.is_empty() {
            return format!("{verb} {}", self.url);
        }
        let group = if self.group.is_empty() { String::new() } else { format!(" of {}", self.group) };
        let place = match self.namespace.as_str() {
            "" => "at cluster scope".to_owned(),
            namespace => format!("in namespace {namespace}"),
        };
        format!("{verb} {}{group} {place}", self.resource)
    }
}

/// An event, as far as it is used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditEvent {
    kind: String,
    api_version: String,
    #[serde(rename = "auditID")]
    audit_id: String,
    #[serde(default)]
    stage: String,
    #[serde(rename = "requestURI", default)]
    request_uri: String,
    verb: String,
    user: User,
    impersonated_user: Option<User>,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ObjectRef {
    resource: String,
    subresource: String,
    api_group: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}
