//! `External`: the tree node that manages a resource outside of Kubernetes, such as a DNS record.

use super::{
    record::nodes_with_records,
    resource::{ExternalContext, ExternalResource},
    thing::Thing,
};
use crate::{
    context::{Cause, Context, Teardown},
    engine::pass::PassCore,
    error::Result,
    provisioner::{Keyed, Provision, output::HasOutput},
    shape::{Node, Provisioner, Shape, key_below, without_keys},
};
use std::{collections::BTreeSet, fmt, marker::PhantomData};
use tokio::time::Instant;

/// A node that owns a thing which no API server stores, described by an [`ExternalResource`]. See the [module](super).
pub struct External<T>(PhantomData<fn() -> T>);

impl<T> fmt::Debug for External<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("External")
    }
}

impl<T: ExternalResource> Provisioner for External<T> {
    type Inputs = ();
    type Output = T::Output;
    const SHAPE: Shape = Shape { node: Node::External(T::NAME), access: T::SHAPE.access, children: &[] };
}

impl<T: ExternalResource + HasOutput> HasOutput for External<T> {}

impl<T: ExternalResource> Provision<T::Owner> for External<T> {
    /// Brings the external resource to the state that the user's `spec` function returns. In a pass that only plans, does nothing; in a
    /// `TreeHarness` (a test without API server), only stores the spec.
    async fn provision(cx: &Context<'_, T::Owner, Self>) -> Result<()> {
        let core = cx.core();
        if core.is_plan {
            return Ok(());
        }
        let (spec, import) = {
            let draft = cx.untracked_draft();
            (T::spec(&draft)?, T::import(&draft)?)
        };
        let node = cx.path().to_string();
        if let Some(tree_harness) = &core.shared.tree_harness {
            return tree_harness.provision(&node, vec![serde_json::to_vec(&spec)?.into()]);
        }
        let thing = Thing::<T>::new(core, ExternalContext::of_context(cx), node);
        thing.provision(&spec, import.as_deref()).await
    }

    /// Deletes the external resource, or leaves it if its deletion policy says so, and deletes its record. In a pass that only plans, does
    /// nothing; in a `TreeHarness` (a test without API server), only records the call.
    async fn deprovision(cx: &Teardown<'_, T::Owner, Self>) -> Result<()> {
        let core = cx.core();
        if core.is_plan {
            return Ok(());
        }
        let node = cx.path().to_string();
        if let Some(tree_harness) = &core.shared.tree_harness {
            return tree_harness.deprovision(&node);
        }
        let thing = Thing::<T>::new(core, ExternalContext::of_teardown(cx), node);
        thing.deprovision(cx.cause()).await
    }
}

impl<T: ExternalResource> Keyed<T::Owner> for External<T> {
    /// Returns the keys of the `each` items for which this node has a record, the ConfigMap with the id of the external resource.
    async fn keys(cx: &Teardown<'_, T::Owner, Self>) -> Result<BTreeSet<String>> {
        let (core, path) = (cx.core(), cx.path().to_string());
        if let Some(tree_harness) = &core.shared.tree_harness {
            let nodes = tree_harness.nodes_with_objects();
            return Ok(keys_of_nodes(&path, nodes.iter().map(String::as_str)));
        }
        let nodes = recorded_nodes::<T>(core, cx.cause()).await?;
        Ok(keys_of_nodes(&path, nodes.iter().map(|node| &**node)))
    }
}

/// Returns the paths of the owner's nodes that have a record, the ConfigMap with the id of an external resource.
///
/// The result of an earlier list is used until `T::PERIOD` has passed, since another replica may have reconciled the owner in the meantime.
/// If the owner is being deleted, the records are always listed again, because no later pass can find a record that is missed.
async fn recorded_nodes<T: ExternalResource>(core: &PassCore<'_>, cause: Cause) -> Result<BTreeSet<Box<str>>> {
    if cause != Cause::Deleting {
        let states = core.owner_states();
        let cached = states.external(&core.owner).and_then(|states| states.recorded(T::PERIOD)).cloned();
        if let Some(nodes) = cached {
            return Ok(nodes);
        }
    }
    let start = Instant::now();
    let nodes = nodes_with_records(core).await?;
    core.owner_states().update_external(&core.owner, |states| states.set_recorded(start, nodes.clone()));
    Ok(nodes)
}

/// Returns the keys of the `each` items to which the paths in `nodes` belong: `a` and `b` for the path `pools/record` and the nodes
/// `pools[a]/record` and `pools[b]/record`.
///
/// `path` is the path of the node without the keys that are searched, which follow its last segment or a segment above it. Paths of other
/// nodes of the tree in `nodes` are ignored.
fn keys_of_nodes<'n>(path: &str, nodes: impl Iterator<Item = &'n str>) -> BTreeSet<String> {
    let path_in_tree = without_keys(path);
    let key = |node: &str| {
        // The whole path, and then each path above it.
        let mut next = Some(path);
        while let Some(each_node) = next {
            if let Some(key) = key_below(each_node, node) {
                return Some(key);
            }
            next = each_node.rsplit_once('/').map(|(above, _)| above);
        }
        None
    };
    nodes.filter(|node| without_keys(node) == path_in_tree).filter_map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_an_each_node_come_from_the_records_of_its_own_items() {
        let nodes = ["pools[a]", "pools[b]/record", "a/pools[c]/record", "pools[d]/dns/record", "record"];
        let keys = |path: &str| keys_of_nodes(path, nodes.into_iter()).into_iter().collect::<Vec<_>>();
        assert_eq!(keys("pools"), ["a"]);
        assert_eq!(keys("pools/record"), ["b"]);
        assert_eq!(keys("a/pools/record"), ["c"]);
        assert_eq!(keys("pools/dns/record"), ["d"]);
        let nodes = ["regions[x]/pools[a]/record", "regions[y]/pools[b]/record"];
        let keys = keys_of_nodes("regions[y]/pools/record", nodes.into_iter());
        assert_eq!(keys, BTreeSet::from(["b".to_owned()]));
    }
}
