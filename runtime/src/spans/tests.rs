//! Tests the spans as a layer of the subscriber sees them.

mod documented;
#[cfg(feature = "otlp")]
mod propagated;
