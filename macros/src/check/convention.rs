//! Warns about fields that violate the Kubernetes API conventions; `allow(...)` silences a warning.

use crate::{
    diag::Diags,
    model::{
        managed::{Field, Managed},
        type_path::{last_segment, type_arguments},
    },
};
use syn::Type;

/// The codes that `#[managed(allow(...))]` accepts.
pub(super) const CODES: [&str; 7] = ["integer", "float", "phase", "bool", "list", "case", "reserved"];

const LISTS: [&str; 5] = ["Vec", "VecDeque", "HashSet", "BTreeSet", "IndexSet"];
const UNSIGNED: [&str; 5] = ["u8", "u16", "u32", "u64", "usize"];
/// Last words of names that suggest a choice between more than two values.
const CHOICE_WORDS: [&str; 6] = ["level", "mode", "policy", "strategy", "tier", "type"];

/// Warns about each field of a spec that violates an API convention of Kubernetes, unless `allow(...)` on the struct or the field silences
/// the warning.
pub(super) fn check(model: &Managed, diags: &mut Diags) {
    for field in model.fields.iter().filter(|field| !field.hints.skip) {
        let mut warn = |code, problem: String, fix: String| {
            let allowed =
                model.allowed_warnings.iter().chain(&field.allowed_warnings).any(|allowed| allowed.is_ident(code));
            if !allowed {
                diags.warn(code, field.ident.span(), problem, fix);
            }
        };
        check_name(field, &mut warn);
        check_number(field, &mut warn);
        check_bool(field, &mut warn);
        check_list_type(field, &mut warn);
    }
    check_case(model, diags);
}

/// Reports a warning (its code, what is wrong, and the fix), unless the code is allowed.
type Warn<'a> = dyn FnMut(&'static str, String, String) + 'a;

/// Warns about a field with the name `phase`, and about names that every object has at its root, such as `metadata`.
fn check_name(field: &Field, warn: &mut Warn<'_>) {
    let name = field.name.as_str();
    if name == "phase" {
        warn(
            "phase",
            "`phase` is deprecated in APIs, since no phase can be added later".into(),
            "use conditions in the status".into(),
        );
    }
    if ["apiVersion", "kind", "metadata", "status"].contains(&name) && !field.hints.flatten {
        warn("reserved", format!("`spec.{name}` reads like the object's own `{name}`"), "use another name".into());
    }
}

/// Warns about numeric types that an API should not have: unsigned integers, `isize` and floats. The number may be inside `Option`s, lists
/// and boxes.
fn check_number(field: &Field, warn: &mut Warn<'_>) {
    let ident = &field.ident;
    if field.hints.foreign_schema {
        return;
    }
    let Some(number) = innermost(&field.ty) else { return };
    if UNSIGNED.contains(&number.as_str()) {
        let fix = "use `i32` or `i64` with `#[schemars(range(min = 0))]`".into();
        warn("integer", format!("`{ident}` is `{number}`, but integers of an API must be signed"), fix);
    } else if number == "isize" {
        warn("integer", format!("`{ident}` depends on the platform"), "use `i32` or `i64`".into());
    } else if number == "f32" || number == "f64" {
        let fix = "use an integer of a smaller unit, or a quantity".into();
        warn("float", format!("`{ident}` is `{number}`, but floats lose precision in other languages"), fix);
    }
}

/// Warns about a `bool` whose name suggests a choice, for example `mode`.
fn check_bool(field: &Field, warn: &mut Warn<'_>) {
    let ident = field.ident.to_string();
    let choice = ident.rsplit('_').next().is_some_and(|last| CHOICE_WORDS.contains(&last));
    if choice && innermost(&field.ty).as_deref() == Some("bool") {
        warn(
            "bool",
            format!("`{ident}` is a choice, but a `bool` can't get a third value later"),
            "use an enum".into(),
        );
    }
}

/// Warns about a list without `x-kubernetes-list-type`.
fn check_list_type(field: &Field, warn: &mut Warn<'_>) {
    let ty = unwrap_type("Option", &field.ty);
    let is_list = last_segment(ty).is_some_and(|segment| LISTS.contains(&segment.ident.to_string().as_str()));
    let is_array = matches!(ty, Type::Array(_));
    if !(is_list || is_array) || field.hints.list_type || field.hints.flatten || field.hints.foreign_schema {
        return;
    }
    let problem = format!("`{}` has no list type, so one applier replaces the items of another", field.ident);
    let fix = "add `#[schemars(extend(\"x-kubernetes-list-type\" = \"atomic\"))]` (or `set`, or `map` with its keys)";
    warn("list", problem, fix.into());
}

/// Warns once for the whole struct about names in snake case, since one `rename_all` fixes all fields.
fn check_case(model: &Managed, diags: &mut Diags) {
    let is_snake_case = |field: &&Field| field.name.contains('_') && !field.hints.skip && !field.hints.flatten;
    let is_reported = |field: &&Field| {
        !model.allowed_warnings.iter().chain(&field.allowed_warnings).any(|allowed| allowed.is_ident("case"))
    };
    if let Some(field) = model.fields.iter().filter(is_snake_case).find(is_reported) {
        let problem = format!("`{}` is `{}` in YAML, which is not camelCase", field.ident, field.name);
        let fix = format!("add `#[serde(rename_all = \"camelCase\")]` to `{}`", model.spec);
        diags.warn("case", field.ident.span(), problem, fix);
    }
}

/// Returns the name of the innermost type argument: `u32` for `Option<Vec<u32>>` and for `[u32; 3]`. Returns `None` for a type with several
/// arguments, such as a map, and for a type without a name, such as a tuple.
fn innermost(ty: &Type) -> Option<String> {
    match ty {
        Type::Array(array) => innermost(&array.elem),
        _ => {
            let segment = last_segment(ty)?;
            match type_arguments(segment).as_slice() {
                [] => Some(segment.ident.to_string()),
                [inner] => innermost(inner),
                _ => None,
            }
        }
    }
}

/// Returns `T` if `ty` is `Option<T>` and `wrapper` is `Option`; otherwise the type itself.
fn unwrap_type<'a>(wrapper: &str, ty: &'a Type) -> &'a Type {
    let segment = last_segment(ty).filter(|segment| segment.ident == wrapper);
    match segment.map(type_arguments).as_deref() {
        Some([inner]) => inner,
        _ => ty,
    }
}
