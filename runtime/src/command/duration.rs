//! Parses durations of the command line, such as `90s`.

use std::time::Duration;

/// Parses a duration of the command line, for example `90s` or `2m 30s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let time = text.parse::<jiff::SignedDuration>().map_err(|error| error.to_string())?;
    let time = Duration::try_from(time).map_err(|_| "a duration can't be negative".to_owned())?;
    if time.is_zero() { Err("a duration must be greater than zero".to_owned()) } else { Ok(time) }
}
