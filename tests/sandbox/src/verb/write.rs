//! Implements the common path of all writes: defaults, admission, validation and the store.

use std::sync::Arc;

use serde_json::Value;

use super::{
    delete::is_deletion_complete,
    outcome::{WriteOutcome, WrittenObject},
    owners,
};
use crate::{
    admission::{self, Review},
    authorization,
    call::{DryRun, Verb},
    failure::{Cause, Failure},
    fields, object,
    request::ResourceRequest,
    store::{Expect, Stored},
    strategy, validation,
};

/// How a write updates `managedFields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tracking {
    /// The manager of the request becomes the owner of changed fields, by an `Update` entry.
    Update,
    /// The object has its new `managedFields` already, as after an apply.
    Done,
}

/// The error of a write.
pub(super) enum WriteError {
    /// Another write came in between.
    Conflict,
    /// A failure and the warnings that come with it.
    Failure(Failure, Vec<String>),
}

impl From<Failure> for WriteError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure, Vec::new())
    }
}

impl WriteError {
    /// Returns the error with additional warnings in front. A conflict has no warnings.
    pub(super) fn with_warnings(self, warnings: &[String]) -> Self {
        match self {
            Self::Conflict => Self::Conflict,
            Self::Failure(failure, failure_warnings) => Self::Failure(failure, [warnings, &failure_warnings].concat()),
        }
    }
}

/// Creates a decoded object whose name and namespace are already checked. Runs defaulting, admission and validation,
/// and stores the object unless it is a dry run.
pub(super) async fn create(
    request: ResourceRequest<'_>,
    mut new: Value,
    tracking: Tracking,
) -> Result<WriteOutcome, WriteError> {
    let ResourceRequest { server, kind, call, .. } = request;
    let mut own_warnings = Vec::new();
    if tracking == Tracking::Update {
        // Ignores the fields that only a deletion sets.
        let metadata = object::metadata_mut(&mut new);
        ["deletionTimestamp", "deletionGracePeriodSeconds"].iter().for_each(|field| drop(metadata.remove(*field)));
        own_warnings.extend(owners::remove_duplicates(&mut new, false));
        fields::update(request, None, &mut new);
    }
    let mut review = Review::create(request, new);
    admission::mutate(&mut review).await?;
    let Review { object: mut new, mut warnings, reshaped, .. } = review;
    // Fields that admission added get their defaults, too.
    if kind.is("", "pods") {
        strategy::set_defaults(kind, &mut new);
    }
    own_warnings.extend(owners::remove_duplicates(&mut new, true));
    // Mutating admission sees neither a uid nor a generated name, as in Kubernetes.
    strategy::generate_name(server, &mut new);
    strategy::fill_metadata(server, &mut new);
    authorization::check_escalation(request, &new, None)?;
    strategy::prepare_create(request, &mut new);
    // Checks the `managedFields` that admission may have changed.
    own_warnings.extend(fields::settle(None, &mut new, reshaped));
    // These warnings come before the warnings of admission.
    warnings.splice(..0, own_warnings);
    let causes = validation::create(request, &new);
    let name = object::name(&new).to_owned();
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, &name, &causes).into());
    }
    warnings.append(&mut strategy::warnings(kind, &new, None));
    let mut review = Review::create(request, new);
    admission::validate(&mut review).await?;
    warnings.append(&mut review.warnings);
    let new = review.object;
    let is_generated = !object::text(&new, &["metadata", "generateName"]).is_empty();
    if let Some(current) = server.store.get(&kind.group_resource, request.namespace, &name) {
        return Err(name_conflict(request, is_generated, &current).into());
    }
    if call.options.dry_run == DryRun::All {
        return Ok(WriteOutcome { state: WrittenObject::Unstored(new), created: true, warnings });
    }
    let key = (request.namespace, name.as_str());
    let (new, api_version) = request.for_storage(new).await?;
    let stored = server.store.commit(&kind.group_resource, key, Expect::Absent, Some(new), &api_version);
    let stored = stored.map_err(|_| match server.store.get(&kind.group_resource, request.namespace, &name) {
        Some(current) => name_conflict(request, is_generated, &current),
        None => Failure::already_exists(kind, &name),
    })?;
    request.convert_written(&stored).await?;
    Ok(WriteOutcome { state: WrittenObject::Stored(stored), created: true, warnings })
}

/// Returns the 409 error `AlreadyExists` for a create whose name is that of the object `current`. If the server generated the name, tells
/// the client to retry.
fn name_conflict(request: ResourceRequest<'_>, is_generated: bool, current: &Stored) -> Failure {
    let mut failure = Failure::already_exists(request.kind, &current.name);
    if is_generated {
        failure = failure.retry_after(1);
        failure.message += ", the server was not able to generate a unique name for the object";
    }
    if object::is_deleting(&current.object(request.kind)) {
        failure.message.insert_str(0, "object is being deleted: ");
    }
    failure
}

