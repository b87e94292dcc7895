//! Who did what, and what the answer was.

use http::StatusCode;

use crate::call::{Call, Target};

/// One request and its answer; an answer that streams is there from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// As in RBAC; an apply is a `patch`.
    pub verb: &'static str,
    /// The user's name.
    pub user: String,
    /// What the client calls itself.
    pub user_agent: String,
    /// The API group; empty for the core group and for what is no resource.
    pub group: String,
    /// The plural; empty for what is no resource.
    pub resource: String,
    /// Empty for the object itself.
    pub subresource: String,
    /// Empty for what is in no namespace.
    pub namespace: String,
    /// Empty for collections.
    pub name: String,
    /// The answer's HTTP code.
    pub code: u16,
    /// Path and query.
    pub uri: String,
}

/// Tells of requests.
#[derive(Default)]
pub(crate) struct Audit(Option<Listener>);

type Listener = Box<dyn Fn(&Record) + Send + Sync>;

impl Audit {
    pub(crate) fn new(told: impl Fn(&Record) + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(told)))
    }

    pub(crate) fn record(&self, call: &Call, code: StatusCode) {
        let Some(told) = &self.0 else { return };
        let target = match &call.target {
            Target::Resource(target) => target.clone(),
            Target::Path(_) => Default::default(),
        };
        told(&Record {
            verb: call.verb.as_str(),
            user: call.user.name.clone(),
            user_agent: call.user_agent.clone(),
            group: target.group,
            resource: target.plural,
            subresource: target.subresource.unwrap_or_default(),
            namespace: target.namespace,
            name: target.name.unwrap_or_default(),
            code: code.as_u16(),
            uri: call.uri.clone(),
        });
    }
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Audit").field(&self.0.is_some()).finish()
    }
}
