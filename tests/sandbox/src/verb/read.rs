//! `get`, and how an object is written out.

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    answer::Answer, call::Form, discovery::print, failure::Failure, kind::Kind, object, store::Stored, verb::Asked,
};

pub(super) async fn get(asked: Asked<'_>) -> Result<Answer, Failure> {
    // The newest state is as new as any that could be asked for.
    let held = asked.held()?;
    let object = held.object(asked.kind);
    answer(asked, StatusCode::OK, object)
}

/// An object in the form that the request wants.
pub(super) fn answer(asked: Asked<'_>, code: StatusCode, object: Value) -> Result<Answer, Failure> {
    let object = match asked.call.accept.form() {
        Form::Table => print::table(asked.kind, &[object], &json!({}), asked.call),
        Form::Metadata | Form::MetadataList => metadata_of(&object),
        Form::Foreign => return Err(not_acceptable()),
        Form::Json | Form::Yaml | Form::Discovery => object,
    };
    Ok(Answer::json(code, Bytes::from(object.to_string())))
}

pub(super) fn not_acceptable() -> Failure {
    let known = "application/json, application/json;as=Table;v=v1;g=meta.k8s.io, application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    Failure::not_acceptable(format!("only the following media types are accepted: {known}"))
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
    text.freeze()
}

/// `{"kind":"Pod","apiVersion":"v1",`
pub(super) fn head(kind: &Kind) -> Bytes {
    Bytes::from(format!("{{\"kind\":{:?},\"apiVersion\":{:?},", kind.kind, kind.api_version()))
}
