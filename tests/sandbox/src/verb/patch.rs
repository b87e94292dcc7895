//! `patch`: four kinds of it.

use http::StatusCode;

use super::{
    read,
    write::{self, Refused, Tracking, Written},
};
use crate::{
    answer::Answer,
    failure::Failure,
    object,
    patch::{self, Patch},
    verb::Asked,
};

pub(super) async fn patch(asked: Asked<'_>) -> Result<Answer, Failure> {
    let patch = Patch::of(asked)?;
    loop {
        match attempt(asked, &patch).await {
            Ok(written) => {
                let code = if written.created { StatusCode::CREATED } else { StatusCode::OK };
                return Ok(read::answer(asked, code, written.object)?.warning(written.warnings));
            }
            Err(Refused::Failure(failure)) => return Err(failure),
            // Made again from what is there now; a version in the patch refuses it then.
            Err(Refused::Raced) => {}
        }
    }
}

async fn attempt(asked: Asked<'_>, patch: &Patch) -> Result<Written, Refused> {
    let held = asked.server.store.get(&asked.kind.shelf, asked.namespace, asked.name);
    let Some(held) = held else {
        let Patch::Apply(applied) = patch else { return Err(Failure::not_found(asked.kind, asked.name).into()) };
        if asked.subresource.is_some() {
            return Err(Failure::not_found(asked.kind, asked.name).into());
        }
        if !object::uid(applied).is_empty() {
            let why = "uid mismatch: the provided object specified a uid, and no existing object was found";
            return Err(Failure::conflict(asked.kind, asked.name, why).into());
        }
        let decoded = asked.completed(patch::apply(asked, None, applied)?)?;
        let mut new = decoded.object;
        asked.place(&mut new)?;
        let written = write::create(asked, new, Tracking::Done).await?;
        return Ok(Written { warnings: [decoded.warnings, written.warnings].concat(), ..written });
    };
    let old = held.object(asked.kind);
    let (new, tracking) = match patch {
        Patch::Apply(applied) => (patch::apply(asked, Some(&old), applied)?, Tracking::Done),
        other => (other.applied_to(asked, &old)?, Tracking::Update),
    };
    let mut decoded = asked.completed(new)?;
    asked.place(&mut decoded.object)?;
    let written = write::update(asked, &held, decoded.object, tracking).await?;
    Ok(Written { warnings: [decoded.warnings, written.warnings].concat(), ..written })
}
