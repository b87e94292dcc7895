//! When a CronJob runs: `MINUTE HOUR DAY MONTH WEEKDAY`, or a word for one of the usual ones.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// The times of a schedule.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// A day of the month or of the week is enough, where both are said.
    either_day: bool,
    zone: TimeZone,
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// How far ahead a time is looked for: a leap day may be eight years away.
const DAYS_AHEAD: u32 = 9 * 366;

impl Schedule {
    /// `None` for what is no schedule.
    pub(super) fn of(written: &str, zone: Option<&str>) -> Option<Self> {
        let written = match written.trim() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            other => other,
        };
        let fields: Vec<&str> = written.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else { return None };
        let any = |field: &str| field.starts_with('*') || field.starts_with('?');
        let mut weekday_set = set(weekdays, 0, 7, &WEEKDAYS, 0)?;
        if weekday_set & 1 << 7 != 0 {
            weekday_set |= 1;
        }
        Some(Self {
            minutes: set(minutes, 0, 59, &[], 0)?,
            hours: set(hours, 0, 23, &[], 0)?,
            days: set(days, 1, 31, &[], 0)?,
            months: set(months, 1, 12, &MONTHS, 1)?,
            weekdays: weekday_set,
            either_day: !any(days) && !any(weekdays),
            zone: zone.map_or(Some(TimeZone::UTC), |zone| TimeZone::get(zone).ok())?,
        })
    }

    /// The first time after another.
    pub(super) fn after(&self, time: Timestamp) -> Option<Timestamp> {
        let minute = time.as_second().div_euclid(60) + 1;
        let mut at = Timestamp::from_second(minute * 60).ok()?;
        let mut days = 0;
        while days < DAYS_AHEAD {
            let local = at.to_zoned(self.zone.clone());
            if !self.is_day(&local) {
                days += 1;
                at = local.tomorrow().ok()?.start_of_day().ok()?.timestamp();
            } else if self.hours & 1 << local.hour() == 0 {
                at = at.checked_add(SignedDuration::from_mins(i64::from(60 - local.minute()))).ok()?;
            } else if self.minutes & 1 << local.minute() == 0 {
                at = at.checked_add(SignedDuration::from_mins(1)).ok()?;
            } else {
                return Some(at);
            }
        }
        None
    }

    /// The last time after one and not after another.
    pub(super) fn last_between(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        let mut last = None;
        let mut next = self.after(after);
        while let Some(at) = next.filter(|at| *at <= until) {
            last = Some(at);
            next = self.after(at);
        }
        last
    }

    fn is_day(&self, local: &jiff::Zoned) -> bool {
        let day = self.days & 1 << local.day() != 0;
        let weekday = self.weekdays & 1 << local.weekday().to_sunday_zero_offset() != 0;
        let both = if self.either_day { day || weekday } else { day && weekday };
        both && self.months & 1 << local.month() != 0
    }
}

/// `*`, `1-5`, `*/15`, `1,2`, `mon`: the numbers as bits.
fn set(written: &str, least: u32, most: u32, names: &[&str], first: u32) -> Option<u64> {
    let number = |word: &str| {
        let named = names.iter().position(|name| word.eq_ignore_ascii_case(name));
        let number = named.and_then(|at| u32::try_from(at).ok()).map(|at| at + first).or_else(|| word.parse().ok());
        number.filter(|number| (least..=most).contains(number))
    };
    let mut bits = 0;
    for part in written.split(',') {
        let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
        let (from, to) = match range {
            "*" | "?" => (least, most),
            _ => match range.split_once('-') {
                Some((from, to)) => (number(from)?, number(to)?),
                None => (number(range)?, if step.is_some() { most } else { number(range)? }),
            },
        };
        let step = step.map_or(Some(1), |step| step.parse::<usize>().ok().filter(|step| *step > 0))?;
        if from > to {
            return None;
        }
        (from..=to).step_by(step).for_each(|number| bits |= 1 << number);
    }
    Some(bits)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_next_time_is_found() {
        for (schedule, after, next) in [
            ("* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
            ("*/15 * * * *", "2026-01-01T00:16:30Z", "2026-01-01T00:30:00Z"),
            ("30 6 * * mon-fri", "2026-01-02T07:00:00Z", "2026-01-05T06:30:00Z"),
            ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("0 12 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T12:00:00Z"),
            ("@monthly", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
            ("5 4 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T04:05:00Z"),
        ] {
            let found = Schedule::of(schedule, None).unwrap().after(after.parse().unwrap()).unwrap();
            assert_eq!(found.to_string(), next, "{schedule}");
        }
        assert!(Schedule::of("61 * * * *", None).is_none());
        assert!(Schedule::of("* * * *", None).is_none());
        assert!(Schedule::of("0 0 31 2 *", None).unwrap().after(Timestamp::UNIX_EPOCH).is_none());
    }
}
