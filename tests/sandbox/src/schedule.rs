//! Parses and evaluates the schedules of CronJobs like `robfig/cron`, which Kubernetes uses.
//!
//! A schedule is `MINUTE HOUR DAY MONTH WEEKDAY`, a macro like `@daily`, or `@every DURATION`.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// The times of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Schedule {
    Calendar(Calendar),
    /// A fixed interval after the previous time.
    Every(SignedDuration),
}

/// The minutes, hours, days, months and weekdays that a schedule matches, each as a bit set: bit n stands for number n.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Calendar {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether either the day of the month or the weekday is sufficient, because the schedule restricts both.
    either_day: bool,
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The maximum number of days to search ahead: the next leap day may be eight years away.
const DAYS_AHEAD: u32 = 9 * 366;

impl Schedule {
    /// Parses a schedule: five fields, a macro such as `@daily`, or `@every DURATION`. The error is the message of
    /// kube-apiserver.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.contains("TZ") {
            return Err("cannot use TZ or CRON_TZ in schedule, use timeZone field instead".to_owned());
        }
        if let Some(every) = text.strip_prefix("@every ") {
            return parse_interval(every).ok_or_else(|| format!("failed to parse duration {text}"));
        }
        let text = match text {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            word if word.starts_with('@') => return Err(format!("unrecognized descriptor: {word}")),
            fields => fields,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
        };
        let is_wildcard = |field: &str| field.starts_with(['*', '?']);
        Ok(Self::Calendar(Calendar {
            minutes: parse_field(minutes, 0, 59, &[])?,
            hours: parse_field(hours, 0, 23, &[])?,
            days: parse_field(days, 1, 31, &[])?,
            months: parse_field(months, 1, 12, &MONTHS)?,
            weekdays: parse_field(weekdays, 0, 6, &WEEKDAYS)?,
            either_day: !is_wildcard(days) && !is_wildcard(weekdays),
        }))
    }

    /// Returns the first scheduled time after a time; `None` if there is none in the next years.
    pub(crate) fn after(&self, time: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Self::Calendar(calendar) => calendar.after(time, zone),
            Self::Every(interval) => time.checked_add(*interval).ok(),
        }
    }

    /// Returns the last scheduled time after `after` and not after `until`; `None` if there is none.
    pub(crate) fn last_between(&self, after: Timestamp, until: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        if let Self::Every(interval) = self {
            let times = until.duration_since(after).as_secs() / interval.as_secs();
            let times = i32::try_from(times).ok().filter(|times| *times > 0)?;
            return after.checked_add(interval.checked_mul(times)?).ok();
        }
        let mut last = None;
        let mut next = self.after(after, zone);
        while let Some(time) = next.filter(|time| *time <= until) {
            last = Some(time);
            next = self.after(time, zone);
        }
        last
    }
}

impl Calendar {
    /// Returns the first matching minute after a time; `None` if there is none within `DAYS_AHEAD`. Skips to the next day,
    /// hour or minute until the candidate matches.
    fn after(&self, time: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let minute = time.as_second().div_euclid(60) + 1;
        let mut candidate = Timestamp::from_second(minute * 60).ok()?;
        let mut skipped_days = 0;
        while skipped_days < DAYS_AHEAD {
            let local = candidate.to_zoned(zone.clone());
            if !self.matches_day(&local) {
                skipped_days += 1;
                candidate = local.tomorrow().ok()?.start_of_day().ok()?.timestamp();
            } else if self.hours & 1 << local.hour() == 0 {
                candidate = candidate.checked_add(SignedDuration::from_mins(i64::from(60 - local.minute()))).ok()?;
            } else if self.minutes & 1 << local.minute() == 0 {
                candidate = candidate.checked_add(SignedDuration::from_mins(1)).ok()?;
            } else {
                return Some(candidate);
            }
        }
        None
    }

    /// Returns whether the schedule matches the day of a local time. The month must match. If the schedule restricts both
    /// the day of the month and the weekday, a match of one of these two is sufficient; otherwise both must match.
    fn matches_day(&self, local: &jiff::Zoned) -> bool {
        let day_matches = self.days & 1 << local.day() != 0;
        let weekday_matches = self.weekdays & 1 << local.weekday().to_sunday_zero_offset() != 0;
        let matches = if self.either_day { day_matches || weekday_matches } else { day_matches && weekday_matches };
        matches && self.months & 1 << local.month() != 0
    }
}

/// Parses the interval of `@every`, such as `1h30m`, in whole seconds and at least one; `None` if it is invalid.
fn parse_interval(text: &str) -> Option<Schedule> {
    let has_valid_characters = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.hmsnu".contains(&byte));
    let interval: SignedDuration = text.parse().ok().filter(|_| has_valid_characters)?;
    Some(Schedule::Every(SignedDuration::from_secs(interval.as_secs().max(1))))
}

