//! A field of a group: a child, and the terms on which it is one.

use super::provisioner::{ROOMS, STRUCT_KEYS, once, refuse_room};
use crate::{
    attrs::provisioner::{Manifest, NodePath, ReadField, Value, Word},
    diag::Diags,
};
use proc_macro2::Ident;
use syn::{Expr, LitStr, Type};

pub(crate) struct Child {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// Objects that the function of the field's name builds; otherwise the type is a provisioner.
    pub(crate) resource: Option<Resource>,
    /// Objects as YAML.
    pub(crate) manifest: Option<(Ident, Manifest)>,
    pub(crate) when: Option<Expr>,
    pub(crate) when_key: Option<Ident>,
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
}

/// What a field may say, for messages.
pub(super) const KEYS: [&str; 8] = ["resource", "manifest", "when", "each", "key", "after", "from", "if_api"];
const RESOURCE_WORDS: [&str; 2] = ["once", "adopt"];

impl Child {
    pub(super) fn resolve(read: ReadField, diags: &mut Diags) -> Option<Self> {
        once(&read.args, diags);
        let mut child = Self {
            ident: read.field.ident?,
            ty: read.field.ty,
            resource: None,
            manifest: None,
            when: None,
            when_key: None,
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
            ("resource", Value::Word) => self.resource = Some(Resource { word: key, once: None, adopt: None }),
            ("resource", Value::Words(words)) => self.resource = Some(Resource::resolve(key, words, diags)),
            ("resource", Value::Expr(value)) => {
                let fix = "write `resource` alone; the function of the field's name builds it";
                diags.error(value, "`resource` takes nothing", fix);
            }
            ("when", Value::Expr(when)) => (self.when, self.when_key) = (Some(*when), Some(key)),
            ("each", Value::Expr(each)) => (self.each, self.each_key) = (Some(*each), Some(key)),
            ("key", Value::Expr(of)) => (self.key, self.key_key) = (Some(*of), Some(key)),
            ("when" | "each" | "key", _) => {
                let fix = format!("write `{name} = |object| ...`, or name a function");
                diags.error(&key, format!("`{name}` asks nothing"), fix);
            }
            ("after", Value::Nodes(nodes)) => self.after = nodes,
            ("from", Value::Nodes(nodes)) => (self.from, self.from_key) = (nodes, Some(key)),
            ("manifest", Value::Manifest(manifest)) => self.manifest = Some((key, manifest)),
            ("manifest", _) => self.manifest = Some((key, Manifest { file: None, kinds: Vec::new() })),
            ("if_api", Value::Word) => self.if_api = Some(key),
            ("if_api", _) => {
                diags.error(&key, "`if_api` takes nothing", "write `if_api` alone; the field's kind is meant")
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

    /// Whether there are passes without it.
    pub(crate) fn is_conditional(&self) -> bool {
        self.when.is_some() || self.if_api.is_some()
    }
}

impl Resource {
    fn resolve(word: Ident, words: Vec<Word>, diags: &mut Diags) -> Self {
        let mut resource = Self { word, once: None, adopt: None };
        for Word { name, texts } in words {
            match name.to_string().as_str() {
                "once" if texts.is_empty() => resource.once = Some(name),
                "once" => diags.error(&name, "`once` takes nothing", "write `once` alone"),
                "adopt" => resource.adopt = Some((name, texts)),
                _ => diags.unknown("word", &name, &RESOURCE_WORDS),
            }
        }
        resource
    }
}

/// A name without the marks of a raw identifier.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}
