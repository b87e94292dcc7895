//! `update`: the whole object.

use http::StatusCode;

use super::{
    body::Decoded,
    read,
    write::{self, Refused, Tracking},
};
use crate::{
    answer::Answer,
    failure::{Cause, Failure},
    object, strategy,
    verb::Asked,
};

pub(super) async fn replace(asked: Asked<'_>) -> Result<Answer, Failure> {
    crate::patch::check_manager(asked.call, "UpdateOptions")?;
    let mut decoded = asked.decode()?;
    if object::name(&decoded.object).is_empty() {
        return Err(asked.nameless());
    }
    asked.place(&mut decoded.object)?;
    let versioned = object::version(&decoded.object).is_some();
    loop {
        let held = match asked.held() {
            Err(_) if strategy::creates_on_update(asked.kind) && asked.subresource.is_none() => {
                return create(asked, decoded).await;
            }
            held => held?,
        };
        if !versioned && !strategy::updates_unconditionally(asked.kind) {
            return Err(unversioned(asked));
        }
        match write::update(asked, &held, decoded.object.clone(), Tracking::Update).await {
            Ok(written) => {
                let answer = read::written(asked, StatusCode::OK, written.state)?;
                return Ok(answer.warning(decoded.warnings).warning(written.warnings));
            }
            Err(Refused::Failure(failure, told)) => {
                return Ok(Answer::from(failure).warning(decoded.warnings).warning(told));
            }
            Err(Refused::Raced) if versioned => return Err(Failure::stale(asked.kind, asked.name)),
            Err(Refused::Raced) => {}
        }
    }
}

/// An update of what isn't there, for kinds that may come into being so.
async fn create(asked: Asked<'_>, decoded: Decoded) -> Result<Answer, Failure> {
    let uid = object::uid(&decoded.object);
    if !uid.is_empty() {
        let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: ");
        return Err(Failure::conflict(asked.kind, asked.name, &why));
    }
    match write::create(asked, decoded.object, Tracking::Update).await {
        Ok(written) => {
            let answer = read::written(asked, StatusCode::CREATED, written.state)?;
            Ok(answer.warning(decoded.warnings).warning(written.warnings))
        }
        Err(Refused::Failure(failure, told)) => Ok(Answer::from(failure).warning(decoded.warnings).warning(told)),
        Err(Refused::Raced) => Err(Failure::stale(asked.kind, asked.name)),
    }
}

fn unversioned(asked: Asked<'_>) -> Failure {
    let cause = Cause::invalid("metadata.resourceVersion", &0.into(), "must be specified for an update");
    Failure::invalid_resource(asked.kind, asked.name, &cause)
}
