//! A timeline as rows and columns.

use std::collections::HashMap;

use super::{
    mark::{Mark, words_of_call, words_of_event},
    passing::{self, Passing},
    state::{self, Phase},
    subject::{Subject, Subjects},
};
use crate::fault::{Happening, Timeline};

/// Columns that have something in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: usize,
    /// The column behind the last.
    pub(super) to: usize,
    pub(super) text: String,
}

/// The lane of an object, or of all of a kind.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) label: String,
    /// In full, for who points at it and for the filter.
    pub(super) words: String,
    pub(super) is_object: bool,
    pub(super) marks: Vec<Mark>,
    pub(super) phases: Vec<Phase>,
    /// The passes over the object.
    pub(super) passes: Vec<Passing>,
}

/// A moment in words.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) at: u64,
    pub(super) life: u32,
    pub(super) class: &'static str,
    pub(super) words: String,
}

/// A timeline, arranged. Column n is line n.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    /// Between the words of whoever ran it.
    pub(super) chapters: Vec<Span>,
    pub(super) lives: Vec<Span>,
    /// Columns of one time.
    pub(super) times: Vec<Span>,
    /// Columns at which the process was stopped.
    pub(super) stops: Vec<usize>,
    /// Columns at which the process was ended in order.
    pub(super) ends: Vec<usize>,
    pub(super) lanes: Vec<Lane>,
    pub(super) lines: Vec<Line>,
}

impl Chart {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let mut chart = Self::default();
        let subjects = Subjects::of(timeline);
        let mut lanes = Lanes { subjects: &subjects, found: HashMap::new(), lanes: Vec::new() };
        for (column, moment) in timeline.moments.iter().enumerate() {
            let (class, words) = match &moment.what {
                Happening::Call(call) => {
                    let subject = Subject::of_call(call);
                    let mark = Mark::of_call(column, call, subject.is_object());
                    let class = if mark.is_hit { "hit" } else { mark.went };
                    lanes.lane(&subject).marks.push(mark);
                    (class, words_of_call(call))
                }
                Happening::Event(event) => {
                    let mark = Mark::of_event(column, event);
                    let class = if mark.is_hit { "hit" } else { "told" };
                    let lane = lanes.lane(&subjects.of_event(event));
                    lane.marks.push(mark);
                    state::take(&mut lane.phases, column, event);
                    (class, words_of_event(event))
                }
                Happening::Pass(pass) => {
                    let lane = lanes.lane(&Subject::of_pass(pass));
                    lane.marks.push(Mark::of_pass(column, pass));
                    passing::take(&mut lane.passes, column, pass);
                    ("told", pass.to_string())
                }
                Happening::Stop => {
                    chart.stops.push(column);
                    lanes.cut_short(column);
                    ("stop", "the process was stopped".to_owned())
                }
                Happening::End => {
                    chart.ends.push(column);
                    lanes.cut_short(column);
                    ("told", "the process was ended".to_owned())
                }
                Happening::Note { text } => {
                    chart.chapters.push(Span { from: column, to: column, text: text.clone() });
                    ("note", text.clone())
                }
            };
            extend(&mut chart.lives, column, || if moment.life == 0 { String::new() } else { moment.life.to_string() });
            extend(&mut chart.times, column, || seconds(moment.at));
            chart.lines.push(Line { at: moment.at, life: moment.life, class, words });
        }
        let columns = chart.lines.len();
        let begins: Vec<usize> = chart.chapters.iter().skip(1).map(|next| next.from).chain([columns]).collect();
        chart.chapters.iter_mut().zip(begins).for_each(|(chapter, to)| chapter.to = to);
        lanes.cut_short(columns);
        chart.lanes = lanes.in_order();
        chart.lanes.iter_mut().for_each(|lane| state::end(&mut lane.phases, columns));
        chart
    }
}

/// Milliseconds as people write them.
pub(super) fn seconds(at: u64) -> String {
    format!("{}.{:03} s", at / 1000, at % 1000)
}

fn extend(spans: &mut Vec<Span>, column: usize, text: impl FnOnce() -> String) {
    let text = text();
    match spans.last_mut() {
        Some(last) if last.text == text => last.to = column + 1,
        _ => spans.push(Span { from: column, to: column + 1, text }),
    }
}

/// The lanes as they are found.
struct Lanes<'a> {
    subjects: &'a Subjects,
    found: HashMap<Subject, usize>,
    lanes: Vec<(Subject, Lane)>,
}

impl Lanes<'_> {
    fn lane(&mut self, subject: &Subject) -> &mut Lane {
        // A kind stands above its first object.
        for subject in [&subject.kind(), subject] {
            if !self.found.contains_key(subject) {
                self.found.insert(subject.clone(), self.lanes.len());
                self.lanes.push((subject.clone(), self.empty(subject)));
            }
        }
        &mut self.lanes[self.found[subject]].1
    }

    fn empty(&self, subject: &Subject) -> Lane {
        let kind = self.subjects.kind_name(&subject.resource);
        let (label, words) = if subject.is_object() {
            (subject.full_name(), format!("{kind} {}", subject.full_name()))
        } else {
            (kind.to_owned(), format!("{kind} {}", subject.resource))
        };
        Lane { label, words, is_object: subject.is_object(), marks: Vec::new(), phases: Vec::new(), passes: Vec::new() }
    }

    /// The passes that go on have no end of their own.
    fn cut_short(&mut self, column: usize) {
        self.lanes.iter_mut().for_each(|(_, lane)| passing::cut_short(&mut lane.passes, column));
    }

    /// Kinds in the order in which they came, the objects of each behind it.
    fn in_order(self) -> Vec<Lane> {
        let mut kinds: HashMap<String, usize> = HashMap::new();
        for (subject, _) in &self.lanes {
            let next = kinds.len();
            kinds.entry(subject.resource.clone()).or_insert(next);
        }
        let mut lanes = self.lanes;
        lanes.sort_by_key(|(subject, _)| (kinds.get(&subject.resource).copied(), subject.is_object()));
        lanes.into_iter().map(|(_, lane)| lane).collect()
    }
}
