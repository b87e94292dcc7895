//! What was asked and told, as a page: one HTML file that needs no network and, but for its filter and zoom, no script.
//!
//! A [document] is a whole page around what is in it; [`course`] draws a [`Timeline`](crate::fault::Timeline): a lane for
//! each object with its passes, a column for each moment. The axis is order and not time, since on a paused clock most moments share one
//! time. Like the timeline it knows names, codes and reasons only, so nothing of a Secret.

mod chart;
mod course;
mod document;
mod mark;
mod passing;
mod state;
mod subject;

pub use course::course;
pub use document::{alone, document};
