//! A tree without a cluster: who is called, in which order, and what comes of it.
//!
//! For tests of trees. Every resource node and every [`Recorder`] says that it was called and answers as the test wants;
//! nothing leaves the process.

use crate::{
    context::{Context, Teardown},
    engine::rehearsal::World,
    error::{Error, Result},
    managed::Owner,
    provisioner::{Keyed, Provision},
    shape::{Node, Provisioner, Shape},
};
use std::{collections::BTreeSet, sync::Arc};

/// A node that records what is asked of it and answers as the test says. It works in a [`Rehearsal`](crate::testing::Rehearsal) only.
#[derive(Debug)]
pub struct Recorder;

impl Provisioner for Recorder {
    type Takes = ();
    type Gives = ();
    const SHAPE: Shape = Shape { node: Node::Custom, access: &[], children: &[] };
}

impl<O: Owner> Provision<O> for Recorder {
    async fn provision(cx: &Context<'_, O, Self>) -> Result<()> {
        world(cx.core().shared.rehearsal.as_ref())?.made(&cx.path().to_string(), Vec::new())
    }

    async fn deprovision(cx: &Teardown<'_, O, Self>) -> Result<()> {
        world(cx.core().shared.rehearsal.as_ref())?.removed(&cx.path().to_string())
    }
}

impl<O: Owner> Keyed<O> for Recorder {
    async fn keys(cx: &Teardown<'_, O, Self>) -> Result<BTreeSet<String>> {
        let path = cx.path().to_string();
        let world = world(cx.core().shared.rehearsal.as_ref())?;
        // It is itself below `each`, or a child of a group that is.
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        Ok(world.keys_of(&path).into_iter().chain(world.keys_of(above)).collect())
    }
}

fn world(rehearsal: Option<&Arc<World>>) -> Result<&Arc<World>> {
    rehearsal.ok_or_else(|| Error::terminal("NoRehearsal", "a recorder works in a rehearsal only"))
}
