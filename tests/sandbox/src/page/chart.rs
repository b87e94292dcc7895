//! Lays out a timeline of API calls and reconcile passes as a chart: a column for each entry, a row for each object.

use std::collections::HashMap;

use super::{
    marker::{Marker, describe_call, describe_event},
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
    pub(super) full_text: String,
    pub(super) is_object: bool,
    pub(super) markers: Vec<Marker>,
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
    pub(super) text: String,
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
    /// Arranges the entries of a timeline. Each entry gets a column and a line of the log. Calls, events and passes also get
    /// a marker in the row of their subject: the object that they concern, or its kind.
    pub(super) fn new(timeline: &Timeline) -> Self {
        let mut chart = Self::default();
        let subjects = Subjects::new(timeline);
        let mut rows = TimelineRows { subjects: &subjects, indices: HashMap::new(), rows: Vec::new() };
        for (column, entry) in timeline.entries.iter().enumerate() {
            let (class, text) = match &entry.event {
                TimelineEvent::Call(call) => {
                    let subject = Subject::of_call(call);
                    let marker = Marker::of_call(column, call, subject.is_object());
                    let class = if marker.is_hit { "hit" } else { marker.outcome };
                    rows.row_of(&subject).markers.push(marker);
                    (class, describe_call(call))
                }
                TimelineEvent::Event(event) => {
                    let marker = Marker::of_event(column, event);
                    let class = if marker.is_hit { "hit" } else { "neutral" };
                    let row = rows.row_of(&subjects.of_event(event));
                    row.markers.push(marker);
                    object_state::add_event(&mut row.phases, column, event);
                    (class, describe_event(event))
                }
                TimelineEvent::Pass(pass) => {
                    let row = rows.row_of(&Subject::of_pass(pass));
                    row.markers.push(Marker::of_pass(column, pass));
                    pass_span::add_entry(&mut row.passes, column, pass);
                    ("neutral", pass.to_string())
                }
                TimelineEvent::Webhook(call) => {
                    (if call.fault.is_some() { "hit" } else { "neutral" }, call.to_string())
                }
                TimelineEvent::Stop => {
                    chart.stops.push(column);
                    rows.end_open_passes(column);
                    ("stop", "the process was stopped".to_owned())
                }
                TimelineEvent::End => {
                    chart.ends.push(column);
                    rows.end_open_passes(column);
                    ("neutral", "the process was ended".to_owned())
                }
                TimelineEvent::Note { text } => {
                    chart.chapters.push(Span { from: column, to: column, text: text.clone() });
                    ("note", text.clone())
                }
            };
            // A life is one process of the client; before the first one its number is 0.
            extend_spans(&mut chart.lives, column, || {
                if entry.life == 0 { String::new() } else { entry.life.to_string() }
            });
            extend_spans(&mut chart.times, column, || seconds(entry.at));
            chart.lines.push(LogLine { at: entry.at, life: entry.life, class, text });
        }
        let columns = chart.lines.len();
        // Each chapter ends where the next one begins, the last one at the end of the timeline.
        let chapter_ends: Vec<usize> = chart.chapters.iter().skip(1).map(|next| next.from).chain([columns]).collect();
        chart.chapters.iter_mut().zip(chapter_ends).for_each(|(chapter, to)| chapter.to = to);
        rows.end_open_passes(columns);
        chart.rows = rows.in_order();
        chart.rows.iter_mut().for_each(|row| object_state::extend_last(&mut row.phases, columns));
        chart
    }
}

/// Formats milliseconds as seconds.
pub(super) fn seconds(at: u64) -> String {
    format!("{}.{:03} s", at / 1000, at % 1000)
}

/// Adds a column with a text: extends the last span by the column if the span has this text; otherwise adds a new span.
fn extend_spans(spans: &mut Vec<Span>, column: usize, text: impl FnOnce() -> String) {
    let text = text();
    match spans.last_mut() {
        Some(last) if last.text == text => last.to = column + 1,
        _ => spans.push(Span { from: column, to: column + 1, text }),
    }
}

/// The rows of a chart while it is built, in the order of first use. `indices` finds the row of a subject.
struct TimelineRows<'a> {
    subjects: &'a Subjects,
    indices: HashMap<Subject, usize>,
    rows: Vec<(Subject, TimelineRow)>,
}

impl TimelineRows<'_> {
    /// Returns the row of a subject. Adds it on first use, after the row of its kind.
    fn row_of(&mut self, subject: &Subject) -> &mut TimelineRow {
        // The row of a kind comes before the row of its first object.
        for subject in [&subject.kind(), subject] {
            if !self.indices.contains_key(subject) {
                self.indices.insert(subject.clone(), self.rows.len());
                self.rows.push((subject.clone(), self.new_row(subject)));
            }
        }
        &mut self.rows[self.indices[subject]].1
    }

    /// Creates the empty row of a subject, labelled with the name of the object, or with the kind for a whole kind.
    fn new_row(&self, subject: &Subject) -> TimelineRow {
        let kind = self.subjects.kind_name(&subject.resource);
        let (label, full_text) = if subject.is_object() {
            (subject.full_name(), format!("{kind} {}", subject.full_name()))
        } else {
            (kind.to_owned(), format!("{kind} {}", subject.resource))
        };
        TimelineRow {
            label,
            full_text,
            is_object: subject.is_object(),
            markers: Vec::new(),
            phases: Vec::new(),
            passes: Vec::new(),
        }
    }

    /// Ends the passes that have no end yet at `column`, where the process was stopped or the timeline ends.
    fn end_open_passes(&mut self, column: usize) {
        self.rows.iter_mut().for_each(|(_, row)| pass_span::end_open(&mut row.passes, column));
    }

    /// Returns the rows of the kinds in the order of first use, each followed by the rows of its objects.
    fn in_order(self) -> Vec<TimelineRow> {
        let mut kind_positions: HashMap<String, usize> = HashMap::new();
        for (subject, _) in &self.rows {
            let position = kind_positions.len();
            kind_positions.entry(subject.resource.clone()).or_insert(position);
        }
        let mut rows = self.rows;
        rows.sort_by_key(|(subject, _)| (kind_positions.get(&subject.resource).copied(), subject.is_object()));
        rows.into_iter().map(|(_, row)| row).collect()
    }
}
