//! Models a child of a group of tree nodes: a field with its resource options, conditions and dependencies.

use super::{
    access::{self, Access},
    duration::{DURATION_FIX, parse_duration},
    key::{FIELD_KEYS, REMOTE_OPTIONS, RESOURCE_OPTIONS, STRUCT_KEYS, example_of_option, reject_duplicates},
};
use crate::{
    attrs::provisioner::{ArgValue, Manifest, NodePath, ProvisionerFieldInput, ResourceOption},
    diag::Diags,
};
use proc_macro2::Ident;
use std::time::Duration;
use syn::{Expr, ExprLit, Lit, LitStr, Type, ext::IdentExt};

/// A child of a group.
pub(crate) struct Child {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// All keys of the field, in source order.
    pub(crate) keys: Vec<Ident>,
    /// Options of a resource; `None` for the other types of children.
    pub(crate) resource: Option<Resource>,
    /// The key and value of `manifest`.
    pub(crate) manifest: Option<(Ident, Manifest)>,
    /// The key `application`, and its driver if one is named.
    pub(crate) application: Option<(Ident, Option<Type>)>,
    pub(crate) remote: Option<Remote>,
    pub(crate) when: Option<Expr>,
    pub(crate) each: Option<Expr>,
    pub(crate) each_key: Option<Ident>,
    pub(crate) key: Option<Expr>,
    pub(crate) key_key: Option<Ident>,
    pub(crate) after: Vec<NodePath>,
    pub(crate) from: Vec<NodePath>,
    pub(crate) from_key: Option<Ident>,
    pub(crate) if_api: Option<Ident>,
    pub(crate) deleted_with: Option<DeletedWith>,
}

/// `deleted_with`, with the node of the Namespace.
pub(crate) struct DeletedWith {
    pub(crate) key: Ident,
    pub(crate) node: NodePath,
}

/// `remote`, with its options.
pub(crate) struct Remote {
    pub(crate) key: Ident,
    /// Whether the objects in the cluster are left there when the owner is deleted.
    pub(crate) background: bool,
}

/// `resource`, with its options.
pub(crate) struct Resource {
    pub(crate) key: Ident,
    pub(crate) once: Option<Ident>,
    pub(crate) adopt: Option<(Ident, Vec<LitStr>)>,
    /// The rights that the roles grant to others.
    pub(crate) grants: Option<(Ident, Vec<Access>)>,
    pub(crate) pods: Option<Ident>,
    /// The propagation policy of deletions; `None` for the default policy of the kind.
    pub(crate) delete: Option<DeletionPropagation>,
    /// The time after which an object that is not ready makes the owner stalled; `None` for never.
    pub(crate) timeout: Option<Duration>,
}

/// The propagation policy with which the operator deletes the objects of a resource.
#[derive(Clone, Copy)]
pub(crate) enum DeletionPropagation {
    Foreground,
    Background,
}

impl Child {
    /// Converts a parsed field of a group to a child, with the keys of its `#[provisioner(...)]`. Returns `None` for a field of a tuple
    /// struct, which the stage `check` reports.
    pub(super) fn resolve(input: ProvisionerFieldInput, diags: &mut Diags) -> Option<Self> {
        reject_duplicates(input.args.iter().map(|arg| &arg.key), diags);
        let mut child = Self {
            ident: input.field.ident?,
            ty: input.field.ty,
            resource: None,
            keys: input.args.iter().map(|arg| arg.key.clone()).collect(),
            manifest: None,
            application: None,
            remote: None,
            when: None,
            each: None,
            each_key: None,
            key: None,
            key_key: None,
            after: Vec::new(),
            from: Vec::new(),
            from_key: None,
            if_api: None,
            deleted_with: None,
        };
        for arg in input.args {
            child.add_option(arg.key, arg.value, diags);
        }
        Some(child)
    }

