//! `Correlated`: a log format that appends the trace id and the span id of the current span to each line.

use crate::spans::{bridge::active_context, context::TraceContext};
use std::fmt;
use tracing::{Event, Subscriber};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

/// A format of log lines with the trace id and the span id, in a pass that is traced. Other lines stay as they are.
pub(super) struct Correlated<F> {
    pub(super) format: F,
    /// Whether a line is a JSON object.
    pub(super) is_json: bool,
}

impl<S, N, F> FormatEvent<S, N> for Correlated<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    /// Writes an event in the inner format. In a traced span, appends the trace id and the span id to the line.
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let Some(trace) = active_context() else { return self.format.format_event(context, writer, event) };
        let mut line = String::new();
        self.format.format_event(context, Writer::new(&mut line), event)?;
        writer.write_str(&with_ids(&line, &trace, self.is_json))
    }
}

/// Returns a line with the trace id and the span id at its end: as two more fields of a JSON object, or as `name=value` in a text.
fn with_ids(line: &str, trace: &TraceContext, is_json: bool) -> String {
    let (line, trace_id, span_id) = (line.trim_end_matches('\n'), trace.trace_id_text(), trace.span_id_text());
    match line.strip_suffix('}').filter(|_| is_json) {
        Some(object) => format!("{object},\"trace_id\":\"{trace_id}\",\"span_id\":\"{span_id}\"}}\n"),
        None => format!("{line} trace_id={trace_id} span_id={span_id}\n"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_are_at_the_end_of_a_line() {
        let trace = TraceContext { trace_id: 0xab, span_id: 0xcd, is_sampled: true, state: None };
        let text = with_ids("INFO applied kind=Pod\n", &trace, false);
        assert_eq!(text, format!("INFO applied kind=Pod trace_id={:032x} span_id={:016x}\n", 0xab, 0xcd));
        let json = with_ids("{\"level\":\"INFO\",\"fields\":{}}\n", &trace, true);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["level"], &json["span_id"]), (&"INFO".into(), &"00000000000000cd".into()));
    }
}
