//! Validation of custom resources by their schema, with the messages of kube-apiserver.

pub(crate) use correlation::Old;
pub(crate) use outcome::shown;
pub(crate) use resource::validate;
pub(super) use values::part;

mod correlation;
mod embedded;
mod lists;
mod outcome;
mod resource;
mod scale;
mod values;
