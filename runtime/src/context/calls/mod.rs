//! Implements the API calls of hand-written nodes: reads, writes, subresources and references.

mod node_calls;
mod permission;
mod read;
mod reference;
mod server;
mod subresource;
mod write;

pub use node_calls::Calls;
pub(crate) use node_calls::node_type_name;
pub(crate) use permission::Permission;
pub use reference::References;
pub use subresource::SubresourceCalls;

use crate::{
    access::Within,
    client::{Client, Target, strip_nulls},
};

// The calls return boxed futures, so that a missing permission is one compiler error, and not one for each use of the future.
