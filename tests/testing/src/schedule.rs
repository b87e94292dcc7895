//! Fault schedules: what happens during a run and before which call, with a text form that replays it.

use std::{fmt, str::FromStr};

use opgen_sandbox::fault::{Fault, FaultClass};

/// The fault schedule of one run, from the creation of the samples to their deletion.
///
/// Its text form is a list of words such as `after:17`:
///
/// | word | meaning |
/// |---|---|
/// | `before:N`, `after:N` | the process is stopped before, or after, its N-th call |
/// | `delete:N` | the samples are deleted just before the N-th call |
/// | `foreground:1`, `orphan:1` | the samples are deleted with that propagation policy instead of `Background` |
/// | `again:N` | the samples are deleted by force and created again just before the N-th call; for 0 at rest, unseen by watches |
/// | `edit:N` | the samples are changed to the N-th variant and back |
/// | `change:N=V` | the samples are changed to the V-th variant just before the N-th call, and are not changed back |
/// | `fresh:N` | the samples are created as the N-th variant |
/// | `lose:N` | another client deletes the N-th object that the program has created |
/// | `unseen:1` | watches miss the event of `lose`; only a new list shows the deletion |
/// | `old:1` | after a stop, the first list that accepts any version shows the state before the samples |
/// | `held:0` | foreign finalizers block the deletion of the samples and of all their children |
/// | `held:N` | foreign finalizers block the deletion of the samples and of the N-th child alone |
/// | `idle:1` | the program is left alone for a long time, then its process is replaced |
/// | `upgrade:1` | an older release runs before the program, and once more after it |
/// | `beside:N` | a second object is created beside sample N/2, or beside all samples in another namespace; for an even N the second objects are deleted, for an odd N the samples |
/// | `chance:N` | random faults from seed N; `chance:N=lateEvent,cut` only of these classes |
/// | `dice:N` | the seed of names, UIDs and the program's random values; 1 by default |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    pub(crate) dice: Option<u64>,
    pub(crate) stops: Vec<(u64, Fault)>,
    pub(crate) delete_at: Option<u64>,
    pub(crate) propagation: Propagation,
    pub(crate) again: Option<u64>,
    pub(crate) edit: Option<usize>,
    pub(crate) change: Option<(u64, usize)>,
    pub(crate) fresh: Option<usize>,
    pub(crate) lose: Option<usize>,
    pub(crate) unseen: bool,
    pub(crate) old: bool,
    pub(crate) held: Option<usize>,
    pub(crate) beside: Option<usize>,
    pub(crate) idle: bool,
    pub(crate) upgrade: bool,
    pub(crate) chance: Option<(u64, Vec<FaultClass>)>,
}

/// The propagation policy of a deletion, as in `DeleteOptions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Propagation {
    #[default]
    Background,
    Foreground,
    Orphan,
}

impl Propagation {
    pub(crate) const ALL: [Self; 3] = [Self::Background, Self::Foreground, Self::Orphan];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

/// The error of a text that is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchedule(String);

impl fmt::Display for InvalidSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a part of a schedule: use `after:17`, `before:3`, `delete:4`, `edit:2` or `chance:9`",
            self.0
        )
    }
}

impl std::error::Error for InvalidSchedule {}

impl Schedule {
    /// A run without faults and edits.
    pub(crate) fn undisturbed(dice: u64) -> Self {
        Self { dice: Some(dice), ..Self::default() }
    }

    /// Stops the process at calls.
    pub(crate) fn stops(stops: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        Self { stops: stops.into_iter().collect(), ..Self::default() }
    }

    /// Stops the process after a call; the next process starts from a stale list.
    pub(crate) fn stale_list(call: u64) -> Self {
        Self { old: true, ..Self::stops([(call, Fault::StopAfter)]) }
    }

    /// Deletes a child; watches may miss the event.
    pub(crate) fn child_deletion(index: usize, unseen: bool) -> Self {
        Self { lose: Some(index), unseen, ..Self::default() }
    }

    /// Puts foreign finalizers on the samples and all children for 0, else on the child of that number alone.
    pub(crate) fn foreign_finalizers(which: usize) -> Self {
        Self { held: Some(which), ..Self::default() }
    }

    /// Creates second objects beside the samples.
    pub(crate) fn second_objects(number: usize) -> Self {
        Self { beside: Some(number), ..Self::default() }
    }

    /// Deletes the samples before a call.
    pub(crate) fn deletion_before(call: u64) -> Self {
        Self { delete_at: Some(call), ..Self::default() }
    }

    /// Deletes the samples with a propagation policy.
    pub(crate) fn with_propagation(self, propagation: Propagation) -> Self {
        Self { propagation, ..self }
    }

    /// Recreates the samples before a call; at rest for 0.
    pub(crate) fn recreation_before(call: u64) -> Self {
        Self { again: Some(call), ..Self::default() }
    }

    /// Creates the samples as a variant and recreates them as they are.
    pub(crate) fn recreation_after(variant: usize) -> Self {
        Self { fresh: Some(variant), again: Some(0), ..Self::default() }
    }

