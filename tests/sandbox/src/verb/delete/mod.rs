//! `delete` and `deletecollection`: at once, or marked until finalizers and grace let go.

use std::{borrow::Cow, sync::Arc};

use http::StatusCode;
use serde_json::{Value, json};

use super::{filter::Filter, list, read};
use crate::{
    admission::{self, Review},
    answer::Answer,
    call::Propagation,
    failure::Failure,
    kind::definition,
    object,
    store::{Expect, Stored},
    verb::Asked,
};

pub(super) use options::DeleteOptions;

mod options;
mod policy;

/// The finalizers of the garbage collector.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
pub(crate) const ORPHAN: &str = "orphan";

/// What became of an object that was deleted.
pub(super) enum Deleted {
    Gone(Value),
    /// Finalizers or a time of grace hold it.
    Marked(Value),
}

/// Why an object isn't removed at once.
enum Step {
    /// It is marked, and stays.
    Mark(Value),
    /// It is marked, then removed: who watches sees both.
    MarkAndRemove(Value),
    Remove,
    /// It is being deleted already; this deletion adds nothing.
    Nothing,
}

pub(super) async fn delete(asked: Asked<'_>) -> Result<Answer, Failure> {
    let options = DeleteOptions::of(asked)?;
    let mut warnings: Vec<String> = policy::warning(asked.kind, options.propagation).into_iter().collect();
    let deleted = match delete_one(asked, &options, &mut warnings).await {
        Ok(deleted) => deleted,
        Err(failure) => return Ok(Answer::from(failure).warning(warnings)),
    };
    match deleted {
        Deleted::Marked(object) => Ok(read::answer(asked, StatusCode::OK, object)?.warning(warnings)),
        Deleted::Gone(object) if policy::answers_object(asked.kind) => {
            Ok(read::answer(asked, StatusCode::OK, object)?.warning(warnings))
        }
        Deleted::Gone(object) => {
            let kind = asked.kind;
            let mut details = json!({"name": asked.name, "kind": kind.plural, "uid": object::uid(&object)});
            if !kind.group.is_empty() {
                details["group"] = kind.group.clone().into();
            }
            let status =
                json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
            Ok(Answer::object(&status).warning(warnings))
        }
    }
}

pub(super) async fn delete_collection(asked: Asked<'_>) -> Result<Answer, Failure> {
    let options = DeleteOptions::of(asked)?;
    let filter = Filter::of(asked)?;
    asked.convert_all().await?;
    let (version, mut items) = asked.server.store.list(&asked.kind.shelf, Some(asked.namespace));
    items.retain(|item| filter.passes(asked.kind, item));
    let mut warnings = Vec::new();
    for item in &items {
        let one = Asked { namespace: &item.namespace, name: &item.name, ..asked };
        match delete_one(one, &options, &mut warnings).await {
            Err(failure) if failure.code != 404 => return Err(failure),
            _ => {}
        }
    }
    Ok(list::whole_list(asked, version, &items).warning(warnings))
}

pub(super) async fn delete_one(
    asked: Asked<'_>,
    options: &DeleteOptions,
    warnings: &mut Vec<String>,
) -> Result<Deleted, Failure> {
    loop {
        let held = asked.held()?;
        asked.convert(std::slice::from_ref(&held)).await?;
        let old = held.object(asked.kind);
        options.check(asked, &old)?;
        let mut review = Review::delete(asked, old);
        admission::mutate(&mut review).await?;
        admission::validate(&mut review).await?;
        warnings.append(&mut review.warnings);
        let Some(old) = review.old else { return Err(Failure::internal("admission lost the object")) };
        if let Some(deleted) = attempt(asked, options, &held, old) {
            return Ok(deleted);
        }
    }
}

/// Marks or removes; `None` if somebody wrote in between.
fn attempt(asked: Asked<'_>, options: &DeleteOptions, held: &Arc<Stored>, old: Value) -> Option<Deleted> {
    let step = step(asked, options, &old);
    if options.dry_run {
        return Some(match step {
            Step::Nothing => Deleted::Marked(old),
            Step::Mark(new) => Deleted::Marked(new),
            Step::MarkAndRemove(new) => Deleted::Gone(new),
            Step::Remove => Deleted::Gone(old),
        });
    }
    let put = |expected: &Arc<Stored>, next: Option<Value>| {
        let (at, expected) = ((asked.namespace, asked.name), Expect::Version(expected.version));
        let (next, api_version) = match next.map(|next| held.with_metadata_of(asked.kind, next)) {
            Some((next, api_version)) => (Some(next), api_version),
            None => (None, Cow::Borrowed(&*held.api_version)),
        };
        let stored = asked.server.store.commit(&asked.kind.shelf, at, expected, next, &api_version).ok()?;
        asked.carry(held, &stored);
        Some(stored)
    };
    match step {
        Step::Nothing => Some(Deleted::Marked(old)),
        Step::Mark(new) if new == old => Some(Deleted::Marked(old)),
        Step::Mark(new) => Some(Deleted::Marked(put(held, Some(new))?.object(asked.kind))),
        Step::MarkAndRemove(new) => {
            let marked = if new == old { held.clone() } else { put(held, Some(new))? };
            Some(Deleted::Gone(put(&marked, None)?.object(asked.kind)))
        }
        Step::Remove => Some(Deleted::Gone(put(held, None)?.object(asked.kind))),
    }
}

