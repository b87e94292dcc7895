//! Compares two releases of a CustomResourceDefinition, and says for whom each change is breaking.
//!
//! The rules are those of Kubernetes for changes of an API ("On compatibility" in `api_changes.md`): a request that succeeded before
//! must succeed and mean the same, and a client that does not know the change must not be surprised by what it reads.

mod change;
mod definition;
mod limit;
mod merge;
mod path;
mod presence;
mod rule;
mod schema;
#[cfg(test)]
mod tests;
mod version;

pub use change::{Breaks, Change};
pub use definition::compare_definitions;
