//! Implements the verbs `delete` and `deletecollection`, with finalizers, grace periods and propagation.

use std::{borrow::Cow, sync::Arc};

use http::StatusCode;
use serde_json::{Value, json};

use super::{filter::Filter, list, read};
use crate::{
    admission::{self, Review},
    call::Propagation,
    failure::Failure,
    kind::definition,
    object,
    request::ResourceRequest,
    response::ApiResponse,
    store::{Expect, Stored},
};

pub(super) use options::DeleteOptions;
pub(super) use policy::is_deletion_complete;

mod options;
mod policy;

/// The finalizer with which the garbage collector deletes the dependents before the object.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// The finalizer with which the garbage collector orphans the dependents.
pub(crate) const ORPHAN: &str = "orphan";

/// The result of a deletion.
pub(super) enum Deleted {
    /// The object is removed; this was its last state.
    Gone(Value),
    /// Finalizers or a grace period still hold the object.
    Marked(Value),
}

/// The effect of a deletion on the stored object.
enum DeletionStep {
    /// Sets the deletion timestamp; the object stays.
    Mark(Value),
    /// Sets the deletion timestamp, then removes the object; a watch receives both events.
    MarkAndRemove(Value),
    Remove,
    /// The object is terminating already; this deletion changes nothing.
    Nothing,
}

/// Handles a delete of one object. Returns the object if it is only marked as terminating; if it is removed, returns its last state or a
/// `Status`, depending on the kind.
pub(super) async fn delete(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let options = DeleteOptions::parse(request)?;
    let mut warnings: Vec<String> = policy::warning(request.kind, options.propagation).into_iter().collect();
    let deleted = match delete_one(request, &options, &mut warnings).await {
        Ok(deleted) => deleted,
        Err(failure) => return Ok(ApiResponse::from(failure).with_warnings(warnings)),
    };
    match deleted {
        Deleted::Marked(object) => Ok(read::object_response(request, StatusCode::OK, object)?.with_warnings(warnings)),
        Deleted::Gone(object) if policy::returns_object(request.kind) => {
            Ok(read::object_response(request, StatusCode::OK, object)?.with_warnings(warnings))
        }
        Deleted::Gone(object) => {
            let kind = request.kind;
            let mut details = json!({"name": request.name, "kind": kind.plural, "uid": object::uid(&object)});
            if !kind.group.is_empty() {
                details["group"] = kind.group.clone().into();
            }
            let status =
                json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
            Ok(ApiResponse::object(&status).with_warnings(warnings))
        }
    }
}

/// Deletes all objects that match the selectors, and returns their states before the deletion as a list. Skips objects that another request
/// removes meanwhile.
pub(super) async fn delete_collection(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let options = DeleteOptions::parse(request)?;
    let filter = Filter::parse(request)?;
    request.convert_all().await?;
    let (version, mut items) = request.server.store.list(&request.kind.group_resource, Some(request.namespace));
    items.retain(|item| filter.matches(request.kind, item));
    let mut warnings = Vec::new();
    for item in &items {
        let item_request = ResourceRequest { namespace: &item.namespace, name: &item.name, ..request };
        match delete_one(item_request, &options, &mut warnings).await {
            Err(failure) if failure.code != 404 => return Err(failure),
            _ => {}
        }
    }
    Ok(list::full_list(request, version, &items).with_warnings(warnings))
}

/// Deletes one object: checks the preconditions, runs admission, and marks the object as terminating or removes it. Repeats all steps if
/// another write came in between. Adds the warnings of admission to `warnings`.
pub(super) async fn delete_one(
    request: ResourceRequest<'_>,
    options: &DeleteOptions,
    warnings: &mut Vec<String>,
) -> Result<Deleted, Failure> {
    loop {
        let current = request.stored_object()?;
        request.convert(std::slice::from_ref(&current)).await?;
        let old = current.object(request.kind);
        options.check(request, &old)?;
        let mut review = Review::delete(request, old);
        admission::mutate(&mut review).await?;
        admission::validate(&mut review).await?;
        warnings.append(&mut review.warnings);
        let Some(old) = review.old else { return Err(Failure::internal("admission lost the object")) };
        if let Some(deleted) = try_delete(request, options, &current, old) {
            return Ok(deleted);
        }
    }
}

/// Marks the object as terminating or removes it; a dry run only computes the result. Returns `None` if another write came in between, so
/// that the caller has to repeat the deletion.
fn try_delete(
    request: ResourceRequest<'_>,
    options: &DeleteOptions,
    current: &Arc<Stored>,
    old: Value,
) -> Option<Deleted> {
    let step = next_step(request, options, &old);
    if options.dry_run {
        return Some(match step {
            DeletionStep::Nothing => Deleted::Marked(old),
            DeletionStep::Mark(new) => Deleted::Marked(new),
            DeletionStep::MarkAndRemove(new) => Deleted::Gone(new),
            DeletionStep::Remove => Deleted::Gone(old),
        });
    }
    // Replaces the state `expected` by `next`, or removes it if `next` is `None`. Returns `None` if the stored object has another version.
    let commit = |expected: &Arc<Stored>, next: Option<Value>| {
        let (key, expected) = ((request.namespace, request.name), Expect::Version(expected.version));
        // A deletion changes only the metadata of a custom resource, so that it can stay in the API version in which it is stored.
        let (next, api_version) = match next.map(|next| current.with_metadata_of(request.kind, next)) {
            Some((next, api_version)) => (Some(next), api_version),
            None => (None, Cow::Borrowed(&*current.api_version)),
        };
        let stored =
            request.server.store.commit(&request.kind.group_resource, key, expected, next, &api_version).ok()?;
        request.copy_conversions(current, &stored);
        Some(stored)
    };
    match step {
        DeletionStep::Nothing => Some(Deleted::Marked(old)),
        DeletionStep::Mark(new) if new == old => Some(Deleted::Marked(old)),
        DeletionStep::Mark(new) => Some(Deleted::Marked(commit(current, Some(new))?.object(request.kind))),
        DeletionStep::MarkAndRemove(new) => {
            let marked = if new == old { current.clone() } else { commit(current, Some(new))? };
            Some(Deleted::Gone(commit(&marked, None)?.object(request.kind)))
        }
        DeletionStep::Remove => Some(Deleted::Gone(commit(current, None)?.object(request.kind))),
    }
}

