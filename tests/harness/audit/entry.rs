//! `Entry` and `Entries`: requests to the API server and their answers.

use std::{fmt, sync::Arc};

/// One request and its answer. A watch is there from its start; its code is that of the response's head.
#[derive(Clone, Debug)]
pub struct Entry {
    /// As in RBAC: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. An apply is a `patch`.
    pub verb: String,
    /// The user; of a ServiceAccount `system:serviceaccount:<namespace>:<name>`.
    pub user: String,
    /// What the client calls itself.
    pub user_agent: String,
    /// The API group; empty for the core group and for what is no resource.
    pub group: String,
    /// The plural; empty for what is no resource (`/readyz`).
    pub resource: String,
    /// For example `status`; empty for the object itself.
    pub subresource: String,
    /// Empty for what is in no namespace, and for requests over all namespaces.
    pub namespace: String,
    /// Empty for collections; a `create` has the object's name only if the client chose it.
    pub name: String,
    /// The answer's HTTP code. An apply (a `patch`) that made the object has 201.
    pub code: u16,
    /// Path and query.
    pub uri: String,
    /// When the server received it, as RFC 3339 with microseconds; empty in the process, where one call is answered after the
    /// other.
    pub received: String,
}

impl Entry {
    /// Whether it changed something, or would have: no read, and neither a review nor a token request.
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
            && !matches!(self.group.as_str(), "authorization.k8s.io" | "authentication.k8s.io")
            && self.subresource != "token"
    }
}

/// `alice patch apps/deployments/status ns/name -> 200`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |parts: [&str; 3]| parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        let resource = join([&self.group, &self.resource, &self.subresource]);
        let what = if resource.is_empty() { self.uri.clone() } else { resource };
        write!(f, "{} {} {what} {} -> {}", self.user, self.verb, join([&self.namespace, &self.name, ""]), self.code)
    }
}

/// Entries in the order in which the server answered them. Each filter gives those that fit.
#[derive(Clone, Debug, Default)]
pub struct Entries(Vec<Arc<Entry>>);

impl Entries {
    pub(crate) fn of(entries: Vec<Arc<Entry>>) -> Self {
        Self(entries)
    }

    /// Those of the user of that full name.
    pub fn by_user(&self, user: &str) -> Self {
        self.with(|entry| entry.user == user)
    }

    /// Those of a ServiceAccount.
    pub fn by_account(&self, namespace: &str, name: &str) -> Self {
        self.by_user(&format!("system:serviceaccount:{namespace}:{name}"))
    }

    /// Those of a verb.
    pub fn verb(&self, verb: &str) -> Self {
        self.with(|entry| entry.verb == verb)
    }

    /// Those on a resource (a plural), its subresources included.
    pub fn resource(&self, resource: &str) -> Self {
        self.with(|entry| entry.resource == resource)
    }

    /// Those on a subresource; with an empty text those on the objects themselves.
    pub fn subresource(&self, subresource: &str) -> Self {
        self.with(|entry| entry.subresource == subresource)
    }

    /// Those on an API group.
    pub fn group(&self, group: &str) -> Self {
        self.with(|entry| entry.group == group)
    }

    /// Those in a namespace.
    pub fn namespace(&self, namespace: &str) -> Self {
        self.with(|entry| entry.namespace == namespace)
    }

    /// Those on objects of that name.
    pub fn name(&self, name: &str) -> Self {
        self.with(|entry| entry.name == name)
    }

    /// Those answered with that code.
    pub fn code(&self, code: u16) -> Self {
        self.with(|entry| entry.code == code)
    }

    /// Those that were refused for want of permission.
    pub fn denied(&self) -> Self {
        self.code(403)
    }

    /// Those that changed something, or would have.
    pub fn writes(&self) -> Self {
        self.with(Entry::is_write)
    }

    /// Those that say so themselves.
    pub fn with(&self, accept: impl Fn(&Entry) -> bool) -> Self {
        Self(self.0.iter().filter(|entry| accept(entry)).cloned().collect())
    }

    /// Those that came after an earlier look at the whole log: what is here and was not there.
    pub fn since(&self, earlier: &Self) -> Self {
        Self(self.0.iter().skip(earlier.len()).cloned().collect())
    }

    /// The same in the order in which the server received them.
    #[must_use]
    pub fn as_received(&self) -> Self {
        let mut entries = self.0.clone();
        entries.sort_by(|one, other| one.received.cmp(&other.received));
        Self(entries)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().map(AsRef::as_ref)
    }
}

/// One a line: what the text of a failed assertion should show.
impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}
