//! Decides which fields may be absent in JSON, and which serde attributes these fields need.

use super::{
    history::{Member, Origin, VersionedType},
    items::derives,
};
use crate::{attrs::field::SchemaHints, model::type_path::last_segment};
use syn::Type;

impl VersionedType {
    /// Returns whether JSON may lack a field: its type is an `Option`, or it has a default.
    pub(crate) fn is_optional(&self, member: &Member, version: usize) -> bool {
        let hints = &member.hints;
        let has_default = self.hints.default || hints.default || self.has_default_of_type(member);
        member.type_in(version).is_some_and(is_option) || has_default || hints.skip || hints.flatten
    }

    /// Returns whether a field needs `#[serde(default)]` in a version, since it is added without a value for objects of older
    /// versions. An `Option` needs no attribute.
    pub(crate) fn needs_default(&self, member: &Member, version: usize) -> bool {
        self.has_default_of_type(member) && !member.type_in(version).is_some_and(is_option)
    }

    /// Returns whether a field needs `#[serde(skip_serializing_if = ...)]`, so that an absent `Option` is left out of JSON and not
    /// written as `null`. It does not where an absent field would be read as another value.
    pub(crate) fn needs_omission(&self, ty: &Type, hints: &SchemaHints) -> bool {
        let has_function = hints.skip_if || hints.foreign_form || hints.skip || hints.flatten;
        // An absent field is read as its own default, else as its value in the default of the struct. That is known to be `None` only
        // if no function returns it, and if the `Default` of the struct is derived.
        let is_read_as_none = if hints.default || !self.hints.default {
            !hints.default_function
        } else {
            !self.hints.default_function && derives(self.attributes(), "Default")
        };
        let is_plain = self.hints.other_form.is_none() && derives(self.attributes(), "Serialize");
        is_option(ty) && !has_function && is_read_as_none && is_plain
    }

    /// Returns whether a field is added without a value, and without a default of the user.
    fn has_default_of_type(&self, member: &Member) -> bool {
        let is_added = matches!(member.origin, Origin::Added(None)) && !self.is_enum();
        let has_other = self.hints.default || member.hints.default || member.hints.skip || member.hints.flatten;
        is_added && !has_other && derives(self.attributes(), "Deserialize")
    }
}

/// Returns whether a type has the name `Option`.
fn is_option(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|last| last.ident == "Option")
}
