//! Parses durations in the values of options, such as `1h30m`.

use std::time::Duration;

/// The fix in messages about an invalid duration.
pub(super) const DURATION_FIX: &str =
    "use a number and a unit, for example `\"500ms\"`, `\"60s\"`, `\"5m\"` or `\"1h\"`";

/// Parses a duration such as `1h30m`, `500ms` or `30d`: numbers, each with one of the units `ms`, `s`, `m`, `h` and `d`. Returns `None` if
/// the text is invalid or the duration overflows.
pub(super) fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let (number, unit_and_rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let unit =
            unit_and_rest.get(..unit_and_rest.find(|c: char| c.is_ascii_digit()).unwrap_or(unit_and_rest.len()))?;
        let number: u64 = number.parse().ok()?;
        let part = match unit {
            "ms" => Duration::from_millis(number),
            "s" => Duration::from_secs(number),
            "m" => Duration::from_secs(number.checked_mul(60)?),
            "h" => Duration::from_secs(number.checked_mul(3600)?),
            "d" => Duration::from_secs(number.checked_mul(86_400)?),
            _ => return None,
        };
        total = total.checked_add(part)?;
        rest = unit_and_rest.get(unit.len()..)?;
    }
    (!text.is_empty()).then_some(total)
}
