//! Checks the access rights that a tree node declares: kinds, verbs, subresources, names and namespaces.

use crate::{
    attrs::access::AccessTarget,
    diag::Diags,
    model::{
        access::{Access, Subresource, subresource_names},
        type_path::starts_upper,
    },
};
use quote::ToTokens;
use syn::LitStr;

/// Checks the access rights that a hand-written tree node declares in `access(...)`, or a Role in `grants(...)`.
pub(super) fn check(access: &[Access], diags: &mut Diags) {
    for access in access {
        match &access.target {
            AccessTarget::Kind(_) => check_kind(access, diags),
            AccessTarget::Url(path) => check_url(access, path, diags),
        }
        check_verbs(access, diags);
        check_subresource(access, diags);
        check_names(access, diags);
        check_namespace(access, diags);
        check_reference(access, diags);
    }
}

/// Reports a kind that does not begin with an upper case letter: it is the name of a resource (`secrets`), and not a Rust type.
fn check_kind(access: &Access, diags: &mut Diags) {
    let Some(kind) = access.kind().filter(|kind| !starts_upper(kind)) else { return };
    let fix = "write the Rust type of the kind, for example `Secret` for `secrets`";
    diags.error(kind, format!("`{}` is not a type", access.target_text()), fix);
}

/// Checks a non-resource URL: a `*` may only stand at its end, and its only verb is `get`.
fn check_url(access: &Access, path: &LitStr, diags: &mut Diags) {
    if path.value().trim_end_matches('*').contains('*') || path.value().ends_with("**") {
        diags.error(path, "a `*` is only allowed at the end of a path", "use a prefix of the path, or list each path");
    }
    for verb in access.verb_words.iter().filter(|verb| *verb != "get") {
        diags.error(verb, format!("a path does not support `{verb}`"), "use `get`, or a kind for other verbs");
    }
}

/// Reports a target without verbs, and repeated verbs.
fn check_verbs(access: &Access, diags: &mut Diags) {
    if access.verb_words.is_empty() && !diags.has_errors() {
        let text = access.target_text();
        let fix = match &access.target {
            AccessTarget::Kind(_) => format!("write them after the colon: `{text}: get, list`"),
            AccessTarget::Url(_) => format!("write them after the colon: `{text}: get`"),
        };
        match &access.target {
            AccessTarget::Kind(kind) => diags.error(kind, "no verbs for this kind", fix),
            AccessTarget::Url(path) => diags.error(path, "no verbs for this path", fix),
        }
    }
    for (at, verb) in access.verb_words.iter().enumerate() {
        if let Some(first) = access.verb_words[..at].iter().find(|first| *first == verb) {
            diags.conflict(verb, format!("`{verb}` is a duplicate"), "keep one", first, "first set here");
        }
    }
}

/// Reports verbs that a subresource does not support: `list`, `watch`, deletions and `reference` on any subresource, and `create` on
/// `status` and `scale`, which exist as long as their object.
fn check_subresource(access: &Access, diags: &mut Diags) {
    let (Some(subresource), Some(path)) = (access.subresource(), &access.subresource_path) else { return };
    let name = path.to_token_stream().to_string().replace(' ', "");
    for verb in access.verb_words.iter().filter(|verb| {
        ["list", "watch", "delete", "deletecollection", "reference"].iter().any(|unsupported| *verb == unsupported)
    }) {
        let problem = format!("`{name}` is a subresource and does not support `{verb}`");
        diags.error(verb, problem, "use `get`, `create`, `update` or `patch`");
    }
    if let Subresource::Status | Subresource::Scale = subresource {
        for verb in access.verb_words.iter().filter(|verb| *verb == "create") {
            let problem = format!("`{name}` exists with its object and does not support `{verb}`");
            diags.error(verb, problem, "use `get`, `update` or `patch`");
        }
    }
}

/// Reports rights on a subresource for which opgen has no typed call. Rights in `raw(...)` are for the raw client, which can use any
/// subresource.
pub(super) fn check_calls(access: &[Access], diags: &mut Diags) {
    for access in access.iter().filter(|access| !access.raw) {
        if let (Some(Subresource::Other(word)), Some(path)) = (access.subresource(), &access.subresource_path) {
            let fix = format!(
                "use one of `{}`, your own type that is a `Subresource`, or `raw({}/{word}: ...)`",
                subresource_names().join("`, `"),
                access.target_text(),
            );
            diags.error(path, format!("unknown subresource `{word}`"), fix);
        }
    }
}

/// Checks the object names of a right, which become `resourceNames` in RBAC. Reports an empty list, empty names, and verbs such as `list`
/// and `create`: their requests have no object name, so RBAC can't restrict them to names.
fn check_names(access: &Access, diags: &mut Diags) {
    let Some(names) = &access.names else { return };
    if let Some(kind) = access.kind().filter(|_| names.is_empty()) {
        let fix = format!("list objects: `{}(\"tls\")`", access.target_text());
        diags.error(kind, "no names between the parentheses", fix);
    }
    for name in names.iter().filter(|name| name.value().is_empty()) {
        diags.error(name, "the name of an object is empty", "write it, or remove the parentheses");
    }
    // A request to a subresource always names its object.
    let nameless: &[&str] = match access.subresource_path {
        Some(_) => &[],
        None => &["list", "watch", "create", "deletecollection", "reference"],
    };
    for verb in access.verb_words.iter().filter(|verb| nameless.iter().any(|unsupported| *verb == unsupported)) {
        let problem = format!("`{verb}` can't be limited to names, since its request has none");
        let fix = format!("allow it for all objects: `{}: {verb}`", access.target_text());
        diags.error(verb, problem, fix);
    }
}

/// Checks the verb `reference`, which is not a verb of RBAC: opgen watches referenced objects and puts finalizers on them. Reports it in
/// `raw(...)`, and with a namespace, since the operator watches the kind in all namespaces in which it works.
fn check_reference(access: &Access, diags: &mut Diags) {
    let Some(verb) = access.verb_words.iter().find(|verb| *verb == "reference") else { return };
    if access.raw {
        let fix = "use the verbs `list, patch, watch`";
        diags.error(verb, "`reference` is a verb of opgen, not of the raw client", fix);
    } else if access.namespace.is_some() {
        let fix = format!("allow it in all watched namespaces: `{}: reference`", access.target_text());
        diags.error(verb, "`reference` can't be limited to a namespace, since the operator watches the kind", fix);
    }
}

/// Checks that the namespace is a DNS label (RFC 1123).
fn check_namespace(access: &Access, diags: &mut Diags) {
    let Some(namespace) = &access.namespace else { return };
    let (name, inner) = (namespace.value(), |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if name.is_empty() || name.len() > 63 || !name.chars().all(inner) || name.starts_with('-') || name.ends_with('-') {
        let fix = "use at most 63 of a-z, 0-9 and `-`, with a letter or digit at both ends";
        diags.error(namespace, format!("`{name}` is not a valid namespace"), fix);
    }
}
