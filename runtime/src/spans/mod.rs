//! Tracing spans of reconcile passes, tree nodes and API calls, and the trace that the passes over one object share.
//!
//! The spans are those of the crate `tracing`, at the level debug and with the target [`target::TARGET`]. No log filter of opgen enables
//! them, so without an export they cost a check of a static level each. With the feature `otlp` and an endpoint, [`export`] sends
//! them to an OpenTelemetry collector. `TRACING.md` of this crate lists all spans and attributes.

pub(crate) mod bridge;
pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod convergence;
pub(crate) mod export;
pub(crate) mod node;
pub(crate) mod pass;
mod sampling;
pub(crate) mod target;
#[cfg(test)]
mod tests;
