//! `operator! { ... }` as written.

use super::provisioner::skip_to;
use crate::diag::Diags;
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Expr, Path, Token, braced,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

pub(crate) enum Read {
    /// `operator!(my_lib::operator())`, or a closure.
    Built(Box<Expr>),
    /// `operator! { name: "webapp", WebApp => WebAppTree }`.
    Listed { options: Vec<Opt>, kinds: Vec<ReadKind> },
}

/// `key: value`.
pub(crate) struct Opt {
    pub(crate) key: Ident,
    pub(crate) value: Expr,
}

pub(crate) struct ReadKind {
    pub(crate) kind: Path,
    pub(crate) tree: Path,
    pub(crate) options: Vec<Opt>,
}

const ENTRY: &str = "write `Kind => Tree`, perhaps with `{ poll: \"60s\" }`";

pub(crate) fn read(input: TokenStream, diags: &mut Diags) -> Read {
    if !input.is_empty() && !is_list(&input) {
        match syn::parse2(input) {
            Ok(built) => return Read::Built(Box::new(built)),
            Err(error) => {
                diags.syntax(&error, ENTRY);
                return Read::Listed { options: Vec::new(), kinds: Vec::new() };
            }
        }
    }
    let (mut options, mut kinds) = (Vec::new(), Vec::new());
    let parse = |input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(error) = entry(input, &mut options, &mut kinds, diags) {
                diags.syntax(&error, ENTRY);
                skip_to(input, |input| input.peek(Token![,]));
            }
            separator(input, diags)?;
        }
        Ok(())
    };
    let parsed: syn::Result<()> = parse.parse2(input);
    if let Err(error) = parsed {
        diags.syntax(&error, ENTRY);
    }
    Read::Listed { options, kinds }
}

/// Whether there is a `=>` or a `key:`; an expression has neither outside of brackets.
fn is_list(input: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = input.clone().into_iter().collect();
    let arrow = |pair: &[TokenTree]| matches!(pair, [TokenTree::Punct(a), TokenTree::Punct(b)] if a.as_char() == '=' && b.as_char() == '>');
    let key = matches!(tokens.as_slice(), [TokenTree::Ident(_), TokenTree::Punct(colon), after, ..]
        if colon.as_char() == ':' && !matches!(after, TokenTree::Punct(second) if second.as_char() == ':'));
    key || tokens.windows(2).any(arrow)
}

fn entry(
    input: ParseStream<'_>,
    options: &mut Vec<Opt>,
    kinds: &mut Vec<ReadKind>,
    diags: &mut Diags,
) -> syn::Result<()> {
    if input.peek2(Token![:]) && !input.peek2(Token![::]) {
        options.push(option(input)?);
        return Ok(());
    }
    let kind: Path = input.parse()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(&kind, "a kind without a tree"));
    }
    let arrow = input.parse::<Token![=>]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(arrow, "no tree after the arrow"));
    }
    let tree = input.parse()?;
    let mut inner = Vec::new();
    if input.peek(syn::token::Brace) {
        let inside;
        braced!(inside in input);
        while !inside.is_empty() {
            match option(&inside) {
                Ok(option) => inner.push(option),
                Err(error) => {
                    diags.syntax(&error, "write `key: value`, for example `poll: \"60s\"`");
                    skip_to(&inside, |input| input.peek(Token![,]));
                }
            }
            separator(&inside, diags)?;
        }
    }
    kinds.push(ReadKind { kind, tree, options: inner });
    Ok(())
}

fn option(input: ParseStream<'_>) -> syn::Result<Opt> {
    let key = input.call(Ident::parse_any)?;
    input.parse::<Token![:]>()?;
    Ok(Opt { key, value: input.parse()? })
}

/// A comma, or the end.
fn separator(input: ParseStream<'_>, diags: &mut Diags) -> syn::Result<()> {
    if !input.is_empty() && !input.peek(Token![,]) {
        diags.syntax(&input.error("expected `,`"), "separate the entries with commas");
        skip_to(input, |input| input.peek(Token![,]));
    }
    input.parse::<Option<Token![,]>>().map(drop)
}
