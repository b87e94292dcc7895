//! Schedules of CronJobs: five fields, or a word.

const WORDS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Why a text is no schedule.
pub(super) fn fault(text: &str) -> Option<String> {
    if text.contains("TZ") {
        return Some("cannot use TZ or CRON_TZ in schedule, use timeZone field instead".to_owned());
    }
    if let Some(duration) = text.strip_prefix("@every ") {
        let known = duration.ends_with(['s', 'm', 'h']) && duration.starts_with(|letter: char| letter.is_ascii_digit());
        return (!known).then(|| format!("failed to parse duration {text}"));
    }
    if text.starts_with('@') {
        return (!WORDS.contains(&text)).then(|| format!("unrecognized descriptor: {text}"));
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != 5 {
        return Some(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    }
    let ranges: [(u32, u32, &[&str]); 5] = [(0, 59, &[]), (0, 23, &[]), (1, 31, &[]), (1, 12, &MONTHS), (0, 6, &DAYS)];
    let parts = fields.iter().zip(ranges).flat_map(|(field, range)| field.split(',').map(move |part| (part, range)));
    parts.into_iter().find_map(|(part, range)| part_fault(part, range))
}

/// `*`, `5`, `1-5`, `*/2`, `1-5/2`
fn part_fault(part: &str, (least, most, names): (u32, u32, &[&str])) -> Option<String> {
    let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
    let value = |text: &str| -> Option<u32> {
        let named = names.iter().position(|name| name.eq_ignore_ascii_case(text));
        // Names of months begin with the first, those of days with none.
        let named = named.and_then(|position| u32::try_from(position).ok()).map(|position| position + least);
        named.or_else(|| text.parse().ok())
    };
    if let Some(step) = step {
        match step.parse::<u32>() {
            Ok(0) => return Some(format!("step of range should be a positive number: {part}")),
            Ok(_) => {}
            Err(_) => return Some(format!("failed to parse int from {step}")),
        }
    }
    if matches!(range, "*" | "?") {
        return None;
    }
    let (from, to) = range.split_once('-').unwrap_or((range, range));
    let (Some(from), Some(to)) = (value(from), value(to)) else {
        return Some(format!("failed to parse int from {range}"));
    };
    if from < least {
        return Some(format!("beginning of range ({from}) below minimum ({least}): {part}"));
    }
    if to > most {
        return Some(format!("end of range ({to}) above maximum ({most}): {part}"));
    }
    (from > to).then(|| format!("beginning of range ({from}) beyond end of range ({to}): {part}"))
}
