//! `Metric`: the name, the type, the labels, the unit and the meaning of a metric.

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricKind {
    /// A number that only grows while the process runs. Its name ends with `_total`.
    Counter,
    /// A number that grows and shrinks.
    Gauge,
    /// Durations in buckets. Its series have the suffixes `_bucket`, `_sum` and `_count`.
    Histogram,
}

impl MetricKind {
    /// Returns the name of the type in the exposition formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One metric of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// The name of its series, without the suffixes of a histogram.
    pub name: &'static str,
    /// The title of its panel in the dashboard.
    pub title: &'static str,
    /// The type.
    pub kind: MetricKind,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// The unit of its values; empty for plain numbers.
    pub unit: &'static str,
    /// The meaning, which is also its HELP text.
    pub help: &'static str,
}

/// Defines a counter.
pub(super) const fn counter(
    name: &'static str,
    title: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, title, kind: MetricKind::Counter, labels, unit: "", help }
}

/// Defines a gauge.
pub(super) const fn gauge(
    name: &'static str,
    title: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, title, kind: MetricKind::Gauge, labels, unit: "", help }
}

/// Defines a histogram of durations in seconds.
pub(super) const fn histogram(
    name: &'static str,
    title: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, title, kind: MetricKind::Histogram, labels, unit: "seconds", help }
}

impl Metric {
    /// Sets the unit of the metric, such as `seconds`.
    pub(super) const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
}
