//! The kinds of demo.

mod widget;

pub use widget::{Widget, WidgetSpec};
