//! Reports fields of a spec whose Rust types have schemas that the API server rejects, judged by the tokens of the types.

use crate::{
    diag::Diags,
    model::{
        managed::{Field, Managed},
        type_path::{last_segment, type_arguments},
    },
};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{PathSegment, Type};

/// Types with the schema of their argument, or with a list of it.
const WRAPPERS: [&str; 9] = ["Option", "Vec", "VecDeque", "Box", "Arc", "Rc", "HashSet", "BTreeSet", "Cow"];
const MAPS: [&str; 3] = ["BTreeMap", "HashMap", "IndexMap"];
const NUMBERS: [&str; 14] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "bool", "char"];

/// Checks the type of each field, unless a function provides its schema.
pub(super) fn check(model: &Managed, diags: &mut Diags) {
    for field in model.fields.iter().filter(|field| !field.hints.skip && !field.hints.foreign_schema) {
        FieldSchema { spec: &model.spec, field, diags }.check(&field.ty);
    }
}

/// The check of the type of one field.
struct FieldSchema<'a> {
    spec: &'a Ident,
    field: &'a Field,
    diags: &'a mut Diags,
}

impl FieldSchema<'_> {
    /// Reports a type that has no structural schema, such as a tuple or a reference. Also checks the types inside arrays, wrappers and
    /// maps.
    fn check(&mut self, ty: &Type) {
        match ty {
            Type::Tuple(tuple) if tuple.elems.is_empty() => {
                self.reject(ty, "has no schema", "remove the field, or use a struct without fields")
            }
            Type::Tuple(_) => self.reject(
                ty,
                "is a tuple, but a schema supports only lists of one type",
                "use a struct with named fields",
            ),
            Type::Reference(_) => self.reject(ty, "is borrowed, but an object owns its data", "use the owned type"),
            Type::FnPtr(_) | Type::Ptr(_) | Type::TraitObject(_) | Type::ImplTrait(_) | Type::Never(_) => {
                self.reject(ty, "has no JSON form", "use a type with a schema");
            }
            Type::Array(array) => self.check(&array.elem),
            Type::Slice(slice) => self.check(&slice.elem),
            Type::Group(group) => self.check(&group.elem),
            Type::Paren(paren) => self.check(&paren.elem),
            Type::Path(_) => last_segment(ty).into_iter().for_each(|segment| self.check_path(ty, segment)),
            _ => (),
        }
    }

    /// Checks a type with the name `segment`, and its type arguments. Reports the type of the spec itself, whose schema would be infinite,
    /// and types without a JSON form that fits.
    fn check_path(&mut self, ty: &Type, segment: &PathSegment) {
        let name = segment.ident.to_string();
        let arguments = type_arguments(segment);
        if name == "Self" || segment.ident == *self.spec {
            return self.reject(ty, "makes the schema infinite", "use a type that doesn't contain itself");
        }
        match (name.as_str(), arguments.as_slice()) {
            ("i128" | "u128", []) => self.reject(ty, "doesn't fit into a JSON number", "use `i64`, or a string"),
            ("str", []) => self.reject(ty, "is borrowed, but an object owns its data", "use `String`"),
            ("Option", [inner]) if last_segment(inner).is_some_and(|inner| inner.ident == "Option") => {
                self.reject(ty, "can't distinguish absent from null", "use one `Option`");
            }
            (map, [key, value]) if MAPS.contains(&map) => {
                self.check_key(key);
                self.check(value);
            }
            (wrapper, [inner, ..]) if WRAPPERS.contains(&wrapper) => self.check(inner),
            _ => self.check_foreign(ty),
        }
    }

    /// Checks the key of a map, which must be a string in JSON.
    fn check_key(&mut self, key: &Type) {
        let is_number = last_segment(key).is_some_and(|key| NUMBERS.contains(&key.ident.to_string().as_str()));
        if is_number || matches!(key, Type::Tuple(_) | Type::Array(_)) {
            self.reject(key, "can't be the key of a JSON object", "use `String` keys, or a list of structs");
        }
    }

    /// Reports types of serde_json and std whose schemas the API server rejects or whose JSON is unexpected. Compares the whole path, as
    /// written, since the last segment (`Value`, `Duration`) is also the name of other types.
    fn check_foreign(&mut self, ty: &Type) {
        let path = ty.to_token_stream().to_string().replace(' ', "");
        match path.trim_start_matches("::") {
            "serde_json::Value" | "serde_json::Map<String,serde_json::Value>"
                if !self.field.hints.preserves_unknown =>
            {
                let fix = "add `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]` to the field";
                self.reject(ty, "has no type, so unknown fields would be pruned", fix);
            }
            "serde_json::value::RawValue" | "Box<serde_json::value::RawValue>" => {
                self.reject(ty, "has no structural schema", "use `serde_json::Value`");
            }
            "std::time::Duration" | "core::time::Duration" => {
                let fix = "use `kube::core::Duration`, written `30s`, \
                           with `#[schemars(regex(pattern = \"^([0-9]+(ms|s|m|h))+$\"))]`";
                self.reject(ty, "becomes seconds and nanoseconds", fix);
            }
            "std::time::SystemTime" | "std::time::Instant" => {
                self.reject(ty, "is not an API time", "use `k8s_openapi::apimachinery::pkg::apis::meta::v1::Time`");
            }
            _ => (),
        }
    }

    /// Reports a type. The message is the type and `problem`, followed by the fix.
    fn reject(&mut self, ty: &Type, problem: &str, fix: &str) {
        // The text of a token stream has a space between any two tokens; removes the spaces that Rust code does not have.
        let text = ty
            .to_token_stream()
            .to_string()
            .replace(" ,", ",")
            .replace(" < ", "<")
            .replace(" >", ">")
            .replace(" :: ", "::")
            .replace("& ", "&");
        self.diags.error(ty, format!("`{text}` {problem}"), fix);
    }
}