fn step(asked: Asked<'_>, options: &DeleteOptions, old: &Value) -> Step {
    let mut new = old.clone();
    if asked.kind.is("", "namespaces") {
        return namespace_step(asked, options, new);
    }
    if !policy::is_graceful(asked.kind) {
        set_propagation(asked, &mut new, options.propagation);
        if definition::is(asked.kind) {
            definition::mark_deleted(asked.server, &mut new);
        }
        if object::finalizers(&new).is_empty() {
            return Step::Remove;
        }
        if !definition::is(asked.kind) {
            mark(asked, &mut new, 0);
        }
        return Step::Mark(new);
    }
    let grace = policy::grace_period(old, options.grace);
    // Who deletes again can only make the time of grace shorter.
    let held_grace = object::number(old, &["metadata", "deletionGracePeriodSeconds"]);
    if object::is_deleting(old) && held_grace.is_some_and(|held| grace >= held) {
        let is_over = held_grace == Some(0) && object::finalizers(old).is_empty();
        return if is_over { Step::Remove } else { Step::Nothing };
    }
    set_propagation(asked, &mut new, options.propagation);
    mark(asked, &mut new, grace);
    if grace > 0 || !object::finalizers(&new).is_empty() { Step::Mark(new) } else { Step::MarkAndRemove(new) }
}

/// A namespace is emptied before it goes: its own finalizers, in the spec, say when it is empty.
fn namespace_step(asked: Asked<'_>, options: &DeleteOptions, mut namespace: Value) -> Step {
    if object::is_deleting(&namespace) {
        return if is_held(&namespace) { Step::Nothing } else { Step::Remove };
    }
    set_propagation(asked, &mut namespace, options.propagation);
    let now = asked.server.environment.time();
    object::metadata_mut(&mut namespace).insert("deletionTimestamp".into(), now.into());
    object::map_at(&mut namespace, &["status"]).insert("phase".into(), "Terminating".into());
    Step::Mark(namespace)
}

fn is_held(namespace: &Value) -> bool {
    let own = object::at(namespace, &["spec", "finalizers"]).and_then(Value::as_array);
    own.is_some_and(|own| !own.is_empty()) || !object::finalizers(namespace).is_empty()
}

/// Whether nothing holds a deleted object any more, so that the write that says so removes it.
pub(super) fn is_released(asked: Asked<'_>, object: &Value) -> bool {
    if !object::is_deleting(object) {
        return false;
    }
    if asked.kind.is("", "namespaces") {
        return !is_held(object);
    }
    let grace = object::number(object, &["metadata", "deletionGracePeriodSeconds"]);
    object::finalizers(object).is_empty() && grace.unwrap_or(0) == 0
}

fn mark(asked: Asked<'_>, object: &mut Value, grace: i64) {
    let now = asked.server.environment.now();
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

/// The finalizers say what becomes of the dependents. What nobody says now stays as it was said before.
fn set_propagation(asked: Asked<'_>, object: &mut Value, wanted: Option<Propagation>) {
    if !policy::is_collected(asked.kind) {
        return;
    }
    let mut finalizers: Vec<String> = object::finalizers(object).into_iter().map(str::to_owned).collect();
    let has = |own: &str| finalizers.iter().any(|finalizer| finalizer == own);
    let said = wanted.or_else(|| has(ORPHAN).then_some(Propagation::Orphan));
    let said = said.or_else(|| has(FOREGROUND).then_some(Propagation::Foreground));
    let said = said.or_else(|| policy::default_propagation(asked.kind));
    finalizers.retain(|finalizer| finalizer != FOREGROUND && finalizer != ORPHAN);
    match said {
        Some(Propagation::Orphan) => finalizers.push(ORPHAN.into()),
        Some(Propagation::Foreground) => finalizers.push(FOREGROUND.into()),
        Some(Propagation::Background) | None => {}
    }
    object::set_finalizers(object, finalizers);
}
