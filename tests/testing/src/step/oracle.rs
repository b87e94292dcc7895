//! Invariants of a single run: what it may never do, whatever it ends in.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    Reference,
    judge::{differs, finding},
};
use crate::{
    course::Course,
    difference::{difference, rolled},
    failing::{Lagging, is_observed},
    life::Lived,
    prepared::Prepared,
    remade::{named, named_object},
    report::{Check, Finding},
    state::State,
};

/// All invariants.
pub(super) fn broken_invariants(
    check: Check,
    prepared: &Prepared,
    reference: &Reference,
    course: &Course,
    lived: &Lived,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(panicked(check, prepared, course, lived));
    findings.extend(remade(check, course, lived));
    if is_without_faults(course) {
        findings.extend(refused(check, prepared, reference, course, lived));
    }
    findings.extend(generated_anew(check, prepared, reference, course, lived));
    findings.extend(shared(check, prepared, reference, course, lived));
    findings
}

/// Whether nothing but the edit happens.
fn is_without_faults(course: &Course) -> bool {
    course.chance.is_none() && course.stops.is_empty()
}

/// A panic is a bug in every course, also one that the program contains.
pub(super) fn panicked(check: Check, prepared: &Prepared, course: &Course, lived: &Lived) -> Option<Finding> {
    let panic = lived.panics.first()?;
    let times = lived.panics.iter().filter(|other| *other == panic).count();
    let times = if times > 1 { format!(" {times} times") } else { String::new() };
    let over = match &panic.node {
        Some((object, node)) => format!("{object} (node `{node}`)"),
        None => subjects(prepared, course),
    };
    let problem = format!("it panicked at {}{times} over {over}: {}", panic.place, panic.message);
    let hint = "return an error in place of a panic: a value that the schema admits is no reason for one, and a pass that panics is repeated for ever";
    Some(finding(check, problem, hint, course, Vec::new(), &lived.timeline))
}

