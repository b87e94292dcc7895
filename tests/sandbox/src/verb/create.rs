//! `create`.

use http::StatusCode;

use super::{
    read,
    write::{self, Refused, Tracking},
};
use crate::{answer::Answer, failure::Failure, object, verb::Asked};

/// Nothing comes into being whose kind is about to go.
pub(super) fn refuse_terminating(asked: Asked<'_>, name: &str) -> Result<(), Failure> {
    if !asked.kind.custom().is_some_and(|custom| custom.terminating) {
        return Ok(());
    }
    let why = "create not allowed while custom resource definition is terminating";
    Err(Failure::forbidden(asked.kind, name, why))
}

pub(super) async fn create(asked: Asked<'_>) -> Result<Answer, Failure> {
    if !asked.kind.is_kept() {
        return crate::authorization::review(asked);
    }
    crate::patch::check_manager(asked.call, "CreateOptions")?;
    let mut decoded = asked.decode()?;
    if object::version(&decoded.object).is_some() {
        return Err(Failure::unexplained("resourceVersion should not be set on objects to be created"));
    }
    asked.place(&mut decoded.object)?;
    refuse_terminating(asked, object::name(&decoded.object))?;
    let written = match write::create(asked, decoded.object, Tracking::Update).await {
        Ok(written) => written,
        Err(Refused::Failure(failure, told)) => {
            return Ok(Answer::from(failure).warning(decoded.warnings).warning(told));
        }
        Err(Refused::Raced) => return Err(Failure::internal("an object came into being in between")),
    };
    let answer = read::written(asked, StatusCode::CREATED, written.state)?;
    Ok(answer.warning(decoded.warnings).warning(written.warnings))
}
