//! Stage 3: the rules; what passes is [`Checked`], and nothing else can be expanded.

mod access;
mod child;
mod convention;
mod data;
mod enumeration;
mod field;
mod json_path;
pub(crate) mod managed;
mod names;
pub(crate) mod operator;
mod printcolumn;
pub(crate) mod provisioner;
mod role;
mod rule;
mod schema;
mod subresource;

/// A model that keeps all rules.
pub(crate) struct Checked<T>(T);

impl<T> Checked<T> {
    /// For what remains of a model that didn't pass once the wrong parts are taken out.
    pub(crate) fn mended(model: T) -> Self {
        Self(model)
    }
}

impl<T> std::ops::Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
