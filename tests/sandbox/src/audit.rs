//! `Record`, which describes one request and its response, and `Audit`, which counts requests and passes requests and watch events to
//! observer functions.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use http::StatusCode;

use crate::{
    call::{Call, Target, Verb},
    fault::ObservedEvent,
    object,
    response::{ApiResponse, Content},
};

/// One request and its response; a streamed response is recorded at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The verb as in RBAC; an apply is a `patch`.
    pub verb: &'static str,
    /// The name of the user.
    pub user: String,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The API group; empty for the core group and for non-resource paths.
    pub group: String,
    /// The plural; empty for non-resource paths.
    pub resource: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// The name; empty for collections.
    pub name: String,
    /// The HTTP status code of the response.
    pub code: u16,
    /// The message of the `Status` of a failed request; empty on success.
    pub message: String,
    /// Path and query.
    pub uri: String,
}

type RequestObserver = Box<dyn Fn(&Record) + Send + Sync>;
type EventObserver = Arc<dyn Fn(&Record, ObservedEvent) + Send + Sync>;

/// Passes requests and watch events to observers, and counts requests.
#[derive(Default)]
pub(crate) struct Audit {
    /// The function that is called after each request.
    pub(crate) observer: Option<RequestObserver>,
    /// The function that is called for each watch event.
    pub(crate) event_observer: Option<EventObserver>,
    /// The number of requests by verb and code.
    counts: Mutex<BTreeMap<(&'static str, u16), u64>>,
}

impl Audit {
    /// Returns the number of requests by verb and code.
    pub(crate) fn counts(&self) -> BTreeMap<(&'static str, u16), u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a request by verb and code, and passes it with the message of its failure to the observer.
    pub(crate) fn record(&self, call: &Call, response: &ApiResponse) {
        let key = (call.verb.as_str(), response.code.as_u16());
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
        if let Some(notify) = &self.observer {
            notify(&Record { message: failure_message(response), ..Record::new(call, response.code) });
        }
    }

    /// Passes each event of the response to a watch to the event observer, while the stream is read. Returns other responses unchanged.
    pub(crate) fn observe_events(&self, call: &Call, response: ApiResponse) -> ApiResponse {
        let (Verb::Watch, Some(notify)) = (call.verb, &self.event_observer) else { return response };
        let (notify, record) = (notify.clone(), Record::new(call, response.code));
        response.inspect(move |line| {
            if let Some(event) = ObservedEvent::read(line) {
                notify(&record, event);
            }
        })
    }
}

impl Record {
    /// Returns the record of a request, without the message of its response.
    fn new(call: &Call, code: StatusCode) -> Self {
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
            name: target.name.unwrap_or_else(|| created_name(call)),
            code: code.as_u16(),
            message: String::new(),
            uri: call.uri.clone(),
        }
    }
}

/// Returns the message of the `Status` of a failed request; empty on success and for streams.
fn failure_message(response: &ApiResponse) -> String {
    let Content::Whole(text) = &response.content else { return String::new() };
    if response.code.is_success() {
        return String::new();
    }
    let status: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    object::text(&status, &["message"]).to_owned()
}

/// Returns the name in the body of a create; empty for other verbs, and if the server generates the name.
fn created_name(call: &Call) -> String {
    let object: serde_json::Value = match call.verb {
        Verb::Create => serde_json::from_slice(&call.body).unwrap_or_default(),
        _ => serde_json::Value::Null,
    };
    object::name(&object).to_owned()
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Audit").field(&self.observer.is_some()).field(&self.event_observer.is_some()).finish()
    }
}
