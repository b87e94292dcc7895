//! Computes the readiness of an object from its status conditions.

use super::verdict::{Readiness, held_up, waiting};
use crate::{bounds::foreign, kind::Kind};
use serde_json::Value;

/// Returns the condition of a type; `None` if the status has none.
pub(super) fn find_condition<'a>(status: &'a Value, type_: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

/// Returns ready if the status has a condition of this type with the status `True`, else not ready, with the reason of the condition.
pub(super) fn of_condition(status: &Value, type_: &str) -> Readiness {
    match find_condition(status, type_) {
        Some(condition) if condition["status"] == "True" => Readiness::Ready,
        Some(condition) => match condition["reason"].as_str() {
            Some(reason) if !reason.is_empty() => waiting(format!("it is not {type_} ({reason})")),
            _ => waiting(format!("it is not {type_}")),
        },
        None => waiting(format!("it is not {type_} yet")),
    }
}

/// Returns the readiness of an object by the rule of kstatus for kinds without a rule of their own: held up (without progress) if `Stalled`
/// is true, not ready if `Reconciling` is true, else by the condition `Ready` or `Available`. An object without these conditions is ready.
/// If a condition observed an earlier generation, `Stalled` and `Reconciling` don't count, and `Ready` and `Available` mean not ready.
pub(super) fn conditions(generation: i64, status: &Value) -> Readiness {
    let is_current =
        |condition: &&Value| condition["observedGeneration"].as_i64().is_none_or(|observed| observed >= generation);
    let is_true =
        |type_| find_condition(status, type_).filter(|condition| condition["status"] == "True").filter(is_current);
    if let Some(stalled) = is_true("Stalled") {
        return held_up(with_details("it is stalled", stalled));
    }
    if let Some(reconciling) = is_true("Reconciling") {
        let reason = reconciling["reason"].as_str().unwrap_or("Reconciling");
        return waiting(format!("it is being reconciled ({reason})"));
    }
    match find_condition(status, "Ready").or_else(|| find_condition(status, "Available")) {
        Some(condition) if !is_current(&condition) => waiting("its controller has not observed the latest change"),
        Some(condition) => of_condition(status, condition["type"].as_str().unwrap_or("Ready")),
        None => Readiness::Ready,
    }
}

/// Returns the readiness of an object of Flux. It is not ready before it has the condition `Ready`, and it is held up while this condition
/// is `False`: Flux sets `Unknown` while it works, and `False` when its work has failed.
///
/// A controller of Flux that waits for a source sets `observedGeneration` only in the condition, so this one is read first. A
/// `HelmRepository` of type `oci` has no status and is always ready.
pub(super) fn flux(kind: &Kind, generation: i64, spec: &Value, status: &Value) -> Readiness {
    if kind.kind == "HelmRepository" && spec["type"] == "oci" {
        return Readiness::Ready;
    }
    let Some(ready) = find_condition(status, "Ready") else { return waiting("it is not Ready yet") };
    let observed = ready["observedGeneration"].as_i64().or_else(|| status["observedGeneration"].as_i64());
    if observed.is_some_and(|observed| observed < generation) {
        return waiting("its controller has not observed the latest change");
    }
    if ready["status"] == "False" {
        return held_up(with_details("it is not Ready", ready));
    }
    conditions(generation, status)
}

/// Returns a problem followed by the reason and the message of a condition: `it is stalled (InvalidSpec): the name is too long`.
pub(super) fn with_details(problem: &str, condition: &Value) -> String {
    let mut text = problem.to_owned();
    if let Some(reason) = condition["reason"].as_str().filter(|reason| !reason.is_empty()) {
        text.push_str(&format!(" ({reason})"));
    }
    let message = stable_text(condition["message"].as_str().unwrap_or_default());
    if !message.is_empty() {
        text.push_str(": ");
        text.push_str(&message);
    }
    foreign(&text)
}

/// The maximum number of words of a message; longer messages are cut.
const MAX_WORDS: usize = 40;

/// Replaces the words of a message that change between two reads, such as counts and generated names of Pods, by `…`. Cuts the message
/// after [`MAX_WORDS`]. So a condition with the message does not change as long as the state is the same.
pub(super) fn stable_text(message: &str) -> String {
    let mut words = Vec::new();
    for word in message.split_whitespace().take(MAX_WORDS) {
        let shown_word = if is_volatile(word) { "…" } else { word };
        // Consecutive volatile words become one `…`.
        if shown_word != "…" || words.last() != Some(&"…") {
            words.push(shown_word);
        }
    }
    words.join(" ")
}

/// Returns whether a word of a message varies between states that are otherwise equal: it contains a number or a generated name.
fn is_volatile(word: &str) -> bool {
    let trimmed = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_count = |text: &str| text.chars().next().is_some_and(|c| c.is_ascii_digit());
    let has_count = word.split('=').skip(1).any(is_count);
    // A generated suffix follows a separator, as in `web-7d4b9c6f5-x2x9k`.
    is_count(trimmed) || has_count || word.split(|c: char| !c.is_alphanumeric()).skip(1).any(is_generated)
}

/// Returns whether part of a name looks like a suffix that Kubernetes generates: 5 to 10 characters of the alphabet of
/// `k8s.io/apimachinery/pkg/util/rand`, which has no vowels, so that the suffixes form no words.
fn is_generated(part: &str) -> bool {
    (5..=10).contains(&part.len()) && part.chars().all(|c| "bcdfghjklmnpqrstvwxz2456789".contains(c))
}
