//! `update`: the whole object.

use http::StatusCode;
use serde_json::json;

use super::{
    body::Decoded,
    read,
    write::{self, Refused, Tracking},
};
use crate::{
    answer::Answer,
    failure::{Cause, Failure},
    kind::definition,
    object, strategy,
    verb::Asked,
};

pub(super) async fn replace(asked: Asked<'_>) -> Result<Answer, Failure> {
    crate::patch::check_manager(asked.call, "UpdateOptions")?;
    let mut decoded = asked.decode()?;
    asked.place(&mut decoded.object)?;
    let versioned = object::version(&decoded.object).is_some();
    loop {
        let held = match asked.held() {
            Err(_) if strategy::creates_on_update(asked.kind) && asked.subresource.is_none() => {
                return create(asked, decoded, versioned).await;
            }
            held => held?,
        };
        if !versioned && !strategy::updates_unconditionally(asked.kind) {
            return Err(unversioned(asked));
        }
        match write::update(asked, &held, decoded.object.clone(), Tracking::Update).await {
            Ok(written) => {
                let answer = read::answer(asked, StatusCode::OK, written.object)?;
                return Ok(answer.warning(decoded.warnings).warning(written.warnings));
            }
            Err(Refused::Failure(failure)) => return Err(failure),
            Err(Refused::Raced) if versioned => return Err(Failure::stale(asked.kind, asked.name)),
            Err(Refused::Raced) => {}
        }
    }
}

/// An update of what isn't there, for kinds that may come into being so.
async fn create(asked: Asked<'_>, decoded: Decoded, versioned: bool) -> Result<Answer, Failure> {
    if versioned || !object::uid(&decoded.object).is_empty() {
        return Err(asked.held().err().unwrap_or_else(|| Failure::stale(asked.kind, asked.name)));
    }
    match write::create(asked, decoded.object, Tracking::Update).await {
        Ok(written) => {
            let answer = read::answer(asked, StatusCode::CREATED, written.object)?;
            Ok(answer.warning(decoded.warnings).warning(written.warnings))
        }
        Err(Refused::Failure(failure)) => Err(failure),
        Err(Refused::Raced) => Err(Failure::stale(asked.kind, asked.name)),
    }
}

fn unversioned(asked: Asked<'_>) -> Failure {
    // Of a custom kind and of what defines it the version is read as a number.
    let said = if asked.kind.custom().is_some() || definition::is(asked.kind) { json!(0) } else { json!("") };
    let cause = Cause::invalid("metadata.resourceVersion", &said, "must be specified for an update");
    Failure::invalid(asked.kind, asked.name, &[cause])
}