    /// Adds one key of the field's `#[provisioner(...)]` with its value to the child. Reports a value of the wrong type, options of
    /// `resource(...)` outside of its parentheses, keys of the struct, and unknown keys.
    fn add_option(&mut self, key: Ident, value: ArgValue, diags: &mut Diags) {
        let name = key.to_string();
        match (name.as_str(), value) {
            ("resource", ArgValue::Flag) => self.resource = Some(Resource::without_options(key)),
            ("resource", ArgValue::ResourceOptions(options)) => {
                self.resource = Some(Resource::resolve(key, options, diags))
            }
            ("resource", ArgValue::Expr(value)) => {
                let fix = "write `resource` without a value; the function with the name of the field builds the object";
                diags.error(value, "`resource` takes no value", fix);
                self.resource = Some(Resource::without_options(key));
            }
            ("when", ArgValue::Expr(when)) => self.when = Some(without_parentheses(*when)),
            ("each", ArgValue::Expr(each)) => {
                (self.each, self.each_key) = (Some(without_parentheses(*each)), Some(key))
            }
            ("key", ArgValue::Expr(function)) => {
                (self.key, self.key_key) = (Some(without_parentheses(*function)), Some(key))
            }
            ("when" | "each" | "key", _) => {
                let subject = if name == "key" { "item" } else { "object" };
                let fix = format!("write `{name} = |{subject}| ...`, or the name of a function");
                diags.error(&key, format!("`{name}` needs a closure or a function"), fix);
            }
            ("after" | "from" | "deleted_with", ArgValue::Nodes(nodes)) if nodes.is_empty() => {
                diags.error(&key, format!("`{name}()` lists no nodes"), "add one, or remove it");
            }
            ("after", ArgValue::Nodes(nodes)) => self.after = nodes,
            ("from", ArgValue::Nodes(nodes)) => (self.from, self.from_key) = (nodes, Some(key)),
            ("deleted_with", ArgValue::Nodes(nodes)) => self.deleted_with = DeletedWith::resolve(key, nodes, diags),
            ("manifest", ArgValue::Manifest(manifest)) => self.manifest = Some((key, manifest)),
            ("manifest", _) => self.manifest = Some((key, Manifest { file: None, kinds: Vec::new() })),
            ("application", ArgValue::Driver(driver)) => self.application = Some((key, Some(*driver))),
            ("application", _) => self.application = Some((key, None)),
            ("remote", ArgValue::Flag) => self.remote = Some(Remote { key, background: false }),
            ("remote", ArgValue::RemoteOptions(options)) => self.remote = Some(Remote::resolve(key, &options, diags)),
            ("remote", _) => {
                let fix =
                    "write `remote` without a value; the function with the name of the field returns the kubeconfig";
                diags.error(&key, "`remote` takes no value", fix);
                self.remote = Some(Remote { key, background: false });
            }
            ("if_api", ArgValue::Flag) => self.if_api = Some(key),
            ("if_api", _) => diags.error(&key, "`if_api` takes no value", "write `if_api` without a value"),
            (word, _) if RESOURCE_OPTIONS.contains(&word) => {
                let fix = if self.keys.iter().any(|key| key == "manifest" || key == "application") {
                    "remove it, or make the object a separate resource".to_owned()
                } else {
                    format!("write `resource({})`", example_of_option(word))
                };
                diags.error(&key, format!("`{name}` is an option of `resource`"), fix);
            }
            (above, _) if STRUCT_KEYS.contains(&above) => {
                diags.error(&key, format!("`{name}` belongs on the struct"), "move it above the struct");
            }
            _ => diags.unknown("key", &key, &FIELD_KEYS),
        }
    }

    /// Returns the name of the child in the tree.
    pub(crate) fn name(&self) -> String {
        node_name(&self.ident)
    }

    /// Returns whether the type of the field is a provisioner: a group or a hand-written node, and no resource, manifest or application.
    pub(crate) fn is_provisioner(&self) -> bool {
        self.resource.is_none() && self.manifest.is_none() && self.application.is_none()
    }

    /// Returns whether the user must write an associated function with the name of the field. It builds the objects of a resource or
    /// manifest, the application, or the kubeconfig of a remote node. A manifest from a file has no function.
    pub(crate) fn has_function(&self) -> bool {
        self.resource.is_some()
            || self.application.is_some()
            || self.remote.is_some()
            || self.manifest.as_ref().is_some_and(|(_, manifest)| manifest.file.is_none())
    }

    /// Returns the closures or functions of `when`, `each` and `key`, each with the name of its key.
    pub(crate) fn closures(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
        let closures = [("when", &self.when), ("each", &self.each), ("key", &self.key)];
        closures.into_iter().filter_map(|(key, closure)| Some((key, closure.as_ref()?)))
    }

    /// Returns whether a reconcile can skip the child: `when` is false, or the cluster lacks the API of `if_api`.
    pub(crate) fn is_conditional(&self) -> bool {
        self.when.is_some() || self.if_api.is_some()
    }
}

impl Remote {
    /// Converts the options in `remote(...)`. Reports empty parentheses, unknown options and duplicates.
    fn resolve(key: Ident, options: &[Ident], diags: &mut Diags) -> Self {
        if options.is_empty() {
            diags.error(&key, "`remote()` has no options", "write `remote` alone");
        }
        reject_duplicates(options.iter(), diags);
        for option in options.iter().filter(|option| !REMOTE_OPTIONS.contains(&&*option.to_string())) {
            diags.unknown("word", option, &REMOTE_OPTIONS);
        }
        Self { background: options.iter().any(|option| option == "background"), key }
    }
}

