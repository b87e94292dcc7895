//! `patch`: four kinds of it.

use http::StatusCode;
use serde_json::Value;

use super::{
    read,
    write::{self, Refused, Tracking, Written},
};
use crate::{
    answer::Answer,
    authorization,
    call::{Strictness, Verb},
    failure::{Cause, Failure},
    kind::Origin,
    object,
    patch::{Media, Patch},
    verb::Asked,
};

pub(super) async fn patch(asked: Asked<'_>) -> Result<Answer, Failure> {
    let media = Media::of(asked)?;
    let mut read = None;
    loop {
        let held = asked.server.store.get(&asked.kind.shelf, asked.namespace, asked.name);
        // Only an apply makes what isn't there, and no path behind it does.
        if held.is_none() && (media != Media::Apply || asked.subresource.is_some()) {
            return Err(Failure::not_found(asked.kind, asked.name));
        }
        // What there is to patch is looked for before the patch is read.
        let (patch, warnings) = match read.take() {
            Some(read) => read,
            None => Patch::read(asked, media)?,
        };
        let done = match &held {
            Some(held) => change(asked, &patch, &warnings, held).await,
            None => create(asked, &patch, &warnings).await,
        };
        match done {
            Ok(written) => {
                let code = if written.created { StatusCode::CREATED } else { StatusCode::OK };
                return Ok(read::written(asked, code, written.state)?.warning(written.warnings));
            }
            Err(Refused::Failure(failure, told)) => return Ok(Answer::from(failure).warning(told)),
            // Made again from what is there now; a version in the patch refuses it then.
            Err(Refused::Raced) => read = Some((patch, warnings)),
        }
    }
}

async fn create(asked: Asked<'_>, patch: &Patch, warnings: &[String]) -> Result<Written, Refused> {
    super::create::refuse_terminating(asked, asked.name)?;
    let new = patch.creates(asked)?;
    let uid = object::uid(&new);
    if !uid.is_empty() {
        let why = format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
        return Err(Failure::conflict(asked.kind, asked.name, &why).into());
    }
    let (new, warnings) = completed(asked, patch, new, &Value::Null, warnings)?;
    let mut call = asked.call.clone();
    call.verb = Verb::Create;
    authorization::authorize(asked.server, &call)?;
    let written = write::create(asked, new, Tracking::Done).await.map_err(|refused| refused.warned(&warnings))?;
    Ok(Written { warnings: [warnings, written.warnings].concat(), ..written })
}

async fn change(
    asked: Asked<'_>,
    patch: &Patch,
    warnings: &[String],
    held: &std::sync::Arc<crate::store::Stored>,
) -> Result<Written, Refused> {
    asked.convert(std::slice::from_ref(held)).await?;
    let old = held.object(asked.kind);
    let new = patch.applied_to(asked, &old)?;
    let tracking = if matches!(patch, Patch::Apply(_)) { Tracking::Done } else { Tracking::Update };
    let (new, warnings) = completed(asked, patch, new, &old, warnings)?;
    let written = write::update(asked, held, new, tracking).await.map_err(|refused| refused.warned(&warnings))?;
    Ok(Written { warnings: [warnings, written.warnings].concat(), ..written })
}

/// The patched object as it goes on: still of this kind and name, without unknown fields and with defaults.
fn completed(
    asked: Asked<'_>,
    patch: &Patch,
    mut new: Value,
    old: &Value,
    warnings: &[String],
) -> Result<(Value, Vec<String>), Refused> {
    let strictness = asked.call.options.field_validation.unwrap_or(Strictness::Warn);
    // Only a refusal shows what was pruned.
    let whole = (strictness == Strictness::Strict).then(|| new.clone());
    if let Err(failure) = check_type(asked, patch, &new, old) {
        let untyped = asked.kind.custom().is_none() && object::text(&new, &["kind"]).is_empty();
        // What has no type was read nevertheless.
        let unknown = crate::schema::prune(asked.kind.schema(), &mut new);
        let told: Vec<_> = unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
        return Err(Refused::from(failure).warned(if untyped { &told } else { &[] }));
    }
    let unknown = asked.complete(&mut new).into_iter().map(|field| format!("unknown field {field:?}"));
    let mut said = warnings.to_vec();
    // An apply knew all its fields, or it was refused; what a schema prunes beyond that isn't told.
    if !matches!(patch, Patch::Apply(_)) {
        said.extend(unknown);
    }
    match strictness {
        Strictness::Strict if !said.is_empty() => {
            let whole = whole.unwrap_or_default();
            return Err(patch.spoils(&whole, old, &format!("strict decoding error: {}", said.join(", "))).into());
        }
        Strictness::Strict | Strictness::Ignore => said.clear(),
        Strictness::Warn => {}
    }
    let named = !object::name(&new).is_empty();
    let placed = asked.place(&mut new).and_then(|()| if named { Ok(()) } else { Err(asked.nameless()) });
    match placed {
        Ok(()) => Ok((new, said)),
        Err(failure) => Err(Refused::from(failure).warned(&said)),
    }
}

/// A patch doesn't make an object one of another kind.
fn check_type(asked: Asked<'_>, patch: &Patch, new: &Value, old: &Value) -> Result<(), Failure> {
    let kind = asked.kind;
    let (api_version, name) = (object::text(new, &["apiVersion"]), object::text(new, &["kind"]));
    if api_version == kind.api_version() && name == kind.kind {
        return Ok(());
    }
    if let (Origin::Custom(_), false) = (&kind.origin, name.is_empty() || api_version.is_empty()) {
        let mut causes = Vec::new();
        for (field, is, must) in [("kind", name, kind.kind.clone()), ("apiVersion", api_version, kind.api_version())] {
            if is != must {
                causes.push(Cause::invalid(field, &is.into(), &format!("must be {must}")));
            }
        }
        let mut failure = Failure::invalid(kind, asked.name, &causes);
        let (group, _) = api_version.split_once('/').unwrap_or(("", api_version));
        failure.message = failure.message.replacen(&kind.qualified(), &format!("{name}.{group}"), 1);
        failure.details.insert("kind".into(), name.into());
        failure.details.insert("group".into(), group.into());
        return Err(failure);
    }
    if asked.kind.custom().is_none() && name.is_empty() {
        return Err(asked.nameless());
    }
    let why = if name.is_empty() {
        format!("Object 'Kind' is missing in '{new}'")
    } else {
        asked.other_type(api_version, name)
    };
    Err(patch.spoils(new, old, &why))
}
