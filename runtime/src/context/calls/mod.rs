//! Implements the API calls of hand-written nodes: reads, writes, subresources and references.

mod node_calls;
mod part;
mod permission;
mod read;
mod reference;
mod server;
mod write;

pub use node_calls::Calls;
pub use part::PartCalls;
pub use reference::References;

use crate::{
    access::Within,
    client::{Client, Target, strip_nulls},
};

// The calls return boxed futures, so that a missing permission is one compiler error, and not one for each use of the future.
