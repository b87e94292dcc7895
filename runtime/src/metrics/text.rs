//! Chooses the exposition format of a response, and converts OpenMetrics to the older text format of Prometheus.

use std::collections::HashMap;

/// An exposition format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    OpenMetrics,
    /// The text format 0.0.4 of Prometheus.
    Text,
}

impl Format {
    /// Returns the format that a client prefers by its header `Accept`. It is OpenMetrics only if the header names this type, with a
    /// quality of at least that of plain text.
    pub(crate) fn of_accept(accept: &str) -> Self {
        // Returns the highest `q` parameter of a media type in the header; 0 if the header does not name the type.
        let quality = |media: &str| {
            let ranges = accept.split(',').map(str::trim);
            let matching = ranges.filter(|range| range.split(';').next().map(str::trim) == Some(media));
            let qualities = matching.map(|range| {
                let q = range.split(';').find_map(|parameter| parameter.trim().strip_prefix("q="));
                q.map_or(1.0, |q| q.trim().parse::<f64>().unwrap_or(0.0))
            });
            qualities.fold(0.0, f64::max)
        };
        let (open_metrics, text) = (quality("application/openmetrics-text"), quality("text/plain"));
        if open_metrics > 0.0 && open_metrics >= text { Self::OpenMetrics } else { Self::Text }
    }

    /// Returns the value of the header `Content-Type`.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// Converts OpenMetrics text to the text format 0.0.4. In that format, the comments of a counter have the name of its series, with
/// `_total`, and units, exemplars and the end marker do not exist.
pub(crate) fn convert(open_metrics: &str) -> String {
    let types = open_metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let types: HashMap<&str, &str> = types.collect();
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines() {
        let converted = match line.strip_prefix("# ") {
            None => without_exemplar(line).to_owned(),
            Some(comment) => match comment.splitn(3, ' ').collect::<Vec<_>>()[..] {
                [keyword @ ("HELP" | "TYPE"), name, rest] => {
                    let (suffix, replaced_type) = match types.get(name) {
                        Some(&"counter") => ("_total", "counter"),
                        Some(&"info") => ("_info", "gauge"),
                        Some(&"stateset") => ("", "gauge"),
                        Some(&"unknown") => ("", "untyped"),
                        _ => ("", rest),
                    };
                    let rest = if keyword == "TYPE" { replaced_type } else { rest };
                    format!("# {keyword} {name}{suffix} {rest}")
                }
                // A unit or the end marker.
                _ => continue,
            },
        };
        text.push_str(&converted);
        text.push('\n');
    }
    text
}

/// Returns a sample without its exemplar, which follows after ` # `. The values of labels, which are quoted, may contain these characters.
fn without_exemplar(sample: &str) -> &str {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (index, character) in sample.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_quoted,
            '"' => is_quoted = !is_quoted,
            '#' if !is_quoted => return sample.get(..index).unwrap_or(sample).trim_end(),
            _ => {}
        }
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_open_metrics_only_if_it_asks_for_it() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,\
            text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        assert_eq!(Format::of_accept(prometheus), Format::OpenMetrics);
        for other in [
            "",
            "*/*",
            "text/plain",
            "application/openmetrics-text;q=0.1, text/plain",
            "application/openmetrics-text;q=0",
        ] {
            assert_eq!(Format::of_accept(other), Format::Text, "{other}");
        }
    }

    #[test]
    fn the_text_format_names_families_of_counters_as_their_series() {
        let open_metrics = "# HELP a Things\n# TYPE a counter\na_total{b=\"c # d\"} 1 # {id=\"7\"} 1.0\n# HELP s Sizes\n# TYPE s gauge\n# UNIT s bytes\ns 2\n# EOF\n";
        let expected = "# HELP a_total Things\n# TYPE a_total counter\na_total{b=\"c # d\"} 1\n# HELP s Sizes\n# TYPE s gauge\ns 2\n";
        assert_eq!(convert(open_metrics), expected);
    }

    #[test]
    fn a_label_that_looks_like_an_exemplar_is_not_cut() {
        let sample = r#"a{b=" # {\" # {",c="\\"} 1"#;
        assert_eq!(convert(sample), format!("{sample}\n"));
        assert_eq!(convert(&format!("{sample} # {{id=\"7\"}} 1.0")), format!("{sample}\n"));
    }
}
