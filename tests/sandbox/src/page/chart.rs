//! Arranges a timeline in rows and columns.

use std::collections::HashMap;

use super::{
    marker::{Marker, words_of_call, words_of_event},
    object_state::{self, Phase},
    pass_span::{self, PassSpan},
    subject::{Subject, Subjects},
};
use crate::fault::{Timeline, TimelineEvent};

/// A range of columns with a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: usize,
    /// The column after the last.
    pub(super) to: usize,
    pub(super) text: String,
}

/// The row of an object, or of a whole kind.
#[derive(Clone, Debug)]
pub(super) struct TimelineRow {
    pub(super) label: String,
    /// The full text, for the tooltip and the filter.
    pub(super) words: String,
    pub(super) is_object: bool,
    pub(super) marks: Vec<Marker>,
    pub(super) phases: Vec<Phase>,
    /// The reconcile passes of the object.
    pub(super) passes: Vec<PassSpan>,
}

/// One line of the log.
#[derive(Clone, Debug)]
pub(super) struct LogLine {
    pub(super) at: u64,
    pub(super) life: u32,
    pub(super) class: &'static str,
    pub(super) words: String,
}

/// A timeline in rows and columns. Column n is line n of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    /// The columns between the notes of the test.
    pub(super) chapters: Vec<Span>,
    pub(super) lives: Vec<Span>,
    /// The columns with the same time.
    pub(super) times: Vec<Span>,
    /// The columns at which the process was stopped.
    pub(super) stops: Vec<usize>,
    /// The columns at which the process ended regularly.
    pub(super) ends: Vec<usize>,
    pub(super) rows: Vec<TimelineRow>,
    pub(super) lines: Vec<LogLine>,
}

impl Chart {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let mut chart = Self::default();
        let subjects = Subjects::of(timeline);
        let mut rows = TimelineRows { subjects: &subjects, found: HashMap::new(), rows: Vec::new() };
        for (column, moment) in timeline.moments.iter().enumerate() {
            let (class, words) = match &moment.what {
                TimelineEvent::Call(call) => {
                    let subject = Subject::of_call(call);
                    let mark = Marker::of_call(column, call, subject.is_object());
                    let class = if mark.is_hit { "hit" } else { mark.went };
                    rows.row(&subject).marks.push(mark);
                    (class, words_of_call(call))
                }
                TimelineEvent::Event(event) => {
                    let mark = Marker::of_event(column, event);
                    let class = if mark.is_hit { "hit" } else { "told" };
                    let row = rows.row(&subjects.of_event(event));
                    row.marks.push(mark);
                    object_state::add(&mut row.phases, column, event);
                    (class, words_of_event(event))
                }
                TimelineEvent::Pass(pass) => {
                    let row = rows.row(&Subject::of_pass(pass));
                    row.marks.push(Marker::of_pass(column, pass));
                    pass_span::add(&mut row.passes, column, pass);
                    ("told", pass.to_string())
                }
                TimelineEvent::Stop => {
                    chart.stops.push(column);
                    rows.end_open_passes(column);
                    ("stop", "the process was stopped".to_owned())
                }
                TimelineEvent::End => {
                    chart.ends.push(column);
                    rows.end_open_passes(column);
                    ("told", "the process was ended".to_owned())
                }
                TimelineEvent::Note { text } => {
                    chart.chapters.push(Span { from: column, to: column, text: text.clone() });
                    ("note", text.clone())
                }
            };
            extend(&mut chart.lives, column, || if moment.life == 0 { String::new() } else { moment.life.to_string() });
            extend(&mut chart.times, column, || seconds(moment.at));
            chart.lines.push(LogLine { at: moment.at, life: moment.life, class, words });
        }
        let columns = chart.lines.len();
        let begins: Vec<usize> = chart.chapters.iter().skip(1).map(|next| next.from).chain([columns]).collect();
        chart.chapters.iter_mut().zip(begins).for_each(|(chapter, to)| chapter.to = to);
        rows.end_open_passes(columns);
        chart.rows = rows.in_order();
        chart.rows.iter_mut().for_each(|row| object_state::end(&mut row.phases, columns));
        chart
    }
}

/// Formats milliseconds as seconds.
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

/// The rows in the order of first use.
struct TimelineRows<'a> {
    subjects: &'a Subjects,
    found: HashMap<Subject, usize>,
    rows: Vec<(Subject, TimelineRow)>,
}

impl TimelineRows<'_> {
    fn row(&mut self, subject: &Subject) -> &mut TimelineRow {
        // The row of a kind comes before the row of its first object.
        for subject in [&subject.kind(), subject] {
            if !self.found.contains_key(subject) {
                self.found.insert(subject.clone(), self.rows.len());
                self.rows.push((subject.clone(), self.empty(subject)));
            }
        }
        &mut self.rows[self.found[subject]].1
    }

    fn empty(&self, subject: &Subject) -> TimelineRow {
        let kind = self.subjects.kind_name(&subject.resource);
        let (label, words) = if subject.is_object() {
            (subject.full_name(), format!("{kind} {}", subject.full_name()))
        } else {
            (kind.to_owned(), format!("{kind} {}", subject.resource))
        };
        TimelineRow {
            label,
            words,
            is_object: subject.is_object(),
            marks: Vec::new(),
            phases: Vec::new(),
            passes: Vec::new(),
        }
    }

    /// Ends the passes that are still open.
    fn end_open_passes(&mut self, column: usize) {
        self.rows.iter_mut().for_each(|(_, row)| pass_span::end_open(&mut row.passes, column));
    }

    /// Returns the kinds in the order of first use, each followed by its objects.
    fn in_order(self) -> Vec<TimelineRow> {
        let mut kinds: HashMap<String, usize> = HashMap::new();
        for (subject, _) in &self.rows {
            let next = kinds.len();
            kinds.entry(subject.resource.clone()).or_insert(next);
        }
        let mut rows = self.rows;
        rows.sort_by_key(|(subject, _)| (kinds.get(&subject.resource).copied(), subject.is_object()));
        rows.into_iter().map(|(_, row)| row).collect()
    }
}
