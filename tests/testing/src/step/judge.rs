//! What is wrong with a run, and what to do about it.

use std::collections::BTreeSet;

use opgen_sandbox::fault::{EventFault, Fault, Happening, Timeline};
use serde_json::Value;

use super::{Reference, ends, hint, oracle, orphan::orphaned, upgrade};
use crate::{
    course::{Course, Propagation},
    difference::{difference, unmoved},
    install,
    life::{Lived, Trouble},
    prepared::Prepared,
    report::{Check, Finding},
    state::{Kept, State, is_same, is_unmet, is_waiting},
};

/// The check that a course belongs to.
pub(super) fn check_of(course: &Course) -> Check {
    match course {
        Course { idle: true, .. } => Check::Steadiness,
        Course { held: Some(_), .. } => Check::Gate,
        Course { upgrade: true, .. } => Check::Upgrade,
        Course { again: Some(_), .. } => Check::Deletion,
        Course { chance: Some(_), .. } => Check::Chance,
        Course { lose: Some(_), .. } => Check::Repair,
        Course { beside: Some(_), .. } => Check::Beside,
        Course { edit: Some(_), .. } | Course { change: Some(_), .. } | Course { fresh: Some(_), .. } => Check::Edit,
        Course { delete_at: Some(_), .. } => Check::Deletion,
        Course { propagation: Propagation::Foreground | Propagation::Orphan, .. } => Check::Deletion,
        Course { old: true, .. } => Check::OldList,
        Course { stops, .. } if stops.len() > 1 => Check::TwoStops,
        Course { stops, .. } if stops.len() == 1 => Check::Stop,
        _ => Check::Convergence,
    }
}

/// All that is wrong with a run.
pub(super) fn judge(
    check: Check,
    prepared: &Prepared,
    older: Option<&Prepared>,
    reference: &Reference,
    course: &Course,
    lived: &Lived,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    if !waits_as_a_new_object_does(prepared, reference, course, lived) {
        findings.extend(trouble(check, prepared, course, lived));
    }
    let name = &prepared.name;
    let mut compare = |what: &str, expected: &State, found: &State| {
        let lines = difference(expected, found, &reference.noise);
        if !lines.is_empty() {
            findings.push(differs(check, what, course, lines, &lived.timeline));
        }
    };
    if let Some(made) = &lived.made
        && is_only_disturbed(course)
    {
        compare("the end is another than without it", &reference.made, made);
    }
    if let (Some((_, variant)), Some(made)) = (course.change, &lived.made) {
        let fresh = reference.fresh(prepared, variant).and_then(|fresh| fresh.made.as_ref());
        // What the server lets nobody change stays as it was.
        if let Some(expected) =
            fresh.filter(|fresh| same_specs(prepared, fresh, made) && !both_wait(prepared, fresh, made))
        {
            compare(
                "a change in the middle leads elsewhere than a new object",
                &expected.wanted(name),
                &made.wanted(name),
            );
        }
    }
    for (what, expected, found) in ends::compared(prepared, older, reference, course, lived) {
        compare(what, &expected, &found);
    }
    if let Some(older) = older.filter(|_| course.upgrade) {
        findings.extend(upgrade::not_kept(check, (prepared, older), reference, course, lived));
    }
    findings.extend(oracle::broken_invariants(check, prepared, reference, course, lived));
    findings.extend(left_unsaid(check, prepared, reference, course, lived));
    if is_only_disturbed(course) && course.again.is_none() {
        findings.extend(made_anew(check, prepared, reference, course, lived));
    }
    if course.propagation == Propagation::Orphan {
        findings.extend(orphaned(check, prepared, reference, course, lived));
    }
    if let Some(state) = &lived.left {
        findings.extend(left(check, prepared, course, (state, &lived.timeline)));
    }
    findings
}

/// Whether it only waits, after a change in the middle, for something that nobody has made: a new object waits as well.
fn waits_as_a_new_object_does(prepared: &Prepared, reference: &Reference, course: &Course, lived: &Lived) -> bool {
    let Some((_, variant)) = course.change else { return false };
    matches!(lived.trouble, Some(Trouble::Restless(_)))
        && reference.fresh(prepared, variant).is_some_and(|fresh| fresh.is_restless)
}

/// Whether a new object waits for something, as one that was edited does: what that had is still there.
pub(super) fn both_wait(prepared: &Prepared, fresh: &State, edited: &State) -> bool {
    let waits =
        |state: &State| prepared.manifests.samples.iter().any(|sample| state.sample(sample).is_some_and(is_waiting));
    waits(fresh) && waits(edited)
}

/// Whether nobody wants anything else in a course than without it, up to where the samples are made.
fn is_only_disturbed(course: &Course) -> bool {
    course.delete_at.is_none() && course.fresh.is_none() && course.change.is_none() && !course.upgrade
}

