//! A node of a tree: a group with its children, or a hand-written one with its permissions.

use super::access::{self, Access, Verb};
use crate::{
    attrs::provisioner::{Arg, Read, ReadField, Value},
    diag::Diags,
    paths::Paths,
};
use proc_macro2::Ident;
use syn::{Data, Fields, Generics, Path, Type};

pub(crate) struct Provisioner {
    pub(crate) paths: Paths,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) form: Form,
    pub(crate) node: Node,
    /// Each key that says what kind of node it is, in the order written.
    pub(crate) node_keys: Vec<Ident>,
    pub(crate) owner: Option<Type>,
    pub(crate) owner_key: Option<Ident>,
    pub(crate) access: Vec<Access>,
    pub(crate) children: Vec<Child>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Named,
    Tuple,
    Unit,
    NoStruct(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Serial,
    Concurrent,
    Custom,
    /// The attribute doesn't say.
    Open,
}

pub(crate) struct Child {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// Objects that the function of the field's name builds; otherwise the type is a provisioner.
    pub(crate) resource: Option<Ident>,
}

/// What a struct may say, for messages.
const STRUCT_KEYS: [&str; 5] = ["serial", "concurrent", "access", "owner", "crate"];
const FIELD_KEYS: [&str; 1] = ["resource"];
/// Keys with a meaning to come.
const ROOMS: [&str; 7] = ["when", "each", "after", "if_api", "remote", "application", "manifest"];

pub(crate) fn resolve(read: Read, diags: &mut Diags) -> Option<Provisioner> {
    let form = match &read.item.data {
        Data::Struct(data) => match data.fields {
            Fields::Named(_) => Form::Named,
            Fields::Unnamed(_) => Form::Tuple,
            Fields::Unit => Form::Unit,
        },
        Data::Enum(_) => Form::NoStruct("an enum"),
        Data::Union(_) => Form::NoStruct("a union"),
    };
    let mut model = Provisioner {
        paths: Paths::new(None),
        ident: read.item.ident,
        generics: read.item.generics,
        form,
        node: Node::Open,
        node_keys: Vec::new(),
        owner: None,
        owner_key: None,
        access: Vec::new(),
        children: Vec::new(),
    };
    once(read.args.as_deref().unwrap_or_default(), diags);
    for arg in read.args.into_iter().flatten() {
        model.add(arg, diags);
    }
    model.children = read.fields.into_iter().filter_map(|field| Child::resolve(field, diags)).collect();
    Some(model)
}

impl Provisioner {
    /// What can be expanded beside errors: every listed kind may be used in every way, so that no use is reported again.
    pub(crate) fn without_children(mut self) -> Self {
        self.children.clear();
        self.access.retain(|access| starts_upper(&access.kind));
        for access in &mut self.access {
            access.verbs = Verb::ALL.to_vec();
        }
        self
    }

    fn add(&mut self, arg: Arg, diags: &mut Diags) {
        let key = arg.key.to_string();
        match (key.as_str(), arg.value) {
            ("serial", Value::Word) => self.is(Node::Serial, arg.key),
            ("concurrent", Value::Word) => self.is(Node::Concurrent, arg.key),
            ("access", Value::Access(entries)) => {
                self.is(Node::Custom, arg.key);
                self.access = access::resolve(entries, diags);
            }
            ("owner", Value::Type(owner)) => (self.owner, self.owner_key) = (Some(*owner), Some(arg.key)),
            ("crate", Value::Path(path)) => self.paths = Paths::new(Some(path)),
            ("serial" | "concurrent", _) => {
                diags.error(&arg.key, format!("`{key}` takes nothing"), format!("write `{key}` alone"))
            }
            (room, _) if ROOMS.contains(&room) => refuse_room(&arg.key, diags),
            (field, _) if FIELD_KEYS.contains(&field) => {
                diags.error(&arg.key, format!("`{key}` belongs on a field"), "move it to the field that it speaks of");
            }
            _ => diags.unknown("key", &arg.key, &STRUCT_KEYS),
        }
    }

    fn is(&mut self, node: Node, key: Ident) {
        if self.node == Node::Open {
            self.node = node;
        }
        self.node_keys.push(key);
    }
}

impl Child {
    fn resolve(read: ReadField, diags: &mut Diags) -> Option<Self> {
        once(&read.args, diags);
        let mut resource = None;
        for arg in read.args {
            let key = arg.key.to_string();
            match (key.as_str(), &arg.value) {
                ("resource", Value::Word) => resource = Some(arg.key),
                ("resource", Value::List(inside)) if inside.to_string() == "once" => {
                    diags.error(inside, "`once` is not supported yet", "write `resource` alone");
                    resource = Some(arg.key);
                }
                ("resource", Value::List(inside)) => {
                    diags.error(inside, "`resource` takes nothing", "write `resource` alone");
                }
                ("resource", Value::Expr(value)) => {
                    let fix = "write `resource` alone; the function of the field's name builds it";
                    diags.error(value, "`resource` takes nothing", fix);
                }
                (room, _) if ROOMS.contains(&room) => refuse_room(&arg.key, diags),
                (above, _) if STRUCT_KEYS.contains(&above) => {
                    diags.error(&arg.key, format!("`{key}` belongs on the struct"), "move it above the struct");
                }
                _ => diags.unknown("key", &arg.key, &FIELD_KEYS),
            }
        }
        Some(Self { ident: read.field.ident?, ty: read.field.ty, resource })
    }

    /// The name of the node in the tree.
    pub(crate) fn name(&self) -> String {
        self.ident.to_string().trim_start_matches("r#").to_owned()
    }
}

/// Types start with a capital; what doesn't is a resource name (`secrets`) or a module.
pub(crate) fn starts_upper(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

fn refuse_room(key: &Ident, diags: &mut Diags) {
    diags.error(
        key,
        format!("`{key}` is not supported yet"),
        "remove it, or write the node by hand with `access(...)`",
    );
}

fn once(args: &[Arg], diags: &mut Diags) {
    for (at, arg) in args.iter().enumerate() {
        if let Some(first) = args[..at].iter().find(|first| first.key == arg.key) {
            diags.conflict(
                &arg.key,
                format!("`{}` is given twice", arg.key),
                "keep one",
                &first.key,
                "first given here",
            );
        }
    }
}
