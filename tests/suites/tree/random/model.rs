//! What a pass over a tree may do, by the rules (unikorn §3.2–§3.4; DESIGN §4).
//!
//! - Serial: one child after the other, downwards in reverse; the first that is not done ends it, and speaks for it.
//! - Concurrent: all children, but one begins only when all that it comes after are done; downwards the other way round. The
//!   gravest outcome speaks for all, of equals the first declared; where all wait, each says what for.
//! - A child that is not wanted is removed on the way up; on the way down nobody asks whether it is wanted.
//! - Of the children of keys all run; those whose key is gone are removed, on the way down all that are there.
//! - What is asked to be made may be there from then on, whatever it answers; it is gone only when it says so.

use std::collections::{BTreeMap, BTreeSet};

use opgen::testing::Answer;

use super::{
    plan::{Child, Group, Kind},
    sample::{SampleSpec, Switch},
};

/// How a pass, or a part of it, ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    Done,
    Not(Rank, String),
}

/// Why it is not done; the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Terminal,
    UserAction,
    Unexpected,
    Yield,
}

/// Where a tree stands, and what its nodes will answer.
#[derive(Default)]
pub(super) struct Model {
    pub(super) spec: SampleSpec,
    pub(super) answers: BTreeMap<String, Answer>,
    /// What has been made and not removed.
    pub(super) there: BTreeSet<String>,
    /// The calls of the pass.
    pub(super) calls: Vec<String>,
    /// Pairs of calls of which the first comes before the second.
    pub(super) before: Vec<(usize, usize)>,
}

/// A part of a pass: its calls, and how it ends.
struct Part {
    calls: Vec<usize>,
    end: End,
}

impl Part {
    fn without_calls(end: End) -> Self {
        Self { calls: Vec::new(), end }
    }
}

impl Model {
    /// One pass.
    pub(super) fn pass(&mut self, tree: &Group, up: bool) -> End {
        self.calls.clear();
        self.before.clear();
        self.group(tree, "", up).end
    }

    fn group(&mut self, group: &Group, path: &str, up: bool) -> Part {
        let count = group.children.len();
        let places: Vec<usize> = if up { (0..count).collect() } else { (0..count).rev().collect() };
        let is_serial = if up { group.up_serial } else { group.down_serial };
        let mut parts: Vec<Option<Part>> = (0..count).map(|_| None).collect();
        for (turn, at) in places.iter().copied().enumerate() {
            let first: Vec<usize> = match is_serial {
                true => places[..turn].to_vec(),
                false => ancestors(group, at, up),
            };
            let is_done = |place: &usize| parts[*place].as_ref().is_some_and(|part| part.end == End::Done);
            if !first.iter().all(is_done) {
                continue;
            }
            let part = self.child(&group.children[at], path, up);
            for before in first.iter().filter_map(|place| parts[*place].as_ref()) {
                let pairs = before.calls.iter().flat_map(|call| part.calls.iter().map(|own| (*call, *own)));
                self.before.extend(pairs);
            }
            parts[at] = Some(part);
        }
        together(parts.into_iter().flatten())
    }

    fn child(&mut self, child: &Child, path: &str, up: bool) -> Part {
        let path = if path.is_empty() { child.name.clone() } else { format!("{path}/{}", child.name) };
        let mut is_wanted = up;
        if let Some(switch) = child.when.filter(|_| up) {
            match self.spec.switches[switch] {
                Switch::Broken => return broken(switch),
                position => is_wanted = position == Switch::On,
            }
        }
        let Some(list) = child.each else { return self.node(&child.kind, &path, is_wanted) };
        let keys = if is_wanted { self.spec.lists[list].clone() } else { Vec::new() };
        let twice = keys.iter().enumerate().find(|(at, key)| keys[..*at].contains(key));
        if let Some((_, key)) = twice {
            return Part::without_calls(End::Not(
                Rank::UserAction,
                format!("{path} has two items with the key {key:?}"),
            ));
        }
        let wanted: Vec<String> = keys.iter().map(|key| escaped(key)).collect();
        let gone: BTreeSet<String> = self.keys(&path).into_iter().filter(|key| !wanted.contains(key)).collect();
        let mut parts: Vec<Part> = Vec::new();
        for (key, up) in wanted.iter().map(|key| (key, true)).chain(gone.iter().map(|key| (key, false))) {
            parts.push(self.node(&child.kind, &format!("{path}[{key}]"), up));
        }
        together(parts.into_iter())
    }

