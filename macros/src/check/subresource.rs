//! Checks `scale` and `selectable` of `#[kube(...)]`: their JSON paths must name fields of the object.

use super::json_path;
use crate::{
    diag::Diags,
    model::{
        kube::{Kube, Scale},
        managed::{Managed, SpecStyle},
    },
};
use syn::LitStr;

/// The maximum of selectable fields of the API server.
const MAX_SELECTABLE: usize = 8;

/// Checks the paths of `scale` and `selectable`, and the number of selectable fields.
pub(super) fn check(model: &Managed, kube: &Kube, diags: &mut Diags) {
    if let Some(scale) = &kube.scale {
        check_scale(model, scale, diags);
    }
    for selectable in &kube.selectable {
        check_path(model, selectable, &["spec", "status"], diags);
    }
    if let Some(surplus) = kube.selectable.get(MAX_SELECTABLE) {
        diags.error(surplus, format!("at most {MAX_SELECTABLE} selectable fields are allowed"), "remove this one");
    }
}

/// Reports a JSON path that names no field of the object, so that it would never have a value. The macro knows the fields directly below
/// `spec` and at the root of an object; it does not check deeper ones.
pub(super) fn check_field_exists(model: &Managed, path: &LitStr, segments: &[&str], diags: &mut Diags) {
    let ["spec", field, ..] = segments else {
        if let Some(root) =
            segments.first().filter(|root| !["metadata", "spec", "status", "kind", "apiVersion"].contains(root))
        {
            let fix = "start with `.spec`, `.status` or `.metadata`";
            diags.error(path, format!("an object has no `{root}` at its root"), fix);
        }
        return;
    };
    // The fields of an enum and of a flattened struct are not visible to the macro.
    let visible = matches!(model.style, SpecStyle::Named) && !model.fields.iter().any(|field| field.hints.flatten);
    let known: Vec<&str> = model.fields.iter().map(|field| field.name.as_str()).collect();
    if !visible || known.contains(field) || known.is_empty() {
        return;
    }
    let known = known.iter().map(|name| format!("`.spec.{name}`")).collect::<Vec<_>>().join(", ");
    diags.error(path, format!("`.spec.{field}` is not a field of `{}`", model.spec), format!("use one of {known}"));
}

/// Checks the paths of `scale`: each must be below the fields where the API server accepts it (for example `specReplicasPath` below
/// `.spec`), and the replicas and the label selector must be different fields.
fn check_scale(model: &Managed, scale: &Scale, diags: &mut Diags) {
    for (path, roots) in [
        (&scale.spec_replicas, &["spec"][..]),
        (&scale.status_replicas, &["status"]),
        (&scale.label_selector, &["spec", "status"]),
    ] {
        if let Some(path) = path {
            check_path(model, path, roots, diags);
        }
    }
    let same = scale.spec_replicas.as_ref().zip(scale.label_selector.as_ref());
    if same.is_some_and(|(replicas, selector)| replicas.value() == selector.value()) {
        diags.error(&scale.key, "two paths of `scale` are the same field", "use a different path for each");
    }
}

/// Checks that a path is a JSON path of field names below one of `roots` (`spec`, `status`), and that the object has the field.
fn check_path(model: &Managed, path: &LitStr, roots: &[&str], diags: &mut Diags) {
    let places = roots.iter().map(|place| format!("`.{place}`")).collect::<Vec<_>>().join(" or ");
    match json_path::parse_simple(&path.value()) {
        Err(why) => {
            let problem = format!("`\"{}\"` is not a simple JSON path: {why}", path.value());
            diags.error(
                path,
                problem,
                format!("write field names below {places}, for example `.{}.replicas`", roots[0]),
            );
        }
        Ok(segments) if segments.len() < 2 || !roots.contains(&segments[0]) => {
            let problem = format!("`\"{}\"` is not below {places}", path.value());
            diags.error(path, problem, format!("use a field there, for example `.{}.replicas`", roots[0]));
        }
        Ok(segments) => check_field_exists(model, path, &segments, diags),
    }
}
