//! Checks the fields of a spec: duplicate JSON names and `#[managed(...)]` keys.

use super::convention;
use crate::{diag::Diags, model::managed::Managed};
use syn::Path;

/// Checks the fields of a spec: the keys of their `#[managed(...)]`, the codes in `allow(...)`, and their names in JSON. In a struct with
/// `x-kubernetes-embedded-resource`, Kubernetes reserves the names `apiVersion`, `kind` and `metadata`.
pub(super) fn check(model: &Managed, diags: &mut Diags) {
    check_json_names(model, diags);
    check_warning_codes(&model.allowed_warnings, diags);
    for field in &model.fields {
        check_warning_codes(&field.allowed_warnings, diags);
        if let Some(reference) = field.reference.as_ref().filter(|_| field.hints.skip) {
            let fix = "remove `reference`, or keep the field in the spec";
            diags.error(reference, "a reference must be a field of the spec", fix);
        }
        if let Some(grant) = field.grant.as_ref().filter(|_| field.reference.is_none()) {
            let fix = "add `reference = Kind`, or remove `grant`";
            diags.error(grant, "`grant` needs a reference on the same field", fix);
        }
        for key in &field.misplaced_keys {
            let name = key.get_ident().map(ToString::to_string).unwrap_or_default();
            diags.error(
                key,
                format!("`{name}` is an option of the kind, not of a field"),
                format!("move it to `#[managed(...)]` above `{}`", model.spec),
            );
        }
        if model.hints.embedded && ["apiVersion", "kind", "metadata"].contains(&field.name.as_str()) {
            let fix = "rename it with `#[serde(rename = \"...\")]`";
            diags.error(
                &field.ident,
                format!("`{}` is a reserved field name in an embedded resource", field.name),
                fix,
            );
        }
    }
}

/// Reports fields with the same name in JSON.
fn check_json_names(model: &Managed, diags: &mut Diags) {
    let in_json: Vec<_> = model.fields.iter().filter(|field| !field.hints.skip && !field.hints.flatten).collect();
    for (at, field) in in_json.iter().enumerate() {
        let Some(first) = in_json.iter().take(at).find(|first| first.name == field.name) else { continue };
        let problem = format!("`{}` and `{}` are both `{}` in JSON", first.ident, field.ident, field.name);
        match &field.hints.rename {
            Some(rename) => diags.conflict(rename, problem, "rename one of them", &first.ident, "the other is here"),
            None => diags.conflict(&field.ident, problem, "rename one of them", &first.ident, "the other is here"),
        }
    }
}

/// Reports unknown codes in `allow(...)`.
fn check_warning_codes(codes: &[Path], diags: &mut Diags) {
    for code in codes {
        if !convention::CODES.iter().any(|known| code.is_ident(known)) {
            diags.unknown("warning", code, &convention::CODES);
        }
    }
}
