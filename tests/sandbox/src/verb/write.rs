//! What every write goes through: what the server says about an object, admission, validation, the store.

use std::sync::Arc;

use serde_json::Value;

use super::{delete, owners};
use crate::{
    admission::{self, Review},
    authorization,
    call::{DryRun, Verb},
    failure::{Cause, Failure},
    fields,
    kind::Kind,
    object,
    store::{Expect, Stored},
    strategy, validation,
    verb::Asked,
};

/// What came of a write.
pub(super) struct Written {
    pub(super) state: State,
    pub(super) created: bool,
    pub(super) warnings: Vec<String>,
}

/// The object after a write.
pub(super) enum State {
    /// As it is kept.
    Kept(Arc<Stored>),
    /// As it would be, or was to the last.
    Told(Value),
}

impl State {
    /// The object, read.
    pub(super) fn object(self, kind: &Kind) -> Value {
        match self {
            Self::Kept(stored) => stored.object(kind),
            Self::Told(object) => object,
        }
    }
}

/// How a write says whose fields are whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tracking {
    /// What differs becomes the manager's, as an `Update`.
    Update,
    /// The object says it already, as after an apply.
    Done,
}

/// Why a write was not taken.
pub(super) enum Refused {
    /// Somebody wrote in between: what the write was made from is old.
    Raced,
    /// With what the client is warned of all the same.
    Failure(Failure, Vec<String>),
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure, Vec::new())
    }
}

impl Refused {
    /// With warnings from before the refusal.
    pub(super) fn warned(self, warnings: &[String]) -> Self {
        match self {
            Self::Raced => Self::Raced,
            Self::Failure(failure, told) => Self::Failure(failure, [warnings, &told].concat()),
        }
    }
}

/// Creates an object that was decoded and placed.
pub(super) async fn create(asked: Asked<'_>, mut new: Value, tracking: Tracking) -> Result<Written, Refused> {
    let Asked { server, kind, call, .. } = asked;
    let mut told = Vec::new();
    if tracking == Tracking::Update {
        // What only a deletion sets was never there.
        let metadata = object::metadata_mut(&mut new);
        ["deletionTimestamp", "deletionGracePeriodSeconds"].iter().for_each(|given| drop(metadata.remove(*given)));
        told.extend(owners::drop_repeated(&mut new, false));
        fields::update(asked, None, &mut new);
    }
    let mut review = Review::create(asked, new);
    admission::mutate(&mut review).await?;
    let Review { object: mut new, mut warnings, reshaped, .. } = review;
    // What admission added is written in full, too.
    if kind.is("", "pods") {
        strategy::default(kind, &mut new);
    }
    told.extend(owners::drop_repeated(&mut new, true));
    // What changes it sees neither an id nor a generated name, as with Kubernetes.
    strategy::generate_name(server, &mut new);
    strategy::fill_metadata(server, &mut new);
    authorization::check_escalation(asked, &new, None)?;
    strategy::prepare_create(asked, &mut new)?;
    told.extend(fields::settle(None, &mut new, reshaped));
    warnings.splice(..0, told);
    let causes = validation::create(asked, &new);
    let name = object::name(&new).to_owned();
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, &name, &causes).into());
    }
    warnings.append(&mut strategy::warnings(kind, &new, None));
    let mut review = Review::create(asked, new);
    admission::validate(&mut review).await?;
    warnings.append(&mut review.warnings);
    let new = review.object;
    let generates = !object::text(&new, &["metadata", "generateName"]).is_empty();
    if let Some(held) = server.store.get(&kind.shelf, asked.namespace, &name) {
        return Err(taken(asked, generates, &held).into());
    }
    if call.options.dry_run == DryRun::All {
        return Ok(Written { state: State::Told(new), created: true, warnings });
    }
    let at = (asked.namespace, name.as_str());
    let (new, api_version) = asked.kept(new).await?;
    let stored = server.store.commit(&kind.shelf, at, Expect::Absent, Some(new), &api_version);
    let stored = stored.map_err(|_| match server.store.get(&kind.shelf, asked.namespace, &name) {
        Some(held) => taken(asked, generates, &held),
        None => Failure::already_exists(kind, &name),
    })?;
    asked.spread(&stored).await;
    Ok(Written { state: State::Kept(stored), created: true, warnings })
}

/// The name has an object already, if only until it is gone; who let it be generated may try again.
fn taken(asked: Asked<'_>, generates: bool, held: &Stored) -> Failure {
    let mut failure = Failure::already_exists(asked.kind, &held.name);
    if generates {
        failure = failure.retry_after(1);
        failure.message += ", the server was not able to generate a unique name for the object";
    }
    if object::is_deleting(&held.object(asked.kind)) {
        failure.message.insert_str(0, "object is being deleted: ");
    }
    failure
}

