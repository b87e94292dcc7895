//! Findings about the role of a program.

use std::collections::BTreeSet;

use opgen_sandbox::fault::Timeline;

use super::judge::finding;
use crate::{
    course::Course,
    report::{Check, Finding},
    rights::Right,
};

/// What the role is too small for.
pub(super) fn lacking(rights: &BTreeSet<Right>, run: Option<(Course, Timeline)>) -> Option<Finding> {
    let (course, timeline) = run?;
    let rights: Vec<String> = rights.iter().map(ToString::to_string).collect();
    let problem = format!("the role does not allow {}", rights.join(", "));
    let hint = "add the rule to the role; in a tree of opgen, declare it with `access(...)` on the node";
    Some(finding(Check::Role, problem, hint, &course, Vec::new(), &timeline))
}

/// What the role allows for nothing.
pub(super) fn unused(rights: &[&Right]) -> Option<Finding> {
    if rights.is_empty() {
        return None;
    }
    let lines = rights.iter().map(|right| format!("+ {right}")).collect();
    let problem = format!("{} rights of the role were never used", rights.len());
    let hint = "take them from the role, or give the trial a sample that needs them";
    Some(finding(Check::Role, problem, hint, &Course::default(), lines, &Timeline::default()))
}
