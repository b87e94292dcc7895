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

/// Returns the paths of the nodes of the owner that have a record. They are listed again after each period, since another replica may
/// have reconciled the owner in the meantime, and at the deletion of the owner, after which nobody looks for them again.
async fn recorded_nodes<T: ExternalResource>(core: &PassCore<'_>, cause: Cause) -> Result<BTreeSet<Box<str>>> {
    if cause != Cause::Deleting {
        let states = core.owner_states();
        let known = states.external(&core.owner).and_then(|states| states.recorded(T::PERIOD)).cloned();
        if let Some(nodes) = known {
            return Ok(nodes);
        }
    }
    let start = Instant::now();
    let nodes = nodes_with_records(core).await?;
    core.owner_states().update_external(&core.owner, |states| states.set_recorded(start, nodes.clone()));
    Ok(nodes)
}

/// Returns the keys of the `each` items to which `nodes` belong. `path`, whose items are searched, is the path of the `each` node itself,
/// or of a node below it: then it has no key, and the key follows one of the nodes above.
fn keys_of_nodes<'n>(path: &str, nodes: impl Iterator<Item = &'n str>) -> BTreeSet<String> {
    let plain = without_keys(path);
    let key = |node: &str| {
        let mut next = Some(path);
        while let Some(each) = next {
            if let Some(key) = key_below(each, node) {
                return Some(key);
            }
            next = each.rsplit_once('/').map(|(above, _)| above);
        }
        None
    };
    nodes.filter(|node| without_keys(node) == plain).filter_map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_an_each_are_those_of_its_own_records() {
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
