//! `list`: whole or in pieces, as it is now or was.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use bytes::{BufMut as _, Bytes, BytesMut};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    read::{head, metadata_of, not_acceptable},
    watch::Filter,
};
use crate::{answer::Answer, call::Form, discovery::print, failure::Failure, kind::Origin, store::Stored, verb::Asked};

/// Where a list that was cut goes on.
#[derive(Serialize, Deserialize)]
struct Continue {
    #[serde(rename = "v")]
    version: String,
    #[serde(rename = "rv")]
    resource_version: u64,
    /// The key after which it goes on.
    start: String,
}

/// A part of a list.
struct Page {
    version: u64,
    items: Vec<Arc<Stored>>,
    token: Option<String>,
    remaining: Option<usize>,
}

pub(super) async fn list(asked: Asked<'_>) -> Result<Answer, Failure> {
    let page = page(asked)?;
    let mut metadata = Map::from_iter([("resourceVersion".to_owned(), json!(page.version.to_string()))]);
    if let Some(token) = page.token {
        metadata.insert("continue".into(), token.into());
    }
    if let Some(remaining) = page.remaining {
        metadata.insert("remainingItemCount".into(), remaining.into());
    }
    let (kind, metadata) = (asked.kind, Value::Object(metadata));
    let objects = || page.items.iter().map(|item| item.object(kind));
    match asked.call.accept.form() {
        Form::Table => {
            let table = print::table(kind, &objects().collect::<Vec<_>>(), &metadata, asked.call);
            Ok(Answer::object(&table))
        }
        Form::Metadata | Form::MetadataList => {
            let items: Vec<Value> = objects().map(|object| metadata_of(&object)).collect();
            let list = json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items});
            Ok(Answer::object(&list))
        }
        Form::Foreign => Err(not_acceptable()),
        Form::Json | Form::Yaml | Form::Discovery => {
            Ok(Answer::json(StatusCode::OK, whole(asked, &metadata, &page.items)))
        }
    }
}

/// The objects that a version of the store had, as the answer to a deletion of many.
pub(super) fn whole_list(asked: Asked<'_>, version: u64, items: &[Arc<Stored>]) -> Answer {
    let metadata = json!({"resourceVersion": version.to_string()});
    Answer::json(StatusCode::OK, whole(asked, &metadata, items))
}

/// The text of a list, made without reading the objects. The items of custom kinds say their type, as with Kubernetes.
fn whole(asked: Asked<'_>, metadata: &Value, items: &[Arc<Stored>]) -> Bytes {
    let kind = asked.kind;
    let mut text = BytesMut::with_capacity(items.iter().map(|item| item.json.len() + 64).sum::<usize>() + 128);
    let (list_kind, api_version) = (&kind.list_kind, kind.api_version());
    text.extend_from_slice(
        format!("{{\"kind\":{list_kind:?},\"apiVersion\":{api_version:?},\"metadata\":{metadata},\"items\":[")
            .as_bytes(),
    );
    let typed = matches!(kind.origin, Origin::Custom(_)).then(|| head(kind));
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.put_u8(b',');
        }
        match &typed {
            Some(head) => {
                text.extend_from_slice(head);
                text.extend_from_slice(item.text(kind).get(1..).unwrap_or_default());
            }
            None => text.extend_from_slice(&item.text(kind)),
        }
    }
    text.extend_from_slice(b"]}");
    text.freeze()
}

fn page(asked: Asked<'_>) -> Result<Page, Failure> {
    let options = &asked.call.options;
    let filter = Filter::of(asked)?;
    let namespace = Some(asked.namespace);
    let token = token(&options.continue_token)?;
    let exact = (options.resource_version_match == "Exact").then(|| options.resource_version.parse().unwrap_or(0));
    let at = token.as_ref().map(|token| token.resource_version).filter(|version| *version > 0).or(exact);
    let (version, mut items) = match at {
        Some(version) => {
            check_reached(asked, version)?;
            let items =
                asked.server.store.list_at(&asked.kind.shelf, namespace, version).map_err(|_| gone(token.is_some()))?;
            (version, items)
        }
        None => {
            check_reached(asked, options.resource_version.parse().unwrap_or(0))?;
            asked.server.store.list(&asked.kind.shelf, namespace)
        }
    };
    if let Some(token) = &token {
        items.retain(|item| item.key() > token.start);
    }
    items.retain(|item| filter.passes(asked.kind, item));
    let Some(limit) = options.limit.filter(|limit| *limit < items.len()) else {
        return Ok(Page { version, items, token: None, remaining: None });
    };
    let remaining = (filter.is_empty()).then_some(items.len() - limit);
    items.truncate(limit);
    let start = items.last().map(|item| item.key()).unwrap_or_default();
    let token = Continue { version: "meta.k8s.io/v1".into(), resource_version: version, start };
    let token = STANDARD_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default());
    Ok(Page { version, items, token: Some(token), remaining })
}

fn token(written: &str) -> Result<Option<Continue>, Failure> {
    if written.is_empty() {
        return Ok(None);
    }
    let read = STANDARD_NO_PAD.decode(written.trim_end_matches('=')).ok();
    let read = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    read.map(Some).ok_or_else(|| Failure::bad_request("continue key is not valid: it was not given by this server"))
}

fn gone(of_token: bool) -> Failure {
    let message = if of_token {
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter."
    } else {
        "The resourceVersion for the provided list is too old."
    };
    Failure::expired(message)
}

/// A version that is still to come can't be listed.
pub(super) fn check_reached(asked: Asked<'_>, version: u64) -> Result<(), Failure> {
    let current = asked.server.store.version();
    if version <= current {
        return Ok(());
    }
    let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
    let message = format!("Too large resource version: {version}, current: {current}");
    Err(Failure::timeout(message).with_causes(vec![cause]))
}
