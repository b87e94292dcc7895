//! Tests that `TRACING.md` lists all attributes of the spans.

use crate::{
    cache::Header,
    kind::kind_of,
    queue::Trigger,
    spans::{call::CallSpan, convergence::Lineage, node, pass::PassSpan},
};
use http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use tokio::time::Instant;
use tracing::{Subscriber, span};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
};

const PAGE: &str = include_str!("../../../TRACING.md");

type Attributes = BTreeMap<String, BTreeSet<String>>;

/// The names of all spans, and of their attributes.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Attributes>>);

impl<S: Subscriber> Layer<S> for Seen {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, _: &span::Id, _: Context<'_, S>) {
        let metadata = attributes.metadata();
        let names = metadata.fields().iter().map(|field| field.name().to_owned());
        self.0.lock().insert(metadata.name().to_owned(), names.collect());
    }
}

/// The attributes in the table of the page, by span.
fn documented() -> Attributes {
    let mut found = Attributes::new();
    for line in PAGE.lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        if let ["", attribute, spans, _, ""] = cells[..]
            && let Some(attribute) = attribute.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'))
        {
            for span in spans.split(", ") {
                found.entry(span.to_owned()).or_default().insert(attribute.to_owned());
            }
        }
    }
    found
}

#[tokio::test(start_paused = true)]
async fn the_page_lists_the_attributes_of_each_span() {
    let seen = Seen::default();
    let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry().with(seen.clone()));
    let header = Header::parse(br#"{"metadata": {"name": "a"}}"#).unwrap();
    let lineage = Lineage::of_next(None, true, None, Instant::now());
    let pass = PassSpan::begin(&kind_of::<ConfigMap>(), &header, Trigger::Request, &lineage);
    let _pass = pass.span.enter();
    node::in_span(true, "config", async { Ok(()) }).await.unwrap();
    CallSpan::begin(&mut Request::get("/api/v1/pods/a").body(()).unwrap(), "get", "pods");
    let mut seen = seen.0.lock().clone();
    for attributes in seen.values_mut() {
        // These set the name, the kind and the status of the span in OpenTelemetry.
        attributes.retain(|attribute| !attribute.starts_with("otel."));
    }
    assert_eq!(seen, documented());
}
