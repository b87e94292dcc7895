//! Renders timelines of tests (API calls, watch events and reconcile passes) as HTML: one self-contained file, with a script only for its
//! filter and zoom.
//!
//! [`document()`] wraps a body in a page. [`draw_timeline`] renders a [`Timeline`](crate::fault::Timeline): a row for each
//! object with its reconcile passes, a column for each entry. The axis shows order instead of time, because on a
//! paused clock most entries have the same time. Like the timeline, the page contains only names, codes and reasons,
//! and nothing of a Secret.

mod chart;
mod diagram;
mod document;
mod marker;
mod object_state;
mod pass_span;
mod subject;

pub use diagram::draw_timeline;
pub use document::{alone, document};
