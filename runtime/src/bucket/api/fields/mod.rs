//! Tracks which manager owns which field in `metadata.managedFields`, and implements server-side apply.
//!
//! Source: `k8s.io/apimachinery/pkg/util/managedfields` and `sigs.k8s.io/structured-merge-diff`.

mod apply;
mod changes;
mod content;
mod field_set;
mod managers;
mod merge;
mod structure;
mod update;

pub(super) use apply::{AppliedFields, apply};
pub(super) use managers::{disown_desired_state, keep_times};
pub(super) use update::{FieldWriter, update};
