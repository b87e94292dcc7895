//! Tests inputs from other buckets, and external nodes of primaries in buckets.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use libtest_mimic::Trial;
use opgen::{
    Enqueue, For, NamespacedName,
    external::{External, ExternalContext, ExternalKey, ExternalResource, Observed, UpdateOutcome},
    prelude::*,
};
use opgen_tests::{
    Form, Plane, case_with_buckets,
    wait::{PATIENCE, until},
};
use serde_json::json;

use super::{
    super::site::Site,
    Pipe, Vat,
    store::CaseBuckets,
    stored::{is_empty, until_stored},
};

pub(super) fn cases() -> Vec<Trial> {
    vec![
        case_with_buckets("nats_u3_an_entry_of_another_operator_is_an_input_that_is_only_read", input),
        case_with_buckets("nats_u4_a_change_of_an_external_resource_is_found_after_the_period", external_change),
    ]
}

/// The text of the pipe `shared` in the last pass over a vat.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenText(Arc<Mutex<String>>);

type ReadingVat = For<Vat, SeenText>;

/// A node that reads a pipe.
#[derive(Debug, Provisioner)]
#[provisioner(access(Pipe: get))]
pub(crate) struct ReadsPipe;

impl Provision<ReadingVat> for ReadsPipe {
    async fn provision(cx: &Context<'_, ReadingVat, Self>) -> Result<()> {
        let pipe = cx.find::<Pipe>("shared").await?;
        let text = pipe.map_or("none".to_owned(), |pipe| pipe.spec.text);
        *cx.options().0.lock().unwrap_or_else(PoisonError::into_inner) = text;
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, ReadingVat, Self>) -> Result<()> {
        Ok(())
    }
}

async fn input(plane: Arc<Plane>) {
    let (site, buckets, seen) = (Site::new(&plane).await, CaseBuckets::new(&plane).await, SeenText::default());
    let (of_node, reader) = (seen.clone(), NamespacedName::in_namespace(&site.namespace, "reader"));
    let operator = site.operator().buckets(buckets.link()).uses::<Pipe>();
    let operator = operator.controls_with::<ReadingVat, ReadsPipe>(|controller| {
        controller.options(of_node).watches(Enqueue::<Pipe>::map(move |_| Some(reader.clone())))
    });
    let running = site.start(&operator).await;
    let reads = async |wanted: &str| {
        until(format!("the pass reads {wanted}"), PATIENCE, async || {
            let text = seen.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if text == wanted { Ok(()) } else { Err(text) }
        })
        .await;
    };
    let (vats, pipes) = (buckets.bucket("vats"), buckets.bucket("pipes"));
    vats.put_raw(&site.bucket_key("reader"), json!({"spec": {"text": ""}}).to_string()).await;
    reads("none").await;
    let key = site.bucket_key("shared");
    let mut revision = 0;
    for text in ["a", "b"] {
        revision = pipes.put_raw(&key, json!({"spec": {"text": text}}).to_string()).await;
        reads(text).await;
    }
    assert_eq!(pipes.get(&key).await.map(|entry| entry.revision), Some(revision), "nobody else writes it");
    pipes.delete_raw(&key).await;
    reads("none").await;
    assert!(pipes.list().await.is_empty());
    running.end_now().await;
}

/// The period after which a valve is observed again.
const PERIOD: Duration = Duration::from_secs(3);

/// A service with valves, which no store has: their tokens and their texts by their ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Valves(Arc<Mutex<BTreeMap<String, (String, String)>>>);

impl Valves {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn texts(&self) -> Vec<String> {
        self.lock().values().map(|(_, text)| text.clone()).collect()
    }

    /// Waits until the only valve has this text, or until there is none.
    async fn have(&self, wanted: &[&str]) {
        until(format!("the valves have {wanted:?}"), PATIENCE, async || {
            let texts = self.texts();
            if texts == wanted { Ok(()) } else { Err(format!("{texts:?}")) }
        })
        .await;
    }
}

type VatWithValves = For<Vat, Valves>;

#[derive(Debug, Provisioner)]
#[provisioner(access(), output = String)]
pub(crate) struct Valve;

impl ExternalResource for Valve {
    type Owner = VatWithValves;
    type Spec = String;
    const NAME: &'static str = "valve";
    const PERIOD: Duration = PERIOD;

    fn spec(draft: &Draft<'_, Self::Owner>) -> Result<String> {
        Ok(draft.spec.text.clone())
    }

    async fn observe(cx: &ExternalContext<'_, Self>, key: ExternalKey<'_>) -> Result<Option<Observed<String>>> {
        let valves = cx.options().lock();
        let found = valves.iter().find(|(id, (token, _))| match key.id() {
            Some(wanted) => wanted == id.as_str(),
            None => key.token() == token,
        });
        Ok(found.map(|(id, (_, text))| Observed::new(id.clone(), text.clone())))
    }

    fn is_up_to_date(spec: &String, observed: &String) -> bool {
        spec == observed
    }

    async fn create(cx: &ExternalContext<'_, Self>, spec: &String, token: &str) -> Result<String> {
        let mut valves = cx.options().lock();
        let id = format!("valve-{}", valves.len());
        valves.insert(id.clone(), (token.to_owned(), spec.clone()));
        Ok(id)
    }

    async fn update(cx: &ExternalContext<'_, Self>, id: &str, spec: &String) -> Result<UpdateOutcome> {
        if let Some((_, text)) = cx.options().lock().get_mut(id) {
            text.clone_from(spec);
        }
        Ok(UpdateOutcome::Updated)
    }

    async fn delete(cx: &ExternalContext<'_, Self>, id: &str) -> Result<()> {
        cx.options().lock().remove(id);
        Ok(())
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = VatWithValves)]
pub(crate) struct ValveTree {
    valve: External<Valve>,
}

async fn external_change(plane: Arc<Plane>) {
    let (site, buckets, valves) = (Site::new(&plane).await, CaseBuckets::new(&plane).await, Valves::default());
    let of_nodes = valves.clone();
    let operator = site.operator().buckets(buckets.link());
    let operator = operator.controls_with::<VatWithValves, ValveTree>(|controller| controller.options(of_nodes));
    let running = site.start(&operator).await;
    let (vats, key) = (buckets.bucket("vats"), site.bucket_key("one"));
    vats.put_raw(&key, json!({"spec": {"text": "a"}}).to_string()).await;
    valves.have(&["a"]).await;
    until_stored(&vats, &key, "has a status", |vat| vat["status"].is_object()).await;
    site.settled().await;
    let changed = tokio::time::Instant::now();
    for (_, text) in valves.lock().values_mut() {
        "edited".clone_into(text);
    }
    valves.have(&["a"]).await;
    assert!(changed.elapsed() <= PERIOD * 2, "{:?}", changed.elapsed());
    // A change of the spec needs no period. On a busy machine the pass itself may take as long.
    let changed = tokio::time::Instant::now();
    vats.put_raw(&key, json!({"spec": {"text": "b"}}).to_string()).await;
    valves.have(&["b"]).await;
    assert!(plane.form() != Form::Sandbox || changed.elapsed() < Duration::from_secs(1), "{:?}", changed.elapsed());
    vats.delete_raw(&key).await;
    is_empty(&vats).await;
    assert!(valves.texts().is_empty());
    running.end_now().await;
}