/// Determines the effect of a deletion: an object with finalizers or a grace period is marked as terminating, any other object is removed.
fn next_step(request: ResourceRequest<'_>, options: &DeleteOptions, old: &Value) -> DeletionStep {
    let mut new = old.clone();
    if request.kind.is("", "namespaces") {
        return namespace_step(request, options, new);
    }
    if !policy::is_graceful(request.kind) {
        set_propagation(request, &mut new, options.propagation);
        if definition::is_crd(request.kind) {
            // Sets the deletion timestamp, and a finalizer that holds the CRD until its custom resources are gone.
            definition::mark_deleted(request.server, &mut new);
        }
        if object::finalizers(&new).is_empty() {
            return DeletionStep::Remove;
        }
        if !definition::is_crd(request.kind) {
            set_deletion_timestamp(request, &mut new, 0);
        }
        return DeletionStep::Mark(new);
    }
    let grace = policy::grace_period(old, options.grace);
    // A repeated deletion can only shorten the grace period.
    let current_grace = object::number(old, &["metadata", "deletionGracePeriodSeconds"]);
    if object::is_deleting(old) && current_grace.is_some_and(|current| grace >= current) {
        let is_complete = current_grace == Some(0) && object::finalizers(old).is_empty();
        return if is_complete { DeletionStep::Remove } else { DeletionStep::Nothing };
    }
    set_propagation(request, &mut new, options.propagation);
    set_deletion_timestamp(request, &mut new, grace);
    if grace > 0 || !object::finalizers(&new).is_empty() {
        DeletionStep::Mark(new)
    } else {
        DeletionStep::MarkAndRemove(new)
    }
}

/// Determines the effect of a deletion on a namespace. A first deletion marks the namespace as terminating, with the phase `Terminating`; a
/// later one removes it if it has no finalizers left in its spec and metadata.
fn namespace_step(request: ResourceRequest<'_>, options: &DeleteOptions, mut namespace: Value) -> DeletionStep {
    if object::is_deleting(&namespace) {
        return if policy::has_finalizers(&namespace) { DeletionStep::Nothing } else { DeletionStep::Remove };
    }
    set_propagation(request, &mut namespace, options.propagation);
    let now = request.server.environment.time();
    object::metadata_mut(&mut namespace).insert("deletionTimestamp".into(), now.into());
    object::map_at(&mut namespace, &["status"]).insert("phase".into(), "Terminating".into());
    DeletionStep::Mark(namespace)
}

/// Sets the deletion timestamp to the end of the grace period, and `deletionGracePeriodSeconds`. The first deletion of an object also
/// increments its generation.
fn set_deletion_timestamp(request: ResourceRequest<'_>, object: &mut Value, grace: i64) {
    let now = request.server.environment.now();
    let generation = object::number(object, &["metadata", "generation"]);
    let is_first = !object::is_deleting(object);
    let metadata = object::metadata_mut(object);
    // A further deletion without a grace period keeps the time of the deletion that ended the grace period.
    if is_first || grace > 0 || metadata.get("deletionGracePeriodSeconds").and_then(Value::as_i64) != Some(grace) {
        let deletion_time = now.checked_add(jiff::SignedDuration::from_secs(grace)).unwrap_or(now);
        metadata.insert("deletionTimestamp".into(), crate::environment::seconds(deletion_time).into());
    }
    metadata.insert("deletionGracePeriodSeconds".into(), grace.into());
    if let Some(generation) = generation.filter(|generation| is_first && *generation > 0) {
        metadata.insert("generation".into(), (generation + 1).into());
    }
}

/// Replaces the finalizers `orphan` and `foregroundDeletion` by that of the propagation policy: the requested policy, else the policy of
/// the finalizers that the object has already, else the default of the kind.
fn set_propagation(request: ResourceRequest<'_>, object: &mut Value, requested: Option<Propagation>) {
    if !policy::is_collected(request.kind) {
        return;
    }
    let mut finalizers: Vec<String> = object::finalizers(object).into_iter().map(str::to_owned).collect();
    let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
    let effective_policy = requested.or_else(|| has(ORPHAN).then_some(Propagation::Orphan));
    let effective_policy = effective_policy.or_else(|| has(FOREGROUND).then_some(Propagation::Foreground));
    let effective_policy = effective_policy.or_else(|| policy::default_propagation(request.kind));
    finalizers.retain(|finalizer| finalizer != FOREGROUND && finalizer != ORPHAN);
    match effective_policy {
        Some(Propagation::Orphan) => finalizers.push(ORPHAN.into()),
        Some(Propagation::Foreground) => finalizers.push(FOREGROUND.into()),
        Some(Propagation::Background) | None => {}
    }
    object::set_finalizers(object, finalizers);
}
