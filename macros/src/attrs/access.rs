//! Parses `access(...)`: the kinds, URL paths and verbs that a hand-written tree node or a role declares.
//!
//! For example `access(Secret("tls"): get; Pod/status in "web": patch; "/metrics": get; raw(Pod: list))`.

use super::list::{parenthesized_list, skip_until};
use crate::diag::Diags;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{
    LitStr, Path, PathArguments, Token,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
    token::Paren,
};

/// One entry of `access(...)`: a kind or a non-resource URL, and the verbs allowed on it.
pub(crate) struct AccessEntry {
    pub(crate) target: AccessTarget,
    pub(crate) subresource: Option<Path>,
    /// The object names `("tls", "ca")`; `None` without parentheses.
    pub(crate) names: Option<Vec<LitStr>>,
    /// The namespace of `in "kube-system"`.
    pub(crate) namespace: Option<LitStr>,
    pub(crate) verbs: Vec<Ident>,
    /// Whether the entry is inside `raw(...)`, which declares rights of the raw client.
    pub(crate) raw: bool,
}

/// The target of an entry: a kind, or a non-resource URL.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum AccessTarget {
    Kind(Path),
    /// A non-resource URL, for example `"/metrics"`.
    Url(LitStr),
}

/// Parses the content of `access(...)`: entries such as `Secret: get, list`, separated by `;`. After a syntax error in an entry it reports
/// the error and continues with the next entry.
pub(crate) fn read(input: ParseStream<'_>, diags: &mut Diags) -> Vec<AccessEntry> {
    let mut entries = Vec::new();
    while !input.is_empty() {
        if is_raw(input) {
            entries.extend(parse_raw(input, diags));
        } else {
            entries.extend(parse_entry(input, diags));
        }
        skip_until(input, |input| input.peek(Token![;]));
        if !input.is_empty() {
            // `skip_until` stops before the `;`, which this consumes.
            let _: syn::Result<Token![;]> = input.parse();
        }
    }
    entries
}

fn is_raw(input: ParseStream<'_>) -> bool {
    input.fork().parse::<Ident>().is_ok_and(|word| word == "raw") && input.peek2(Paren)
}

/// Parses `raw(Pod: list)` and returns its entries with `raw` set: they declare requests that the node makes with the raw client, for which
/// there is no typed call.
fn parse_raw(input: ParseStream<'_>, diags: &mut Diags) -> Vec<AccessEntry> {
    let mut parse_entries = || {
        let word: Ident = input.parse()?;
        let entries;
        parenthesized!(entries in input);
        let nested = is_raw(&entries);
        let entries = read(&entries, diags);
        if nested {
            diags.error(&word, "`raw` is inside `raw`", "keep one");
        } else if entries.is_empty() && !diags.has_errors() {
            // After an error the entries may be empty because they could not be parsed.
            diags.error(&word, "`raw` has no permissions", "declare the calls of the raw client: `raw(Pod: list)`");
        }
        Ok::<_, syn::Error>(entries)
    };
    let entries = parse_entries().map_err(|error| diags.syntax(&error, "write `raw(Pod: list)`")).unwrap_or_default();
    entries.into_iter().map(|entry| AccessEntry { raw: true, ..entry }).collect()
}

const FIX: &str = "write a kind, a colon and its verbs: `Secret: get, list`";

/// Parses one entry of `access(...)`: a non-resource URL (`"/metrics": get`), or a kind with an optional subresource, object names and
/// namespace (`Pod/status("web") in "shop": get`), and its verbs. Returns `None` after reporting an error.
fn parse_entry(input: ParseStream<'_>, diags: &mut Diags) -> Option<AccessEntry> {
    if let Ok(text) = input.parse::<LitStr>() {
        if !text.value().starts_with('/') {
            let fix = match syn::parse_str::<Path>(&text.value()) {
                Ok(_) => format!("write its type without quotes: `{}: get`", text.value()),
                Err(_) => FIX.to_owned(),
            };
            diags.error(&text, "a kind is a type, not a string", fix);
            return None;
        }
        let verbs = parse_verbs_after_colon(&text, input, diags)?;
        return Some(AccessEntry {
            target: AccessTarget::Url(text),
            subresource: None,
            names: None,
            namespace: None,
            verbs,
            raw: false,
        });
    }
    if input.peek(Token![*]) {
        diags.error(input.parse::<Token![*]>().ok()?, "a permission for every kind is not allowed", "list each kind");
        return None;
    }
    let kind = parse_kind(input).map_err(|error| diags.syntax(&error, FIX)).ok()?;
    // The names may stand before or after the subresource.
    let names = parse_names(input, diags).ok()?;
    let subresource = parse_subresource(input, diags).ok()?;
    if names.is_some() && input.peek(Paren) {
        diags.syntax(&input.error("names are set twice"), "keep one list of names");
        return None;
    }
    let names = names.or(parse_names(input, diags).ok()?);
    let namespace = parse_namespace(input, diags).ok()?;
    let verbs = parse_verbs_after_colon(&kind, input, diags)?;
    Some(AccessEntry { target: AccessTarget::Kind(kind), subresource, names, namespace, verbs, raw: false })
}

