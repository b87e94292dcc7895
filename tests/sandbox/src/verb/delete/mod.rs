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

/// The finalizers of the garbage collector.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
pub(crate) const ORPHAN: &str = "orphan";

/// The result of a deletion.
pub(super) enum Deleted {
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

pub(super) async fn delete(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let options = DeleteOptions::of(request)?;
    let mut warnings: Vec<String> = policy::warning(request.kind, options.propagation).into_iter().collect();
    let deleted = match delete_one(request, &options, &mut warnings).await {
        Ok(deleted) => deleted,
        Err(failure) => return Ok(ApiResponse::from(failure).with_warnings(warnings)),
    };
    match deleted {
        Deleted::Marked(object) => Ok(read::answer(request, StatusCode::OK, object)?.with_warnings(warnings)),
        Deleted::Gone(object) if policy::answers_object(request.kind) => {
            Ok(read::answer(request, StatusCode::OK, object)?.with_warnings(warnings))
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

pub(super) async fn delete_collection(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let options = DeleteOptions::of(request)?;
    let filter = Filter::of(request)?;
    request.convert_all().await?;
    let (version, mut items) = request.server.store.list(&request.kind.group_resource, Some(request.namespace));
    items.retain(|item| filter.passes(request.kind, item));
    let mut warnings = Vec::new();
    for item in &items {
        let one = ResourceRequest { namespace: &item.namespace, name: &item.name, ..request };
        match delete_one(one, &options, &mut warnings).await {
            Err(failure) if failure.code != 404 => return Err(failure),
            _ => {}
        }
    }
    Ok(list::whole_list(request, version, &items).with_warnings(warnings))
}

pub(super) async fn delete_one(
    request: ResourceRequest<'_>,
    options: &DeleteOptions,
    warnings: &mut Vec<String>,
) -> Result<Deleted, Failure> {
    loop {
        let held = request.stored_object()?;
        request.convert(std::slice::from_ref(&held)).await?;
        let old = held.object(request.kind);
        options.check(request, &old)?;
        let mut review = Review::delete(request, old);
        admission::mutate(&mut review).await?;
        admission::validate(&mut review).await?;
        warnings.append(&mut review.warnings);
        let Some(old) = review.old else { return Err(Failure::internal("admission lost the object")) };
        if let Some(deleted) = attempt(request, options, &held, old) {
            return Ok(deleted);
        }
    }
}

/// Marks or removes the object; `None` if another write came in between.
fn attempt(request: ResourceRequest<'_>, options: &DeleteOptions, held: &Arc<Stored>, old: Value) -> Option<Deleted> {
    let step = step(request, options, &old);
    if options.dry_run {
        return Some(match step {
            DeletionStep::Nothing => Deleted::Marked(old),
            DeletionStep::Mark(new) => Deleted::Marked(new),
            DeletionStep::MarkAndRemove(new) => Deleted::Gone(new),
            DeletionStep::Remove => Deleted::Gone(old),
        });
    }
    let put = |expected: &Arc<Stored>, next: Option<Value>| {
        let (at, expected) = ((request.namespace, request.name), Expect::Version(expected.version));
        let (next, api_version) = match next.map(|next| held.with_metadata_of(request.kind, next)) {
            Some((next, api_version)) => (Some(next), api_version),
            None => (None, Cow::Borrowed(&*held.api_version)),
        };
        let stored =
            request.server.store.commit(&request.kind.group_resource, at, expected, next, &api_version).ok()?;
        request.copy_conversions(held, &stored);
        Some(stored)
    };
    match step {
        DeletionStep::Nothing => Some(Deleted::Marked(old)),
        DeletionStep::Mark(new) if new == old => Some(Deleted::Marked(old)),
        DeletionStep::Mark(new) => Some(Deleted::Marked(put(held, Some(new))?.object(request.kind))),
        DeletionStep::MarkAndRemove(new) => {
            let marked = if new == old { held.clone() } else { put(held, Some(new))? };
            Some(Deleted::Gone(put(&marked, None)?.object(request.kind)))
        }
        DeletionStep::Remove => Some(Deleted::Gone(put(held, None)?.object(request.kind))),
    }
}

fn step(request: ResourceRequest<'_>, options: &DeleteOptions, old: &Value) -> DeletionStep {
    let mut new = old.clone();
    if request.kind.is("", "namespaces") {
        return namespace_step(request, options, new);
    }
    if !policy::is_graceful(request.kind) {
        set_propagation(request, &mut new, options.propagation);
        if definition::is_crd(request.kind) {
            definition::mark_deleted(request.server, &mut new);
        }
        if object::finalizers(&new).is_empty() {
            return DeletionStep::Remove;
        }
        if !definition::is_crd(request.kind) {
            mark(request, &mut new, 0);
        }
        return DeletionStep::Mark(new);
    }
    let grace = policy::grace_period(old, options.grace);
    // A repeated deletion can only shorten the grace period.
    let held_grace = object::number(old, &["metadata", "deletionGracePeriodSeconds"]);
    if object::is_deleting(old) && held_grace.is_some_and(|held| grace >= held) {
        let is_over = held_grace == Some(0) && object::finalizers(old).is_empty();
        return if is_over { DeletionStep::Remove } else { DeletionStep::Nothing };
    }
    set_propagation(request, &mut new, options.propagation);
    mark(request, &mut new, grace);
    if grace > 0 || !object::finalizers(&new).is_empty() {
        DeletionStep::Mark(new)
    } else {
        DeletionStep::MarkAndRemove(new)
    }
}

/// Marks a namespace as terminating until it is empty: its finalizers in the spec hold it until then.
fn namespace_step(request: ResourceRequest<'_>, options: &DeleteOptions, mut namespace: Value) -> DeletionStep {
    if object::is_deleting(&namespace) {
        return if policy::is_held(&namespace) { DeletionStep::Nothing } else { DeletionStep::Remove };
    }
    set_propagation(request, &mut namespace, options.propagation);
    let now = request.server.environment.time();
    object::metadata_mut(&mut namespace).insert("deletionTimestamp".into(), now.into());
    object::map_at(&mut namespace, &["status"]).insert("phase".into(), "Terminating".into());
    DeletionStep::Mark(namespace)
}

fn mark(request: ResourceRequest<'_>, object: &mut Value, grace: i64) {
    let now = request.server.environment.now();
    let generation = object::number(object, &["metadata", "generation"]);
    let first = !object::is_deleting(object);
    let metadata = object::metadata_mut(object);
    if first || grace > 0 || metadata.get("deletionGracePeriodSeconds").and_then(Value::as_i64) != Some(grace) {
        let at = now.checked_add(jiff::SignedDuration::from_secs(grace)).unwrap_or(now);
        metadata.insert("deletionTimestamp".into(), crate::environment::seconds(at).into());
    }
    metadata.insert("deletionGracePeriodSeconds".into(), grace.into());
    if let Some(generation) = generation.filter(|generation| first && *generation > 0) {
        metadata.insert("generation".into(), (generation + 1).into());
    }
}

/// Sets the finalizers for the propagation policy. Without a requested policy, the finalizers of the object decide,
/// then the kind's default.
fn set_propagation(request: ResourceRequest<'_>, object: &mut Value, wanted: Option<Propagation>) {
    if !policy::is_collected(request.kind) {
        return;
    }
    let mut finalizers: Vec<String> = object::finalizers(object).into_iter().map(str::to_owned).collect();
    let has = |own: &str| finalizers.iter().any(|finalizer| finalizer == own);
    let effective_policy = wanted.or_else(|| has(ORPHAN).then_some(Propagation::Orphan));
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
