//! Appends exemplars to the buckets of histograms in OpenMetrics text: the span in which a duration was measured.
//!
//! `prometheus-client` encodes only the exemplars of its own histograms.

use super::histogram::SpanExemplar;
use std::{collections::BTreeMap, fmt::Write as _, time::UNIX_EPOCH};

/// The exemplars of one series.
#[derive(Debug)]
pub(super) struct SeriesExemplars {
    /// The text of a bucket of the series before and after the value of `le`.
    bucket: (String, String),
    /// By the number of the bucket.
    exemplars: BTreeMap<usize, SpanExemplar>,
}

impl SeriesExemplars {
    /// Returns the exemplars of the series that `metric` has for these labels, with the text by which [`append`] recognizes the lines of
    /// its buckets.
    pub(super) fn new(metric: &str, labels: &[(&str, &str)], exemplars: BTreeMap<usize, SpanExemplar>) -> Self {
        let mut rest = "\"".to_owned();
        for (name, value) in labels {
            let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
            // Writing to a string can't fail.
            let _ = write!(rest, ",{name}=\"{value}\"");
        }
        rest.push_str("} ");
        Self { bucket: (format!("{metric}_bucket{{le=\""), rest), exemplars }
    }

    /// Returns whether a line of the exposition text is a bucket of the series, whatever its value of `le`.
    fn has_bucket(&self, line: &str) -> bool {
        let (before, after) = &self.bucket;
        let rest = line.strip_prefix(before.as_str()).and_then(|rest| rest.find('"').map(|end| &rest[end..]));
        rest.is_some_and(|rest| rest.starts_with(after.as_str()))
    }
}

/// Returns OpenMetrics text in which each exemplar of `series` is appended to the line of its bucket. The lines of a series are in the
/// order of its buckets.
pub(super) fn append(text: &str, series: &[SeriesExemplars]) -> String {
    // For each series, the number of the bucket on its next line.
    let mut next_buckets = vec![0; series.len()];
    let mut appended = String::with_capacity(text.len());
    for line in text.lines() {
        appended.push_str(line);
        if let Some(index) = series.iter().position(|series| series.has_bucket(line)) {
            if let Some(exemplar) = series[index].exemplars.get(&next_buckets[index]) {
                push(&mut appended, exemplar);
            }
            next_buckets[index] += 1;
        }
        appended.push('\n');
    }
    appended
}

/// Appends one exemplar to a line, in the syntax of OpenMetrics.
fn push(line: &mut String, exemplar: &SpanExemplar) {
    let SpanExemplar { trace_id, span_id, seconds, time } = exemplar;
    let time = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    // Writing to a string can't fail.
    let _ = write!(line, " # {{trace_id=\"{trace_id}\",span_id=\"{span_id}\"}} {seconds} {time:.3}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn an_exemplar_follows_its_bucket() {
        let text = "# TYPE a histogram\na_sum{b=\"x\"} 3.0\na_bucket{le=\"1.0\",b=\"x\"} 1\na_bucket{le=\"+Inf\",b=\"x\"} 2\n\
            a_bucket{le=\"1.0\",b=\"y\"} 0\na_bucket{le=\"+Inf\",b=\"y\"} 0\n# EOF\n";
        let time = UNIX_EPOCH + Duration::from_millis(1500);
        let exemplar = SpanExemplar { trace_id: "ab".to_owned(), span_id: "cd".to_owned(), seconds: 2.5, time };
        let series = SeriesExemplars::new("a", &[("b", "x")], [(1, exemplar)].into());
        let line = "a_bucket{le=\"+Inf\",b=\"x\"} 2";
        let expected = text.replace(line, &format!("{line} # {{trace_id=\"ab\",span_id=\"cd\"}} 2.5 1.500"));
        assert_eq!(append(text, &[series]), expected);
    }
}
