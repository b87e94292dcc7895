//! What the laws ask of a Rust file, read once from its syntax.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{
    Attribute, Block, Expr, File, ImplItemFn, ItemFn, ItemMod, ItemUse, Macro, Path, Signature, TraitItemFn, UseTree,
    Visibility,
    spanned::Spanned as _,
    visit::{self, Visit},
};

/// Something seen at a line.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) line: usize,
    /// Whether it is in `#[cfg(test)]`, in a test function, or in a file of tests.
    pub(super) in_test: bool,
    pub(super) seen: Seen,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A function with a body, and how many lines it has from its signature to its last brace.
    Function { name: String, lines: usize },
    /// A method call.
    Method(String),
    /// A timeout of a future that never ends.
    Pause,
    /// A macro call, by the last word of its path.
    Macro(String),
    /// A path in a `use`, a type, an expression or the arguments of a macro.
    Path(Vec<String>),
    /// An attribute, by the last word of its path.
    Attribute(String),
    /// A public item that is no function: its name is a noun.
    PublicNoun(String),
    /// A public function or method.
    PublicVerb(String),
}

/// All facts of a file, in the order of its text.
pub(super) fn of(file: &File, in_test: bool) -> Vec<Fact> {
    let mut reader = Reader { facts: Vec::new(), in_test };
    reader.visit_file(file);
    reader.facts
}

struct Reader {
    facts: Vec<Fact>,
    in_test: bool,
}

impl Reader {
    fn note(&mut self, span: Span, seen: Seen) {
        self.facts.push(Fact { line: span.start().line, in_test: self.in_test, seen });
    }

    fn within(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        let outside = self.in_test;
        self.in_test |= attributes.iter().any(is_of_test);
        visit(self);
        self.in_test = outside;
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        let lines = body.brace_token.span.close().end().line - signature.span().start().line + 1;
        self.note(signature.ident.span(), Seen::Function { name: signature.ident.to_string(), lines });
    }

    fn public(&mut self, visibility: &Visibility, name: &syn::Ident, seen: fn(String) -> Seen) {
        if matches!(visibility, Visibility::Public(_)) {
            self.note(name.span(), seen(name.to_string()));
        }
    }

    fn tree(&mut self, tree: &UseTree, before: &[String]) {
        let longer = |word: &syn::Ident| [before, &[word.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.tree(&path.tree, &longer(&path.ident)),
            UseTree::Name(name) => self.note(name.ident.span(), Seen::Path(longer(&name.ident))),
            UseTree::Rename(rename) => self.note(rename.ident.span(), Seen::Path(longer(&rename.ident))),
            UseTree::Glob(glob) => self.note(glob.star_token.span(), Seen::Path(before.to_vec())),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(item, before)),
        }
    }

    /// The arguments of a macro are no syntax yet, but a call in them is one all the same.
    fn tokens(&mut self, tokens: TokenStream) {
        let trees: Vec<_> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            match tree {
                TokenTree::Ident(word) if is_punct(trees.get(at + 1), '!') && !is_punct(trees.get(at + 2), '=') => {
                    self.note(word.span(), Seen::Macro(word.to_string()));
                }
                TokenTree::Ident(word) if at > 0 && is_punct(trees.get(at - 1), '.') => {
                    if matches!(trees.get(at + 1), Some(TokenTree::Group(_))) {
                        self.note(word.span(), Seen::Method(word.to_string()));
                    }
                }
                TokenTree::Ident(word) if at < 2 || !is_punct(trees.get(at - 1), ':') => {
                    self.note(word.span(), Seen::Path(path_from(&trees[at..])));
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Some(last) = attribute.path().segments.last() {
            self.note(last.ident.span(), Seen::Attribute(last.ident.to_string()));
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.within(&item.attrs, |reader| visit::visit_item_mod(reader, item));
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.within(&item.attrs, |reader| {
            reader.function(&item.sig, &item.block);
            reader.public(&item.vis, &item.sig.ident, Seen::PublicVerb);
            visit::visit_item_fn(reader, item);
        });
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.within(&item.attrs, |reader| visit::visit_item_impl(reader, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.within(&item.attrs, |reader| {
            reader.function(&item.sig, &item.block);
            reader.public(&item.vis, &item.sig.ident, Seen::PublicVerb);
            visit::visit_impl_item_fn(reader, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.within(&item.attrs, |reader| reader.tree(&item.tree, &[]));
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.public(&item.vis, &item.ident, Seen::PublicNoun);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.public(&item.vis, &item.ident, Seen::PublicNoun);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.public(&item.vis, &item.ident, Seen::PublicNoun);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.public(&item.vis, &item.ident, Seen::PublicNoun);
        visit::visit_item_type(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        visit::visit_expr(self, &call.receiver);
        self.note(call.method.span(), Seen::Method(call.method.to_string()));
        call.turbofish.iter().for_each(|generics| self.visit_angle_bracketed_generic_arguments(generics));
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let never_ends = |argument: &Expr| matches!(argument, Expr::Call(inner) if is_call_of(inner, "pending"));
        if is_call_of(call, "timeout") && call.args.iter().any(never_ends) {
            self.note(call.span(), Seen::Pause);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.note(path.span(), Seen::Path(path.segments.iter().map(|segment| segment.ident.to_string()).collect()));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if let Some(last) = call.path.segments.last() {
            self.note(last.ident.span(), Seen::Macro(last.ident.to_string()));
        }
        self.tokens(call.tokens.clone());
    }
}

/// Whether it calls a function of this name, in whatever module.
fn is_call_of(call: &syn::ExprCall, name: &str) -> bool {
    matches!(&*call.func, Expr::Path(function) if function.path.segments.last().is_some_and(|last| last.ident == name))
}

/// `#[test]`, `#[tokio::test]`, `#[cfg(test)]` and `#[cfg(all(test, …))]`.
pub(super) fn is_of_test(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let condition: String = list.tokens.to_string().split_whitespace().collect();
            condition == "test" || condition.starts_with("all(test,") || condition == "doctest"
        }
        _ => last.is_some_and(|word| word.ident == "test"),
    }
}

fn is_punct(tree: Option<&TokenTree>, character: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

/// The words of `a::b::c` at the start of the tokens.
fn path_from(trees: &[TokenTree]) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = trees;
    while let [TokenTree::Ident(word), after @ ..] = rest {
        words.push(word.to_string());
        match after {
            [colon, second, next @ ..] if is_punct(Some(colon), ':') && is_punct(Some(second), ':') => rest = next,
            _ => break,
        }
    }
    words
}
