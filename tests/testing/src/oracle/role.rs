//! Reports permissions that the role of a program lacks or that no run uses.

use std::collections::BTreeSet;

use opgen_sandbox::fault::Timeline;

use crate::{check::Check, permission::Permission, report::Finding, schedule::Schedule};

/// Returns a finding about the permissions that the role lacks. `run` is the first run in which the server denied a call; without such a
/// run, returns `None`.
pub(crate) fn missing_permissions(
    permissions: &BTreeSet<Permission>,
    run: Option<(Schedule, Timeline)>,
) -> Option<Finding> {
    let (schedule, timeline) = run?;
    let permissions: Vec<String> = permissions.iter().map(ToString::to_string).collect();
    Some(Finding {
        check: Check::Role,
        problem: format!("the role does not allow {}", permissions.join(", ")),
        hint: "add the rule to the role; in an opgen tree, declare it with `access(...)` on the node".to_owned(),
        schedule: schedule.to_string(),
        difference: Vec::new(),
        timeline,
    })
}

/// Returns a finding about the permissions that no run used; `None` if there are none.
pub(crate) fn unused_permissions(permissions: &[&Permission]) -> Option<Finding> {
    if permissions.is_empty() {
        return None;
    }
    Some(Finding {
        check: Check::Role,
        problem: format!("{} rights of the role were never used", permissions.len()),
        hint: "remove them from the role, or add a sample that needs them".to_owned(),
        schedule: Schedule::default().to_string(),
        difference: permissions.iter().map(|permission| format!("+ {permission}")).collect(),
        timeline: Timeline::default(),
    })
}