/// Parses a field such as `*`, `1-5`, `*/15`, `1,2` or `mon` into a bit set; the error is kube-apiserver's message.
fn parse_field(field: &str, min: u32, max: u32, names: &[&str]) -> Result<u64, String> {
    field.split(',').try_fold(0, |bits, part| Ok(bits | parse_part(part, min, max, names)?))
}

/// Parses one part of a field, between commas, into a bit set: `*`, a number, a range, each with an optional step after a
/// slash. Rejects numbers outside `min` and `max`. `names` are alternative names of the numbers from `min` on.
fn parse_part(part: &str, min: u32, max: u32, names: &[&str]) -> Result<u64, String> {
    let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
    let number = |word: &str| {
        let index = names.iter().position(|name| name.eq_ignore_ascii_case(word));
        // Names of months start at 1, names of weekdays at 0.
        let number_of_name = index.and_then(|index| u32::try_from(index).ok()).map(|index| index + min);
        number_of_name.or_else(|| word.parse().ok()).ok_or_else(|| format!("failed to parse int from {word}"))
    };
    let (first, last) = match range {
        "*" | "?" => (min, max),
        _ => match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            // `5/10` means from 5 on.
            None if step.is_some() => (number(range)?, max),
            None => (number(range)?, number(range)?),
        },
    };
    if first < min {
        return Err(format!("beginning of range ({first}) below minimum ({min}): {part}"));
    }
    if last > max {
        return Err(format!("end of range ({last}) above maximum ({max}): {part}"));
    }
    if first > last {
        return Err(format!("beginning of range ({first}) beyond end of range ({last}): {part}"));
    }
    let step = match step.map(|step| (step, step.parse())) {
        None => 1,
        Some((_, Ok(0))) => return Err(format!("step of range should be a positive number: {part}")),
        Some((_, Ok(step))) => step,
        Some((step, Err(_))) => return Err(format!("failed to parse int from {step}")),
    };
    Ok((first..=last).step_by(step).fold(0, |bits, number| bits | 1 << number))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_next_time_after_a_time_is_found() {
        for (schedule, after, next) in [
            ("* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
            ("*/15 * * * *", "2026-01-01T00:16:30Z", "2026-01-01T00:30:00Z"),
            ("50/5 * * * *", "2026-01-01T00:16:30Z", "2026-01-01T00:50:00Z"),
            ("30 6 * * mon-fri", "2026-01-02T07:00:00Z", "2026-01-05T06:30:00Z"),
            ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("0 12 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T12:00:00Z"),
            ("@monthly", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
            ("5 4 * * sun", "2026-01-01T00:00:00Z", "2026-01-04T04:05:00Z"),
            ("@every 1h30m", "2026-01-01T00:00:07Z", "2026-01-01T01:30:07Z"),
            ("@every 0s", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"),
        ] {
            let schedule = Schedule::parse(schedule).unwrap();
            assert_eq!(
                schedule.after(after.parse().unwrap(), &TimeZone::UTC).unwrap().to_string(),
                next,
                "{schedule:?}"
            );
        }
        let never = Schedule::parse("0 0 31 2 *").unwrap();
        assert!(never.after(Timestamp::UNIX_EPOCH, &TimeZone::UTC).is_none());
    }

    #[test]
    fn the_last_time_within_a_period_is_found() {
        let (after, until) = ("2026-01-01T00:00:30Z".parse().unwrap(), "2026-01-01T01:00:00Z".parse().unwrap());
        for (schedule, last) in [
            ("*/25 * * * *", Some("2026-01-01T01:00:00Z")),
            ("@every 25m", Some("2026-01-01T00:50:30Z")),
            ("@every 2h", None),
            ("@daily", None),
        ] {
            let found = Schedule::parse(schedule).unwrap().last_between(after, until, &TimeZone::UTC);
            assert_eq!(found.map(|at| at.to_string()).as_deref(), last, "{schedule}");
        }
    }

    /// Compares with the beginnings of kube-apiserver's messages.
    #[test]
    fn an_invalid_schedule_is_an_error() {
        for (schedule, why) in [
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("0 0 * * 7", "end of range (7) above maximum (6): 7"),
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("*/x * * * *", "failed to parse int from x"),
            ("@often", "unrecognized descriptor: @often"),
            ("@every 5", "failed to parse duration @every 5"),
            ("@every 1 h", "failed to parse duration @every 1 h"),
            ("@every 1d", "failed to parse duration @every 1d"),
            ("TZ=UTC 0 0 * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
        ] {
            assert_eq!(Schedule::parse(schedule).unwrap_err(), why);
        }
    }
}
