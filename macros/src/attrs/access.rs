//! `access(Secret: get, list; Pod/status: patch)` as written.

use super::provisioner::skip_to;
use crate::diag::Diags;
use proc_macro2::Ident;
use syn::{LitStr, Path, Token, ext::IdentExt, parse::ParseStream};

/// One kind and what is done with it.
pub(crate) struct Entry {
    pub(crate) kind: Path,
    pub(crate) subresource: Option<Ident>,
    pub(crate) verbs: Vec<Ident>,
}

/// All entries that can be read; a broken one costs its own, not its neighbours.
pub(crate) fn read(input: ParseStream<'_>, diags: &mut Diags) -> Vec<Entry> {
    let mut entries = Vec::new();
    while !input.is_empty() {
        entries.extend(entry(input, diags));
        skip_to(input, |input| input.peek(Token![;]));
        if !input.is_empty() {
            // The separator itself; `skip_to` stopped there.
            let _: syn::Result<Token![;]> = input.parse();
        }
    }
    entries
}

fn entry(input: ParseStream<'_>, diags: &mut Diags) -> Option<Entry> {
    const FIX: &str = "write a kind, a colon and its verbs: `Secret: get, list`";
    if let Ok(text) = input.parse::<LitStr>() {
        let fix = format!("write its type without quotes: `{}: get`", text.value());
        diags.error(&text, "a kind is a type, not a text", fix);
        return None;
    }
    if input.peek(Token![*]) {
        diags.error(input.parse::<Token![*]>().ok()?, "a permission for every kind is never given", "name each kind");
        return None;
    }
    let kind: Path = input.parse().map_err(|error| diags.syntax(&error, FIX)).ok()?;
    let subresource = match input.parse::<Option<Token![/]>>().ok()? {
        Some(_) => Some(
            input
                .call(Ident::parse_any)
                .map_err(|error| diags.syntax(&error, "name the subresource: `Pod/status: patch`"))
                .ok()?,
        ),
        None => None,
    };
    if let Err(error) = input.parse::<Token![:]>() {
        if input.is_empty() || input.peek(Token![;]) {
            diags.error(&kind, "no verbs for this kind", FIX);
        } else {
            diags.syntax(&error, FIX);
        }
        return None;
    }
    let verbs = verbs(input, diags);
    Some(Entry { kind, subresource, verbs })
}

fn verbs(input: ParseStream<'_>, diags: &mut Diags) -> Vec<Ident> {
    let mut verbs = Vec::new();
    while !input.is_empty() && !input.peek(Token![;]) {
        if let Ok(star) = input.parse::<Token![*]>() {
            diags.error(star, "a permission for every verb is never given", "name each verb: `get, list, watch`");
        } else {
            match input.call(Ident::parse_any) {
                Ok(next) if input.peek(Token![:]) || input.peek(Token![/]) => {
                    diags.error(&next, format!("`{next}` is not a verb but the next kind"), "separate kinds with `;`");
                    return verbs;
                }
                Ok(verb) => verbs.push(verb),
                Err(error) => {
                    diags.syntax(&error, "write verbs in lower case, separated by commas");
                    return verbs;
                }
            }
        }
        if !input.is_empty() && !input.peek(Token![;]) && input.parse::<Token![,]>().is_err() {
            diags.syntax(&input.error("expected `,` or `;`"), "separate verbs with `,` and kinds with `;`");
            return verbs;
        }
    }
    verbs
}
