//! Applies, adopts, restores and deletes the child objects of the resource nodes of a tree.

pub(crate) mod adoption;
pub(crate) mod causal_chain;
pub(crate) mod child;
pub(crate) mod claim;
pub(crate) mod deletion;
pub(crate) mod desired;
pub(crate) mod duplicate;
pub(crate) mod fast_path;
pub(crate) mod field_ownership;
pub(crate) mod hand_written;
pub(crate) mod identity;
pub(crate) mod node_write;
pub(crate) mod output;
pub(crate) mod owner_mark;
pub(crate) mod owner_state;
pub(crate) mod ownership;
pub(crate) mod pass;
pub(crate) mod pending;
pub(crate) mod plan;
pub(crate) mod pod_diagnosis;
pub(crate) mod repair;
pub(crate) mod resource;
pub(crate) mod side_effects;
pub(crate) mod tree_harness;
pub(crate) mod write_traces;