/// Parses the path of a kind, with type arguments in angle brackets. It leaves parentheses after the path unparsed: they hold the names of
/// objects, not arguments as in `Fn(A)`.
fn parse_kind(input: ParseStream<'_>) -> syn::Result<Path> {
    let mut kind = input.call(Path::parse_mod_style)?;
    if input.peek(Token![<]) {
        let arguments = PathArguments::AngleBracketed(input.parse()?);
        if let Some(last) = kind.segments.last_mut() {
            last.arguments = arguments;
        }
    }
    Ok(kind)
}

/// Parses the object names in parentheses, as in `Secret("tls", "ca")`. Returns `Ok(None)` if there are no parentheses. Reports syntax
/// errors itself.
fn parse_names(input: ParseStream<'_>, diags: &mut Diags) -> Result<Option<Vec<LitStr>>, ()> {
    if !input.peek(Paren) {
        return Ok(None);
    }
    let texts = parenthesized_list(input, <LitStr as Parse>::parse);
    texts.map(Some).map_err(|error| diags.syntax(&error, "write the names of objects: `Secret(\"tls\"): get`"))
}

/// Parses the subresource after a `/`: a name such as `status`, or the path of a type. Returns `Ok(None)` if there is no `/`. Reports
/// syntax errors itself.
fn parse_subresource(input: ParseStream<'_>, diags: &mut Diags) -> Result<Option<Path>, ()> {
    if input.parse::<Option<Token![/]>>().map_err(drop)?.is_none() {
        return Ok(None);
    }
    // `parse_any` also accepts keywords.
    let path = || {
        let mut path = Path::from(input.call(Ident::parse_any)?);
        while input.parse::<Option<Token![::]>>()?.is_some() {
            path.segments.push(input.call(Ident::parse_any)?.into());
        }
        Ok(path)
    };
    path().map(Some).map_err(|error| diags.syntax(&error, "name the subresource: `Pod/status: patch`"))
}

/// Parses the namespace in `in "kube-system"`. Returns `Ok(None)` if there is no `in`. Reports syntax errors itself.
fn parse_namespace(input: ParseStream<'_>, diags: &mut Diags) -> Result<Option<LitStr>, ()> {
    if input.parse::<Option<Token![in]>>().map_err(drop)?.is_none() {
        return Ok(None);
    }
    let text = input.parse::<LitStr>().map(Some);
    text.map_err(|error| diags.syntax(&error, "name the namespace: `Secret in \"kube-system\": get`"))
}

/// Parses the colon after `target` (the kind or URL of the entry) and the verbs behind it. Returns `None` after reporting a missing colon.
fn parse_verbs_after_colon(target: &impl ToTokens, input: ParseStream<'_>, diags: &mut Diags) -> Option<Vec<Ident>> {
    if let Err(error) = input.parse::<Token![:]>() {
        if input.is_empty() || input.peek(Token![;]) {
            diags.error(target, "no verbs for this kind", FIX);
        } else {
            diags.syntax(&error, FIX);
        }
        return None;
    }
    Some(parse_verbs(input, diags))
}

/// Parses verbs up to the next `;`. Reports syntax errors itself, and then returns the verbs before the error.
fn parse_verbs(input: ParseStream<'_>, diags: &mut Diags) -> Vec<Ident> {
    let mut verbs = Vec::new();
    while !input.is_empty() && !input.peek(Token![;]) {
        if let Ok(star) = input.parse::<Token![*]>() {
            diags.error(star, "a permission for every verb is not allowed", "list each verb: `get, list, watch`");
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
