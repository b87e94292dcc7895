//! `BoxedLayer`: the type of the `tracing` layers in the subscriber of the process.

use tracing_subscriber::{Layer, Registry};

/// A layer of the subscriber of the process.
pub(crate) type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;