/// What the program has deleted although it is wanted: it is there again at the end, and without the course it stays.
fn made_anew(
    check: Check,
    prepared: &Prepared,
    reference: &Reference,
    course: &Course,
    lived: &Lived,
) -> Option<Finding> {
    let made = lived.made.as_ref()?;
    let deleted = |timeline: &Timeline, until: u64| -> BTreeSet<String> {
        let deletions = timeline.calls().filter(|call| call.method == "DELETE" && call.number <= until);
        let done = deletions.filter(|call| call.code.is_some_and(|code| code < 300));
        done.map(|call| call.path().to_owned()).collect()
    };
    let mut anew = deleted(&lived.timeline, lived.calls_to_make);
    let without = deleted(&reference.timeline, reference.calls_to_make);
    anew.retain(|path| !without.contains(path));
    let (name, manifests) = (&prepared.name, &prepared.manifests);
    let mut children = made.children(name, &manifests.samples).map(|kept| &kept.origin);
    let child = children.find(|child| anew.contains(&install::place(child, &manifests.install)))?;
    let problem = format!("{} {} was deleted and made again, though it was wanted", text(child, "kind"), place(child));
    let hint = "ask the server before you delete: what an old list, or a cache, does not show need not be gone";
    Some(finding(check, problem, hint, course, Vec::new(), &lived.timeline))
}

/// What a status still says of the spec before an edit, where a new object's says something else.
fn left_unsaid(
    check: Check,
    prepared: &Prepared,
    reference: &Reference,
    course: &Course,
    lived: &Lived,
) -> Option<Finding> {
    let fresh = reference.fresh(prepared, course.edit?)?.made.as_ref()?;
    let edited = lived.edited.as_ref().and_then(|edited| edited.as_ref().ok())?;
    let said = |state: &State| state.said_of(&prepared.manifests.samples);
    let (first, made) = (said(&reference.made), lived.made.as_ref().map(said)?);
    let after_the_edit = (!both_wait(prepared, fresh, edited))
        .then(|| unmoved(&made, &said(fresh), &said(edited), &reference.noise))
        .filter(|lines| !lines.is_empty());
    let after_it_was_undone =
        || lived.mended.as_ref().map(|mended| unmoved(&said(edited), &first, &said(mended), &reference.noise));
    let lines = after_the_edit.or_else(after_it_was_undone).filter(|lines| !lines.is_empty())?;
    let problem = "the status still says what was so before an edit".to_owned();
    let hint = "say anew in each pass all that the status says, messages too, and write it when any of it is another than before";
    Some(finding(check, problem, hint, course, lines, &lived.timeline))
}

/// Whether the samples are what they were to become.
fn same_specs(prepared: &Prepared, one: &State, other: &State) -> bool {
    let spec = |state: &State, sample| state.sample(sample).map(|now| now["spec"].clone());
    prepared.manifests.samples.iter().all(|sample| spec(one, sample) == spec(other, sample))
}

/// What is still there after all was deleted.
pub(super) fn left(
    check: Check,
    prepared: &Prepared,
    course: &Course,
    (state, timeline): (&State, &Timeline),
) -> Option<Finding> {
    let samples = &prepared.manifests.samples;
    let stays = |kept: &Kept| {
        let is_sample = samples.iter().any(|sample| is_same(sample, &kept.origin));
        kept.may_stay() || course.propagation == Propagation::Orphan && !is_sample
    };
    let kept: Vec<&String> = state.objects.iter().filter(|(_, kept)| !stays(kept)).map(|(key, _)| key).collect();
    if kept.is_empty() {
        return None;
    }
    let stuck = samples.iter().filter_map(|sample| state.sample(sample)).find_map(|now| {
        let finalizers = now["metadata"]["finalizers"].as_array().filter(|list| !list.is_empty())?;
        Some(format!(
            "{} {} is still there: it has the finalizers {}",
            text(now, "kind"),
            name(now),
            Value::from(finalizers.clone())
        ))
    });
    let (problem, hint) = match stuck {
        Some(stuck) => (
            format!("the deletion does not end; {stuck}"),
            "look at what its teardown waits for: a finalizer may leave only when what it guards is gone, but then it must",
        ),
        None => (
            format!("{} objects are left after the deletion", kept.len()),
            "give what is made an owner reference, or remove it in the teardown, and store the finalizer before the first is made",
        ),
    };
    let difference = kept.into_iter().map(|key| format!("+ {key}")).collect();
    Some(finding(check, problem, hint, course, difference, timeline))
}

