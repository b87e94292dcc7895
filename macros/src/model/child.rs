//! A field of a group: a child, and the terms on which it is one.

use super::{
    access::{self, Access},
    provisioner::{ROOMS, STRUCT_KEYS, once, refuse_room},
};
use crate::{
    attrs::provisioner::{Manifest, NodePath, ReadField, Value, Word},
    diag::Diags,
};
use proc_macro2::Ident;
use syn::{Expr, LitStr, Type, ext::IdentExt};

pub(crate) struct Child {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// All that is said of it, in the order written.
    pub(crate) keys: Vec<Ident>,
    /// Objects that the function of the field's name builds; otherwise the type is a provisioner.
    pub(crate) resource: Option<Resource>,
    /// Objects as YAML.
    pub(crate) manifest: Option<(Ident, Manifest)>,
    pub(crate) when: Option<Expr>,
    pub(crate) each: Option<Expr>,
    pub(crate) each_key: Option<Ident>,
    pub(crate) key: Option<Expr>,
    pub(crate) key_key: Option<Ident>,
    pub(crate) after: Vec<NodePath>,
    pub(crate) from: Vec<NodePath>,
    pub(crate) from_key: Option<Ident>,
    pub(crate) if_api: Option<Ident>,
}

pub(crate) struct Resource {
    pub(crate) word: Ident,
    pub(crate) once: Option<Ident>,
    pub(crate) adopt: Option<(Ident, Vec<LitStr>)>,
    /// The rights that its roles give to others.
    pub(crate) hands_on: Option<(Ident, Vec<Access>)>,
    pub(crate) pods: Option<Ident>,
}

/// What a field may say, for messages.
pub(super) const KEYS: [&str; 8] = ["resource", "manifest", "when", "each", "key", "after", "from", "if_api"];
const RESOURCE_WORDS: [&str; 4] = ["once", "adopt", "hands_on", "pods"];

impl Child {
    pub(super) fn resolve(read: ReadField, diags: &mut Diags) -> Option<Self> {
        once(&read.args, diags);
        let mut child = Self {
            ident: read.field.ident?,
            ty: read.field.ty,
            resource: None,
            keys: read.args.iter().map(|arg| arg.key.clone()).collect(),
            manifest: None,
            when: None,
            each: None,
            each_key: None,
            key: None,
            key_key: None,
            after: Vec::new(),
            from: Vec::new(),
            from_key: None,
            if_api: None,
        };
        for arg in read.args {
            child.add(arg.key, arg.value, diags);
        }
        Some(child)
    }

    fn add(&mut self, key: Ident, value: Value, diags: &mut Diags) {
        let name = key.to_string();
        match (name.as_str(), value) {
            ("resource", Value::Word) => self.resource = Some(Resource::plain(key)),
            ("resource", Value::Words(words)) => self.resource = Some(Resource::resolve(key, words, diags)),
            ("resource", Value::Expr(value)) => {
                let fix = "write `resource` alone; the function of the field's name builds it";
                diags.error(value, "`resource` has no value", fix);
                self.resource = Some(Resource::plain(key));
            }
            ("when", Value::Expr(when)) => self.when = Some(bare(*when)),
            ("each", Value::Expr(each)) => (self.each, self.each_key) = (Some(bare(*each)), Some(key)),
            ("key", Value::Expr(of)) => (self.key, self.key_key) = (Some(bare(*of)), Some(key)),
            ("when" | "each" | "key", _) => {
                let subject = if name == "key" { "item" } else { "object" };
                let fix = format!("write `{name} = |{subject}| ...`, or name a function");
                diags.error(&key, format!("`{name}` asks nothing"), fix);
            }
            ("after" | "from", Value::Nodes(nodes)) if nodes.is_empty() => {
                diags.error(&key, format!("`{name}()` names no node"), "name one, or remove it");
            }
            ("after", Value::Nodes(nodes)) => self.after = nodes,
            ("from", Value::Nodes(nodes)) => (self.from, self.from_key) = (nodes, Some(key)),
            ("manifest", Value::Manifest(manifest)) => self.manifest = Some((key, manifest)),
            ("manifest", _) => self.manifest = Some((key, Manifest { file: None, kinds: Vec::new() })),
            ("if_api", Value::Word) => self.if_api = Some(key),
            ("if_api", _) => {
                diags.error(&key, "`if_api` takes nothing", "write `if_api` alone; the field's kind is meant")
            }
            (word, _) if RESOURCE_WORDS.contains(&word) => {
                diags.error(&key, format!("`{name}` says more of a resource"), format!("write `resource({name})`"));
            }
            (room, _) if ROOMS.contains(&room) => refuse_room(&key, diags),
            (above, _) if STRUCT_KEYS.contains(&above) => {
                diags.error(&key, format!("`{name}` belongs on the struct"), "move it above the struct");
            }
            _ => diags.unknown("key", &key, &KEYS),
        }
    }

    /// The name of the node in the tree.
    pub(crate) fn name(&self) -> String {
        plain(&self.ident)
    }

    /// Whether its type is a provisioner.
    pub(crate) fn is_provisioner(&self) -> bool {
        self.resource.is_none() && self.manifest.is_none()
    }

    /// Whether the function of its name builds it.
    pub(crate) fn has_function(&self) -> bool {
        self.resource.is_some() || self.manifest.as_ref().is_some_and(|(_, manifest)| manifest.file.is_none())
    }

    /// What is asked of closures and functions.
    pub(crate) fn questions(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
        let asked = [("when", &self.when), ("each", &self.each), ("key", &self.key)];
        asked.into_iter().filter_map(|(key, asked)| Some((key, asked.as_ref()?)))
    }

    /// Whether there are passes without it.
    pub(crate) fn is_conditional(&self) -> bool {
        self.when.is_some() || self.if_api.is_some()
    }
}

impl Resource {
    fn plain(word: Ident) -> Self {
        Self { word, once: None, adopt: None, hands_on: None, pods: None }
    }

    fn resolve(word: Ident, words: Vec<Word>, diags: &mut Diags) -> Self {
        if words.is_empty() {
            diags.error(&word, "`resource()` says nothing", "write `resource` alone");
        }
        for (at, Word { name, .. }) in words.iter().enumerate() {
            if let Some(first) = words[..at].iter().find(|first| first.name == *name) {
                let what = format!("`{name}` is given twice");
                diags.conflict(name, what, "keep one", &first.name, "first given here");
            }
        }
        let mut resource = Self::plain(word);
        for Word { name, texts, access } in words {
            match name.to_string().as_str() {
                "once" if texts.is_empty() => resource.once = Some(name),
                "pods" if texts.is_empty() => resource.pods = Some(name),
                word @ ("once" | "pods") => {
                    diags.error(&name, format!("`{word}` takes nothing"), format!("write `{word}` alone"));
                }
                "adopt" => resource.adopt = Some((name, texts)),
                "hands_on" => {
                    let rights = access::resolve(access.unwrap_or_default(), diags);
                    resource.hands_on = Some((name, rights));
                }
                _ => diags.unknown("word", &name, &RESOURCE_WORDS),
            }
        }
        resource
    }
}

/// A question without the parentheses around it, and without those that a macro leaves.
fn bare(question: Expr) -> Expr {
    match question {
        Expr::Group(inside) => bare(*inside.expr),
        Expr::Paren(inside) => bare(*inside.expr),
        other => other,
    }
}

/// A name without the marks of a raw identifier.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.unraw().to_string()
}
