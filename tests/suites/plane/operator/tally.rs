//! Requests counted by the object they were about.

use std::{collections::BTreeMap, fmt};

use opgen_tests::{Entries, Entry};

/// How many requests there were for each name, and how many names had each number.
#[derive(Debug)]
pub(crate) struct Tally(BTreeMap<String, Vec<Entry>>);

impl Tally {
    /// Counts for each of these names, also where there is nothing.
    pub(crate) fn of(entries: &Entries, names: &[String]) -> Self {
        let mut tally: BTreeMap<_, Vec<Entry>> = names.iter().map(|name| (name.clone(), Vec::new())).collect();
        for entry in entries.iter() {
            if let Some(counted) = tally.get_mut(&entry.name) {
                counted.push(entry.clone());
            }
        }
        Self(tally)
    }

    /// Counts for each of these names what is about it, or about something that is named after it.
    pub(crate) fn of_parts(entries: &Entries, names: &[String]) -> Self {
        let mut tally: BTreeMap<_, Vec<Entry>> = names.iter().map(|name| (name.clone(), Vec::new())).collect();
        for (name, counted) in &mut tally {
            counted.extend(entries.iter().filter(|entry| entry.name.contains(name.as_str())).cloned());
        }
        Self(tally)
    }

    /// Each name has exactly `count`.
    #[track_caller]
    pub(crate) fn is(&self, what: &str, count: usize) {
        self.is_within(what, count, count);
    }

    /// Each name has `least` to `most`.
    #[track_caller]
    pub(crate) fn is_within(&self, what: &str, least: usize, most: usize) {
        println!("{what}: {self}");
        let outside = self.0.iter().find(|(_, counted)| counted.len() < least || counted.len() > most);
        if let Some((name, counted)) = outside {
            let lines: Vec<_> = counted.iter().map(ToString::to_string).collect();
            panic!("{what}: {self} instead of {least} to {most}; those of {name}:\n{}", lines.join("\n"));
        }
    }
}

/// `3 for 12 objects, 4 for 188 objects`.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut objects: BTreeMap<usize, usize> = BTreeMap::new();
        for counted in self.0.values() {
            *objects.entry(counted.len()).or_default() += 1;
        }
        let parts: Vec<_> = objects.iter().map(|(count, objects)| format!("{count} for {objects} objects")).collect();
        f.write_str(&parts.join(", "))
    }
}

/// What changed something, events aside.
pub(crate) fn state_writes(entries: &Entries) -> Entries {
    entries.writes().with(|entry| entry.resource != "events")
}

/// A change was refused, for as long as the news of what somebody else did took, and then done.
#[track_caller]
pub(crate) fn was_tried_again(codes: &[u16], refusal: u16) {
    let is_so = match codes {
        [refused @ .., 200] => !refused.is_empty() && refused.iter().all(|code| *code == refusal),
        _ => false,
    };
    assert!(is_so, "{codes:?}");
}
