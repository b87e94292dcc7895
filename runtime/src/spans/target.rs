//! Defines the `tracing` target of all spans of the runtime.

/// The target of all spans of the runtime. A log filter matches targets by their prefix, so no module may begin with it.
pub(crate) const TARGET: &str = "opgen::trace";
