//! Parses the `serde`, `schemars` and `x_kube` attributes of a field that affect its schema.

use darling::ast::NestedMeta;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Path};

/// The keys of `#[serde(...)]`, `#[schemars(...)]` and `#[x_kube(...)]` that affect the schema of a field or type.
#[derive(Default)]
pub(crate) struct SchemaHints {
    pub(crate) rename: Option<LitStr>,
    pub(crate) rename_all: Option<LitStr>,
    /// The key of `#[serde(tag = ...)]`, `content` or `untagged`.
    pub(crate) tagging: Option<Meta>,
    /// A key with which the JSON of a type is neither an object of its fields nor a variant with its content: `content`,
    /// `untagged`, `transparent`, `from`, `try_from` or `into`.
    pub(crate) other_form: Option<Meta>,
    pub(crate) flatten: bool,
    /// Whether the JSON omits the field.
    pub(crate) skip: bool,
    /// Whether a function provides the schema: `with`, `schema_with`.
    pub(crate) foreign_schema: bool,
    pub(crate) list_type: bool,
    /// The keys of the items of a list with `x-kubernetes-list-type: map`.
    pub(crate) list_keys: Vec<LitStr>,
    pub(crate) preserves_unknown: bool,
    /// `x-kubernetes-embedded-resource`: the value is a complete Kubernetes object.
    pub(crate) embedded: bool,
    /// `#[serde(default)]` with or without a function.
    pub(crate) default: bool,
    /// `#[serde(default = "function")]`.
    pub(crate) default_function: bool,
    /// `#[serde(skip_serializing_if = "function")]`.
    pub(crate) skip_if: bool,
    /// Whether functions read or write the value: `with`, `serialize_with` or `deserialize_with` of serde.
    pub(crate) foreign_form: bool,
    pub(crate) rules: ValidationRules,
}

/// The keys of `#[schemars(...)]` that restrict values. `schemars` ignores a rule that the type doesn't support.
///
/// `schemars` also reads `#[validate(...)]` and `#[garde(...)]`. Those rules have an effect of their own if their derives are
/// present, which this macro can't see. `opgen generate` checks them, and the nested types.
#[derive(Default)]
pub(crate) struct ValidationRules {
    pub(crate) length: Option<Path>,
    pub(crate) range: Option<Path>,
    /// `regex`, `pattern` or `contains`.
    pub(crate) pattern: Option<Path>,
    pub(crate) inner: Option<Path>,
    pub(crate) required: Option<Path>,
    /// The value `StructMerge` of `#[x_kube(merge_strategy = ...)]`.
    pub(crate) struct_merge: Option<Path>,
}

/// Reads the schema hints in all `serde`, `schemars` and `x_kube` attributes of a type, field or variant. Ignores what it can't
/// parse, since the derives of these attributes report it.
pub(crate) fn read(attributes: &[Attribute]) -> SchemaHints {
    let mut hints = SchemaHints::default();
    for attribute in attributes {
        let Ok(list) = attribute.meta.require_list() else { continue };
        let metas = NestedMeta::parse_meta_list(list.tokens.clone()).unwrap_or_default();
        let metas = metas.into_iter().filter_map(|nested| match nested {
            NestedMeta::Meta(meta) => Some(meta),
            _ => None,
        });
        if list.path.is_ident("x_kube") {
            hints.list_type |= list.tokens.to_string().contains("merge_strategy");
            metas.for_each(|meta| {
                hints.list_keys.extend(list_keys(&meta, "Map"));
                hints.rules.add_merge_strategy(&meta);
            });
        } else if list.path.is_ident("serde") || list.path.is_ident("schemars") {
            let is_serde = list.path.is_ident("serde");
            metas.for_each(|meta| {
                // `with` of schemars changes only the schema, that of serde also the value.
                hints.foreign_form |= is_serde && meta.path().is_ident("with");
                hints.add(meta);
            });
        }
    }
    hints
}

