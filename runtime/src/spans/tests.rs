//! Tests the tracing spans of passes, tree nodes and API calls: that `TRACING.md` lists their attributes, and that OpenTelemetry gets them.

mod documented;
#[cfg(feature = "otlp")]
mod propagated;
