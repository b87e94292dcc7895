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
/// that the associated function of the same name builds (`K`, `Option<K>` or `Vec<K>`);
/// `#[provisioner(manifest = "manifests/agent.yaml")]` for those of a file (with the types of its custom kinds:
/// `manifest("manifests/agent.yaml", Gauge)`), or `#[provisioner(manifest(ConfigMap, Deployment))]` for those of the YAML that the
/// function gives; with none of these, the field is a provisioner.
#[proc_macro_derive(Provisioner, attributes(provisioner))]
pub fn provisioner(item: TokenStream) -> TokenStream {
    stages::provisioner(item.into()).into_tokens().into()
}

/// Makes a binary of kinds and their trees: `operator! { WebApp => WebAppTree, Network => NetworkTree { poll: "60s" } }`.
///
/// Options of a kind: `poll`, `events`, `workers`, `finalizer`, `labels` (`"team=web,tier=front"`: only objects with these). A kind
/// of somebody else's is written `Foreign<Namespace> => NamespaceTree`. A leading `name: "webapp",` names the operator; the default is
/// the name of the package. `operator!(my_lib::operator())` runs an operator that a library exports.
#[proc_macro]
pub fn operator(input: TokenStream) -> TokenStream {
    stages::operator(input.into()).into_tokens().into()
}
