//! The derives of opgen.
//!
//! Every macro goes through four stages, a folder each: `attrs` → `model` → `check` → `expand`. Users name these macros
//! through the `opgen` crate, which re-exports them.

mod attrs;
mod check;
mod diag;
mod expand;
mod fallback;
mod model;
mod paths;
mod stages;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes the kind of a spec a managed one; stands beside `#[derive(CustomResource)]` and reads its `#[kube(...)]`.
///
/// On the struct: `#[managed(finalizer = "group/name")]`, `#[managed(pause = field)]`, `#[managed(crate = "path")]`,
/// `#[managed(allow(float))]`. On a field: `#[managed(allow(float))]`. Warnings that can be allowed: `integer`, `float`,
/// `phase`, `bool`, `list`, `case`, `reserved`.
#[proc_macro_derive(Managed, attributes(managed))]
pub fn managed(item: TokenStream) -> TokenStream {
    stages::managed(item.into()).into_tokens().into()
}

/// Makes a struct a node of a provisioner tree: a group of its fields, or a hand-written node with its permissions.
///
/// On the struct: `#[provisioner(serial, owner = Kind)]`, `#[provisioner(concurrent, owner = Kind)]` or
/// `#[provisioner(access(Secret: get, list; Pod: delete))]`. On a field of a group: `#[provisioner(resource)]` for objects
/// that the associated function of the same name builds (`K`, `Option<K>` or `Vec<K>`); without it, the field is a
/// provisioner.
///
/// `access(...)` reads like a role, entries separated by `;`:
///
/// | entry | what it allows |
/// |---|---|
/// | `Secret: get, list` | verbs on all objects of a kind, where the operator watches; `apply` is `create` and `patch` |
/// | `Secret("tls", "ca"): get` | on these objects alone |
/// | `Secret in "kube-system": get` | in that namespace alone, by a role of its own there; see `in_namespace` of the calls |
/// | `Deployment/scale: get, patch` | on a subresource; one that Kubernetes doesn't have is named by a type that is a `Part` |
/// | `"/metrics": get` | a path of the API server that is no resource; a `*` at its end stands for anything |
/// | `raw(Pod/exec: create)` | the client itself, for what no call does; the entries say what it will do |
///
/// A kind without a Rust type of its own is declared by `opgen::dynamic_kind!`, and is then a kind like any other.
///
/// A resource of type `Role` or `ClusterRole` declares what it grants, `resource(hands_on(ConfigMap: get, list))`: the operator
/// gets these rights, too, since the API server lets nobody hand on what they don't hold; and the role gets these rules where
/// its function leaves them empty. A binding of such a role asks for nothing more.
#[proc_macro_derive(Provisioner, attributes(provisioner))]
pub fn provisioner(item: TokenStream) -> TokenStream {
    stages::provisioner(item.into()).into_tokens().into()
}

/// Makes a binary of kinds and their trees: `operator! { WebApp => WebAppTree, Network => NetworkTree { poll: "60s" } }`.
///
/// Options of a kind: `poll`, `events`, `workers`, `finalizer`. A leading `name: "webapp",` names the operator; the default is
/// the name of the package. `operator!(my_lib::operator())` runs an operator that a library exports.
#[proc_macro]
pub fn operator(input: TokenStream) -> TokenStream {
    stages::operator(input.into()).into_tokens().into()
}