/// The samples that a course edits; all where it edits none.
fn subjects(prepared: &Prepared, course: &Course) -> String {
    let samples = &prepared.manifests.samples;
    let variant = course.edit.or(course.fresh).or(course.change.map(|(_, variant)| variant));
    let variant = variant.and_then(|variant| prepared.variants.get(variant)).unwrap_or(samples);
    let edited = |edited: bool| {
        let pairs = samples.iter().zip(variant).filter(move |(sample, now)| !edited || sample["spec"] != now["spec"]);
        let names: Vec<String> = pairs.map(|(sample, _)| named_object(sample)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    edited(true).or_else(|| edited(false)).unwrap_or_default()
}

/// Objects that were wanted all the time and are others now.
fn remade(check: Check, course: &Course, lived: &Lived) -> Option<Finding> {
    let first = lived.remade.first()?;
    let lines = lived.remade.iter().map(|remade| format!("  {} after {}", remade.what, remade.after)).collect();
    let lost = if first.held_data { ", and what was in it is lost" } else { "" };
    let problem = format!("{} was deleted and made anew after {}, though it was wanted{lost}", first.what, first.after);
    let hint = if course.beside.is_some() {
        "give what is made of an object a name that only that object has, and delete by owner, not by a name or a label that others may have"
    } else {
        "change an object that is there in place of deleting it: apply what is wanted, and delete only what is wanted no more"
    };
    Some(finding(check, problem, hint, course, lines, &lived.timeline))
}

/// Calls that no repetition helps, passes that end in nothing else, and a status that stays behind.
fn refused(
    check: Check,
    prepared: &Prepared,
    reference: &Reference,
    course: &Course,
    lived: &Lived,
) -> Option<Finding> {
    let lagging = || lived.lagging.iter().filter(|lagging| !waits_when_new(prepared, reference, course, lagging));
    let failing: Vec<&String> = lived.failing.iter().chain(lagging().map(|lagging| &lagging.what)).collect();
    let edit = format!("after an edit of {} that the schema admits", subjects(prepared, course));
    let (problem, hint) = match (lived.refused.first(), failing.first()) {
        (Some(write), _) => (
            format!("{edit}, {write}"),
            "refuse in the schema what can't be built, or say in the status what the user is to change (a user action); else the object waits for ever",
        ),
        (None, Some(failing)) => (
            format!("{edit}, {failing}"),
            "say in the status what the user is to change (a user action), or build what the schema admits: an unexpected error is repeated for ever",
        ),
        (None, None) => return None,
    };
    let lines = lived.refused.iter().map(|write| format!("  {write}"));
    let lines = lines.chain(failing.iter().map(|failing| format!("  {failing}"))).collect();
    Some(finding(check, problem, hint, course, lines, &lived.timeline))
}

/// Whether a new object of the same spec is not done either: it waits, and so may one that was edited.
fn waits_when_new(prepared: &Prepared, reference: &Reference, course: &Course, lagging: &Lagging) -> bool {
    let variant = course.edit.or(course.change.map(|(_, variant)| variant));
    let Some(fresh) = variant.and_then(|variant| reference.fresh(prepared, variant)) else { return false };
    let new = fresh.made.as_ref().and_then(|made| made.sample(&lagging.object));
    new.map_or(fresh.is_restless, |new| is_observed(new) != Some(true))
}

/// Values that differ from run to run, such as passwords, and that an event without any bearing on them has changed.
fn generated_anew(
    check: Check,
    prepared: &Prepared,
    reference: &Reference,
    course: &Course,
    lived: &Lived,
) -> Option<Finding> {
    // What is generated may be what somebody deleted, or another release's.
    if course.lose.is_some() || course.upgrade {
        return None;
    }
    let made = lived.made.as_ref()?;
    let edited = lived.edited.as_ref().and_then(|edited| edited.as_ref().ok());
    let (kept, lines) =
        [edited, lived.beside.as_ref(), lived.mended.as_ref()].into_iter().flatten().find_map(|now| {
            let children = made.children(&prepared.name, &prepared.manifests.samples);
            children.map(|kept| (kept, rolled(kept, now, &reference.noise))).find(|(_, lines)| !lines.is_empty())
        })?;
    let problem = format!("{} has a generated value that is another after {}", named(kept), what_happened(course));
    let hint =
        "generate once: read what is there before you generate, and keep it (`resource(once)` in a tree of opgen)";
    Some(finding(check, problem, hint, course, lines, &lived.timeline))
}

fn what_happened(course: &Course) -> &'static str {
    match course {
        Course { edit: Some(_), .. } => "an edit",
        Course { beside: Some(_), .. } => "a second object was made",
        _ => "a disturbance",
    }
}

/// Objects that a sample and its second object have in common.
fn shared(check: Check, prepared: &Prepared, reference: &Reference, course: &Course, lived: &Lived) -> Option<Finding> {
    let number = course.beside?;
    let (made, beside, mended) = (lived.made.as_ref()?, lived.beside.as_ref()?, lived.mended.as_ref()?);
    let children = |state: &State| {
        let wanted = state.wanted(&prepared.name);
        let keys: BTreeSet<&String> = made.objects.keys().collect();
        let is_child = |key: &String, origin: &Value| {
            keys.contains(key) && !prepared.manifests.samples.iter().any(|sample| crate::state::is_same(sample, origin))
        };
        let objects = wanted.objects.into_iter().filter(|(key, kept)| is_child(key, &kept.origin));
        State { objects: objects.collect() }
    };
    let differ = |what: &str, found: &State| {
        let lines = difference(&children(made), &children(found), &reference.noise);
        (!lines.is_empty()).then(|| differs(check, what, course, lines, &lived.timeline))
    };
    if let Some(finding) = not_owned(check, course, made, beside, lived) {
        return Some(finding);
    }
    if let Some(finding) = differ("a second object changes what was made of the first", beside) {
        return Some(finding);
    }
    if number.is_multiple_of(2) {
        return differ("the end of a second object changes what was made of the first", mended);
    }
    let lines = fewer(&kinds(prepared, made), &kinds(prepared, mended));
    let problem = "the end of an object takes what was made of a second one with it";
    (!lines.is_empty()).then(|| differs(check, problem, course, lines, &lived.timeline))
}

/// The second object waits for what the first one has.
fn not_owned(check: Check, course: &Course, made: &State, beside: &State, lived: &Lived) -> Option<Finding> {
    let new = beside.objects.iter().filter(|(key, _)| !made.objects.contains_key(*key));
    let (kept, message) = new.map(|(_, kept)| kept).find_map(|kept| {
        let mut conditions = kept.origin["status"]["conditions"].as_array().into_iter().flatten();
        let refused = conditions.find(|condition| condition["reason"] == "NotOwned")?;
        Some((kept, refused["message"].as_str().unwrap_or_default().to_owned()))
    })?;
    let problem = format!("{} can't have what it needs: {message}", named(kept));
    let hint = "give what is made of an object a name that only that object has";
    Some(finding(check, problem, hint, course, Vec::new(), &lived.timeline))
}

/// How many objects of each kind the program has made.
fn kinds(prepared: &Prepared, state: &State) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for kept in state.children(&prepared.name, &prepared.manifests.samples) {
        *kinds.entry(kept.origin["kind"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    kinds
}

fn fewer(expected: &BTreeMap<String, usize>, found: &BTreeMap<String, usize>) -> Vec<String> {
    let count = |kind: &String| found.get(kind).copied().unwrap_or_default();
    let less = expected.iter().filter(|(kind, expected)| count(kind) < **expected);
    less.map(|(kind, expected)| format!("- {kind}: {} of {expected}", count(kind))).collect()
}
