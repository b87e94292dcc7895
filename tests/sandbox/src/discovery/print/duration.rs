//! Formats durations in short units, as kubectl does.

use jiff::Timestamp;

/// Formats the time since a timestamp; `<unknown>` if the text is no timestamp.
pub(super) fn since(timestamp: &str, now: Timestamp) -> String {
    timestamp.parse::<Timestamp>().map_or_else(|_| "<unknown>".to_owned(), |start| between(start, now))
}

/// Formats a duration with at most two units, coarser for longer durations, like `duration.HumanDuration`: `90s`,
/// `2m5s`, `3h`, `5d2h`, `1y20d`.
pub(super) fn between(start: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(start).as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let (days, years) = (hours / 24, hours / (24 * 365));
    // The limits are 2 and 10 minutes, 3 and 8 hours, 2 and 8 days, 2 and 8 years.
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two_units(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two_units(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two_units(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two_units(years, "y", days % 365, "d"),
        _ => format!("{years}y"),
    }
}

/// Joins an amount of a coarse unit and one of a fine unit; leaves out a fine amount of 0.
fn two_units(coarse: i64, coarse_unit: &str, fine: i64, fine_unit: &str) -> String {
    if fine == 0 { format!("{coarse}{coarse_unit}") } else { format!("{coarse}{coarse_unit}{fine}{fine_unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_durations_have_coarser_units() {
        let formatted =
            |seconds: i64| between(Timestamp::UNIX_EPOCH, Timestamp::from_second(seconds).unwrap_or_default());
        let expected = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (63_158_400, "2y1d"),
            (252_288_000, "8y"),
        ];
        for (seconds, text) in expected {
            assert_eq!(formatted(seconds), text, "{seconds}");
        }
    }
}
