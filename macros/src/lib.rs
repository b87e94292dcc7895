//! Provides the derives `Managed`, `Validated` and `Provisioner`, the attribute `versions` and the macro `operator!` of opgen.
//!
//! Every macro runs four stages, a folder each: `attrs` → `model` → `check` → `expand`. The crate `opgen` re-exports the
//! macros.

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

/// Implements `Managed` for the kind of a spec. Derive it beside `CustomResource`, whose `#[kube(...)]` it reads.
///
/// - On the struct: `#[managed(finalizer = "group/name")]`, `#[managed(pause = field)]`, `#[managed(crate = "path")]` and
///   `#[managed(allow(float))]`.
/// - On the struct: `#[managed(nats(bucket = "units"))]` keeps the objects in a key-value bucket of NATS instead of Kubernetes, see
///   `opgen::bucket`. Further keys: `history` (values that NATS keeps of each key, 1 to 64, default 5), `replicas` (1 to 5, default
///   1), `max_age` (time after which NATS deletes an entry, for example `"30d"`; default: never) and `storage` (`"file"`, the
///   default, or `"memory"`).
/// - On a field: `#[managed(allow(float))]`.
/// - On a field that names objects of another kind, by name or by a label selector: `#[managed(reference = Kind)]`. Each of
///   these objects gets a finalizer before use. The operator waits for it, and it can't be deleted before it is released. With
///   `#[managed(reference = Kind, grant)]` the field may also name objects of other namespaces that allow it. See
///   `opgen::reference::Names` for the supported types of the field.
///
/// `#[valid(...)]` on the struct and its fields sets rules between fields, see `opgen::validation`.
///
/// `allow(...)` silences a warning: `integer`, `float`, `phase`, `bool`, `list`, `case` or `reserved`.
#[proc_macro_derive(Managed, attributes(managed, valid))]
pub fn managed(item: TokenStream) -> TokenStream {
    stages::managed(item.into()).into_tokens().into()
}

/// Implements `Validated` for a struct: rules between its fields, which become CEL in the definition of each kind that contains
/// the struct. `#[derive(Managed)]` does it for the spec of a kind; derive it for the types below.
///
/// - On a field: `#[valid(immutable)]`, `set_once`, `required_if(other)`, `required_if(other = "value")`, `forbidden_if(...)`,
///   `at_most(other)`, `less_than(other)`, `unique`, `unique(key)`.
/// - On the struct: `#[valid(one_of(a, b))]`, `at_most_one_of(a, b)`, `at_least_one_of(a, b)`, and `crate = "path"`.
///
/// Each rule takes `message = "..."` as its last argument. The module `opgen::validation` describes the rules.
#[proc_macro_derive(Validated, attributes(valid))]
pub fn validated(item: TokenStream) -> TokenStream {
    stages::validated(item.into()).into_tokens().into()
}

/// Makes the types of each version of a kind from the types in a module and their history, and the conversion between the versions:
/// `#[versions(v1alpha1, v1beta1, v1)]`, the oldest first.
///
/// - A version takes `deprecated`, `deprecated = "use v1"`, `not_served` and `stored`.
/// - On a field: `#[version(added(v1, default = 3))]`, `removed(v1, default = 3)`, `renamed(v1, from = size)`,
///   `retyped(v1, from = u32, up = f, down = g)`, `moved(v1, from = network.port)`. `added(v1)` without a value adds
///   `#[serde(default)]` to the field.
/// - An `Option` field gets `#[serde(skip_serializing_if = "Option::is_none")]`, so that JSON has no `null` for it.
/// - On a struct: `#[version(replaced(v1, from(a), to(b, c), up = f, down = g))]`.
/// - `up` and `down` take a function or a closure: `down = |b, c| format!("{b}:{c}")`.
/// - On a variant: `added(v1, instead = Other)`, `removed(v1, instead = Other)`, `renamed(v1, from = Old)`.
/// - `crate = "path"` among the versions: the path of opgen, if not `::opgen`.
/// - What is private in the module is visible in the whole module, in all its versions, too.
///
/// The module `opgen::versions` describes them.
#[proc_macro_attribute]
pub fn versions(args: TokenStream, item: TokenStream) -> TokenStream {
    stages::versions(args.into(), item.into()).into_tokens().into()
}

