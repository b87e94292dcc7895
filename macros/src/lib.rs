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
/// `#[managed(allow(float))]`. On a field: `#[managed(allow(float))]`, and `#[managed(reference = Kind)]` where it names
/// objects of another kind, by name or by a label selector: each gets a finalizer before it is used, is waited for, and can't
/// go before it is let go; with `#[managed(reference = Kind, grant)]` also those of other namespaces that allow it. What a type of the field can say, and what it means, is at `opgen::reference::Names`. Warnings that
/// can be allowed: `integer`, `float`, `phase`, `bool`, `list`, `case`, `reserved`.
#[proc_macro_derive(Managed, attributes(managed))]
pub fn managed(item: TokenStream) -> TokenStream {
    stages::managed(item.into()).into_tokens().into()
}

/// Makes a struct a node of a provisioner tree: a group of its fields, or a hand-written node with its permissions.
/// The trait of the same name shows all of it in an example.
///
/// # On the struct of a group
///
/// - `serial`: one child after the other, as declared; reversed on the way down. One that is not done stops those
///   behind it.
/// - `concurrent`: all children at once, both ways.
/// - `up = concurrent, down = serial`: an order for each direction, in place of one of the two words.
/// - `owner = Kind`: what the tree is for: a managed kind, `For<Kind, Options>`, or `Each<Kind, Item>` below `each`.
/// - `takes(config: ConfigMap, plan: Plan)`: what the group above hands down; the children name it in `from(...)`.
/// - `retired(cache: Deployment)`: nodes of earlier releases; what is left of their objects is removed, after the children
///   have succeeded. An object that another node builds now is not removed: it moves to that node, see below.
/// - `crate = "path"`: where opgen is, if not at `::opgen`.
///
/// # On the struct of a hand-written node, which implements `Provision` itself
///
/// - `access(Secret: get, list; Pod/status: patch)`: what it may do, see below; `access()` is nothing at all.
/// - `takes(config: ConfigMap)`: what the group above hands down; `cx.taken()` is a tuple of it.
/// - `gives = Plan`: the type of what it hands to those that read it, with `cx.give(...)`.
/// - `crate = "path"`: as above.
///
/// `access(...)` reads like a role, entries separated by `;`:
///
/// | entry | what it allows |
/// |---|---|
/// | `Secret: get, list` | verbs on all objects of a kind, where the operator watches; `apply` is `create` and `patch` |
/// | `Secret("tls", "ca"): get` | on these objects alone |
/// | `Network: reference` | to hold objects, wait for them and let them go: `cx.references::<Network>()` |
/// | `Secret in "kube-system": get` | in that namespace alone, by a role of its own there; see `in_namespace` of the calls |
/// | `Deployment/scale: get, patch` | on a subresource; one that Kubernetes doesn't have is named by a type that is a `Part` |
/// | `"/metrics": get` | a path of the API server that is no resource; a `*` at its end stands for anything |
/// | `raw(Pod/exec: create)` | the client itself, for what no call does; the entries say what it will do |
///
/// A kind without a Rust type of its own is declared by `opgen::dynamic_kind!`, and is then a kind like any other.
///
/// # On a field of a group
///
/// The type of a field is a provisioner, or with `resource` a kind: `K` (one object), `Option<K>` (wanted or removed)
/// or `Vec<K>` (any number). The associated function of the field's name builds the objects: it takes the owner, below
/// `each` the item, or a `&Draft` of it, and gives the field's type or a `Result` of it. It is not called again while its
/// inputs are the same; the documentation of `Draft` says what counts as one.
///
/// - `resource`: objects of a kind, not a provisioner.
/// - `resource(once)`: made once; later passes leave the content as it is.
/// - `resource(adopt)`: a stranger's object of its name is taken over.
/// - `resource(adopt("helm"))`: as `adopt`, and the fields of these field managers become the operator's.
/// - `resource(hands_on(ConfigMap: get))`: of a role: the rights it gives, which the operator holds, too.
/// - `resource(pods)`: of a workload: while it is not ready, its Pods are looked at for what holds it up.
/// - `manifest = "manifests/agent.yaml"`: the field is a `Manifest`, the objects of a YAML file of the crate; with the types
///   of its custom kinds, `manifest("manifests/agent.yaml", Gauge)`.
/// - `manifest(ConfigMap, Deployment)`: objects of these kinds, as YAML that the function of the field's name gives.
/// - `if_api`: of a resource: there is none while the cluster doesn't know its kind.
/// - `when = |app| ...`: the child is wanted if the answer is yes (`bool`, `Wanted` with a reason, or a `Result` of
///   one), and removed if it is no.
/// - `each = |app| ..., key = |item| ...`: one child for each item; the child's tree has `owner = Each<Kind, Item>`.
///   The key is the text by which the child of an item is found again; when it is gone, so is the child.
/// - `after(config, migration)`: in a concurrent group, begins when these have succeeded, and goes before them.
/// - `from(config, workload.service)`: reads what earlier nodes made, what a hand-written one gives, or what the group
///   takes. It begins `after` them.
///
/// What `from` names becomes, in its order,
///
/// - of a resource, more arguments of its build function: `&K` and `&Vec<K>`; an `Option<K>` of the same group or of
///   its `takes` becomes an `Option<&K>`, one of a child of a child a `&Option<K>`;
/// - of a provisioner, what its `takes` asks for;
/// - where the closure of `when` or `each` takes more than the object, its further arguments; then nothing is left for
///   `takes`.
///
/// A closure takes references, whose types need not be written. In place of a closure a function can be named; it
/// takes all that `from` names.
///
/// # Objects that move from one node to another
///
/// No pass deletes an object that any node of the tree builds in that pass. So a node can be renamed (with `retired`), two nodes
/// can build one object in turns (with `when`), the key of an item can change, and an object can move between `resource`,
/// `resource(once)` and `manifest`: the object keeps its uid, and one that is made once keeps its content.
///
/// - In a serial group, an object that no node builds any more is gone before the next child begins.
/// - Before a node deletes, the build functions of the tree may be called once more in the pass, to know what other nodes want.
/// - Where a node that applies objects of the same kind reads the outputs of others (`from`), or its build function fails, the
///   object is deleted at the end of the pass, and later children don't wait for it. If even then that node can't be asked,
///   for example since the node before it has not succeeded, the object stays until it can.
/// - What hand-written nodes write or delete is their own matter.
#[proc_macro_derive(Provisioner, attributes(provisioner))]
pub fn provisioner(item: TokenStream) -> TokenStream {
    stages::provisioner(item.into()).into_tokens().into()
}

/// Makes a binary of kinds and their trees: `operator! { WebApp => WebAppTree, Network => NetworkTree { poll: "60s" } }`.
///
/// Options of a kind: `poll`, `events`, `workers`, `finalizer`, `labels` (`"team=web,tier=front"`: only objects with these). A kind
/// of somebody else's is written `Foreign<Namespace> => NamespaceTree`. A leading `name: "webapp",` names the operator; the default is
/// the name of the package. `operator!(my_lib::operator())` runs an operator that a library exports.
///
/// `operator!(|options: my_lib::Options| my_lib::operator(options))` runs one with options of its own, which `run` has as flags: the type
/// derives `clap::Args` (of the version of clap that `opgen` has) and is `Default`. The manifests are those of the default options.
#[proc_macro]
pub fn operator(input: TokenStream) -> TokenStream {
    stages::operator(input.into()).into_tokens().into()
}
