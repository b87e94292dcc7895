//! Draws a timeline as an HTML table.

use maud::{Markup, html};

use super::{
    chart::{Chart, Span, TimelineRow, seconds},
    marker::{Marker, SIGNS},
    object_state::Phase,
};
use crate::fault::Timeline;

/// Draws a timeline: a row for each object, a table of object states, and a log. `id` identifies the timeline on its page
/// and has letters, digits and `-` only.
#[must_use]
pub fn draw_timeline(id: &str, timeline: &Timeline) -> Markup {
    let chart = Chart::new(timeline);
    if chart.lines.is_empty() {
        return html! { p.quiet { "No requests were recorded." } };
    }
    html! {
        section.timeline id=(id) {
            (draw_tools(&chart))
            (draw_rows(id, &chart))
            p.detail role="status" aria-live="polite" { "Point at a mark, or use the arrow keys in the lanes." }
            (draw_states(&chart))
            (draw_log(id, &chart))
        }
    }
}

/// Draws the numbers of calls, events, passes, faults and stops, the filter and zoom controls, and the legend.
fn draw_tools(chart: &Chart) -> Markup {
    let markers = || chart.rows.iter().flat_map(|row| &row.markers);
    let calls = markers().filter(|marker| !matches!(marker.class, "event" | "pass")).count();
    let events = markers().filter(|marker| marker.class == "event").count();
    let passes: usize = chart.rows.iter().map(|row| row.passes.len()).sum();
    let hits = markers().filter(|marker| marker.is_hit).count();
    html! {
        div.tools {
            span.count {
                (count(calls, "call")) ", " (count(events, "event")) ", "
                @if passes > 0 { (passes) @if passes == 1 { " pass, " } @else { " passes, " } }
                (count(hits, "fault")) ", " (count(chart.stops.len(), "stop"))
            }
            form.live hidden {
                input.filter type="search" placeholder="filter: text, 409, Deployment\u{2026}" aria-label="filter the lanes and lines";
                button.out type="button" title="narrower columns (-)" aria-label="narrower columns" { "\u{2212}" }
                button.in type="button" title="wider columns (+)" aria-label="wider columns" { "+" }
                button.fit type="button" title="the whole timeline at once (0)" { "fit" }
            }
            (draw_legend(chart))
        }
    }
}

/// Formats a number with its noun: `1 call`, `2 calls`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Draws the legend of the markers and outcomes that the timeline contains.
fn draw_legend(chart: &Chart) -> Markup {
    let markers = || chart.rows.iter().flat_map(|row| &row.markers);
    let example = |class: &'static str, outcome: &'static str| Marker {
        column: 0,
        sign: "P",
        class,
        outcome,
        is_hit: outcome.is_empty(),
    };
    let outcomes =
        [("absent", "not found"), ("refused", "refused (4xx)"), ("failed", "failed (429, 5xx)"), ("lost", "no answer")];
    html! {
        ul.legend {
            @for (sign, class, meaning) in SIGNS.iter().filter(|(sign, ..)| markers().any(|marker| marker.sign == *sign)) {
                li { i class={ "m " (class) " done" } { (sign) } (meaning) }
            }
            @for (outcome, meaning) in outcomes.iter().filter(|(outcome, _)| markers().any(|marker| marker.outcome == *outcome)) {
                li { i class=(classes(&example("write", outcome))) { "P" } (meaning) }
            }
            @if markers().any(|marker| marker.is_hit) {
                li { i class="m write done hit" { "P" } "hit by a fault" }
            }
            @if !chart.stops.is_empty() {
                li { i.rule.stop {} "the process was stopped" }
            }
            @if !chart.ends.is_empty() {
                li { i.rule.end {} "the process was ended" }
            }
        }
    }
}

/// Returns the CSS classes of a marker.
fn classes(marker: &Marker) -> String {
    format!("m {} {}{}", marker.class, marker.outcome, if marker.is_hit { " hit" } else { "" })
}