/// Writes a new state of the stored object `current`. Removes the object if the write completes its deletion.
///
/// Returns [`WriteError::Conflict`] if another write came in between.
pub(super) async fn update(
    request: ResourceRequest<'_>,
    current: &Arc<Stored>,
    mut new: Value,
    tracking: Tracking,
) -> Result<WriteOutcome, WriteError> {
    let ResourceRequest { server, kind, call, .. } = request;
    request.convert(std::slice::from_ref(current)).await?;
    let old = current.object(kind);
    check_preconditions(request, &old, &new)?;
    let mut own_warnings = Vec::new();
    if call.verb == Verb::Update {
        own_warnings.extend(owners::remove_duplicates(&mut new, false));
    }
    // Comes before `prepare_update`, so that no field manager owns the fields that the server itself resets or sets.
    if tracking == Tracking::Update {
        fields::update(request, Some(&old), &mut new);
    }
    strategy::keep_metadata(&mut new, &old);
    strategy::prepare_update(request, &mut new, &old);
    let mut review = Review::update(request, new, old);
    admission::mutate(&mut review).await?;
    let Review { object: mut new, old, mut warnings, reshaped, .. } = review;
    let old = old.unwrap_or_default();
    own_warnings.extend(owners::remove_duplicates(&mut new, true));
    authorization::check_escalation(request, &new, Some(&old))?;
    // Runs again, because admission may have changed fields that the server resets or sets.
    strategy::prepare_update(request, &mut new, &old);
    own_warnings.extend(fields::settle(Some(&old), &mut new, reshaped));
    warnings.splice(..0, own_warnings);
    let causes = validation::update(request, &new, &old);
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, request.name, &causes).into());
    }
    if request.subresource.is_none() {
        warnings.append(&mut strategy::warnings(kind, &new, Some(&old)));
    }
    let mut review = Review::update(request, new, old);
    admission::validate(&mut review).await?;
    warnings.append(&mut review.warnings);
    let Review { object: new, old, .. } = review;
    let old = old.unwrap_or_default();
    let outcome = |state| WriteOutcome { state, created: false, warnings };
    // A write that changes nothing is not stored, unless the object is stored in another version than the current
    // storage version, or the update completes a new object (see `is_completed_by_an_update`).
    let is_current =
        current.has_storage_version_of(kind) && !(current.fresh && strategy::is_completed_by_an_update(kind));
    if is_current && is_unchanged(&new, &old) {
        return Ok(outcome(WrittenObject::Unstored(old)));
    }
    if call.options.dry_run == DryRun::All {
        return Ok(outcome(WrittenObject::Unstored(new)));
    }
    let key = (request.namespace, request.name);
    let is_deleted = is_deletion_complete(request, &new);
    let last_state = is_deleted.then(|| new.clone());
    let (converted, api_version) = request.for_storage(new).await?;
    let next = (!is_deleted).then_some(converted);
    let stored = server.store.commit(&kind.group_resource, key, Expect::Version(current.version), next, &api_version);
    let stored = stored.map_err(|_| WriteError::Conflict)?;
    request.convert_written(&stored).await?;
    Ok(outcome(last_state.map_or(WrittenObject::Stored(stored), WrittenObject::Unstored)))
}

/// Checks the uid and the resourceVersion of a write against the stored object. Returns a 409 error for another resourceVersion, and a 409
/// (for an update) or 422 error (for a patch) for another uid.
fn check_preconditions(request: ResourceRequest<'_>, old: &Value, new: &Value) -> Result<(), Failure> {
    let (kind, name) = (request.kind, request.name);
    let (requested, actual) = (object::uid(new), object::uid(old));
    let has_other_uid = !requested.is_empty() && requested != actual;
    if has_other_uid && request.call.verb == Verb::Update {
        let why = format!("Precondition failed: UID in precondition: {requested}, UID in object meta: {actual}");
        let key = etcd_key(request);
        let why =
            format!("StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}");
        return Err(Failure::conflict(kind, name, &why));
    }
    match object::version(new) {
        Some(requested) if requested.parse::<u64>().is_err() => {
            let why = format!("strconv.ParseUint: parsing {requested:?}: invalid syntax");
            return Err(Failure { code: 500, reason: "", message: why, details: serde_json::Map::new() });
        }
        Some(requested) if Some(requested) != object::version(old) => return Err(Failure::stale(kind, name)),
        _ => {}
    }
    if has_other_uid {
        let immutable = || Cause::invalid("metadata.uid", &requested.into(), "field is immutable");
        let mut causes = vec![immutable()];
        // Kubernetes reports the same error again for kinds whose own validation repeats the metadata rules.
        if strategy::revalidates_metadata(kind) {
            causes.extend(validation::foreign_uid(kind, new));
            causes.push(immutable());
        }
        return Err(Failure::invalid(kind, name, &causes));
    }
    Ok(())
}

/// Returns the key under which kube-apiserver stores an object in etcd, such as `/registry/pods/default/web`, for error messages.
fn etcd_key(request: ResourceRequest<'_>) -> String {
    let ResourceRequest { kind, namespace, name, .. } = request;
    let group_resource = match kind.plural.as_str() {
        plural if kind.custom().is_some() => format!("{}/{plural}", kind.group),
        "nodes" => "minions".to_owned(),
        "services" | "endpoints" => {
            format!("services/{}", if kind.plural == "services" { "specs" } else { "endpoints" })
        }
        plural => plural.to_owned(),
    };
    let parts = ["/registry", &group_resource, namespace, name];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// Returns whether two states differ at most in their resourceVersion.
fn is_unchanged(new: &Value, old: &Value) -> bool {
    object::same_but_for(new, old, &["resourceVersion"])
}
