//! Validates custom resources by their schema, with the messages of kube-apiserver.

pub use correlation::OldValue;
pub use outcome::format_value;
pub use resource::validate;
pub use scale::ScalePaths;
pub(crate) use values::validate_part;

mod correlation;
mod embedded;
mod lists;
mod outcome;
mod resource;
mod scale;
mod values;
