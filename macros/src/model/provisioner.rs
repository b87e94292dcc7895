//! A node of a tree: a group with its children, or a hand-written one with its permissions.

use super::{
    access::{self, Access, Verb},
    child::{self, Child, plain},
};
use crate::{
    attrs::provisioner::{Arg, Read, Typed, Value},
    diag::Diags,
    paths::Paths,
};
use proc_macro2::Ident;
use syn::{Data, Expr, Fields, Generics, Path, Type};

pub(crate) struct Provisioner {
    pub(crate) paths: Paths,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) form: Form,
    /// Order of the children on the way up and on the way down, as far as it is said.
    pub(crate) up: Option<Order>,
    pub(crate) down: Option<Order>,
    pub(crate) by_hand: bool,
    /// Each key that says what kind of node it is, in the order written.
    pub(crate) node_keys: Vec<Ident>,
    pub(crate) owner: Option<Type>,
    pub(crate) owner_key: Option<Ident>,
    pub(crate) access: Vec<Access>,
    pub(crate) takes: Vec<Typed>,
    pub(crate) takes_key: Option<Ident>,
    pub(crate) gives: Option<Type>,
    pub(crate) gives_key: Option<Ident>,
    /// Nodes of earlier releases, whose objects are removed.
    pub(crate) retired: Vec<Typed>,
    pub(crate) retired_key: Option<Ident>,
    pub(crate) children: Vec<Child>,
    /// Children of a group with mistakes: others may still speak of them.
    pub(crate) lost: Vec<Child>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Named,
    Tuple,
    Unit,
    NoStruct(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Serial,
    Concurrent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Group {
        up: Order,
        down: Order,
    },
    Custom,
    /// The attribute doesn't say.
    Open,
}

/// What a struct may say, for messages.
pub(super) const STRUCT_KEYS: [&str; 10] =
    ["serial", "concurrent", "up", "down", "access", "owner", "takes", "gives", "retired", "crate"];
/// Keys with a meaning to come.
pub(super) const ROOMS: [&str; 2] = ["remote", "application"];

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
        up: None,
        down: None,
        by_hand: false,
        node_keys: Vec::new(),
        owner: None,
        owner_key: None,
        access: Vec::new(),
        takes: Vec::new(),
        takes_key: None,
        gives: None,
        gives_key: None,
        retired: Vec::new(),
        retired_key: None,
        children: Vec::new(),
        lost: Vec::new(),
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
        if self.node() == Node::Open && self.is_meant_as_group() {
            (self.up, self.down) = (Some(Order::Serial), Some(Order::Serial));
        }
        self.lost = std::mem::take(&mut self.children);
        self.retired.clear();
        self.access.retain(|access| access.kind().is_none_or(starts_upper));
        for access in &mut self.access {
            access.verbs = Verb::ALL.to_vec();
        }
        self
    }

    pub(crate) fn node(&self) -> Node {
        match (self.up, self.down, self.by_hand) {
            (Some(up), Some(down), _) => Node::Group { up, down },
            (_, _, true) => Node::Custom,
            _ => Node::Open,
        }
    }

    /// Children are what a hand-written node has none of, and it implements `Provision` itself.
    fn is_meant_as_group(&self) -> bool {
        self.owner_key.is_some() || !self.node_keys.is_empty() || !self.children.is_empty()
    }

    /// A keyword may be written as it is, or as the field has to write it.
    pub(crate) fn child(&self, name: &Ident) -> Option<(usize, &Child)> {
        self.children.iter().enumerate().find(|(_, child)| child.name() == plain(name))
    }

    /// The place of a value that the group above hands down.
    pub(crate) fn taken(&self, name: &Ident) -> Option<usize> {
        self.takes.iter().position(|taken| plain(&taken.name) == plain(name))
    }

    fn add(&mut self, arg: Arg, diags: &mut Diags) {
        let key = arg.key.to_string();
        match (key.as_str(), arg.value) {
            ("serial", Value::Word) => self.is(Some(Order::Serial), Some(Order::Serial), arg.key),
            ("concurrent", Value::Word) => self.is(Some(Order::Concurrent), Some(Order::Concurrent), arg.key),
            ("up", Value::Expr(order)) => {
                let order = order_of(&order, diags);
                self.is(order, None, arg.key);
            }
            ("down", Value::Expr(order)) => {
                let order = order_of(&order, diags);
                self.is(None, order, arg.key);
            }
            ("access", Value::Access(entries)) => {
                self.by_hand = true;
                self.node_keys.push(arg.key);
                self.access = access::resolve(entries, diags);
            }
            ("owner", Value::Type(owner)) => (self.owner, self.owner_key) = (Some(*owner), Some(arg.key)),
            ("crate", Value::Path(path)) => self.paths = Paths::new(Some(path)),
            ("takes" | "retired", Value::Typed(typed)) if typed.is_empty() => {
                diags.error(&arg.key, format!("`{key}()` names nothing"), "name something, or remove it");
            }
            ("takes", Value::Typed(takes)) => (self.takes, self.takes_key) = (takes, Some(arg.key)),
            ("gives", Value::Type(gives)) => (self.gives, self.gives_key) = (Some(*gives), Some(arg.key)),
            ("retired", Value::Typed(retired)) => (self.retired, self.retired_key) = (retired, Some(arg.key)),
            ("serial" | "concurrent", _) => {
                diags.error(&arg.key, format!("`{key}` takes nothing"), format!("write `{key}` alone"))
            }
            ("up" | "down", _) => {
                let fix = format!("write `{key} = serial` or `{key} = concurrent`");
                diags.error(&arg.key, format!("`{key}` has no order"), fix);
            }
            (room, _) if ROOMS.contains(&room) => refuse_room(&arg.key, diags),
            (field, _) if child::KEYS.contains(&field) => {
                diags.error(&arg.key, format!("`{key}` belongs on a field"), "move it to the field that it speaks of");
            }
            _ => diags.unknown("key", &arg.key, &STRUCT_KEYS),
        }
    }

    fn is(&mut self, up: Option<Order>, down: Option<Order>, key: Ident) {
        self.up = self.up.or(up);
        self.down = self.down.or(down);
        self.node_keys.push(key);
    }
}

fn order_of(order: &Expr, diags: &mut Diags) -> Option<Order> {
    let word = match order {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    match word.as_deref() {
        Some("serial") => Some(Order::Serial),
        Some("concurrent") => Some(Order::Concurrent),
        _ => {
            diags.error(order, "there is no such order", "write `serial` or `concurrent`");
            None
        }
    }
}

/// Types start with a capital; what doesn't is a resource name (`secrets`) or a module.
pub(crate) fn starts_upper(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

pub(super) fn refuse_room(key: &Ident, diags: &mut Diags) {
    diags.error(
        key,
        format!("`{key}` is not supported yet"),
        "remove it, or write the node by hand with `access(...)`",
    );
}

pub(super) fn once(args: &[Arg], diags: &mut Diags) {
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
