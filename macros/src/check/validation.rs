//! Reports validation rules in a `Managed` spec that `schemars` ignores because the type of the field doesn't support them.

use crate::{
    diag::Diags,
    model::{
        managed::{Field, Managed},
        type_path::{last_segment, type_arguments},
    },
};
use quote::ToTokens;
use syn::{Path, Type};

const NUMBERS: [&str; 14] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64"];

/// The JSON type of a Rust type, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonType {
    Text,
    Number,
    Bool,
    List,
    Map,
    /// `Quantity` and `IntOrString` of Kubernetes, whose schema has no type.
    IntOrString,
    Unknown,
}

/// Reports `#[schemars(...)]` rules on the fields of a spec that have no effect on the schema, and `#[x_kube(...)]` merge strategies that
/// the API server does not support.
pub(super) fn check(model: &Managed, diags: &mut Diags) {
    for field in model.fields.iter().filter(|field| !field.hints.skip) {
        if let Some(strategy) = &field.hints.rules.struct_merge {
            let problem = "`StructMerge` sets `x-kubernetes-struct-type`, which the API server does not support";
            diags.error(strategy, problem, "use `MapMerge`, which also applies to structs");
        }
        if let Some(required) = &field.hints.rules.required
            && (field.hints.default || model.hints.default)
        {
            let problem = "`required` has no effect on a field with a default, which is optional";
            diags.error(required, problem, "remove `required` or the default");
        }
        if !field.hints.foreign_schema {
            check_effects(field, diags);
        }
    }
}

/// Reports validation rules that `schemars` silently ignores because the type of the field doesn't support them, for example `length` on a
/// number. A type that the macro doesn't know may support every rule.
fn check_effects(field: &Field, diags: &mut Diags) {
    let (rules, json_type) = (&field.hints.rules, json_type(&field.ty));
    let mut report_without_effect = |rule: &Option<Path>, supported: &[JsonType], fix: &str| {
        let Some(rule) = rule.as_ref().filter(|_| json_type != JsonType::Unknown && !supported.contains(&json_type))
        else {
            return;
        };
        let key = rule.to_token_stream();
        diags.error(rule, format!("`{key}` has no effect on {}", json_type.noun()), fix);
    };
    let length_fix = match json_type {
        JsonType::Map => "use `#[schemars(extend(\"minProperties\" = ..., \"maxProperties\" = ...))]`",
        JsonType::IntOrString => "use `#[schemars(extend(\"maxLength\" = ...))]`",
        _ => "use `range`, or remove it",
    };
    report_without_effect(&rules.length, &[JsonType::Text, JsonType::List], length_fix);
    let pattern_fix = match json_type {
        JsonType::List => "write it in `inner(...)`",
        JsonType::IntOrString => "use `#[schemars(extend(\"pattern\" = ...))]`",
        _ => "remove it",
    };
    report_without_effect(&rules.pattern, &[JsonType::Text], pattern_fix);
    let range_fix = match json_type {
        JsonType::List => "write it in `inner(...)`",
        JsonType::IntOrString => "use `#[schemars(extend(\"minimum\" = ..., \"maximum\" = ...))]`",
        _ => "use `length`, or remove it",
    };
    report_without_effect(&rules.range, &[JsonType::Number], range_fix);
    let inner_fix = match json_type {
        JsonType::Map => "use a type with these rules for the values",
        _ => "move its rules out of `inner(...)`",
    };
    report_without_effect(&rules.inner, &[JsonType::List], inner_fix);
}

impl JsonType {
    /// Returns the type with its article, for messages.
    fn noun(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Bool => "a `bool`",
            Self::List => "a list",
            Self::Map => "a map",
            Self::IntOrString => "a number or string",
            Self::Unknown => "this type",
        }
    }
}

/// Returns whether a type is written with a path that contains `k8s_openapi`. A type without this path may be a type of the user's crate
/// with the same name.
fn is_of_kubernetes(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.iter().any(|segment| segment.ident == "k8s_openapi"))
}

/// Returns the JSON type of a Rust type; `Unknown` if its name is none of the standard types.
pub(super) fn json_type(ty: &Type) -> JsonType {
    let segment = match ty {
        Type::Array(_) | Type::Slice(_) => return JsonType::List,
        _ => last_segment(ty),
    };
    let Some(segment) = segment else { return JsonType::Unknown };
    let arguments = type_arguments(segment);
    match (segment.ident.to_string().as_str(), arguments.as_slice()) {
        ("Option" | "Box" | "Arc" | "Rc" | "Cow", [inner, ..]) => json_type(inner),
        ("String" | "str" | "char", []) => JsonType::Text,
        ("bool", []) => JsonType::Bool,
        ("Quantity" | "IntOrString", []) if is_of_kubernetes(ty) => JsonType::IntOrString,
        (number, []) if NUMBERS.contains(&number) => JsonType::Number,
        ("Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "IndexSet", _) => JsonType::List,
        ("BTreeMap" | "HashMap" | "IndexMap", _) => JsonType::Map,
        _ => JsonType::Unknown,
    }
}
