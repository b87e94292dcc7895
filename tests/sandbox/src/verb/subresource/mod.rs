//! What stands behind an object's path.

use http::StatusCode;
use serde_json::json;

use super::{patch, read, replace};
use crate::{answer::Answer, call::Verb, failure::Failure, verb::Asked};

pub(crate) use part::keep_rest;

mod binding;
mod connect;
mod eviction;
mod log;
mod part;
mod scale;

pub(super) async fn answer(asked: Asked<'_>, name: &str) -> Result<Answer, Failure> {
    let served = asked.kind.subresource(name).ok_or_else(|| unknown(asked))?;
    if !served.verbs.iter().any(|verb| verb == asked.call.verb.as_str()) {
        return Err(Failure::method_not_allowed());
    }
    let pods = asked.kind.is("", "pods");
    match (name, asked.call.verb) {
        ("token", Verb::Create) => crate::authentication::request::answer(asked),
        ("status", Verb::Get) => read::get(asked).await,
        ("status", Verb::Update) => replace::replace(asked).await,
        ("status", Verb::Patch) => patch::patch(asked).await,
        ("scale", Verb::Get) => scale::get(asked).await,
        ("scale", Verb::Update) => scale::replace(asked).await,
        ("scale", Verb::Patch) => scale::patch(asked).await,
        _ if part::is_part(asked.kind, name) => match asked.call.verb {
            Verb::Get => read::get(asked).await,
            Verb::Patch => patch::patch(asked).await,
            _ => replace::replace(asked).await,
        },
        ("log", Verb::Get) if pods => log::log(asked),
        ("eviction", Verb::Create) if pods => eviction::evict(asked).await,
        ("binding", Verb::Create) if pods => binding::bind(asked).await,
        ("attach" | "exec" | "portforward" | "proxy", _) => Err(connect::refuse(asked, name)),
        _ => Err(Failure::method_not_allowed()),
    }
}

/// A part of a custom resource that it does not have is not told from an object that is not there.
fn unknown(asked: Asked<'_>) -> Failure {
    if asked.kind.custom().is_some() { Failure::not_found(asked.kind, asked.name) } else { Failure::no_such_resource() }
}

/// What a request is answered with that makes no object.
fn done() -> Answer {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Answer { code: StatusCode::CREATED, ..Answer::object(&status) }
}
