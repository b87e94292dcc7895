//! Checks the bucket of a kind, `#[managed(nats(...))]`, by the rules of NATS.

use crate::{
    diag::Diags,
    model::{
        bucket::{Bucket, MAX_HISTORY, MAX_REPLICAS},
        managed::Managed,
    },
};
use std::time::Duration;
use syn::LitInt;

/// The minimum of `max_age`: the shortest TTL that NATS takes for the markers by which watches see that an entry has expired.
const MIN_AGE: Duration = Duration::from_secs(1);

/// Checks the settings of the NATS bucket that keeps the objects of a kind, if the kind has a bucket. Reports a bucket of a kind with
/// several versions, since opgen does not convert the values in a bucket.
pub(super) fn check(model: &Managed, diags: &mut Diags) {
    let Some(bucket) = &model.bucket else { return };
    if model.has_versions {
        diags.error(
            &bucket.key,
            "a kind with several versions can't be in a bucket",
            "remove `nats(...)`, or remove `#[versions(...)]` and keep one version",
        );
    }
    check_name(bucket, diags);
    check_number("history", bucket.history.as_ref(), MAX_HISTORY, diags);
    check_number("replicas", bucket.replicas.as_ref(), MAX_REPLICAS, diags);
    if let Some(text) = &bucket.max_age {
        match bucket.age() {
            None => diags.error(
                text,
                format!("`\"{}\"` is not a duration", text.value()),
                "use a number and a unit, for example `\"30m\"`, `\"12h\"` or `\"30d\"`",
            ),
            Some(age) if age < MIN_AGE => {
                diags.error(text, "NATS keeps entries for at least 1 s", "use a longer time, or remove `max_age`");
            }
            Some(_) => (),
        }
    }
    if let Some(storage) = bucket.storage.as_ref().filter(|text| !matches!(text.value().as_str(), "file" | "memory")) {
        let problem = format!("`\"{}\"` is not a storage of NATS", storage.value());
        diags.error(storage, problem, "use `\"file\"` or `\"memory\"`");
    }
}

/// Checks that the bucket has a name, and that the name has only characters that NATS allows: the name is a part of NATS subjects.
fn check_name(bucket: &Bucket, diags: &mut Diags) {
    let Some(name) = &bucket.name else {
        return diags.error(
            &bucket.key,
            "missing `bucket` in `nats(...)`",
            "add the name, for example `bucket = \"units\"`",
        );
    };
    let text = name.value();
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if text.is_empty() || !text.chars().all(is_valid) {
        let problem = format!("`\"{text}\"` is not a valid name of a bucket");
        diags.error(name, problem, "use letters, digits, `-` and `_`, for example `units`");
    }
}

/// Checks that a number is from 1 to `max`.
fn check_number(key: &str, number: Option<&LitInt>, max: u64, diags: &mut Diags) {
    let Some(number) = number else { return };
    let in_range = number.base10_parse::<u64>().is_ok_and(|value| (1..=max).contains(&value));
    if !in_range {
        let problem = format!("`{key}` is `{}`, but NATS allows 1 to {max}", number.base10_digits());
        diags.error(number, problem, format!("use a number from 1 to {max}"));
    }
}
