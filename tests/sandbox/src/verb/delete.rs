//! `delete` and `deletecollection`: at once, or marked until finalizers and grace let go.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

use super::{list, read, watch::Filter};
use crate::{
    admission::{self, Review},
    answer::Answer,
    call::{DryRun, Propagation},
    failure::Failure,
    kind::definition,
    object,
    store::{Expect, Stored},
    strategy,
    verb::Asked,
};

/// The finalizers of the garbage collector.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
pub(crate) const ORPHAN: &str = "orphan";

/// `DeleteOptions`, from the body and the parameters.
struct DeleteOptions {
    dry_run: bool,
    grace: Option<i64>,
    propagation: Option<Propagation>,
    uid: Option<String>,
    version: Option<String>,
}

/// What became of an object that was deleted.
enum Deleted {
    Gone(Value),
    /// Finalizers or a time of grace hold it.
    Marked(Value),
}

pub(super) async fn delete(asked: Asked<'_>) -> Result<Answer, Failure> {
    let options = DeleteOptions::of(asked)?;
    let mut warnings = Vec::new();
    match delete_one(asked, &options, &mut warnings).await? {
        Deleted::Marked(object) => Ok(read::answer(asked, StatusCode::OK, object)?.warning(warnings)),
        Deleted::Gone(object) if strategy::answers_deleted_object(asked.kind) => {
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
    let (_, items) = asked.server.store.list(&asked.kind.shelf, Some(asked.namespace));
    let mut warnings = Vec::new();
    for item in items.iter().filter(|item| filter.passes(asked.kind, item)) {
        let one = Asked { namespace: &item.namespace, name: &item.name, ..asked };
        match delete_one(one, &options, &mut warnings).await {
            Err(failure) if failure.code != 404 => return Err(failure),
            _ => {}
        }
    }
    Ok(list::whole_list(asked, &items).warning(warnings))
}

async fn delete_one(asked: Asked<'_>, options: &DeleteOptions, warnings: &mut Vec<String>) -> Result<Deleted, Failure> {
    loop {
        let held = asked.held()?;
        let old = held.object(asked.kind);
        options.check(asked, &old)?;
        let mut review = Review::delete(asked, old);
        admission::mutate(&mut review).await?;
        admission::validate(&mut review).await?;
        warnings.append(&mut review.warnings);
        let Some(old) = review.old else { return Err(Failure::internal("admission lost the object")) };
        if let Some(deleted) = attempt(asked, options, &held, old)? {
            return Ok(deleted);
        }
    }
}

/// Marks or removes; `None` if somebody wrote in between.
fn attempt(
    asked: Asked<'_>,
    options: &DeleteOptions,
    held: &Arc<Stored>,
    old: Value,
) -> Result<Option<Deleted>, Failure> {
    let mut new = old.clone();
    if definition::is(asked.kind) {
        definition::mark_deleted(asked.server, &mut new);
    }
    set_propagation(&mut new, options.propagation);
    let already = object::is_deleting(&old);
    let grace = strategy::grace_period(asked.kind, &old, options.grace);
    let waits = grace > 0 || !object::finalizers(&new).is_empty() || strategy::holds_deleted(asked.kind, &old);
    if waits && !definition::is(asked.kind) {
        mark(asked, &mut new, grace, already);
    }
    if options.dry_run {
        return Ok(Some(if waits { Deleted::Marked(new) } else { Deleted::Gone(new) }));
    }
    if waits && new == old {
        return Ok(Some(Deleted::Marked(old)));
    }
    let (kept, api_version) = asked.kind.kept(new);
    let next = waits.then_some(kept);
    let at = (asked.namespace, asked.name);
    let expected = Expect::Version(held.version);
    let Ok(stored) = asked.server.store.commit(&asked.kind.shelf, at, expected, next, &api_version) else {
        return Ok(None);
    };
    Ok(Some(if waits { Deleted::Marked(stored.object(asked.kind)) } else { Deleted::Gone(stored.object(asked.kind)) }))
}

fn mark(asked: Asked<'_>, object: &mut Value, grace: i64, already: bool) {
    let now = asked.server.environment.now();
    let generation = object::number(object, &["metadata", "generation"]);
    let held_grace = object::number(object, &["metadata", "deletionGracePeriodSeconds"]);
    let metadata = object::metadata_mut(object);
    if already {
        // A shorter time of grace wins.
        if held_grace.is_some_and(|held| grace < held) {
            metadata.insert("deletionGracePeriodSeconds".into(), grace.into());
        }
        return;
    }
    let at = now.checked_add(jiff::SignedDuration::from_secs(grace)).unwrap_or(now);
    metadata.insert("deletionTimestamp".into(), crate::environment::seconds(at).into());
    metadata.insert("deletionGracePeriodSeconds".into(), grace.into());
    if let Some(generation) = generation.filter(|generation| *generation > 0) {
        metadata.insert("generation".into(), (generation + 1).into());
    }
}

/// The finalizers say what becomes of the dependents.
fn set_propagation(object: &mut Value, propagation: Option<Propagation>) {
    let Some(propagation) = propagation else { return };
    let mut finalizers: Vec<String> = object::finalizers(object).into_iter().map(str::to_owned).collect();
    finalizers.retain(|finalizer| finalizer != FOREGROUND && finalizer != ORPHAN);
    match propagation {
        Propagation::Orphan => finalizers.push(ORPHAN.into()),
        Propagation::Foreground => finalizers.push(FOREGROUND.into()),
        Propagation::Background => {}
    }
    object::set_finalizers(object, finalizers);
}

impl DeleteOptions {
    fn of(asked: Asked<'_>) -> Result<Self, Failure> {
        let body: Value = if asked.call.body.is_empty() { Value::Null } else { asked.parse()? };
        let parameters = &asked.call.options;
        let propagation = match body["propagationPolicy"].as_str() {
            Some(written) => Some(Propagation::of(written)?),
            None if body["orphanDependents"] == true => Some(Propagation::Orphan),
            None if body["orphanDependents"] == false => Some(Propagation::Background),
            None => parameters.propagation,
        };
        let dry_run = body["dryRun"].as_array().is_some_and(|all| !all.is_empty()) || parameters.dry_run == DryRun::All;
        let precondition = |key: &str| body["preconditions"][key].as_str().map(str::to_owned);
        Ok(Self {
            dry_run,
            grace: body["gracePeriodSeconds"].as_i64().or(parameters.grace_period_seconds),
            propagation,
            uid: precondition("uid"),
            version: precondition("resourceVersion"),
        })
    }

    fn check(&self, asked: Asked<'_>, object: &Value) -> Result<(), Failure> {
        let conflict = |what: &str, wanted: &str, where_: &str, is: &str| {
            let why = format!("Precondition failed: {what} in precondition: {wanted}, {what} in {where_}: {is}");
            Failure::conflict(asked.kind, asked.name, &why)
        };
        let uid = object::uid(object);
        if let Some(wanted) = self.uid.as_deref().filter(|wanted| *wanted != uid) {
            return Err(conflict("UID", wanted, "object meta", uid));
        }
        let version = object::version(object).unwrap_or_default();
        if let Some(wanted) = self.version.as_deref().filter(|wanted| *wanted != version) {
            return Err(conflict("ResourceVersion", wanted, "object meta", version));
        }
        Ok(())
    }
}