/// Writes a new state of an object that was read as `held`.
pub(super) async fn update(
    asked: Asked<'_>,
    held: &Arc<Stored>,
    mut new: Value,
    tracking: Tracking,
) -> Result<Written, Refused> {
    let Asked { server, kind, call, .. } = asked;
    asked.convert(std::slice::from_ref(held)).await?;
    let old = held.object(kind);
    check_preconditions(asked, &old, &new)?;
    // What the server itself puts back or fills in is nobody's.
    let mut told = Vec::new();
    if call.verb == Verb::Update {
        told.extend(owners::drop_repeated(&mut new, false));
    }
    if tracking == Tracking::Update {
        fields::update(asked, Some(&old), &mut new);
    }
    strategy::keep_metadata(&mut new, &old);
    strategy::prepare_update(asked, &mut new, &old)?;
    let mut review = Review::update(asked, new, old);
    admission::mutate(&mut review).await?;
    let Review { object: mut new, old, mut warnings, reshaped, .. } = review;
    let old = old.unwrap_or_default();
    told.extend(owners::drop_repeated(&mut new, true));
    authorization::check_escalation(asked, &new, Some(&old))?;
    strategy::prepare_update(asked, &mut new, &old)?;
    told.extend(fields::settle(Some(&old), &mut new, reshaped));
    warnings.splice(..0, told);
    let causes = validation::update(asked, &new, &old);
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, asked.name, &causes).into());
    }
    if asked.subresource.is_none() {
        warnings.append(&mut strategy::warnings(kind, &new, Some(&old)));
    }
    let mut review = Review::update(asked, new, old);
    admission::validate(&mut review).await?;
    warnings.append(&mut review.warnings);
    let Review { object: new, old, .. } = review;
    let old = old.unwrap_or_default();
    let written = |state| Written { state, created: false, warnings };
    // A write that changes nothing is none.
    if same(&new, &old) && !(held.fresh && strategy::is_completed_by_an_update(kind)) {
        return Ok(written(State::Told(old)));
    }
    if call.options.dry_run == DryRun::All {
        return Ok(written(State::Told(new)));
    }
    let at = (asked.namespace, asked.name);
    let released = delete::is_released(asked, &new);
    let last = released.then(|| new.clone());
    let (kept, api_version) = asked.kept(new).await?;
    let next = (!released).then_some(kept);
    let stored = server.store.commit(&kind.shelf, at, Expect::Version(held.version), next, &api_version);
    let stored = stored.map_err(|_| Refused::Raced)?;
    asked.spread(&stored).await;
    Ok(written(last.map_or(State::Kept(stored), State::Told)))
}

/// The uid and the version that the write names must be those of the object.
fn check_preconditions(asked: Asked<'_>, old: &Value, new: &Value) -> Result<(), Failure> {
    let (kind, name) = (asked.kind, asked.name);
    let (wanted, is) = (object::uid(new), object::uid(old));
    let other_uid = !wanted.is_empty() && wanted != is;
    if other_uid && asked.call.verb == Verb::Update {
        let why = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {is}");
        let key = key(asked);
        let why =
            format!("StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}");
        return Err(Failure::conflict(kind, name, &why));
    }
    match object::version(new) {
        Some(wanted) if wanted.parse::<u64>().is_err() => {
            let why = format!("strconv.ParseUint: parsing {wanted:?}: invalid syntax");
            return Err(Failure { code: 500, reason: "", message: why, details: serde_json::Map::new() });
        }
        Some(wanted) if Some(wanted) != object::version(old) => return Err(Failure::stale(kind, name)),
        _ => {}
    }
    if other_uid {
        let immutable = || Cause::invalid("metadata.uid", &wanted.into(), "field is immutable");
        let mut causes = vec![immutable()];
        if strategy::judges_metadata_again(kind) {
            causes.extend(validation::foreign_uid(kind, new));
            causes.push(immutable());
        }
        return Err(Failure::invalid(kind, name, &causes));
    }
    Ok(())
}

/// Where the real server keeps an object.
fn key(asked: Asked<'_>) -> String {
    let Asked { kind, namespace, name, .. } = asked;
    let shelf = match kind.plural.as_str() {
        plural if kind.custom().is_some() => format!("{}/{plural}", kind.group),
        "nodes" => "minions".to_owned(),
        "services" | "endpoints" => {
            format!("services/{}", if kind.plural == "services" { "specs" } else { "endpoints" })
        }
        plural => plural.to_owned(),
    };
    let parts = ["/registry", &shelf, namespace, name];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// Whether two states are the same but for their version.
fn same(new: &Value, old: &Value) -> bool {
    object::same_but_for(new, old, &["resourceVersion"])
}
