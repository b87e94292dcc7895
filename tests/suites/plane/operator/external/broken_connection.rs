//! Records of a DNS service with sockets, whose connection breaks at each byte of the response to the creation.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use http::Method;
use kube::api::{DeleteParams, PostParams};
use opgen::{
    Backoff,
    external::{External, ExternalContext, ExternalKey, ExternalResource, Observed, UpdateOutcome},
    prelude::*,
};
use opgen_tests::Plane;
use serde::Serialize;
use serde_json::{Value, json};

use crate::operator::{mirror::Mirror, owners::is_available};

use super::{
    Note, NoteSpec, Site,
    http_service::{CutPosition, HttpClient, HttpService, length_of_creation},
    records,
};

/// How many requests of the case are under way at a time.
const AT_ONCE: usize = 16;

/// The numbers of bytes of the request after which the connection breaks. A request has more.
const PREFIXES: [usize; 5] = [0, 1, 4, 17, 90];

type NoteWithHttp = For<Note, HttpClient>;

/// The wanted record.
#[derive(Serialize)]
pub(super) struct Text {
    text: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(access(), output = String)]
pub(super) struct HttpRecord;

/// Returns the field of a record in a response.
fn field(record: &Value, name: &str) -> String {
    record[name].as_str().unwrap_or_default().to_owned()
}

impl ExternalResource for HttpRecord {
    type Owner = NoteWithHttp;
    type Spec = Text;
    const NAME: &'static str = "DNS record";

    fn spec(draft: &Draft<'_, Self::Owner>) -> Result<Text> {
        Ok(Text { text: draft.spec.text.clone() })
    }

    async fn observe(cx: &ExternalContext<'_, Self>, key: ExternalKey<'_>) -> Result<Option<Observed<String>>> {
        let target = match key.id() {
            Some(id) => format!("/records/{id}"),
            None => format!("/records?token={}", key.token()),
        };
        let found = cx.options().call(Method::GET, &target, None).await?;
        Ok(found.map(|record| Observed::new(field(&record, "id"), field(&record, "text"))))
    }

    fn is_up_to_date(spec: &Text, observed: &String) -> bool {
        spec.text == *observed
    }

    async fn create(cx: &ExternalContext<'_, Self>, spec: &Text, token: &str) -> Result<String> {
        let body = json!({"text": spec.text, "token": token});
        let created = cx.options().call(Method::POST, "/records", Some(body)).await?;
        Ok(field(&created.unwrap_or_default(), "id"))
    }

    async fn update(cx: &ExternalContext<'_, Self>, id: &str, spec: &Text) -> Result<UpdateOutcome> {
        let body = json!({"text": spec.text});
        cx.options().call(Method::PUT, &format!("/records/{id}"), Some(body)).await?;
        Ok(UpdateOutcome::Updated)
    }

    async fn delete(cx: &ExternalContext<'_, Self>, id: &str) -> Result<()> {
        cx.options().call(Method::DELETE, &format!("/records/{id}"), None).await?;
        Ok(())
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = NoteWithHttp)]
pub(super) struct HttpTree {
    record: External<HttpRecord>,
}

/// Plans a cut at each byte of the response to a creation and at some of the request, each for a note of its own. Returns the names
/// of the notes, which are their texts.
fn plan_cuts(service: &HttpService) -> Vec<String> {
    let name = |at: &str, number: usize| format!("{at}-{number:04}");
    let length = length_of_creation(&name("response", 0), &"0".repeat(32));
    let of_responses = (0..=length).map(|number| (name("response", number), CutPosition::Response(number)));
    let of_requests = PREFIXES.into_iter().map(|number| (name("request", number), CutPosition::Request(number)));
    let cuts: Vec<_> = of_responses.chain(of_requests).collect();
    cuts.iter().for_each(|(text, cut)| service.cut(text, *cut));
    cuts.into_iter().map(|(text, _)| text).collect()
}

pub(super) async fn at_each_byte(plane: Arc<Plane>) {
    let (site, service) = (Site::new(&plane).await, HttpService::start().await);
    let client = service.client();
    let operator = site.operator().controls_with::<NoteWithHttp, HttpTree>(|controller| {
        controller.options(client).backoff(Backoff::Fixed(Duration::from_secs(1)))
    });
    let running = site.start(&operator).await;
    let mut names = plan_cuts(&service);
    names.sort();
    assert!(names.len() > 100, "{}", names.len());
    let notes = site.api::<Note>();
    let mirror = Mirror::<Note>::follow(plane.client(), &site.namespace).await;
    stream::iter(&names)
        .for_each_concurrent(AT_ONCE, |name| {
            let notes = &notes;
            async move {
                let note = Note::new(name, NoteSpec { text: name.clone(), ..NoteSpec::default() });
                notes.create(&PostParams::default(), &note).await.unwrap();
            }
        })
        .await;
    mirror.until("are available", names.len(), is_available).await;
    assert_eq!(service.remaining_cuts(), 0, "each connection broke");
    assert_eq!(service.texts(), names, "one record for each note");
    assert_eq!(service.created(), names.len(), "none was created twice");
    assert_eq!(records(&site).await.len(), names.len());
    stream::iter(&names)
        .for_each_concurrent(AT_ONCE, |name| {
            let notes = &notes;
            async move {
                notes.delete(name, &DeleteParams::default()).await.unwrap();
            }
        })
        .await;
    mirror.until("are left", 0, |_| false).await;
    assert_eq!(service.texts(), Vec::<String>::new());
    assert!(records(&site).await.is_empty());
    running.end_now().await;
}
