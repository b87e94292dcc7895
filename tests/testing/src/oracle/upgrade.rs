//! Reports objects that an upgrade or a downgrade of the operator replaced although both releases want them.

use super::{baseline::Baseline, case::Case};
use crate::{
    diff::Noise,
    object::{is_same_object, label, text},
    report::Finding,
    snapshot::{Entry, Snapshot},
    target::Target,
};

/// Returns a finding about the children that both releases want and that the upgrade, or else the downgrade after it, replaced: another
/// UID, a deletion in progress, or a new random value. `None` if there are none.
pub(super) fn replaced_objects(case: &Case<'_>, older: &Target, baseline: &Baseline) -> Option<Finding> {
    let (outcome, noise) = (case.outcome, &baseline.noise);
    let first = children(older, outcome.after_create.as_ref()?);
    let second = children(case.target, outcome.after_edit.as_ref()?.as_ref().ok()?);
    let upgraded = replacement_lines(&first, &second, noise);
    let (step, lines) = match outcome.after_recovery.as_ref() {
        Some(downgraded) if upgraded.is_empty() => {
            ("downgrade", replacement_lines(&second, &children(older, downgraded), noise))
        }
        _ => ("upgrade", upgraded),
    };
    let objects: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("  ")).collect();
    if objects.is_empty() {
        return None;
    }
    let problem = format!("the {step} replaced objects that both releases need: {}", objects.join(", "));
    let hint = "before a delete, check whether another part of the program needs an object of this name, and let that part take the object over";
    Some(case.finding(problem, hint, lines))
}

/// Returns the children of the samples in a snapshot that a release has written.
fn children<'a>(release: &'a Target, snapshot: &'a Snapshot) -> Vec<&'a Entry> {
    snapshot.children(&release.name, &release.manifests.samples).collect()
}

/// Returns lines about the objects in both lists that have another UID, another deletion timestamp or another random value in the second:
/// the name of each object, and then its changes.
fn replacement_lines(first: &[&Entry], second: &[&Entry], noise: &Noise) -> Vec<String> {
    let mut lines = Vec::new();
    for before in first {
        let Some(after) = second.iter().find(|after| is_same_object(&before.raw, &after.raw)) else { continue };
        let key = label(&after.raw);
        let mut changes = Vec::new();
        for at in ["/metadata/uid", "/metadata/deletionTimestamp"] {
            let (was, is) = (text(&before.raw, at), text(&after.raw, at));
            if was != is {
                changes.extend([
                    format!("-   {}: {was:?}", at.replace('/', ".")),
                    format!("+   {}: {is:?}", at.replace('/', ".")),
                ]);
            }
        }
        let generated = noise.changed_random_values(&key, before, after);
        changes.extend(generated.into_iter().map(|at| format!("+   {at}: another value was generated")));
        if !changes.is_empty() {
            lines.push(format!("  {key}"));
            lines.extend(changes);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns an object with a UID, and with `value` in its data.
    fn object(kind: &str, uid: &str, value: &str) -> Value {
        json!({"kind": kind, "metadata": {"name": "a", "namespace": "n", "uid": uid}, "data": {"tls.key": value}})
    }

    /// Returns the lines about the objects that are replaced between two snapshots.
    fn lines(first: Vec<Value>, second: Vec<Value>, noise: &Noise) -> Vec<String> {
        let (first, second) = (Snapshot::of(first), Snapshot::of(second));
        replacement_lines(
            &first.objects.values().collect::<Vec<_>>(),
            &second.objects.values().collect::<Vec<_>>(),
            noise,
        )
    }

    #[test]
    fn an_object_of_both_releases_with_another_uid_is_replaced() {
        let (one, other) = (object("ConfigMap", "1", "x"), object("ConfigMap", "2", "x"));
        let expected = ["  ConfigMap n/a", "-   .metadata.uid: \"1\"", "+   .metadata.uid: \"2\""];
        assert_eq!(lines(vec![one.clone()], vec![other], &Noise::default()), expected);
        assert!(lines(vec![one.clone()], vec![one.clone()], &Noise::default()).is_empty());
        assert!(lines(vec![one.clone()], Vec::new(), &Noise::default()).is_empty());
        let mut deleting = one.clone();
        deleting["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(lines(vec![one], vec![deleting], &Noise::default()).len(), 3);
    }

    #[test]
    fn a_changed_value_is_reported_only_if_it_is_generated() {
        let secret = |value: &str| object("Secret", "1", value);
        // A value is generated if it differs between two undisturbed runs.
        let noise = Noise::between(&Snapshot::of(vec![secret("x")]), &Snapshot::of(vec![secret("y")]));
        let expected = ["  Secret n/a", "+   .data.tls.key: another value was generated"];
        assert_eq!(lines(vec![secret("x")], vec![secret("z")], &noise), expected);
        assert!(lines(vec![secret("x")], vec![secret("z")], &Noise::default()).is_empty());
    }
}
