//! Defines `Recorder`: a provisioner for unit tests of trees, which records its calls and returns results that the test sets.

use crate::{
    context::{Context, Teardown},
    engine::{pass::PassCore, tree_harness::FakeCluster},
    error::{Error, Result},
    managed::Owner,
    provisioner::{Keyed, Provision},
    shape::{Node, Provisioner, Shape},
};
use std::collections::BTreeSet;

/// A node that records its calls and returns the answers that the test sets. It works only in a
/// [`TreeHarness`](crate::testing::TreeHarness).
#[derive(Debug)]
pub struct Recorder;

impl Provisioner for Recorder {
    type Inputs = ();
    type Output = ();
    const SHAPE: Shape = Shape { node: Node::Custom, access: &[], children: &[] };
}

impl<O: Owner> Provision<O> for Recorder {
    async fn provision(cx: &Context<'_, O, Self>) -> Result<()> {
        fake_cluster(cx.core())?.provision(&cx.path().to_string(), Vec::new())
    }

    async fn deprovision(cx: &Teardown<'_, O, Self>) -> Result<()> {
        fake_cluster(cx.core())?.deprovision(&cx.path().to_string())
    }
}

impl<O: Owner> Keyed<O> for Recorder {
    /// Returns the keys of the items whose nodes were provisioned in the fake cluster.
    async fn keys(cx: &Teardown<'_, O, Self>) -> Result<BTreeSet<String>> {
        let path = cx.path().to_string();
        let cluster = fake_cluster(cx.core())?;
        // The node of an item is either the recorder itself, or a group that has the recorder as a child.
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        Ok(cluster.existing_keys(&path).into_iter().chain(cluster.existing_keys(parent)).collect())
    }
}

/// Returns the fake cluster of the `TreeHarness`; a terminal error in a pass outside of one.
fn fake_cluster<'a>(core: &'a PassCore<'_>) -> Result<&'a FakeCluster> {
    let cluster = core.shared.tree_harness.as_deref();
    cluster.ok_or_else(|| Error::terminal("NoTreeHarness", "a `Recorder` works only in a `TreeHarness`"))
}