    fn node(&mut self, kind: &Kind, path: &str, up: bool) -> Part {
        let is_made = up
            && match kind {
                Kind::Group(_) | Kind::Recorder | Kind::One => true,
                Kind::Maybe(switch) => match self.spec.switches[*switch] {
                    Switch::Broken => return broken(*switch),
                    position => position == Switch::On,
                },
                Kind::Many(list) => !self.spec.lists[*list].is_empty(),
            };
        match kind {
            Kind::Group(group) => self.group(group, path, up),
            _ => self.call(path, is_made),
        }
    }

    fn call(&mut self, path: &str, made: bool) -> Part {
        let answer = self.answers.get(path).copied().unwrap_or_default();
        let (rank, said, answered) = match answer {
            Answer::Ok => (None, String::new(), ""),
            Answer::Yield => (Some(Rank::Yield), format!("{path} waits"), ": yield"),
            Answer::Fail => (Some(Rank::Unexpected), format!("{path} fails"), ": fail"),
            Answer::UserAction => (Some(Rank::UserAction), format!("{path} wants another spec"), ": user action"),
            Answer::Terminal => (Some(Rank::Terminal), format!("{path} gives up"), ": terminal"),
            Answer::Panic => (Some(Rank::Unexpected), format!("a provisioner panicked: {path} panics"), ": panic"),
        };
        if made {
            self.there.insert(path.to_owned());
        } else if rank.is_none() {
            self.there.remove(path);
        }
        let asked = if made { "provision" } else { "deprovision" };
        self.calls.push(format!("{asked} {path}{answered}"));
        let end = rank.map_or(End::Done, |rank| End::Not(rank, said));
        Part { calls: vec![self.calls.len() - 1], end }
    }

    /// The keys, escaped, below which something is there.
    fn keys(&self, path: &str) -> BTreeSet<String> {
        let opened = format!("{path}[");
        let keys = self.there.iter().filter_map(|node| node.strip_prefix(&opened)?.split(']').next());
        keys.map(str::to_owned).collect()
    }

    /// What is there once all is done, if nothing is broken.
    pub(super) fn wanted(&self, group: &Group, path: &str) -> BTreeSet<String> {
        let mut wanted = BTreeSet::new();
        for child in &group.children {
            if child.when.is_some_and(|switch| self.spec.switches[switch] != Switch::On) {
                continue;
            }
            let path = if path.is_empty() { child.name.clone() } else { format!("{path}/{}", child.name) };
            let paths = match child.each {
                Some(list) => self.spec.lists[list].iter().map(|key| format!("{path}[{}]", escaped(key))).collect(),
                None => vec![path],
            };
            for path in paths {
                match &child.kind {
                    Kind::Group(group) => wanted.extend(self.wanted(group, &path)),
                    Kind::Maybe(switch) if self.spec.switches[*switch] != Switch::On => {}
                    Kind::Many(list) if self.spec.lists[*list].is_empty() => {}
                    _ => drop(wanted.insert(path)),
                }
            }
        }
        wanted
    }
}

/// All that a child of a concurrent group comes after, also by way of others.
fn ancestors(group: &Group, at: usize, up: bool) -> Vec<usize> {
    let direct = |of: usize| -> Vec<usize> {
        match up {
            true => group.children[of].after.clone(),
            false => (0..group.children.len()).filter(|other| group.children[*other].after.contains(&of)).collect(),
        }
    };
    let mut found: Vec<usize> = Vec::new();
    let mut open = direct(at);
    while let Some(next) = open.pop() {
        if !found.contains(&next) {
            found.push(next);
            open.extend(direct(next));
        }
    }
    found
}

/// Parts in the order of declaration; the gravest speaks for all.
fn together(parts: impl Iterator<Item = Part>) -> Part {
    let mut all = Part::without_calls(End::Done);
    for part in parts {
        all.calls.extend(part.calls);
        all.end = match (all.end, part.end) {
            (End::Done, end) | (end, End::Done) => end,
            (End::Not(Rank::Yield, one), End::Not(Rank::Yield, other)) => {
                End::Not(Rank::Yield, format!("{one}; {other}"))
            }
            (End::Not(rank, said), End::Not(other, _)) if rank <= other => End::Not(rank, said),
            (_, graver) => graver,
        };
    }
    all
}

fn broken(switch: usize) -> Part {
    Part::without_calls(End::Not(Rank::UserAction, format!("switch {switch} is broken")))
}

/// A key as a path shows it.
pub(super) fn escaped(key: &str) -> String {
    let letter = |letter: char| match letter {
        '/' => "%2F".to_owned(),
        '[' => "%5B".to_owned(),
        ']' => "%5D".to_owned(),
        '%' => "%25".to_owned(),
        other => other.to_string(),
    };
    key.chars().map(letter).collect()
}
