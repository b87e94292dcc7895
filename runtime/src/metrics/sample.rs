//! `MetricSamples`: the values of all metrics at one time, encoded by `prometheus-client`.

use super::{
    exemplar::SeriesExemplars,
    histogram::HistogramValues,
    metric::{Metric, MetricKind},
    table::TABLE,
};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet},
    metrics::MetricType,
};
use std::{collections::HashMap, fmt};

/// The value of one series.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sample {
    Integer(u64),
    Number(f64),
    Durations(HistogramValues),
}

impl From<u64> for Sample {
    fn from(number: u64) -> Self {
        Self::Integer(number)
    }
}

impl From<usize> for Sample {
    fn from(number: usize) -> Self {
        Self::Integer(u64::try_from(number).unwrap_or(u64::MAX))
    }
}

impl From<f64> for Sample {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<HistogramValues> for Sample {
    fn from(values: HistogramValues) -> Self {
        Self::Durations(values)
    }
}

/// One series: the values of its labels, in the order of the table, and its value.
type LabeledSample = (Vec<String>, Sample);

/// The series of each metric.
#[derive(Clone, Debug, Default)]
pub(super) struct MetricSamples(HashMap<&'static str, Vec<LabeledSample>>);

impl MetricSamples {
    /// Adds a series of a metric, with a value for each of its labels.
    pub(super) fn add(&mut self, metric: &Metric, labels: &[&str], value: impl Into<Sample>) {
        debug_assert_eq!(labels.len(), metric.labels.len(), "{}", metric.name);
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        self.0.entry(metric.name).or_default().push((labels, value.into()));
    }

    /// Returns the exemplars of each histogram series that has at least one.
    pub(super) fn exemplars(&self) -> Vec<SeriesExemplars> {
        let mut all_exemplars = Vec::new();
        for metric in TABLE {
            for (values, sample) in self.0.get(metric.name).into_iter().flatten() {
                if let Sample::Durations(HistogramValues { exemplars, .. }) = sample
                    && !exemplars.is_empty()
                {
                    let labels: Vec<_> = metric.labels.iter().copied().zip(values.iter().map(String::as_str)).collect();
                    all_exemplars.push(SeriesExemplars::new(metric.name, &labels, exemplars.clone()));
                }
            }
        }
        all_exemplars
    }
}

impl Collector for MetricSamples {
    /// Encodes the series of all metrics in the order of [`TABLE`]. A metric without series is omitted.
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for metric in TABLE {
            let Some(series) = self.0.get(metric.name) else { continue };
            let (name, metric_type) = match metric.kind {
                // The encoder appends the suffix `_total` to the name of a counter.
                MetricKind::Counter => (metric.name.trim_end_matches("_total"), MetricType::Counter),
                MetricKind::Gauge => (metric.name, MetricType::Gauge),
                MetricKind::Histogram => (metric.name, MetricType::Histogram),
            };
            let mut family = encoder.encode_descriptor(name, metric.help, None, metric_type)?;
            for (values, sample) in series {
                let labels: Vec<_> = metric.labels.iter().copied().zip(values.iter().map(String::as_str)).collect();
                if labels.is_empty() {
                    encode_sample(&mut family, metric.kind, sample)?;
                } else {
                    encode_sample(&mut family.encode_family(&labels)?, metric.kind, sample)?;
                }
            }
        }
        Ok(())
    }
}

/// Encodes the value of one series as the type of its metric requires. It omits a number as the value of a histogram, which has no buckets.
fn encode_sample(encoder: &mut MetricEncoder<'_>, kind: MetricKind, sample: &Sample) -> fmt::Result {
    match (kind, sample) {
        (MetricKind::Counter, Sample::Integer(number)) => encoder.encode_counter::<NoLabelSet, _, u64>(number, None),
        (MetricKind::Counter, Sample::Number(number)) => encoder.encode_counter::<NoLabelSet, _, u64>(number, None),
        (MetricKind::Gauge, Sample::Integer(number)) => encoder.encode_gauge(number),
        (MetricKind::Gauge, Sample::Number(number)) => encoder.encode_gauge(number),
        (_, Sample::Durations(values)) => {
            encoder.encode_histogram::<NoLabelSet>(values.sum, values.count, &values.buckets, None)
        }
        (MetricKind::Histogram, _) => Ok(()),
    }
}
