//! Decides which fields may be absent in JSON, and which serde attributes these fields need.

use super::{
    history::{Member, Origin, VersionedType},
    items::derives,
};
use crate::{attrs::field::SchemaHints, model::type_path::last_segment};
use syn::Type;

impl VersionedType {
    /// Returns whether the JSON of the version may lack the field: its type is an `Option`, it has a default, or it is not a JSON field of
    /// its own (`#[serde(skip)]`, `#[serde(flatten)]`).
    pub(crate) fn is_optional(&self, member: &Member, version: usize) -> bool {
        let hints = &member.hints;
        let has_default = self.hints.default || hints.default || self.has_default_of_type(member);
        member.type_in(version).is_some_and(is_option) || has_default || hints.skip || hints.flatten
    }

    /// Returns whether the expansion adds `#[serde(default)]` to a field: `added(...)` gives no value for objects of older versions, and
    /// the user sets no default. An `Option` needs no attribute, since serde reads an absent one as `None`.
    pub(crate) fn needs_default(&self, member: &Member, version: usize) -> bool {
        self.has_default_of_type(member) && !member.type_in(version).is_some_and(is_option)
    }

    /// Returns whether the expansion adds `#[serde(skip_serializing_if = "Option::is_none")]` to a field, so that serde leaves out `None`
    /// and does not write `null`. Requires that the field is an `Option`, that serde reads an absent field as `None`, that the type derives
    /// `Serialize`, and that no attribute of serde changes the JSON of the field or type.
    pub(crate) fn needs_omission(&self, ty: &Type, hints: &SchemaHints) -> bool {
        let has_function = hints.skip_if || hints.foreign_form || hints.skip || hints.flatten;
        // serde reads an absent field as the default of the field, else as its value in the default of the struct. This value is known to
        // be `None` only if no function returns the default, and if the `Default` of the struct is derived.
        let is_read_as_none = if hints.default || !self.hints.default {
            !hints.default_function
        } else {
            !self.hints.default_function && derives(self.attributes(), "Default")
        };
        let is_plain = self.hints.other_form.is_none() && derives(self.attributes(), "Serialize");
        is_option(ty) && !has_function && is_read_as_none && is_plain
    }

    /// Returns whether the default of its type (`Default::default()`) is the value of an added field for objects of older versions:
    /// `added(...)` gives no value, the user sets no default by serde, and the type derives `Deserialize`, so that the expansion can add
    /// `#[serde(default)]`.
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
