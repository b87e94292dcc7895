//! The tree of an operator as data: nodes, permissions and paths, known before anything runs.

mod builtin;
mod node;
mod path;
mod permission;
mod place;
pub(crate) mod provisioner;
mod verb;
mod yaml;

pub(crate) use builtin::rank;
pub use node::{Count, Edge, Embedded, Node, Order, ResourceOptions, Shape, Stop};
pub use path::Path;
pub(crate) use path::{key_below, without_keys};
pub use permission::{Access, Reach};
pub use place::Place;
pub use provisioner::Provisioner;
pub use verb::Verb;
pub use yaml::Malformed;
pub(crate) use yaml::documents;
