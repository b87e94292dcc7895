//! `update`: the whole object.

use http::StatusCode;

use super::{
    read,
    write::{self, Refused, Tracking},
};
use crate::{
    answer::Answer,
    failure::{Cause, Failure},
    kind::definition,
    object,
    verb::Asked,
};

pub(super) async fn replace(asked: Asked<'_>) -> Result<Answer, Failure> {
    let mut decoded = asked.decode()?;
    asked.place(&mut decoded.object)?;
    let versioned = object::version(&decoded.object).is_some();
    let conditional = asked.kind.custom().is_some() || definition::is(asked.kind);
    if !versioned && conditional {
        let cause = Cause::invalid("metadata.resourceVersion", &0.into(), "must be specified for an update");
        return Err(Failure::invalid(asked.kind, asked.name, &[cause]));
    }
    loop {
        let held = asked.held()?;
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