/// Draws the header with chapters (notes of the test), lives (processes of the client) and times, and a row for each kind
/// and object.
fn draw_rows(id: &str, chart: &Chart) -> Markup {
    html! {
        div.chart tabindex="0" role="group" aria-label="lanes: a row for each object, a column for each entry" style={ "--n:" (chart.lines.len()) } {
            div.head {
                @if !chart.chapters.is_empty() {
                    (draw_spans("phase", "chapters", &chart.chapters))
                }
                (draw_spans("process", "lives", &chart.lives))
                (draw_spans("time", "times", &chart.times))
            }
            div.body {
                @for row in &chart.rows {
                    (draw_row(id, chart, row))
                }
                div.rules aria-hidden="true" {
                    i.columns {}
                    @for chapter in &chart.chapters {
                        i.rule style=(position(chapter.from)) {}
                    }
                    @for stop in &chart.stops {
                        i.rule.stop style=(position(*stop)) {}
                    }
                    @for end in &chart.ends {
                        i.rule.end style=(position(*end)) {}
                    }
                }
            }
        }
    }
}

/// Returns the style that places an element at a column.
fn position(column: usize) -> String {
    format!("--x:{column}")
}

/// Returns the style that places an element at the columns from `from` to before `to`, at least one column wide.
fn extent(from: usize, to: usize) -> String {
    format!("--x:{from};--w:{}", to.saturating_sub(from).max(1))
}

/// Draws a row of the header with the label `label` and the CSS class `class`: ranges of columns with their texts.
fn draw_spans(label: &str, class: &str, spans: &[Span]) -> Markup {
    html! {
        div class={ "row " (class) } {
            span.label { (label) }
            div.track {
                @for span in spans {
                    span.span style=(extent(span.from, span.to)) title=(span.text) { b { (span.text) } }
                }
            }
        }
    }
}

/// Draws the row of a kind or object: its markers, passes and phases.
fn draw_row(id: &str, chart: &Chart, row: &TimelineRow) -> Markup {
    let class = match (row.is_object, row.phases.is_empty()) {
        (false, _) => "row kind",
        (true, true) => "row object",
        (true, false) => "row object stateful",
    };
    html! {
        div class=(class) data-words=(row.full_text) {
            span.label title=(row.full_text) { (row.label) }
            div.track {
                @for marker in &row.markers {
                    a class=(classes(marker)) style=(position(marker.column)) href={ "#" (id) "-" (marker.column) } tabindex="-1"
                        title=(title(chart, marker.column)) { (marker.sign) }
                }
                @for pass in &row.passes {
                    span.passing style=(extent(pass.from, pass.to())) title=(pass.text) {}
                }
                @for phase in &row.phases {
                    (draw_phase(phase))
                }
            }
        }
    }
}

/// Returns the tooltip of a marker: its line of the log.
fn title(chart: &Chart, column: usize) -> String {
    chart.lines.get(column).map(|line| format!("{}: {}", seconds(line.at), line.text)).unwrap_or_default()
}

/// Draws a phase of an object, in which its state stays the same, as a bar.
fn draw_phase(phase: &Phase) -> Markup {
    html! {
        span class={ "phase " (phase.class) } style=(extent(phase.from, phase.to)) title=(phase.full_text) { b { (phase.label) } }
    }
}

/// Draws a table of the phases of all objects in the order of time: when which object entered which state. Draws nothing
/// if no watch event reported a state.
fn draw_states(chart: &Chart) -> Markup {
    let mut changes: Vec<(&TimelineRow, &Phase)> =
        chart.rows.iter().flat_map(|row| row.phases.iter().map(move |phase| (row, phase))).collect();
    if changes.is_empty() {
        return html! {};
    }
    changes.sort_by_key(|(_, phase)| phase.from);
    html! {
        details.states {
            summary { "State over time" span.quiet { " \u{2013} " (count(changes.len(), "change")) " that the watches reported" } }
            div.wide {
                table {
                    thead { tr { th { "time" } th { "object" } th { "state" } th { "conditions" } } }
                    tbody {
                        @for (row, phase) in changes {
                            tr {
                                td.time { (chart.lines.get(phase.from).map(|line| seconds(line.at)).unwrap_or_default()) }
                                td { (row.full_text) }
                                td { span class={ "chip " (phase.class) } { (phase.label) } }
                                td.conditions { (phase.full_text) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Draws the log: one line for each entry, with time, number of the process and text. The markers link to its lines.
fn draw_log(id: &str, chart: &Chart) -> Markup {
    html! {
        details.words {
            summary { "All of it in words" span.quiet { " \u{2013} " (count(chart.lines.len(), "line")) } }
            ol {
                @for (column, line) in chart.lines.iter().enumerate() {
                    li id={ (id) "-" (column) } class=(line.class) {
                        span.time { (seconds(line.at)) }
                        span.life title="the number of the process" { (line.life) }
                        span.text { (line.text) }
                    }
                }
            }
        }
    }
}
