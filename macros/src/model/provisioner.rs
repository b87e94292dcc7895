//! Models the input of `#[derive(Provisioner)]`: a group of tree nodes, or a hand-written tree node with its access rights.

use super::{
    access::{self, Access, Verb},
    child::{Child, node_name},
    key::{FIELD_KEYS, RESOURCE_OPTIONS, STRUCT_KEYS, example_of_option, reject_duplicates},
    type_path::starts_upper,
};
use crate::{
    attrs::provisioner::{ArgValue, NamedType, ProvisionerArg, ProvisionerInput},
    diag::Diags,
    paths::Paths,
};
use proc_macro2::Ident;
use syn::{Data, Expr, Fields, Generics, Type};

/// A node of a tree.
pub(crate) struct Provisioner {
    pub(crate) paths: Paths,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) style: StructStyle,
    /// The orders in which the group provisions and deprovisions its children, if specified.
    pub(crate) up: Option<Order>,
    pub(crate) down: Option<Order>,
    /// Whether the node is hand-written: it has `access(...)`.
    pub(crate) is_custom: bool,
    /// The keys that select the kind of node, in source order.
    pub(crate) node_keys: Vec<Ident>,
    pub(crate) owner: Option<Type>,
    pub(crate) owner_key: Option<Ident>,
    pub(crate) access: Vec<Access>,
    pub(crate) inputs: Vec<NamedType>,
    pub(crate) inputs_key: Option<Ident>,
    pub(crate) output: Option<Type>,
    pub(crate) output_key: Option<Ident>,
    /// Nodes of earlier releases, whose objects are removed.
    pub(crate) retired: Vec<NamedType>,
    pub(crate) retired_key: Option<Ident>,
    pub(crate) children: Vec<Child>,
    /// Children of an invalid group, which other nodes may still name.
    pub(crate) unchecked_children: Vec<Child>,
}

/// The style of the item that derives `Provisioner`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StructStyle {
    Named,
    Tuple,
    Unit,
    NotStruct(&'static str),
}

/// The order of the children of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Serial,
    Concurrent,
}

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Group {
        up: Order,
        down: Order,
    },
    Custom,
    /// The attribute doesn't specify the kind.
    Unspecified,
}

/// Converts the parsed input of `#[derive(Provisioner)]` to the model of a tree node. Reports unknown and repeated keys. It always returns
/// a model, also for an item that is no struct.
pub(crate) fn resolve(input: ProvisionerInput, diags: &mut Diags) -> Option<Provisioner> {
    let style = match &input.item.data {
        Data::Struct(data) => match data.fields {
            Fields::Named(_) => StructStyle::Named,
            Fields::Unnamed(_) => StructStyle::Tuple,
            Fields::Unit => StructStyle::Unit,
        },
        Data::Enum(_) => StructStyle::NotStruct("an enum"),
        Data::Union(_) => StructStyle::NotStruct("a union"),
    };
    let mut model = Provisioner {
        paths: Paths::new(None),
        ident: input.item.ident,
        generics: input.item.generics,
        style,
        up: None,
        down: None,
        is_custom: false,
        node_keys: Vec::new(),
        owner: None,
        owner_key: None,
        access: Vec::new(),
        inputs: Vec::new(),
        inputs_key: None,
        output: None,
        output_key: None,
        retired: Vec::new(),
        retired_key: None,
        children: Vec::new(),
        unchecked_children: Vec::new(),
    };
    reject_duplicates(input.args.iter().flatten().map(|arg| &arg.key), diags);
    for arg in input.args.into_iter().flatten() {
        model.add_option(arg, diags);
    }
    model.children = input.fields.into_iter().filter_map(|field| Child::resolve(field, diags)).collect();
    Some(model)
}

impl Provisioner {
    /// Reduces a node with errors to a model that can be expanded without follow-up errors: it has no children, and grants every verb on
    /// the kinds that it declares, so that the calls of the node compile. A node whose attribute specifies neither a group nor a
    /// hand-written node becomes a group if its keys or fields fit a group.
    pub(crate) fn without_children(mut self) -> Self {
        if self.node() == Node::Unspecified && self.looks_like_group() {
            (self.up, self.down) = (Some(Order::Serial), Some(Order::Serial));
        }
        self.unchecked_children = std::mem::take(&mut self.children);
        self.retired.clear();
        self.access.retain(|access| access.kind().is_none_or(starts_upper));
        for access in &mut self.access {
            access.verbs = Verb::ALL.to_vec();
        }
        self
    }

