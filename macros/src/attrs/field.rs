//! What the other derives are told about a field, as far as it decides the schema.

use darling::ast::NestedMeta;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Path};

/// The parts of `#[serde(...)]`, `#[schemars(...)]` and `#[x_kube(...)]` that matter here.
#[derive(Default)]
pub(crate) struct Hints {
    pub(crate) rename: Option<LitStr>,
    pub(crate) rename_all: Option<LitStr>,
    /// `#[serde(tag = ...)]`, `#[serde(untagged)]`: the attribute's own tokens.
    pub(crate) tagging: Option<Meta>,
    pub(crate) flatten: bool,
    /// Not in the JSON at all.
    pub(crate) skip: bool,
    /// The schema is somebody else's: `with`, `schema_with`.
    pub(crate) foreign_schema: bool,
    pub(crate) list_type: bool,
    pub(crate) preserves_unknown: bool,
    /// `x-kubernetes-embedded-resource`: the object is a resource of its own.
    pub(crate) embedded: bool,
    /// `#[serde(default)]` with or without a function.
    pub(crate) default: bool,
    pub(crate) rules: Rules,
}

/// The keys of `#[schemars(...)]` that restrict values; `schemars` drops one without a word where the type has no such rule.
///
/// `schemars` reads `#[validate(...)]` and `#[garde(...)]`, too. Whether their own derives stand beside it is not seen here,
/// and with one a rule has an effect: `opgen generate` tells the two apart, and looks at the nested types.
#[derive(Default)]
pub(crate) struct Rules {
    pub(crate) length: Option<Path>,
    pub(crate) range: Option<Path>,
    /// `regex`, `pattern` or `contains`.
    pub(crate) pattern: Option<Path>,
    pub(crate) inner: Option<Path>,
    pub(crate) required: Option<Path>,
    /// `StructMerge` in `#[x_kube(merge_strategy = ...)]`.
    pub(crate) struct_merge: Option<Path>,
}

pub(crate) fn read(attributes: &[Attribute]) -> Hints {
    let mut hints = Hints::default();
    for attribute in attributes {
        let Ok(list) = attribute.meta.require_list() else { continue };
        let metas = NestedMeta::parse_meta_list(list.tokens.clone()).unwrap_or_default();
        let metas = metas.into_iter().filter_map(|nested| match nested {
            NestedMeta::Meta(meta) => Some(meta),
            _ => None,
        });
        if list.path.is_ident("x_kube") {
            hints.list_type |= list.tokens.to_string().contains("merge_strategy");
            metas.for_each(|meta| hints.rules.merge_strategy(&meta));
        } else if list.path.is_ident("serde") || list.path.is_ident("schemars") {
            metas.for_each(|meta| hints.add(meta));
        }
    }
    hints
}

impl Hints {
    fn add(&mut self, meta: Meta) {
        let Some(key) = meta.path().get_ident().map(ToString::to_string) else { return };
        match key.as_str() {
            "rename" => self.rename = text(&meta).or(self.rename.take()),
            "rename_all" => self.rename_all = text(&meta).or(self.rename_all.take()),
            "tag" | "content" | "untagged" => self.tagging = self.tagging.take().or(Some(meta)),
            "flatten" => self.flatten = true,
            "skip" | "skip_serializing" => self.skip = true,
            "with" | "schema_with" => self.foreign_schema = true,
            "extend" => self.extend(&meta),
            "default" => self.default = true,
            key => self.rules.add(key, meta.path()),
        }
    }

    fn extend(&mut self, meta: &Meta) {
        let Ok(list) = meta.require_list() else { return };
        let said = list.tokens.to_string();
        self.list_type |= said.contains("x-kubernetes-list-type");
        self.preserves_unknown |= said.contains("x-kubernetes-preserve-unknown-fields");
        self.embedded |= said.contains("x-kubernetes-embedded-resource");
    }
}

impl Rules {
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

    fn merge_strategy(&mut self, meta: &Meta) {
        let Ok(pair) = meta.require_name_value() else { return };
        if let Expr::Path(value) = &pair.value
            && value.path.segments.iter().any(|segment| segment.ident == "StructMerge")
        {
            self.struct_merge = Some(value.path.clone());
        }
    }
}

fn text(meta: &Meta) -> Option<LitStr> {
    match &meta.require_name_value().ok()?.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}
