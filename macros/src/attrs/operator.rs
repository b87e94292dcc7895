//! Parses the input of `operator!`: a list of kinds with their trees, or an expression.

use super::list::skip_until;
use crate::diag::Diags;
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Expr, Path, Token, braced,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

/// The input of the macro.
pub(crate) enum OperatorInput {
    /// `operator!(my_lib::operator())`, or a closure.
    Expression(Box<Expr>),
    /// `operator! { name: "webapp", WebApp => WebAppTree }`.
    Kinds { options: Vec<OperatorOption>, kinds: Vec<KindInput> },
}

/// An option `key: value`, of the operator or of a kind.
pub(crate) struct OperatorOption {
    pub(crate) key: Ident,
    pub(crate) value: Expr,
}

/// `Kind => Tree { options }`.
pub(crate) struct KindInput {
    pub(crate) kind: Path,
    pub(crate) tree: Path,
    pub(crate) options: Vec<OperatorOption>,
}

const ENTRY: &str = "write `Kind => Tree`, perhaps with `{ resync_period: \"60s\" }`";

/// Parses the input of `operator!`: an expression that returns an operator, or a list of options (`name: "webapp"`) and kinds
/// (`WebApp => WebAppTree`). After reporting a syntax error in an entry of the list it continues with the next entry.
pub(crate) fn read(input: TokenStream, diags: &mut Diags) -> OperatorInput {
    if !input.is_empty() && !is_list(&input) {
        match syn::parse2(input) {
            Ok(expression) => return OperatorInput::Expression(Box::new(expression)),
            Err(error) => {
                diags.syntax(&error, ENTRY);
                return OperatorInput::Kinds { options: Vec::new(), kinds: Vec::new() };
            }
        }
    }
    let (mut options, mut kinds) = (Vec::new(), Vec::new());
    let parse = |input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(error) = parse_entry(input, &mut options, &mut kinds, diags) {
                diags.syntax(&error, ENTRY);
                skip_until(input, |input| input.peek(Token![,]));
            }
            parse_separator(input, diags)?;
        }
        Ok(())
    };
    let parsed: syn::Result<()> = parse.parse2(input);
    if let Err(error) = parsed {
        diags.syntax(&error, ENTRY);
    }
    OperatorInput::Kinds { options, kinds }
}

/// Returns whether the input of `operator!` is a list of options and kinds, and not an expression: it contains `=>` outside of brackets, or
/// starts with `key:` (but not with a path, `key::`). An expression does neither.
fn is_list(input: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = input.clone().into_iter().collect();
    let arrow = |pair: &[TokenTree]| {
        matches!(pair, [TokenTree::Punct(first), TokenTree::Punct(second)]
            if first.as_char() == '=' && second.as_char() == '>')
    };
    let key = matches!(tokens.as_slice(), [TokenTree::Ident(_), TokenTree::Punct(colon), after, ..]
        if colon.as_char() == ':' && !matches!(after, TokenTree::Punct(second) if second.as_char() == ':'));
    key || tokens.windows(2).any(arrow)
}

/// Parses an option of the operator (`key: value`) and adds it to `options`, or a kind with its tree (`Kind => Tree { key: value }`) and
/// adds it to `kinds`.
fn parse_entry(
    input: ParseStream<'_>,
    options: &mut Vec<OperatorOption>,
    kinds: &mut Vec<KindInput>,
    diags: &mut Diags,
) -> syn::Result<()> {
    if input.peek2(Token![:]) && !input.peek2(Token![::]) {
        options.push(parse_option(input)?);
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
    let mut kind_options = Vec::new();
    if input.peek(syn::token::Brace) {
        let inside;
        braced!(inside in input);
        while !inside.is_empty() {
            match parse_option(&inside) {
                Ok(option) => kind_options.push(option),
                Err(error) => {
                    diags.syntax(&error, "write `key: value`, for example `resync_period: \"60s\"`");
                    skip_until(&inside, |input| input.peek(Token![,]));
                }
            }
            parse_separator(&inside, diags)?;
        }
    }
    kinds.push(KindInput { kind, tree, options: kind_options });
    Ok(())
}

/// Parses `key: value`.
fn parse_option(input: ParseStream<'_>) -> syn::Result<OperatorOption> {
    let key = input.call(Ident::parse_any)?;
    input.parse::<Token![:]>()?;
    Ok(OperatorOption { key, value: input.parse()? })
}

/// Consumes the comma after an entry; at the end of the input the comma may be missing. Reports any other token, and skips up to and
/// including the next comma.
fn parse_separator(input: ParseStream<'_>, diags: &mut Diags) -> syn::Result<()> {
    if !input.is_empty() && !input.peek(Token![,]) {
        diags.syntax(&input.error("expected `,`"), "separate the entries with commas");
        skip_until(input, |input| input.peek(Token![,]));
    }
    input.parse::<Option<Token![,]>>().map(drop)
}
