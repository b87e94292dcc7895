//! `ReportedExporter` logs once that the export of spans fails, and once that it works again.

use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// An exporter whose failures are logged. It runs in the thread of the batches, so no pass waits for it.
#[derive(Debug)]
pub(super) struct ReportedExporter<E> {
    exporter: E,
    endpoint: String,
    /// The number of spans that were lost since the last success.
    lost: AtomicU64,
}

impl<E> ReportedExporter<E> {
    pub(super) fn new(exporter: E, endpoint: &str) -> Self {
        Self { exporter, endpoint: endpoint.to_owned(), lost: AtomicU64::new(0) }
    }

    /// Logs the result of exporting a batch of so many spans, if it differs from the result of the previous batch: the first failure, and
    /// the first success after failures with the number of lost spans.
    fn report(&self, spans: u64, result: &OTelSdkResult) {
        let endpoint = &self.endpoint;
        match result {
            Ok(()) => {
                let lost = self.lost.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    tracing::info!(endpoint, lost, "spans are exported again");
                }
            }
            Err(error) => {
                if self.lost.fetch_add(spans, Ordering::Relaxed) == 0 {
                    tracing::warn!(endpoint, %error, "failed to export spans; they are lost until the collector answers");
                }
            }
        }
    }
}

impl<E: SpanExporter> SpanExporter for ReportedExporter<E> {
    /// Exports a batch with the wrapped exporter, and logs the result if it changed.
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let result = self.exporter.export(batch).await;
        self.report(spans, &result);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Log;
    use opentelemetry_sdk::error::OTelSdkError;

    #[test]
    fn the_first_failure_and_the_first_success_after_it_are_logged() {
        let log = Log::capture();
        let exporter = ReportedExporter::new((), "http://collector/v1/traces");
        let failure = || Err(OTelSdkError::InternalFailure("refused".to_owned()));
        for result in [Ok(()), failure(), failure(), failure(), Ok(()), Ok(()), failure()] {
            exporter.report(3, &result);
        }
        let lines = log.lines();
        let levels: Vec<_> = lines.iter().map(|line| line.split(' ').next().unwrap_or_default()).collect();
        assert_eq!(levels, ["WARN", "INFO", "WARN"], "{lines:?}");
        assert!(lines[0].contains("refused") && lines[0].contains("http://collector/v1/traces"), "{lines:?}");
        assert!(lines[1].contains("lost=9"), "{lines:?}");
    }
}
