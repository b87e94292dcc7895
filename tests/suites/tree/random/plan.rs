//! Trees as data, drawn from a fixed seed.

use super::dice::Dice;

/// How many trees there are.
pub(super) const TREES: usize = 30;
/// Groups below groups, at most; leaves are one deeper.
const DEPTH: usize = 4;
/// Leaves of one tree, at most.
const LEAVES: usize = 14;
/// How many switches and lists an object has.
pub(super) const SWITCHES: usize = 4;
pub(super) const LISTS: usize = 3;

/// A group of a tree.
pub(super) struct Group {
    pub(super) up_serial: bool,
    pub(super) down_serial: bool,
    pub(super) children: Vec<Child>,
}

/// A child, and the terms on which it is one.
pub(super) struct Child {
    pub(super) name: String,
    /// The switch that says whether it is wanted.
    pub(super) when: Option<usize>,
    /// The list that has its keys.
    pub(super) each: Option<usize>,
    /// The siblings that come before it.
    pub(super) after: Vec<usize>,
    pub(super) kind: Kind,
}

/// What a child is.
pub(super) enum Kind {
    Recorder,
    /// An object.
    One,
    /// An object if a switch is on.
    Maybe(usize),
    /// An object for every key of a list.
    Many(usize),
    Group(Group),
}

/// All trees.
pub(super) fn trees() -> Vec<Group> {
    (0..TREES).map(|seed| group(&mut Dice::new(seed as u64 + 7_000), 1, 0, &mut { LEAVES })).collect()
}

/// `keyed` is how many `each` are above.
fn group(dice: &mut Dice, depth: usize, keyed: usize, leaves: &mut usize) -> Group {
    let (up_serial, down_serial) =
        *dice.one_of(&[(true, true), (false, false), (false, false), (false, true), (true, false)]);
    let mut children: Vec<Child> = Vec::new();
    for at in 0..2 + dice.below(3) {
        if at > 0 && *leaves == 0 {
            break;
        }
        let deeper = depth < DEPTH && *leaves > 1 && dice.percent(if depth == 1 { 70 } else { 45 });
        // Groups alone: what a recorder is for can't be inferred below `each`, and of objects there are lists.
        let each = (deeper && keyed < 2 && dice.percent(40)).then(|| dice.below(LISTS));
        let kind = match deeper {
            true => Kind::Group(group(dice, depth + 1, keyed + usize::from(each.is_some()), leaves)),
            false => leaf(dice, leaves),
        };
        let when = dice.percent(30).then(|| dice.below(SWITCHES));
        let after = (0..at).filter(|_| !up_serial && dice.percent(25)).collect();
        children.push(Child { name: format!("{}{at}", noun(&kind)), when, each, after, kind });
    }
    Group { up_serial, down_serial, children }
}

fn leaf(dice: &mut Dice, leaves: &mut usize) -> Kind {
    *leaves = leaves.saturating_sub(1);
    match dice.below(10) {
        0 | 1 => Kind::One,
        2 => Kind::Maybe(dice.below(SWITCHES)),
        3 => Kind::Many(dice.below(LISTS)),
        _ => Kind::Recorder,
    }
}

fn noun(kind: &Kind) -> &'static str {
    match kind {
        Kind::Recorder => "node",
        Kind::One => "one",
        Kind::Maybe(_) => "maybe",
        Kind::Many(_) => "many",
        Kind::Group(_) => "group",
    }
}