impl SchemaHints {
    /// Records one key of `#[serde(...)]` or `#[schemars(...)]`, if it affects the schema. Of a repeated `rename` or `rename_all` the last
    /// value applies.
    fn add(&mut self, meta: Meta) {
        let Some(key) = meta.path().get_ident().map(ToString::to_string) else { return };
        // With these keys the JSON of a type is neither an object of its fields nor a variant with its content.
        if matches!(key.as_str(), "content" | "untagged" | "transparent" | "from" | "try_from" | "into") {
            self.other_form = self.other_form.take().or_else(|| Some(meta.clone()));
        }
        match key.as_str() {
            "rename" => self.rename = string_value(&meta).or(self.rename.take()),
            "rename_all" => self.rename_all = string_value(&meta).or(self.rename_all.take()),
            "tag" | "content" | "untagged" => self.tagging = self.tagging.take().or(Some(meta)),
            "flatten" => self.flatten = true,
            "skip" | "skip_serializing" => self.skip = true,
            // A function or another type provides the schema.
            "with" | "schema_with" => self.foreign_schema = true,
            "extend" => self.add_extensions(&meta),
            "default" => {
                self.default = true;
                self.default_function |= meta.require_name_value().is_ok();
            }
            "skip_serializing_if" => self.skip_if = true,
            "serialize_with" | "deserialize_with" => self.foreign_form = true,
            key => self.rules.add(key, meta.path()),
        }
    }

    /// Records the `x-kubernetes-*` extensions of the schema that `#[schemars(extend(...))]` sets.
    fn add_extensions(&mut self, meta: &Meta) {
        let Ok(list) = meta.require_list() else { return };
        let extension = list.tokens.to_string();
        self.list_keys.extend(list_keys(meta, "x-kubernetes-list-map-keys"));
        self.list_type |= extension.contains("x-kubernetes-list-type");
        self.preserves_unknown |= extension.contains("x-kubernetes-preserve-unknown-fields");
        self.embedded |= extension.contains("x-kubernetes-embedded-resource");
    }
}

impl ValidationRules {
    /// Records the path of a validation rule of schemars, such as `length`, so that messages can point at the rule. Ignores other keys.
    fn add(&mut self, key: &str, path: &Path) {
        let rule = match key {
            "length" => &mut self.length,
            "range" => &mut self.range,
            "regex" | "pattern" | "contains" => &mut self.pattern,
            "inner" => &mut self.inner,
            "required" => &mut self.required,
            _ => return,
        };
        *rule = Some(path.clone());
    }

    /// Records the value of `#[x_kube(merge_strategy = ...)]` if it is `StructMerge`.
    fn add_merge_strategy(&mut self, meta: &Meta) {
        let Ok(pair) = meta.require_name_value() else { return };
        if let Expr::Path(value) = &pair.value
            && value.path.segments.iter().any(|segment| segment.ident == "StructMerge")
        {
            self.struct_merge = Some(value.path.clone());
        }
    }
}

/// Returns the names of the fields that identify the items of a list: the string literals that follow `word` in the tokens of `meta`.
/// `word` is `x-kubernetes-list-map-keys` for `extend("x-kubernetes-list-map-keys" = ["name"])`, and `Map` for
/// `merge_strategy = ListMerge::Map(["name"])`. Returns no names if `word` does not occur.
fn list_keys(meta: &Meta, word: &str) -> Vec<LitStr> {
    let mut tokens = leaves(meta.to_token_stream()).into_iter().peekable();
    let quoted = format!("\"{word}\"");
    if !tokens.any(|token| [word, quoted.as_str()].contains(&token.to_string().as_str())) {
        return Vec::new();
    }
    // Skips the `=` between `word` and the list.
    tokens.next_if(is_equals_sign);
    let mut keys = Vec::new();
    while let Some(token) = tokens.next() {
        // A literal before `=` is the name of the next extension.
        if tokens.peek().is_some_and(is_equals_sign) {
            break;
        }
        if let TokenTree::Literal(literal) = token {
            keys.extend(syn::parse2::<LitStr>(literal.into_token_stream()));
        }
    }
    keys
}

fn is_equals_sign(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '=')
}

/// Flattens a token stream: replaces each group in delimiters by the tokens inside it, recursively.
fn leaves(tokens: TokenStream) -> Vec<TokenTree> {
    let flatten = |token: TokenTree| match token {
        TokenTree::Group(group) => leaves(group.stream()),
        token => vec![token],
    };
    tokens.into_iter().flat_map(flatten).collect()
}

/// Returns the string of `key = "..."`; `None` if the key has no value or another type of value.
fn string_value(meta: &Meta) -> Option<LitStr> {
    match &meta.require_name_value().ok()?.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}
