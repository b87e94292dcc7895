//! Replaces the export of spans in an operator without the feature `otlp`.

use super::{
    layer::BoxedLayer,
    settings::{ExportError, ExportSettings},
};
use std::time::Duration;

/// Refuses the export, for which the operator was not built.
pub(crate) fn start(_: &ExportSettings) -> Result<BoxedLayer, ExportError> {
    Err(ExportError::NotBuilt)
}

/// Does nothing: there are no spans.
pub(crate) async fn flush(_: Duration) {}
