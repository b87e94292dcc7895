//! The calls of hand-written nodes.

mod node_calls;
mod part;
mod read;
mod reference;
mod right;
mod server;
mod write;

pub use node_calls::Calls;
pub use part::PartCalls;
pub use reference::References;

use crate::{
    access::Within,
    client::{Client, Target, strip_nulls},
};

// The calls are boxed, so that a missing permission is one message of the compiler and not one for each use of the future.
