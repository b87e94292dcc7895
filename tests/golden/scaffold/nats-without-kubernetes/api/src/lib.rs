//! The kinds of demo.

mod policy;

pub use policy::{Policy, PolicySpec};
