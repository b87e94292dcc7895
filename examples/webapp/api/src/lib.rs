//! The kinds of webapp.

mod webapp;

pub use webapp::{WebApp, WebAppSpec};
