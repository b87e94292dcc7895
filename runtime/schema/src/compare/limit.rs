//! Compares the limits of a value: bounds, patterns, formats and enums.

use serde_json::Value;

use super::{
    change::{Breaks, Changes},
    path::display_path,
};
use crate::{flag, list};

/// The keywords of upper bounds.
const UPPER: [&str; 4] = ["maximum", "maxLength", "maxItems", "maxProperties"];
/// The keywords of lower bounds.
const LOWER: [&str; 4] = ["minimum", "minLength", "minItems", "minProperties"];
/// The keywords whose old and new value don't show which of them admits more values.
const INCOMPARABLE: [&str; 3] = ["pattern", "format", "multipleOf"];
/// The keywords that admit less if they are true.
const SWITCHES: [&str; 3] = ["exclusiveMaximum", "exclusiveMinimum", "uniqueItems"];

/// Compares the limits of two schemas. A limit that admits fewer values is breaking, since stored objects and requests may become invalid;
/// a limit that admits more values is harmless.
pub(super) fn compare_limits(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    // An upper bound is tighter if it is lower than before, and a lower bound if it is higher.
    for (keywords, is_tighter) in
        [(UPPER, (|before, after| after < before) as fn(f64, f64) -> bool), (LOWER, |before, after| after > before)]
    {
        for keyword in keywords {
            compare_bound(keyword, (old[keyword].as_f64(), new[keyword].as_f64()), is_tighter, path, changes);
        }
    }
    // Another value of such a keyword may admit fewer values, so it counts as tighter.
    for keyword in INCOMPARABLE {
        match (old.get(keyword), new.get(keyword)) {
            (None, Some(after)) => add_tighter(path, format!("`{keyword}` is {after}"), changes),
            (Some(before), Some(after)) if before != after => {
                add_tighter(path, format!("`{keyword}` was {before} and is {after}"), changes);
            }
            (Some(before), None) => add_looser(path, format!("`{keyword}` was {before} and is removed"), changes),
            _ => {}
        }
    }
    for keyword in SWITCHES {
        match (flag(old, keyword), flag(new, keyword)) {
            (false, true) => add_tighter(path, format!("`{keyword}` is on"), changes),
            (true, false) => add_looser(path, format!("`{keyword}` is off"), changes),
            _ => {}
        }
    }
    compare_enums(old, new, path, changes);
}

/// Compares the old and the new value of one bound, such as `maximum`; `None` if the schema has no such bound. `is_tighter` returns whether
/// its second argument admits fewer values than its first one.
fn compare_bound(
    keyword: &str,
    bounds: (Option<f64>, Option<f64>),
    is_tighter: fn(f64, f64) -> bool,
    path: &str,
    changes: &mut Changes,
) {
    match bounds {
        (None, Some(after)) => add_tighter(path, format!("`{keyword}` is {after}"), changes),
        (Some(before), None) => add_looser(path, format!("`{keyword}` was {before} and is removed"), changes),
        (Some(before), Some(after)) if is_tighter(before, after) => {
            add_tighter(path, format!("`{keyword}` was {before} and is {after}"), changes);
        }
        (Some(before), Some(after)) if is_tighter(after, before) => {
            add_looser(path, format!("`{keyword}` was {before} and is {after}"), changes);
        }
        _ => {}
    }
}

fn add_tighter(path: &str, what: String, changes: &mut Changes) {
    changes.add(display_path(path), Breaks::BOTH, format!("{what}: existing values may be invalid"));
}

fn add_looser(path: &str, what: String, changes: &mut Changes) {
    changes.add(display_path(path), Breaks::NOTHING, format!("{what}: more values are valid"));
}

/// Compares the enums. A removed value makes stored objects and requests invalid. An added value breaks clients that read the field and
/// know only the old values.
fn compare_enums(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    let (before, after) = (list(old, "enum"), list(new, "enum"));
    match (old.get("enum").is_some(), new.get("enum").is_some()) {
        (false, true) => return add_tighter(path, "it takes only the values of an enum".to_owned(), changes),
        (true, false) => {
            return changes.add(
                display_path(path),
                Breaks::CLIENTS,
                "its enum is removed: a client that reads it must know other values",
            );
        }
        _ => {}
    }
    for value in before.iter().filter(|value| !after.contains(value)) {
        changes.add(
            display_path(path),
            Breaks::BOTH,
            format!("the value {value} is removed: objects with it are invalid"),
        );
    }
    for value in after.iter().filter(|value| !before.contains(value)) {
        changes.add(
            display_path(path),
            Breaks::CLIENTS,
            format!("the value {value} is added, which a client that reads it must know"),
        );
    }
}
