//! What happens in a run, as a text that repeats it.

use std::{fmt, str::FromStr};

use opgen_sandbox::fault::{Class, Fault};

/// What happens to a program from the creation of its samples to their deletion. As text, words such as `after:17`:
///
/// | word | what it means |
/// |---|---|
/// | `before:N`, `after:N` | the process is stopped before, or after, its N-th call |
/// | `delete:N` | the samples are deleted just before the N-th call |
/// | `foreground:1`, `orphan:1` | the samples are deleted with that propagation policy, else with `Background` |
/// | `again:N` | the samples are deleted by force and created again just before the N-th call; for 0 at rest, and unseen by watches |
/// | `edit:N` | the samples become the N-th variant and then again what they were |
/// | `change:N=V` | the samples become the V-th variant just before the N-th call, and stay that |
/// | `fresh:N` | the samples are the N-th variant from the start |
/// | `lose:N` | somebody deletes the N-th object that the program has made |
/// | `unseen:1` | what happens at `lose` is seen by no watch, only in a new list |
/// | `old:1` | who begins after a stop lists first what was there before the samples, where it takes any version |
/// | `held:0` | others hold the samples and what was made of them by finalizers when all is deleted |
/// | `held:N` | others hold the samples and, of what was made, the N-th object alone |
/// | `idle:1` | nothing happens for long, then the process is replaced |
/// | `upgrade:1` | an older release runs before, and once more after |
/// | `beside:N` | there are second objects beside the samples for a while: N/2 is of which sample, or of all in another namespace; those of an even N go again, of an odd one the first ones do |
/// | `chance:N` | what goes wrong follows from seed N; `chance:N=lateEvent,cut` from these classes alone |
/// | `dice:N` | the seed of names, uids and of the program's own chance; 1 without it |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
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
    pub(crate) chance: Option<(u64, Vec<Class>)>,
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

/// A text that is no course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCourse(String);

impl fmt::Display for NoCourse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no part of a course: write `after:17`, `before:3`, `delete:4`, `edit:2` or `chance:9`",
            self.0
        )
    }
}

impl std::error::Error for NoCourse {}

impl Course {
    pub(crate) fn undisturbed(dice: u64) -> Self {
        Self { dice: Some(dice), ..Self::default() }
    }

    pub(crate) fn stopped(stops: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        Self { stops: stops.into_iter().collect(), ..Self::default() }
    }

    /// A stop after a call; what follows begins with an old list.
    pub(crate) fn begun_old(call: u64) -> Self {
        Self { old: true, ..Self::stopped([(call, Fault::StopAfter)]) }
    }

    /// Somebody deletes an object, and no watch tells it.
    pub(crate) fn lost(index: usize, unseen: bool) -> Self {
        Self { lose: Some(index), unseen, ..Self::default() }
    }

    /// All is held for 0, else the object of that number alone.
    pub(crate) fn held(which: usize) -> Self {
        Self { held: Some(which), ..Self::default() }
    }

    /// Second objects beside the samples.
    pub(crate) fn beside(number: usize) -> Self {
        Self { beside: Some(number), ..Self::default() }
    }

    pub(crate) fn deleted_at(call: u64) -> Self {
        Self { delete_at: Some(call), ..Self::default() }
    }

    /// The same, with the samples deleted by a policy.
    pub(crate) fn propagated(self, propagation: Propagation) -> Self {
        Self { propagation, ..self }
    }

    pub(crate) fn created_again_at(call: u64) -> Self {
        Self { again: Some(call), ..Self::default() }
    }

    /// The samples are a variant at first, and are created again as they should be.
    pub(crate) fn created_again_after(variant: usize) -> Self {
        Self { fresh: Some(variant), again: Some(0), ..Self::default() }
    }

    pub(crate) fn by_chance(seed: u64, classes: &[Class]) -> Self {
        Self { chance: Some((seed, classes.to_vec())), ..Self::default() }
    }

    pub(crate) fn edited(variant: usize) -> Self {
        Self { edit: Some(variant), ..Self::default() }
    }

    pub(crate) fn changed_at(call: u64, variant: usize) -> Self {
        Self { change: Some((call, variant)), ..Self::default() }
    }

    pub(crate) fn fresh(variant: usize) -> Self {
        Self { fresh: Some(variant), ..Self::default() }
    }
}

fn name_of(class: Class) -> String {
    serde_json::to_value(class).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

impl fmt::Display for Course {
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
            let some = if classes.len() == Class::ALL.len() { String::new() } else { format!("={}", names.join(",")) };
            words.push(format!("chance:{seed}{some}"));
        }
        words.extend(self.dice.map(|seed| format!("dice:{seed}")));
        f.write_str(&words.join(" "))
    }
}

impl FromStr for Course {
    type Err = NoCourse;

    fn from_str(text: &str) -> Result<Self, NoCourse> {
        let mut course = Self::default();
        for word in text.split_whitespace() {
            let wrong = || NoCourse(word.to_owned());
            let (what, which) = word.split_once(':').ok_or_else(wrong)?;
            let (number, detail) = which.split_once('=').unwrap_or((which, ""));
            let number: u64 = number.parse().map_err(|_| wrong())?;
            let index = usize::try_from(number).map_err(|_| wrong())?;
            match what {
                "before" => course.stops.push((number, Fault::StopBefore)),
                "after" => course.stops.push((number, Fault::StopAfter)),
                "delete" => course.delete_at = Some(number),
                "foreground" => course.propagation = Propagation::Foreground,
                "orphan" => course.propagation = Propagation::Orphan,
                "again" => course.again = Some(number),
                "edit" => course.edit = Some(index),
                "change" => course.change = Some((number, detail.parse().map_err(|_| wrong())?)),
                "fresh" => course.fresh = Some(index),
                "lose" => course.lose = Some(index),
                "unseen" => course.unseen = number > 0,
                "old" => course.old = number > 0,
                "held" => course.held = Some(index),
                "beside" => course.beside = Some(index),
                "idle" => course.idle = number > 0,
                "upgrade" => course.upgrade = number > 0,
                "dice" => course.dice = Some(number),
                "chance" => {
                    let named = |name: &str| Class::ALL.into_iter().find(|class| name_of(*class) == name);
                    let some: Option<Vec<_>> = detail.split(',').filter(|name| !name.is_empty()).map(named).collect();
                    let some = some.ok_or_else(wrong)?;
                    course.chance = Some((number, if some.is_empty() { Class::ALL.to_vec() } else { some }));
                }
                _ => return Err(wrong()),
            }
        }
        Ok(course)
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
            assert_eq!(text.parse::<Course>().map(|course| course.to_string()).as_deref(), Ok(text));
        }
        for text in ["after", "after:x", "sometimes:3", "chance:1=rain"] {
            assert!(text.parse::<Course>().is_err(), "{text}");
        }
    }
}
