//! Who did what, and what the answer was.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use http::StatusCode;

use crate::{
    answer::{Answer, Content},
    call::{Call, Target, Verb},
    fault::EventSeen,
    object,
};

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
    /// The message of the `Status` that a refused request is answered with; empty for one that succeeds.
    pub message: String,
    /// Path and query.
    pub uri: String,
}

type Told = Box<dyn Fn(&Record) + Send + Sync>;
type EventTold = Arc<dyn Fn(&Record, EventSeen) + Send + Sync>;

/// Tells of requests and of what watches tell, and counts the requests.
#[derive(Default)]
pub(crate) struct Audit {
    pub(crate) told: Option<Told>,
    pub(crate) event_told: Option<EventTold>,
    /// By verb and code.
    counts: Mutex<BTreeMap<(&'static str, u16), u64>>,
}

impl Audit {
    /// How many requests there were, by verb and code.
    pub(crate) fn counts(&self) -> BTreeMap<(&'static str, u16), u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn record(&self, call: &Call, answer: &Answer) {
        let counted = (call.verb.as_str(), answer.code.as_u16());
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(counted).or_default() += 1;
        if let Some(told) = &self.told {
            told(&Record { message: refusal_of(answer), ..Record::of(call, answer.code) });
        }
    }

    /// An answer that tells of the events of a watch as they go out.
    pub(crate) fn overheard(&self, call: &Call, answer: Answer) -> Answer {
        let (Verb::Watch, Some(told)) = (call.verb, &self.event_told) else { return answer };
        let (told, record) = (told.clone(), Record::of(call, answer.code));
        answer.seen(move |line| {
            if let Some(event) = EventSeen::read(line) {
                told(&record, event);
            }
        })
    }
}

impl Record {
    fn of(call: &Call, code: StatusCode) -> Self {
        let target = match &call.target {
            Target::Resource(target) => target.clone(),
            Target::Path(_) => Default::default(),
        };
        Self {
            verb: call.verb.as_str(),
            user: call.user.name.clone(),
            user_agent: call.user_agent.clone(),
            group: target.group,
            resource: target.plural,
            subresource: target.subresource.unwrap_or_default(),
            namespace: target.namespace,
            name: target.name.unwrap_or_else(|| name_of_body(call)),
            code: code.as_u16(),
            message: String::new(),
            uri: call.uri.clone(),
        }
    }
}

/// The message of a refusal.
fn refusal_of(answer: &Answer) -> String {
    let Content::Whole(text) = &answer.content else { return String::new() };
    if answer.code.is_success() {
        return String::new();
    }
    let status: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    object::text(&status, &["message"]).to_owned()
}

/// The name that a new object brings along; empty if it gets one from the server.
fn name_of_body(call: &Call) -> String {
    let object: serde_json::Value = match call.verb {
        Verb::Create => serde_json::from_slice(&call.body).unwrap_or_default(),
        _ => serde_json::Value::Null,
    };
    object::name(&object).to_owned()
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Audit").field(&self.told.is_some()).field(&self.event_told.is_some()).finish()
    }
}
