//! Parses durations of the command line and of the configuration file, such as `90s`.

use serde::{Deserialize, Deserializer, de::Error};
use std::time::Duration;

/// Parses a duration greater than zero, for example `90s` or `2m 30s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let time = duration_or_zero(text)?;
    if time.is_zero() { Err("a duration must be greater than zero".to_owned()) } else { Ok(time) }
}

/// Parses a duration, which may be zero, for example `90s` or `0s`.
pub(super) fn duration_or_zero(text: &str) -> Result<Duration, String> {
    let time = text.parse::<jiff::SignedDuration>();
    let time = time.map_err(|_| format!("{text:?} is no duration; use a number with a unit, such as 90s or 2m 30s"))?;
    Duration::try_from(time).map_err(|_| "a duration can't be negative".to_owned())
}

/// Deserializes a duration greater than zero.
pub(super) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parse(deserializer, duration)
}

/// Deserializes a duration, which may be zero.
pub(super) fn optional_or_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parse(deserializer, duration_or_zero)
}

/// Deserializes an optional text, and parses it with the parser of the flag for the same option.
pub(super) fn parse<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parser: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    Option::<String>::deserialize(deserializer)?.map(|text| parser(&text).map_err(D::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit_and_is_greater_than_zero() {
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration_or_zero("0s"), Ok(Duration::ZERO));
        for wrong in ["", "5", "0s", "-5s", "soon"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert!(duration_or_zero("-1s").is_err());
    }
}