/// Implements `Provisioner` for a node of a provisioner tree: a group of its fields, or a hand-written node with its access
/// rights. The trait of the same name has a complete example.
///
/// # On the struct of a group
///
/// - `serial`: provisions one child after the other in their order, and deprovisions them in reverse order. A child that is not
///   done stops those after it.
/// - `concurrent`: provisions and deprovisions all children at once.
/// - `up = concurrent, down = serial`: one order for provision and another for deprovision.
/// - `owner = Kind`: the owner of the tree: a managed kind, `For<Kind, Options>`, or `Each<Kind, Item>` below `each`.
/// - `inputs(config: ConfigMap, plan: Plan)`: the inputs from the parent group; the children name them in `from(...)`.
/// - `retired(cache: Deployment)`: nodes of earlier releases. Their objects are removed after the children have succeeded. An
///   object that another node builds now is not removed: it moves to that node, see below.
/// - `crate = "path"`: the path of opgen, if not `::opgen`.
///
/// # On the struct of a hand-written node, which implements `Provision` itself
///
/// - `access(Secret: get, list; Pod/status: patch)`: the access rights of the node, see below; `access()` grants none.
/// - `inputs(config: ConfigMap)`: the inputs from the parent group; `cx.inputs()` returns them as a tuple.
/// - `output = Plan`: the type of the output for nodes that read this one, set with `cx.set_output(...)`.
/// - `crate = "path"`: as above.
///
/// `access(...)` reads like a role, with entries separated by `;`:
///
/// | entry | access |
/// |---|---|
/// | `Secret: get, list` | verbs on all objects of a kind, where the operator watches; `apply` is `create` and `patch` |
/// | `Secret("tls", "ca"): get` | on these objects only |
/// | `Network: reference` | holds objects, waits for them and releases them: `cx.references::<Network>()` |
/// | `Secret in "kube-system": get` | in that namespace only, by a role there; see `in_namespace` of the calls |
/// | `Deployment/scale: get, patch` | on a subresource; for one without a type in opgen, name a type that implements `Subresource` |
/// | `"/metrics": get` | a non-resource URL; a `*` at its end matches anything |
/// | `raw(Pod/exec: create)` | the raw client, for requests without a typed call; the entries declare its requests |
///
/// `opgen::dynamic_kind!` declares a kind without a Rust type. It is then used like any other kind.
///
/// # On a field of a group
///
/// The type of a field is a provisioner, or with `resource` a kind: `K` (one object), `Option<K>` (present or removed)
/// or `Vec<K>` (any number). The associated function of the field's name builds the objects. It takes the owner, below
/// `each` the item, or a `&Draft` of it, and returns the field's type or a `Result` of it. It is not called again while its
/// inputs are the same; see `Draft` for what counts as an input.
///
/// - `resource`: objects of a kind, not a provisioner.
/// - `resource(once)`: created once; later passes don't change the content.
/// - `resource(adopt)`: adopts an existing object of the same name.
/// - `resource(adopt("helm"))`: as `adopt`, and takes over the fields of these field managers.
/// - `resource(grants(ConfigMap: get))`: for a role: the rights it grants, which the operator holds, too.
/// - `resource(pods)`: for a workload: while it is not ready, its Pods are searched for the cause.
/// - `resource(delete = "foreground")`: deletes the objects with the propagation policy `Foreground`: the API server removes an
///   object only after the dependents whose owner reference has `blockOwnerDeletion: true`, for example a Deployment after
///   its Pods. The node is gone only when the object is. `delete = "background"` uses the policy `Background`: an object is
///   removed at once, and its dependents later. Without the option, the kinds of the groups `apps` and `batch` are deleted in
///   the foreground and others in the background; so are the objects of `manifest` and `retired(...)`.
/// - `resource(timeout = "10m")`: if an object is not ready for this time, the conditions report the owner as stalled, with the
///   reason `NodeTimeout` and the node, the object and the time in the message. The passes over the owner continue, and the
///   conditions change when the object is ready. The time begins again when the desired state of the object changes, and when an
///   object that was ready is no longer so. It has the units `ms`, `s`, `m`, `h` and `d`: `"90s"`, `"1h30m"`. A timeout does not limit
///   deletions. It is checked in each pass, so it takes effect within the requeue interval (10 s by default).
/// - `manifest = "manifests/agent.yaml"`: the field is a `Manifest`, the objects of a YAML file of the crate; with the types
///   of its custom kinds, `manifest("manifests/agent.yaml", Gauge)`.
/// - `manifest(ConfigMap, Deployment)`: objects of these kinds, as YAML that the function of the field's name returns.
/// - `application(ArgoCd)`: the field is a `cd::Application`: a chart, or a path of a git repository, that a CD system deploys. The
///   function of the field's name returns it; the driver in the parentheses names the CD system.
/// - `remote`: the objects of all nodes below the field are in another cluster. The function of the field's name returns the
///   `scope::Kubeconfig`: the Secret with the credentials for it.
/// - `remote(background)`: the same, but if the owner is deleted, the objects in the cluster are left there. For a cluster that is
///   deleted with the owner, whose teardown is faster then. What they have made elsewhere, for example a load balancer, remains.
/// - `if_api`: for a resource: skips it while the cluster doesn't serve its kind.
/// - `deleted_with(namespace)`: the objects are in the Namespace of an earlier resource of the group. If the owner is deleted, the
///   operator deletes the Namespace and not these objects, which the cluster deletes with it. The node counts as removed at once,
///   so its objects exist until the teardown reaches the Namespace, whose node is gone only when they are. For a resource, for a
///   manifest, and for a group or one with `each`, where it holds for the resources and manifests below, in the same cluster. An
///   object is deleted on its own as without the key if it is in another namespace, if the node of the Namespace does not own that
///   Namespace, and if only its node goes: by `when`, `each` or `retired(...)`. In a concurrent group, add `after(namespace)`.
/// - `when = |app| ...`: provisions the child if the closure returns true (`bool`, `Wanted` with a reason, or a `Result` of
///   one), and removes it otherwise.
/// - `each = |app| ..., key = |item| ...`: one child for each item; the child's tree has `owner = Each<Kind, Item>`.
///   The key is the text that identifies the child of an item. If the key disappears, the child is removed.
/// - `after(config, migration)`: in a concurrent group, begins when these have succeeded, and is deprovisioned before them.
/// - `from(config, workload.service)`: reads the objects of earlier nodes, the output of a hand-written one, or an input of the
///   group. It implies `after`.
///
/// The names in `from` become, in their order,
///
/// - for a resource, further arguments of its build function: `&K` and `&Vec<K>`; an `Option<K>` of the same group or of
///   an input of it becomes an `Option<&K>`, one of a nested child a `&Option<K>`;
/// - for a provisioner, the values of its `inputs`;
/// - for a closure of `when` or `each` that takes more than the object, its further arguments; then none remain for
///   `inputs`.
///
/// A closure takes references, whose types need no annotation. A function can replace a closure; it takes all names in
/// `from`.
///
/// # Objects that move from one node to another
///
/// No pass deletes an object that any node of the tree builds in that pass. So a node can be renamed (with `retired`), two nodes
/// can build one object in turns (with `when`), the key of an item can change, and an object can move between `resource`,
/// `resource(once)` and `manifest`: the object keeps its uid, and an object of `resource(once)` keeps its content.
///
/// - In a serial group, an object that no node builds any more is gone before the next child begins.
/// - Before a node deletes, the pass may call the build functions of the tree once more, to find the objects of other nodes.
/// - If a node that applies objects of the same kind reads the outputs of others (`from`), or its build function fails, the
///   object is deleted at the end of the pass, and later children don't wait for it. If that node can't be built even then, for
///   example because the node before it has not succeeded, the object stays until it can.
/// - Objects that hand-written nodes write or delete are not tracked.
#[proc_macro_derive(Provisioner, attributes(provisioner))]
pub fn provisioner(item: TokenStream) -> TokenStream {
    stages::provisioner(item.into()).into_tokens().into()
}

/// Expands to the `main` of an operator: `operator! { WebApp => WebAppTree, Network => NetworkTree { resync_period: "60s" } }`.
///
/// Options of a kind: `resync_period`, `events`, `workers`, `finalizer`, `labels` (`"team=web,tier=front"`: only objects with these
/// labels). A kind of another API is `Foreign<Namespace> => NamespaceTree`. A leading `name: "webapp",` names the operator; the
/// default is the name of the package. `operator!(my_lib::operator())` runs an operator that a library exports.
///
/// `operator!(|options: my_lib::Options| my_lib::operator(options))` runs an operator with options of its own, which become flags
/// of `run`. The type derives `clap::Args` (of the version of clap that `opgen` uses) and implements `Default`. The manifests
/// are those of the default options.
#[proc_macro]
pub fn operator(input: TokenStream) -> TokenStream {
    stages::operator(input.into()).into_tokens().into()
}
