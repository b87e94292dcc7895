//! Finds the events of the operator about closures that panicked on an object.

use crate::{
    client::{Target, selectors::Selectors},
    command::{
        lookup::LookupError,
        why::{
            Why,
            examine::{ExaminedObject, Examiner, call_error},
        },
    },
    controller::factory::Factory,
    event,
    kind::Kind,
    reconcile::panics::PANICKED,
};
use serde_json::Value;

impl Examiner<'_> {
    /// Returns the panics that the operator reported as events in the namespace of the object (in all namespaces for a cluster-scoped
    /// object): for the object itself, and for objects of the kinds that its controller watches, whose changes the operator may miss.
    /// Returns none if the user may not list events.
    pub(crate) async fn panics(
        &self,
        examined: &ExaminedObject<'_>,
        factory: &dyn Factory,
    ) -> Result<Vec<Why>, LookupError> {
        let kind = event::kind();
        let target = Target { kind: &kind, namespace: examined.namespace(), name: "" };
        let reason = format!("reason={PANICKED}");
        let selectors = Selectors { labels: None, fields: Some(&reason) };
        let events = match self.client.list_each(target, selectors, Some::<Value>).await {
            Ok(events) => events,
            Err(error) if error.is_forbidden() => return Ok(Vec::new()),
            Err(error) => return Err(call_error(error)),
        };
        let settings = factory.settings();
        let (watches, listers) = (settings.watches.iter(), settings.listers.iter());
        let watched: Vec<&Kind> =
            watches.map(|watch| watch.kind()).chain(listers.map(|lister| lister.kind())).collect();
        let mut panics: Vec<Why> = Vec::new();
        for event in &events {
            let (object, note) = (&event["regarding"], event["note"].as_str().unwrap_or_default());
            let text = |field: &str| object[field].as_str().unwrap_or_default();
            let is_of_kind = |kind: &&Kind| kind.is_kind_of(text("apiVersion"), text("kind"));
            let is_itself = examined.object["metadata"]["uid"] == object["uid"];
            let is_own_event = event["reportingController"] == self.project.name.as_str();
            if is_own_event && (is_itself || watched.iter().any(is_of_kind)) {
                let why = Why::new(label_of(object), note);
                if !panics.contains(&why) {
                    panics.push(why);
                }
            }
        }
        Ok(panics)
    }
}

/// Returns the kind, the namespace and the name of the object that an event is about: `WebApp shop/blue`.
fn label_of(object: &Value) -> String {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let namespace = object["namespace"].as_str().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{} {namespace}{}", text("kind"), text("name"))
}
