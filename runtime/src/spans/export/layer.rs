//! The type of the layers that the subscriber of the process consists of.

use tracing_subscriber::{Layer, Registry};

/// A layer of the subscriber of the process.
pub(crate) type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;