    /// Returns whether the node is a group or hand-written, by its keys: a group has the orders `up` and `down` (`serial` and `concurrent`
    /// set them together), and a hand-written node has `access(...)`. With only one of `up` and `down` the kind of node is unspecified.
    pub(crate) fn node(&self) -> Node {
        match (self.up, self.down, self.is_custom) {
            (Some(up), Some(down), _) => Node::Group { up, down },
            (_, _, true) => Node::Custom,
            _ => Node::Unspecified,
        }
    }

    /// Returns whether a node whose keys specify no kind of node is more likely a group than a hand-written node: it has an owner, one of
    /// the keys that select the kind of node (such as `up` alone), or fields.
    fn looks_like_group(&self) -> bool {
        self.owner_key.is_some() || !self.node_keys.is_empty() || !self.children.is_empty()
    }

    /// Returns the child with a name, and its index among the children; `None` if no child has the name. `r#type` and `type` name the same
    /// child.
    pub(crate) fn child(&self, name: &Ident) -> Option<(usize, &Child)> {
        self.children.iter().enumerate().find(|(_, child)| child.name() == node_name(name))
    }

    /// Returns the index of the input with a name in `inputs(...)`; `None` if no input has the name.
    pub(crate) fn input_index(&self, name: &Ident) -> Option<usize> {
        self.inputs.iter().position(|input| node_name(&input.name) == node_name(name))
    }

    /// Adds one key of the struct's `#[provisioner(...)]` with its value to the node. Reports a value of the wrong type, keys of a field,
    /// options of `resource(...)`, and unknown keys.
    fn add_option(&mut self, arg: ProvisionerArg, diags: &mut Diags) {
        let key = arg.key.to_string();
        match (key.as_str(), arg.value) {
            ("serial", ArgValue::Flag) => self.set_order(Some(Order::Serial), Some(Order::Serial), arg.key),
            ("concurrent", ArgValue::Flag) => self.set_order(Some(Order::Concurrent), Some(Order::Concurrent), arg.key),
            ("up", ArgValue::Expr(order)) => {
                let order = parse_order(&order, diags);
                self.set_order(order, None, arg.key);
            }
            ("down", ArgValue::Expr(order)) => {
                let order = parse_order(&order, diags);
                self.set_order(None, order, arg.key);
            }
            ("access", ArgValue::Access(entries)) => {
                self.is_custom = true;
                self.node_keys.push(arg.key);
                self.access = access::resolve(entries, diags);
            }
            ("owner", ArgValue::Type(owner)) => (self.owner, self.owner_key) = (Some(*owner), Some(arg.key)),
            ("crate", ArgValue::Path(path)) => self.paths = Paths::new(Some(path)),
            ("inputs" | "retired", ArgValue::NamedTypes(typed)) if typed.is_empty() => {
                diags.error(&arg.key, format!("`{key}()` has no entries"), "add an entry, or remove it");
            }
            ("inputs", ArgValue::NamedTypes(inputs)) => (self.inputs, self.inputs_key) = (inputs, Some(arg.key)),
            ("output", ArgValue::Type(output)) => (self.output, self.output_key) = (Some(*output), Some(arg.key)),
            ("retired", ArgValue::NamedTypes(retired)) => (self.retired, self.retired_key) = (retired, Some(arg.key)),
            ("serial" | "concurrent", _) => {
                diags.error(&arg.key, format!("`{key}` takes no value"), format!("write `{key}` alone"))
            }
            ("up" | "down", _) => {
                let fix = format!("write `{key} = serial` or `{key} = concurrent`");
                diags.error(&arg.key, format!("`{key}` needs an order"), fix);
            }
            (field, _) if FIELD_KEYS.contains(&field) => {
                diags.error(&arg.key, format!("`{key}` belongs on a field"), "move it to that field");
            }
            (option, _) if RESOURCE_OPTIONS.contains(&option) => {
                let fix = format!("move it to a field: `resource({})`", example_of_option(option));
                diags.error(&arg.key, format!("`{key}` is an option of `resource`"), fix);
            }
            _ => diags.unknown("key", &arg.key, &STRUCT_KEYS),
        }
    }

    /// Sets the orders in which the group provisions (`up`) and deprovisions (`down`) its children, unless an earlier key has set them.
    /// `key` is the key in the attribute that sets them.
    fn set_order(&mut self, up: Option<Order>, down: Option<Order>, key: Ident) {
        self.up = self.up.or(up);
        self.down = self.down.or(down);
        self.node_keys.push(key);
    }
}

/// Parses the order in `up = serial` or `down = concurrent`. Returns `None` after reporting another expression.
fn parse_order(order: &Expr, diags: &mut Diags) -> Option<Order> {
    let word = match order {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    match word.as_deref() {
        Some("serial") => Some(Order::Serial),
        Some("concurrent") => Some(Order::Concurrent),
        _ => {
            diags.error(order, "unknown order", "write `serial` or `concurrent`");
            None
        }
    }
}
