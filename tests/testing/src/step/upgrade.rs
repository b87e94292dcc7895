//! Upgrades: an older release works first, the newer one takes over, and hands back.

use std::ops::Range;

use opgen_sandbox::fault::Fault;
use serde_json::Value;

use super::{Reference, TOGETHER, by_chance, judge, one};
use crate::{
    course::Course,
    difference::Noise,
    life::{Lived, text},
    prepared::Prepared,
    report::{Check, Finding},
    state::{Kept, State, is_same},
};

/// An upgrade at rest, one that is stopped after each call of the newer release's first passes, and some with faults.
pub(super) fn courses(prepared: &Prepared, older: &Prepared, seeds: Range<u64>) -> Vec<Course> {
    let upgrade = |course: Course| Course { upgrade: true, ..course };
    let at_rest = upgrade(Course::default());
    let lived = one(prepared, Some(older), &at_rest);
    let calls = lived.calls_to_make + 1..=lived.calls_to_upgrade;
    let stopped = calls.map(|call| upgrade(Course::stopped([(call, Fault::StopAfter)])));
    let disturbed = seeds.filter(|seed| seed.is_multiple_of(TOGETHER)).map(|seed| upgrade(by_chance(seed)));
    std::iter::once(at_rest).chain(stopped).chain(disturbed).collect()
}

/// What both releases want and what did not stay, by the upgrade or by the downgrade after it.
pub(super) fn not_kept(
    check: Check,
    (prepared, older): (&Prepared, &Prepared),
    reference: &Reference,
    course: &Course,
    lived: &Lived,
) -> Option<Finding> {
    let first = children(older, lived.made.as_ref()?);
    let second = children(prepared, lived.edited.as_ref()?.as_ref().ok()?);
    let upgraded = replaced(&first, &second, &reference.noise);
    let (step, lines) = match lived.mended.as_ref() {
        Some(state) if upgraded.is_empty() => {
            ("downgrade", replaced(&second, &children(older, state), &reference.noise))
        }
        _ => ("upgrade", upgraded),
    };
    let objects: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("  ")).collect();
    if objects.is_empty() {
        return None;
    }
    let problem = format!("the {step} replaced what both releases want: {}", objects.join(", "));
    let hint = "before you delete an object, ask whether any part of the program wants one of its name: let that part take it over, with its uid and with what was generated for it";
    Some(judge::finding(check, problem, hint, course, lines, &lived.timeline))
}

/// What a release has made itself.
fn children<'a>(release: &'a Prepared, state: &'a State) -> Vec<&'a Kept> {
    state.children(&release.name, &release.manifests.samples).collect()
}

/// The objects of both that are other ones in the second, are being deleted there, or have another generated value.
fn replaced(first: &[&Kept], second: &[&Kept], noise: &Noise) -> Vec<String> {
    let mut lines = Vec::new();
    for before in first {
        let Some(after) = second.iter().find(|after| is_same(&before.origin, &after.origin)) else { continue };
        let key = key(&after.origin);
        let mut differing = Vec::new();
        for at in ["/metadata/uid", "/metadata/deletionTimestamp"] {
            let (was, is) = (text(&before.origin, at), text(&after.origin, at));
            if was != is {
                differing.extend([
                    format!("-   {}: {was:?}", at.replace('/', ".")),
                    format!("+   {}: {is:?}", at.replace('/', ".")),
                ]);
            }
        }
        let generated = noise.generated_anew(&key, before, after);
        differing.extend(generated.into_iter().map(|at| format!("+   {at}: another value was generated")));
        if !differing.is_empty() {
            lines.push(format!("  {key}"));
            lines.extend(differing);
        }
    }
    lines
}

/// As the objects of a state are called.
fn key(object: &Value) -> String {
    let (namespace, name) = (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
    let place = if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") };
    format!("{} {place}", text(object, "/kind"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(kind: &str, uid: &str, value: &str) -> Value {
        json!({"kind": kind, "metadata": {"name": "a", "namespace": "n", "uid": uid}, "data": {"tls.key": value}})
    }

    fn lines(first: Vec<Value>, second: Vec<Value>, noise: &Noise) -> Vec<String> {
        let (first, second) = (State::of(first), State::of(second));
        replaced(&first.objects.values().collect::<Vec<_>>(), &second.objects.values().collect::<Vec<_>>(), noise)
    }

    #[test]
    fn an_object_of_both_releases_with_another_uid_is_replaced() {
        let (one, other) = (object("ConfigMap", "1", "x"), object("ConfigMap", "2", "x"));
        let expected = ["  ConfigMap n/a", "-   .metadata.uid: \"1\"", "+   .metadata.uid: \"2\""];
        assert_eq!(lines(vec![one.clone()], vec![other], &Noise::default()), expected);
        assert!(lines(vec![one.clone()], vec![one.clone()], &Noise::default()).is_empty());
        assert!(lines(vec![one.clone()], Vec::new(), &Noise::default()).is_empty());
        let mut going = one.clone();
        going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(lines(vec![one], vec![going], &Noise::default()).len(), 3);
    }

    #[test]
    fn only_a_generated_value_may_not_become_another_one() {
        let secret = |value: &str| object("Secret", "1", value);
        let noise = Noise::between(&State::of(vec![secret("x")]), &State::of(vec![secret("y")]));
        let expected = ["  Secret n/a", "+   .data.tls.key: another value was generated"];
        assert_eq!(lines(vec![secret("x")], vec![secret("z")], &noise), expected);
        assert!(lines(vec![secret("x")], vec![secret("z")], &Noise::default()).is_empty());
    }
}