    /// Random faults of some classes.
    pub(crate) fn random_faults(seed: u64, classes: &[FaultClass]) -> Self {
        Self { chance: Some((seed, classes.to_vec())), ..Self::default() }
    }

    /// Changes the samples to a variant and back.
    pub(crate) fn edit(variant: usize) -> Self {
        Self { edit: Some(variant), ..Self::default() }
    }

    /// Changes the samples to a variant before a call.
    pub(crate) fn change_before(call: u64, variant: usize) -> Self {
        Self { change: Some((call, variant)), ..Self::default() }
    }

    /// Creates the samples as a variant.
    pub(crate) fn fresh(variant: usize) -> Self {
        Self { fresh: Some(variant), ..Self::default() }
    }
}

fn name_of(class: FaultClass) -> String {
    serde_json::to_value(class).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        for (call, fault) in &self.stops {
            words.push(format!("{}:{call}", if *fault == Fault::StopBefore { "before" } else { "after" }));
        }
        words.extend(self.delete_at.map(|call| format!("delete:{call}")));
        words.extend(self.again.map(|call| format!("again:{call}")));
        words.extend(self.edit.map(|variant| format!("edit:{variant}")));
        words.extend(self.change.map(|(call, variant)| format!("change:{call}={variant}")));
        words.extend(self.fresh.map(|variant| format!("fresh:{variant}")));
        words.extend(self.lose.map(|index| format!("lose:{index}")));
        words.extend(self.held.map(|which| format!("held:{which}")));
        words.extend(match self.propagation {
            Propagation::Background => None,
            Propagation::Foreground => Some("foreground:1".to_owned()),
            Propagation::Orphan => Some("orphan:1".to_owned()),
        });
        words.extend(self.beside.map(|number| format!("beside:{number}")));
        let flags = [("unseen", self.unseen), ("old", self.old), ("idle", self.idle), ("upgrade", self.upgrade)];
        for (word, on) in flags {
            words.extend(on.then(|| format!("{word}:1")));
        }
        if let Some((seed, classes)) = &self.chance {
            let names: Vec<_> = classes.iter().map(|class| name_of(*class)).collect();
            let some =
                if classes.len() == FaultClass::ALL.len() { String::new() } else { format!("={}", names.join(",")) };
            words.push(format!("chance:{seed}{some}"));
        }
        words.extend(self.dice.map(|seed| format!("dice:{seed}")));
        f.write_str(&words.join(" "))
    }
}

impl FromStr for Schedule {
    type Err = InvalidSchedule;

    fn from_str(text: &str) -> Result<Self, InvalidSchedule> {
        let mut schedule = Self::default();
        for word in text.split_whitespace() {
            let wrong = || InvalidSchedule(word.to_owned());
            let (what, which) = word.split_once(':').ok_or_else(wrong)?;
            let (number, detail) = which.split_once('=').unwrap_or((which, ""));
            let number: u64 = number.parse().map_err(|_| wrong())?;
            let index = usize::try_from(number).map_err(|_| wrong())?;
            match what {
                "before" => schedule.stops.push((number, Fault::StopBefore)),
                "after" => schedule.stops.push((number, Fault::StopAfter)),
                "delete" => schedule.delete_at = Some(number),
                "foreground" => schedule.propagation = Propagation::Foreground,
                "orphan" => schedule.propagation = Propagation::Orphan,
                "again" => schedule.again = Some(number),
                "edit" => schedule.edit = Some(index),
                "change" => schedule.change = Some((number, detail.parse().map_err(|_| wrong())?)),
                "fresh" => schedule.fresh = Some(index),
                "lose" => schedule.lose = Some(index),
                "unseen" => schedule.unseen = number > 0,
                "old" => schedule.old = number > 0,
                "held" => schedule.held = Some(index),
                "beside" => schedule.beside = Some(index),
                "idle" => schedule.idle = number > 0,
                "upgrade" => schedule.upgrade = number > 0,
                "dice" => schedule.dice = Some(number),
                "chance" => {
                    let named = |name: &str| FaultClass::ALL.into_iter().find(|class| name_of(*class) == name);
                    let some: Option<Vec<_>> = detail.split(',').filter(|name| !name.is_empty()).map(named).collect();
                    let some = some.ok_or_else(wrong)?;
                    schedule.chance = Some((number, if some.is_empty() { FaultClass::ALL.to_vec() } else { some }));
                }
                _ => return Err(wrong()),
            }
        }
        Ok(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_reads_back_as_it_is_written() {
        for text in [
            "after:17 before:20",
            "delete:3",
            "delete:3 orphan:1",
            "foreground:1",
            "edit:2",
            "chance:9",
            "chance:4=cut,lateEvent dice:3",
            "fresh:0",
            "again:12",
            "again:0 fresh:2",
            "lose:2 held:0",
            "lose:2 unseen:1",
            "after:17 old:1",
            "change:7=2",
            "held:3",
            "beside:1",
        ] {
            assert_eq!(text.parse::<Schedule>().map(|schedule| schedule.to_string()).as_deref(), Ok(text));
        }
        for text in ["after", "after:x", "sometimes:3", "chance:1=rain"] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