impl DeletedWith {
    /// Converts `deleted_with(namespace)`, which names the node of one Namespace. Reports a second node in the parentheses.
    fn resolve(key: Ident, nodes: Vec<NodePath>, diags: &mut Diags) -> Option<Self> {
        let mut nodes = nodes.into_iter();
        let node = nodes.next()?;
        if let Some(second) = nodes.next() {
            diags.error(&second.0[0], "an object is in one Namespace", format!("write `{key}({})`", node.text(".")));
        }
        Some(Self { key, node })
    }
}

impl Resource {
    fn without_options(key: Ident) -> Self {
        Self { key, once: None, adopt: None, grants: None, pods: None, delete: None, timeout: None }
    }

    /// Converts `resource(...)` with its options. Reports empty parentheses, unknown options, duplicates, and options with a wrong value.
    fn resolve(key: Ident, options: Vec<ResourceOption>, diags: &mut Diags) -> Self {
        if options.is_empty() {
            diags.error(&key, "`resource()` has no options", "write `resource` alone");
        }
        reject_duplicates(options.iter().map(|option| &option.name), diags);
        let mut resource = Self::without_options(key);
        for ResourceOption { name, texts, value, access } in options {
            let word = name.to_string();
            match (word.as_str(), value) {
                // The options with a value come first: the next arm rejects a value for all others.
                ("delete", value) => resource.delete = resolve_delete(&name, &texts, value, diags),
                ("timeout", value) => resource.timeout = resolve_timeout(&name, &texts, value, diags),
                (option, Some(value)) if RESOURCE_OPTIONS.contains(&option) => {
                    diags.error(
                        value,
                        format!("`{option}` takes no value"),
                        format!("write `{}`", example_of_option(option)),
                    );
                }
                ("once", _) if texts.is_empty() => resource.once = Some(name),
                ("pods", _) if texts.is_empty() => resource.pods = Some(name),
                ("once" | "pods", _) => {
                    diags.error(&name, format!("`{word}` takes no value"), format!("write `{word}` alone"));
                }
                ("adopt", _) => resource.adopt = Some((name, texts)),
                ("grants", _) => {
                    let rights = access::resolve(access.unwrap_or_default(), diags);
                    resource.grants = Some((name, rights));
                }
                _ => diags.unknown("word", &name, &RESOURCE_OPTIONS),
            }
        }
        resource
    }
}

/// Returns the propagation policy in `delete = "foreground"` or `delete = "background"`. Reports a missing or unknown value, and then
/// returns `None`.
fn resolve_delete(
    name: &Ident,
    texts: &[LitStr],
    value: Option<Expr>,
    diags: &mut Diags,
) -> Option<DeletionPropagation> {
    let fix = r#"write `delete = "foreground"` or `delete = "background"`"#;
    let text = string_value(name, texts, value, fix, diags)?;
    match text.value().as_str() {
        "foreground" => Some(DeletionPropagation::Foreground),
        "background" => Some(DeletionPropagation::Background),
        unknown => {
            let problem = format!("unknown policy `\"{unknown}\"`");
            diags.error(text, problem, r#"use `"foreground"` or `"background"`"#);
            None
        }
    }
}

/// Returns the duration in `timeout = "10m"`. Reports a missing value, a value that is no duration, and zero, and then returns `None`.
fn resolve_timeout(name: &Ident, texts: &[LitStr], value: Option<Expr>, diags: &mut Diags) -> Option<Duration> {
    let text = string_value(name, texts, value, r#"write for example `timeout = "10m"`"#, diags)?;
    match parse_duration(&text.value()) {
        Some(Duration::ZERO) => {
            diags.error(text, "the value of `timeout` is zero", r#"use a longer time, for example `"10m"`"#);
            None
        }
        None => {
            diags.error(&text, format!("`\"{}\"` is not a duration", text.value()), DURATION_FIX);
            None
        }
        timeout => timeout,
    }
}

/// Returns the string literal after the `=` of an option of `resource(...)`. Reports a missing value, a value that is no string literal,
/// and a string in parentheses (`texts`), and then returns `None`.
fn string_value(name: &Ident, texts: &[LitStr], value: Option<Expr>, fix: &str, diags: &mut Diags) -> Option<LitStr> {
    match value.map(without_parentheses) {
        Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => return Some(text),
        Some(other) => diags.error(other, format!("the value of `{name}` is not a string literal"), fix),
        None => match texts.first() {
            Some(text) => diags.error(text, format!("the value of `{name}` follows `=`"), fix),
            None => diags.error(name, format!("`{name}` has no value"), fix),
        },
    }
    None
}

/// Returns an expression without parentheses around it, and without the invisible groups that `macro_rules!` puts around expressions.
fn without_parentheses(closure: Expr) -> Expr {
    match closure {
        Expr::Group(inside) => without_parentheses(*inside.expr),
        Expr::Paren(inside) => without_parentheses(*inside.expr),
        other => other,
    }
}

/// Returns the name of a node or an input: the identifier without `r#`.
pub(crate) fn node_name(ident: &Ident) -> String {
    ident.unraw().to_string()
}