/// What went wrong without a comparison.
pub(super) fn trouble(check: Check, prepared: &Prepared, course: &Course, lived: &Lived) -> Option<Finding> {
    let (problem, hint, lines) = match lived.trouble.clone()? {
        Trouble::Setup(why) => (why, "mend the manifests or the sample; nothing more was tried", Vec::new()),
        Trouble::Ended(why) => (
            format!("the process of {} ended by itself: {why}", prepared.name),
            "contain panics and errors of a pass; a process that ends takes all objects with it",
            Vec::new(),
        ),
        Trouble::Restless(after) => {
            let (what, hint) = match silent(&lived.timeline) {
                Some(silent) => (format!("it waits for {silent} over a silent connection"), hint::OF_SILENCE),
                None => {
                    let repeated = repeated(&lived.timeline);
                    (format!("it asks for the same again and again: {repeated}"), hint::of_unrest(after))
                }
            };
            (format!("it never comes to rest after {after}; {what}"), hint, Vec::new())
        }
        Trouble::Busy(calls) => (
            format!("it makes {} calls although there is nothing to do", calls.len()),
            "compare with what is there before you write, and read from the cache",
            calls,
        ),
        Trouble::Endless(after, write) => (
            format!("it never comes to rest: after {after}, {write}"),
            hint::of_endless(after, &write, &prepared.name),
            Vec::new(),
        ),
        Trouble::Polling(reads) => (
            format!("it repeats {} reads more than once a second although there is nothing to do", reads.len()),
            "watch in place of reading, or read less often",
            reads,
        ),
        Trouble::Meddled(what) => (
            what,
            "change and delete only what you have made: by its owner reference, by a label of yours and its owner, never all of a namespace",
            Vec::new(),
        ),
        Trouble::Overwritten(what) => (
            format!("{what} lost a finalizer of somebody else"),
            "add and remove your own finalizer only: never write the whole list, and check the resourceVersion",
            Vec::new(),
        ),
        Trouble::Ungated(what) => {
            (what, "remove the finalizer only when a live read says that what was made is really gone", Vec::new())
        }
    };
    Some(finding(check, problem, hint, course, lines, &lived.timeline))
}

/// What came last, if nothing comes over its connection any more.
fn silent(timeline: &Timeline) -> Option<String> {
    timeline.moments.iter().rev().find_map(|moment| match &moment.what {
        Happening::Call(call) => Some(matches!(call.fault, Some(Fault::Silence { .. })).then(|| {
            let path = call.path();
            format!("the answer of {} {path}", call.method)
        })),
        Happening::Event(event) => {
            Some((event.fault == Some(EventFault::Silence)).then(|| format!("the next events of {}", event.kind)))
        }
        _ => None,
    })?
}

/// The call that is made most often.
fn repeated(timeline: &Timeline) -> String {
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for call in timeline.calls().filter(|call| !call.is_watch()) {
        let path = call.path();
        *counts.entry(format!("{} {path}", call.method)).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or_else(|| "nothing".to_owned(), |(call, count)| format!("{call}, {count} times"))
}

/// What an undisturbed run says about itself.
pub(super) fn convergence(prepared: &Prepared, reference: &Reference) -> Vec<Finding> {
    let course = Course::undisturbed(1);
    let mut findings = Vec::new();
    if reference.made.wanted(&prepared.name).objects.is_empty() {
        let problem = format!("{} does nothing for its samples: no object names it as a field manager", prepared.name);
        let hint =
            "write under field managers that begin with its name, and see whether it watches what the samples are";
        findings.push(finding(Check::Convergence, problem, hint, &course, Vec::new(), &reference.timeline));
    }
    for sample in &prepared.manifests.samples {
        let Some(now) = reference.made.sample(sample) else { continue };
        let what = format!("{} {}", text(now, "kind"), name(now));
        for condition in now["status"]["conditions"].as_array().into_iter().flatten() {
            if is_unmet(condition) {
                let (type_, reason, message) =
                    (text(condition, "type"), text(condition, "reason"), text(condition, "message"));
                let problem = format!("{what} does not become {type_}: {reason}: {message}");
                let hint = "give the trial a sample that can be built, or mend what the condition says";
                findings.push(finding(Check::Convergence, problem, hint, &course, Vec::new(), &reference.timeline));
            }
        }
        let observed = &now["status"]["observedGeneration"];
        if !observed.is_null() && *observed != now["metadata"]["generation"] {
            let problem =
                format!("{what} says that it has seen generation {observed} of {}", now["metadata"]["generation"]);
            let hint = "write observedGeneration from the object that the pass has worked on";
            findings.push(finding(Check::Convergence, problem, hint, &course, Vec::new(), &reference.timeline));
        }
    }
    findings
}

/// The run itself broke.
pub(super) fn broken(check: Check, course: &Course, why: &str) -> Finding {
    let hint = "this is a defect of the trial, not of the program: please report it with the course";
    finding(check, format!("the run itself panicked: {why}"), hint, course, Vec::new(), &Timeline::default())
}

pub(super) fn differs(check: Check, what: &str, course: &Course, lines: Vec<String>, timeline: &Timeline) -> Finding {
    let hint = hint::of(check, course, &lines);
    finding(check, what.to_owned(), hint, course, lines, timeline)
}

pub(super) fn finding(
    check: Check,
    problem: String,
    hint: &str,
    course: &Course,
    difference: Vec<String>,
    timeline: &Timeline,
) -> Finding {
    Finding {
        check,
        problem,
        hint: hint.to_owned(),
        course: course.to_string(),
        difference,
        timeline: timeline.clone(),
    }
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().unwrap_or_default()
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// The name with the namespace in front.
fn place(object: &Value) -> String {
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{}", name(object)),
        None => name(object).to_owned(),
    }
}
