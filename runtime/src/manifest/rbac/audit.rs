//! Reads the requests of one user from an audit log of the API server.
//!
//! Source: the types of `audit.k8s.io/v1`. The authorizer writes its decision to an annotation of each event. A response 403
//! without the annotation may come from admission instead.

use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashSet},
    io::{self, BufRead, Read as _},
};

/// The maximum length of a line, in bytes. An event holds at most a request and its response, of up to 3 MiB each.
const LONGEST_LINE: u64 = 64 << 20;

/// The reasons why an audit log can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The log can't be read.
    #[error("failed to read the audit log after line {line}")]
    Read {
        /// The last readable line.
        line: usize,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A line is not an event.
    #[error("line {line} of the audit log is not an audit.k8s.io/v1 event")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The error of the JSON parser; `None` if the line is JSON of another form.
        #[source]
        source: Option<serde_json::Error>,
    },
    /// The log has no request of that user.
    #[error("the audit log has no request of {user}")]
    Nobody {
        /// The user.
        user: String,
    },
}

/// One request in the audit log.
#[derive(Clone, Debug)]
pub(super) struct AuditedRequest {
    /// The number of its line, from 1.
    pub(super) line: usize,
    pub(super) verb: String,
    pub(super) group: String,
    /// The resource with its subresource (`deployments/scale`); empty for a non-resource request.
    pub(super) resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// The path, without the query.
    pub(super) url: String,
    pub(super) is_denied: bool,
    /// Whether it is a patch that created its object.
    pub(super) created_by_patch: bool,
}

/// Returns the requests of one user in an audit log, in the order of the log; a request whose user impersonates another counts for the
/// impersonated user.
///
/// # Errors
/// Fails with the first line that is not an event, or if the log has no request of the user.
pub(super) fn requests_of(user: &str, log: impl BufRead) -> Result<Vec<AuditedRequest>, AuditError> {
    let (mut requests, mut audit_ids) = (Vec::new(), HashSet::new());
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
        // The API server authorizes the impersonated user.
        let user_of_request = event.impersonated_user.as_ref().unwrap_or(&event.user);
        // The log has a long-running request twice: at the start and at the end of its response.
        if user_of_request.username == user
            && event.stage != "RequestReceived"
            && audit_ids.insert(event.audit_id.clone())
        {
            requests.push(AuditedRequest::new(line, event));
        }
    }
    if requests.is_empty() { Err(AuditError::Nobody { user: user.to_owned() }) } else { Ok(requests) }
}

/// Reads the next line of the log; `None` at its end. Fails for a line longer than [`LONGEST_LINE`], which it doesn't read completely, so
/// that such a line can't fill the memory.
fn next_line(log: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    if log.by_ref().take(LONGEST_LINE).read_line(&mut text)? == 0 {
        return Ok(None);
    }
    if text.len() as u64 >= LONGEST_LINE && !text.ends_with('\n') {
        let problem = format!("the next line is longer than {} MiB", LONGEST_LINE >> 20);
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(Some(text))
}

impl AuditedRequest {
    /// Converts an event of the audit log to a request. The request was denied if the authorizer's annotation says so, or, in an event
    /// without this annotation, if the status code is 403.
    fn new(line: usize, event: AuditEvent) -> Self {
        let object = event.object_ref.unwrap_or_default();
        let code = event.response_status.map_or(0, |status| status.code);
        let separator = if object.subresource.is_empty() { "" } else { "/" };
        let is_denied = match event.annotations.get("authorization.k8s.io/decision") {
            Some(decision) => decision == "forbid",
            None => code == 403,
        };
        Self {
            line,
            created_by_patch: code == 201 && event.verb == "patch",
            verb: event.verb,
            group: object.api_group,
            resource: format!("{}{separator}{}", object.resource, object.subresource),
            namespace: object.namespace,
            name: object.name,
            url: event.request_uri.split('?').next().unwrap_or_default().to_owned(),
            is_denied,
        }
    }

    /// Returns the verbs that the request needed. A patch that created its object (an apply) needed `create`, too.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &str> {
        [self.verb.as_str()].into_iter().chain(self.created_by_patch.then_some("create"))
    }

    /// Describes the request with the verb `verb`, for example `patch deployments/status of apps in namespace shop`.
    pub(super) fn description(&self, verb: &str) -> String {
        if self.resource.is_empty() {
            return format!("{verb} {}", self.url);
        }
        let group = if self.group.is_empty() { String::new() } else { format!(" of {}", self.group) };
        let scope = match self.namespace.as_str() {
            "" => "at cluster scope".to_owned(),
            namespace => format!("in namespace {namespace}"),
        };
        format!("{verb} {}{group} {scope}", self.resource)
    }
}

/// The used fields of an event.
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
