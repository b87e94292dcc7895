//! `get`, and how an object is written out.

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use serde_json::{Value, json};

use super::{list::check_reached, list_options, write::State};
use crate::{
    answer::{Answer, line},
    call::Form,
    discovery::print,
    failure::Failure,
    kind::Kind,
    object,
    store::Stored,
    verb::Asked,
};

pub(super) async fn get(asked: Asked<'_>) -> Result<Answer, Failure> {
    // The newest state is as new as any that could be asked for.
    if let Some(version) = list_options::version(&asked.call.options, asked.call.verb)? {
        check_reached(asked, version)?;
    }
    let held = asked.held()?;
    asked.convert(std::slice::from_ref(&held)).await?;
    if asked.call.accept.form() == Form::Json {
        return Ok(Answer::json(StatusCode::OK, text(asked.kind, &held)));
    }
    answer(asked, StatusCode::OK, held.object(asked.kind))
}

/// The object after a write; what is kept is not read for it.
pub(super) fn written(asked: Asked<'_>, code: StatusCode, state: State) -> Result<Answer, Failure> {
    match state {
        State::Kept(stored) if asked.call.accept.form() == Form::Json => {
            Ok(Answer::json(code, text(asked.kind, &stored)))
        }
        state => answer(asked, code, state.object(asked.kind)),
    }
}

/// An object in the form that the request wants.
pub(super) fn answer(asked: Asked<'_>, code: StatusCode, object: Value) -> Result<Answer, Failure> {
    let mut object = match asked.call.accept.form() {
        Form::Table => {
            let metadata = object::version(&object).map_or(json!({}), |version| json!({"resourceVersion": version}));
            print::table(asked, &[object], &metadata)?
        }
        Form::Metadata => metadata_of(&object),
        Form::MetadataList => {
            let what = "you requested PartialObjectMetadataList, but the requested object is not a list";
            return Err(Failure::not_acceptable(format!("{what} ({})", go_type(asked.kind, ""))));
        }
        Form::Foreign | Form::Shapeless => return Err(Failure::no_such_form()),
        Form::Json | Form::Yaml | Form::Discovery => object,
    };
    if matches!(asked.call.accept.form(), Form::Table | Form::Metadata) {
        object["apiVersion"] = asked.call.accept.meta_version().into();
    }
    Ok(Answer::json(code, line(&object)))
}

/// How Go calls the type of a kind's objects, or of its lists.
pub(super) fn go_type(kind: &Kind, suffix: &str) -> String {
    if kind.custom().is_some() {
        return format!("*unstructured.Unstructured{suffix}");
    }
    let group = kind.group.split('.').next().filter(|group| !group.is_empty()).unwrap_or("core");
    format!("*{group}.{}{suffix}", kind.kind)
}

/// The object as `PartialObjectMetadata`.
pub(super) fn metadata_of(object: &Value) -> Value {
    let metadata = object::at(object, &["metadata"]).cloned().unwrap_or_default();
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
}

/// The text of a kept object with its type in front, made without reading it.
pub(super) fn text(kind: &Kind, stored: &Stored) -> Bytes {
    let mut text = BytesMut::with_capacity(stored.json.len() + 64);
    text.extend_from_slice(&head(kind));
    text.extend_from_slice(stored.text(kind).get(1..).unwrap_or_default());
    text.extend_from_slice(b"\n");
    text.freeze()
}

/// `{"kind":"Pod","apiVersion":"v1",`
pub(super) fn head(kind: &Kind) -> Bytes {
    Bytes::from(format!("{{\"kind\":{:?},\"apiVersion\":{:?},", kind.kind, kind.api_version()))
}
