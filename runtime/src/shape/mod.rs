//! Describes provisioner trees as constant data: nodes, permissions and paths.

mod builtin;
mod external;
mod location;
mod namespace;
mod node;
mod path;
mod permission;
pub(crate) mod provisioner;
mod registration;
mod resource_options;
mod verb;
mod walk;
mod yaml;

pub(crate) use builtin::rank;
pub(crate) use external::EXTERNAL_RECORD_ACCESS;
pub use location::SourceLocation;
pub use node::{Cardinality, Edge, EmbeddedManifest, Node, Order, Shape};
pub use path::Path;
pub(crate) use path::{is_below, key_below, without_keys};
pub use permission::{Access, AccessTarget};
pub use provisioner::Provisioner;
pub use registration::{ClusterCredentials, Registration};
pub(crate) use resource_options::duration_text;
pub use resource_options::{DeletionPropagation, ResourceOptions};
pub use verb::Verb;
pub use walk::NodeVisit;
pub use yaml::InvalidManifest;
pub(crate) use yaml::documents;
