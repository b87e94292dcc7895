//! Objects on which closures of the operator panicked, as its events say.

use crate::{
    client::{Target, selectors::Selectors},
    command::{
        lookup::LiveError,
        why::{
            Why,
            look::{ExaminedObject, Look, failed},
        },
    },
    controller::factory::Factory,
    event,
    kind::Kind,
    reconcile::panics::PANICKED,
};
use serde_json::Value;

impl Look<'_> {
    /// The object itself, and those of the kinds that its controller watches beside it, in its namespace: the operator may miss
    /// their changes. Who may not list events learns nothing of them here.
    pub(crate) async fn panics(&self, seen: &ExaminedObject<'_>, factory: &dyn Factory) -> Result<Vec<Why>, LiveError> {
        let kind = event::kind();
        let target = Target { kind: &kind, namespace: seen.namespace(), name: "" };
        let reason = format!("reason={PANICKED}");
        let selectors = Selectors { labels: None, fields: Some(&reason) };
        let events = match self.client.list_each(target, selectors, Some).await {
            Ok(events) => events,
            Err(error) if error.is_forbidden() => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let settings = factory.settings();
        let (mapped, kept) = (settings.mapped.iter(), settings.kept.iter());
        let watched: Vec<&Kind> = mapped.map(|mapped| mapped.kind()).chain(kept.map(|kept| kept.kind())).collect();
        let mut found: Vec<Why> = Vec::new();
        for event in &events {
            let (object, note) = (&event["regarding"], event["note"].as_str().unwrap_or_default());
            let text = |field: &str| object[field].as_str().unwrap_or_default();
            let is_of = |kind: &&Kind| kind.kind == text("kind") && kind.api_version() == text("apiVersion");
            let is_itself = seen.object["metadata"]["uid"] == object["uid"];
            let is_ours = event["reportingController"] == self.project.name.as_str();
            if is_ours && (is_itself || watched.iter().any(is_of)) {
                let why = Why::new(label_of(object), note);
                if !found.contains(&why) {
                    found.push(why);
                }
            }
        }
        Ok(found)
    }
}

fn label_of(object: &Value) -> String {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let namespace = object["namespace"].as_str().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{} {namespace}{}", text("kind"), text("name"))
}
