//! Checks the models (stage 3 of a macro). Only a [`Checked`] model can be expanded.

mod access;
mod bucket;
mod child;
mod convention;
mod dependency;
mod enumeration;
mod field;
mod json_path;
pub(crate) mod managed;
mod names;
mod namespace;
pub(crate) mod operator;
mod printcolumn;
pub(crate) mod provisioner;
mod role;
mod schema;
mod subresource;
pub(crate) mod validated;
mod validation;
pub(crate) mod versions;

/// A model that passed all rules.
pub(crate) struct Checked<T>(T);

impl<T> Checked<T> {
    /// Wraps a fallback model: a model that failed, without its invalid parts.
    pub(crate) fn fallback(model: T) -> Self {
        Self(model)
    }
}

impl<T> std::ops::Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
