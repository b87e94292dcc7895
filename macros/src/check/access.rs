//! The rules for the permissions of a hand-written node.

use crate::{
    diag::Diags,
    model::{access::Access, provisioner::starts_upper},
};
use quote::ToTokens;

pub(super) fn check(access: &[Access], diags: &mut Diags) {
    for access in access {
        kind(access, diags);
        verbs(access, diags);
        subresource(access, diags);
    }
}

fn kind(access: &Access, diags: &mut Diags) {
    if !starts_upper(&access.kind) {
        let said = access.kind.to_token_stream().to_string().replace(' ', "");
        let fix = "write the Rust type of the kind, for example `Secret` for `secrets`";
        diags.error(&access.kind, format!("`{said}` is not a type"), fix);
    }
}

fn verbs(access: &Access, diags: &mut Diags) {
    if access.written.is_empty() && !diags.has_errors() {
        let said = access.kind.to_token_stream().to_string().replace(' ', "");
        diags.error(&access.kind, "no verbs for this kind", format!("write them after the colon: `{said}: get, list`"));
    }
    for (at, verb) in access.written.iter().enumerate() {
        if let Some(first) = access.written[..at].iter().find(|first| *first == verb) {
            diags.conflict(verb, format!("`{verb}` is given twice"), "keep one", first, "first given here");
        }
    }
}

fn subresource(access: &Access, diags: &mut Diags) {
    let Some(subresource) = &access.subresource else { return };
    for verb in access
        .written
        .iter()
        .filter(|verb| ["list", "watch", "delete", "deletecollection"].iter().any(|no| *verb == no))
    {
        let what = format!("`{subresource}` is a part of one object and has no `{verb}`");
        diags.error(verb, what, "use `get`, `create`, `update` or `patch`");
    }
}
