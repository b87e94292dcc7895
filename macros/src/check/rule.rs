//! Rules of a field that its type has no place for: `schemars` drops them without a word.

use crate::{
    diag::Diags,
    model::managed::{Field, Managed, last_segment, type_arguments},
};
use quote::ToTokens;
use syn::{Path, Type};

const NUMBERS: [&str; 14] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64"];

/// What a type is in JSON, as far as its name says it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Number,
    Bool,
    List,
    Map,
    /// `Quantity` and `IntOrString` of Kubernetes, whose schema has no type.
    IntOrString,
    Unknown,
}

pub(super) fn check(model: &Managed, diags: &mut Diags) {
    for field in model.fields.iter().filter(|field| !field.hints.skip) {
        if let Some(strategy) = &field.hints.rules.struct_merge {
            let what = "`StructMerge` says `x-kubernetes-struct-type`, which the API server doesn't know";
            diags.error(strategy, what, "use `MapMerge`: it holds for structs, too");
        }
        if let Some(required) = &field.hints.rules.required
            && (field.hints.default || model.hints.default)
        {
            let what = "`required` has no effect on a field with a default, which may be missing";
            diags.error(required, what, "remove `required`, or the default");
        }
        if !field.hints.foreign_schema {
            effects(field, diags);
        }
    }
}

fn effects(field: &Field, diags: &mut Diags) {
    let (rules, form) = (&field.hints.rules, form(&field.ty));
    let mut without_effect = |rule: &Option<Path>, on: &[Form], fix: &str| {
        let Some(rule) = rule.as_ref().filter(|_| form != Form::Unknown && !on.contains(&form)) else { return };
        let key = rule.to_token_stream();
        diags.error(rule, format!("`{key}` has no effect on {}", form.shown()), fix);
    };
    let length = match form {
        Form::Map => "use `#[schemars(extend(\"minProperties\" = ..., \"maxProperties\" = ...))]`",
        Form::IntOrString => "use `#[schemars(extend(\"maxLength\" = ...))]`",
        _ => "use `range`, or remove it",
    };
    without_effect(&rules.length, &[Form::Text, Form::List], length);
    let pattern = match form {
        Form::List => "write it in `inner(...)`",
        Form::IntOrString => "use `#[schemars(extend(\"pattern\" = ...))]`",
        _ => "remove it",
    };
    without_effect(&rules.pattern, &[Form::Text], pattern);
    let range = match form {
        Form::List => "write it in `inner(...)`",
        Form::IntOrString => "use `#[schemars(extend(\"minimum\" = ..., \"maximum\" = ...))]`",
        _ => "use `length`, or remove it",
    };
    without_effect(&rules.range, &[Form::Number], range);
    let inner = match form {
        Form::Map => "use a type with these rules for the values",
        _ => "write what is in it beside it",
    };
    without_effect(&rules.inner, &[Form::List], inner);
}

impl Form {
    fn shown(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Bool => "a `bool`",
            Self::List => "a list",
            Self::Map => "a map",
            Self::IntOrString => "a number or text",
            Self::Unknown => "this type",
        }
    }
}

/// Whether a type is written with its path: where the name alone stands, it may be one of the project's own.
/// `opgen generate` reads the imports, too.
fn is_of_kubernetes(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.iter().any(|segment| segment.ident == "k8s_openapi"))
}

fn form(ty: &Type) -> Form {
    let segment = match ty {
        Type::Array(_) | Type::Slice(_) => return Form::List,
        _ => last_segment(ty),
    };
    let Some(segment) = segment else { return Form::Unknown };
    let arguments = type_arguments(segment);
    match (segment.ident.to_string().as_str(), arguments.as_slice()) {
        ("Option" | "Box" | "Arc" | "Rc" | "Cow", [inner, ..]) => form(inner),
        ("String" | "str" | "char", []) => Form::Text,
        ("bool", []) => Form::Bool,
        ("Quantity" | "IntOrString", []) if is_of_kubernetes(ty) => Form::IntOrString,
        (number, []) if NUMBERS.contains(&number) => Form::Number,
        ("Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "IndexSet", _) => Form::List,
        ("BTreeMap" | "HashMap" | "IndexMap", _) => Form::Map,
        _ => Form::Unknown,
    }
}
