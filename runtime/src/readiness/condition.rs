//! Readiness that is told by conditions.

use super::verdict::{Readiness, held_up, waiting};
use crate::bounds::foreign;
use serde_json::Value;

pub(super) fn find<'a>(status: &'a Value, type_: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

/// Ready when this condition is true.
pub(super) fn of_condition(status: &Value, type_: &str) -> Readiness {
    match find(status, type_) {
        Some(condition) if condition["status"] == "True" => Readiness::Ready,
        Some(condition) => match condition["reason"].as_str() {
            Some(reason) if !reason.is_empty() => waiting(format!("it is not {type_} ({reason})")),
            _ => waiting(format!("it is not {type_}")),
        },
        None => waiting(format!("it is not {type_} yet")),
    }
}

/// The rule for kinds without a rule of their own (frameworks K7). A condition of an earlier generation says nothing.
pub(super) fn conditions(generation: i64, status: &Value) -> Readiness {
    let is_current = |condition: &&Value| condition["observedGeneration"].as_i64().is_none_or(|of| of >= generation);
    let is_true = |type_| find(status, type_).filter(|held| held["status"] == "True").filter(is_current);
    if let Some(stalled) = is_true("Stalled") {
        return held_up(said("it is stalled", stalled));
    }
    if let Some(reconciling) = is_true("Reconciling") {
        let reason = reconciling["reason"].as_str().unwrap_or("Reconciling");
        return waiting(format!("it is being reconciled ({reason})"));
    }
    match find(status, "Ready").or_else(|| find(status, "Available")) {
        Some(held) if !is_current(&held) => waiting("its controller has not seen the latest change"),
        Some(held) => of_condition(status, held["type"].as_str().unwrap_or("Ready")),
        None => Readiness::Ready,
    }
}

/// What is the matter, with the reason and the message of a condition.
pub(super) fn said(what: &str, condition: &Value) -> String {
    let mut text = what.to_owned();
    if let Some(reason) = condition["reason"].as_str().filter(|reason| !reason.is_empty()) {
        text.push_str(&format!(" ({reason})"));
    }
    let message = stable(condition["message"].as_str().unwrap_or_default());
    if !message.is_empty() {
        text.push_str(": ");
        text.push_str(&message);
    }
    foreign(&text)
}

/// Longer messages are cut.
const WORDS: usize = 40;

/// A message without what differs from one look to the next: counts, and the names that are generated for Pods.
pub(super) fn stable(message: &str) -> String {
    let mut words = Vec::new();
    for word in message.split_whitespace().take(WORDS) {
        let kept = if is_volatile(word) { "…" } else { word };
        if kept != "…" || words.last() != Some(&"…") {
            words.push(kept);
        }
    }
    words.join(" ")
}

fn is_volatile(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_count = |text: &str| text.chars().next().is_some_and(|c| c.is_ascii_digit());
    let counted = word.split('=').skip(1).any(is_count);
    is_count(bare) || counted || word.split(|c: char| !c.is_alphanumeric()).skip(1).any(is_generated)
}

/// Whether part of a name looks like what Kubernetes appends to names: some of these characters, which make no words.
///
/// Source: `k8s.io/apimachinery/pkg/util/rand`.
fn is_generated(part: &str) -> bool {
    (5..=10).contains(&part.len()) && part.chars().all(|c| "bcdfghjklmnpqrstvwxz2456789".contains(c))
}
