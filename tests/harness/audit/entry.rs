//! Defines `Entry`, a request in the audit log, and `Entries`, a filterable list of them.

use std::{fmt, sync::Arc};

/// A request and its response. A watch has an entry from its start, with the code of the response head.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The verb as in RBAC: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. An apply is a
    /// `patch`.
    pub verb: String,
    /// The user; `system:serviceaccount:<namespace>:<name>` for a ServiceAccount.
    pub user: String,
    /// The user agent of the client.
    pub user_agent: String,
    /// The API group; empty for the core group and for non-resource URLs.
    pub group: String,
    /// The plural; empty for non-resource URLs (`/readyz`).
    pub resource: String,
    /// The subresource, for example `status`; empty for the object itself.
    pub subresource: String,
    /// The namespace; empty for cluster-scoped objects and for requests over all namespaces.
    pub namespace: String,
    /// The name of the object; empty for collections. A `create` has it only if the client chose the name.
    pub name: String,
    /// The HTTP code of the response. An apply (a `patch`) that created the object has 201.
    pub code: u16,
    /// The message of the `Status` of a failed request, such as why admission has refused it; empty on success.
    pub message: String,
    /// The path and the query.
    pub uri: String,
    /// The time at which the server received the request, as RFC 3339 with microseconds. It is empty for a sandbox inside the
    /// process, which answers the calls one after the other.
    pub received: String,
    /// The time at which the server had answered the request, in the same form.
    pub answered: String,
    /// The holder in the body of a write of a Lease, empty for a release; `None` for other requests and for a sandbox.
    pub holder: Option<String>,
}

impl Entry {
    /// Returns whether the request creates, changes or deletes an object, even if the server refused it. Access reviews, token reviews and
    /// token requests are `create` calls as well, but they store nothing, so they don't count.
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
            && !matches!(self.group.as_str(), "authorization.k8s.io" | "authentication.k8s.io")
            && self.subresource != "token"
    }
}

impl fmt::Display for Entry {
    /// Displays the entry as `alice patch apps/deployments/status ns/name -> 200`, with the message of a failed request at the end. A
    /// non-resource URL such as `/readyz` is displayed in place of the resource.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |parts: [&str; 3]| parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        let resource = join([&self.group, &self.resource, &self.subresource]);
        let target = if resource.is_empty() { self.uri.clone() } else { resource };
        write!(f, "{} {} {target} {} -> {}", self.user, self.verb, join([&self.namespace, &self.name, ""]), self.code)?;
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

/// Entries in the order of the responses. Each filter returns the matching entries.
#[derive(Clone, Debug, Default)]
pub struct Entries(Vec<Arc<Entry>>);

impl Entries {
    pub(crate) fn of(entries: Vec<Arc<Entry>>) -> Self {
        Self(entries)
    }

    /// Returns the entries of the user with this full name.
    pub fn by_user(&self, user: &str) -> Self {
        self.with(|entry| entry.user == user)
    }

    /// Returns the entries of a ServiceAccount.
    pub fn by_account(&self, namespace: &str, name: &str) -> Self {
        self.by_user(&format!("system:serviceaccount:{namespace}:{name}"))
    }

    /// Returns the entries with a verb.
    pub fn verb(&self, verb: &str) -> Self {
        self.with(|entry| entry.verb == verb)
    }

    /// Returns the entries on a resource (a plural), including its subresources.
    pub fn resource(&self, resource: &str) -> Self {
        self.with(|entry| entry.resource == resource)
    }

    /// Returns the entries on a subresource; an empty text matches the entries on the objects themselves.
    pub fn subresource(&self, subresource: &str) -> Self {
        self.with(|entry| entry.subresource == subresource)
    }

    /// Returns the entries on an API group.
    pub fn group(&self, group: &str) -> Self {
        self.with(|entry| entry.group == group)
    }

    /// Returns the entries in a namespace.
    pub fn namespace(&self, namespace: &str) -> Self {
        self.with(|entry| entry.namespace == namespace)
    }

    /// Returns the entries on objects with this name.
    pub fn name(&self, name: &str) -> Self {
        self.with(|entry| entry.name == name)
    }

    /// Returns the entries with this response code.
    pub fn code(&self, code: u16) -> Self {
        self.with(|entry| entry.code == code)
    }

    /// Returns the entries that the server refused because of a missing permission.
    pub fn denied(&self) -> Self {
        self.code(403)
    }

    /// Returns the writes, including refused ones.
    pub fn writes(&self) -> Self {
        self.with(Entry::is_write)
    }

    /// Returns the entries that `accept` accepts.
    pub fn with(&self, accept: impl Fn(&Entry) -> bool) -> Self {
        Self(self.0.iter().filter(|entry| accept(entry)).cloned().collect())
    }

    /// Returns the entries that were added since `earlier`, the entries of an earlier read of the whole log.
    pub fn since(&self, earlier: &Self) -> Self {
        Self(self.0.iter().skip(earlier.len()).cloned().collect())
    }

    /// Returns a copy in the order in which the server received the requests; the log has them in the order of the responses.
    #[must_use]
    pub fn as_received(&self) -> Self {
        let mut entries = self.0.clone();
        entries.sort_by(|left, right| left.received.cmp(&right.received));
        Self(entries)
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the entries in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().map(AsRef::as_ref)
    }
}

/// Displays one entry per line, for messages of failed assertions.
impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}
