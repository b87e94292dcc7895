//! The kind that the random trees are for: switches and lists of keys.

use kube::CustomResource;
use opgen::{Owner, prelude::*, shape::Shape, testing::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tokio::runtime::Handle;

use super::plan::{LISTS, SWITCHES};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "trees.opgen.dev", version = "v1", kind = "Sample", namespaced, status = "Status")]
pub(super) struct SampleSpec {
    #[schemars(extend("x-kubernetes-list-type" = "atomic"), length(max = 9))]
    pub(super) switches: Vec<Switch>,
    #[schemars(extend("x-kubernetes-list-type" = "atomic"), length(max = 9))]
    pub(super) lists: Vec<Vec<String>>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Switch {
    #[default]
    Off,
    On,
    /// Asking for it fails.
    Broken,
}

/// All switches off, all lists empty.
pub(super) fn blank() -> Sample {
    Sample::new("sample", SampleSpec { switches: vec![Switch::Off; SWITCHES], lists: vec![Vec::new(); LISTS] })
}

impl Sample {
    pub(super) fn is_on(&self, switch: usize) -> Result<bool> {
        match self.spec.switches[switch] {
            Switch::Broken => Err(Error::user_action("Broken", format!("switch {switch} is broken"))),
            switch => Ok(switch == Switch::On),
        }
    }

    pub(super) fn keys(&self, list: usize) -> Vec<String> {
        self.spec.lists[list].clone()
    }
}

/// A predicate of a child below `each`, where a closure would be asked of the item.
pub(super) fn is_on<const SWITCH: usize, O: Owner<Object = Sample>>(draft: &Draft<'_, O>) -> Result<bool> {
    draft.owner.is_on(SWITCH)
}

/// The items of an `each` below another.
pub(super) fn keys<const LIST: usize, O: Owner<Object = Sample>>(draft: &Draft<'_, O>) -> Vec<String> {
    draft.owner.keys(LIST)
}

/// A [`TreeHarness`] of any tree, without its types.
pub(super) trait Tried {
    fn object(&mut self) -> &mut Sample;
    fn answer(&self, node: &str, answer: Answer);
    fn pass(&self, up: bool) -> Result<()>;
    fn called(&self) -> Vec<String>;
    fn provisioned_nodes(&self) -> BTreeSet<String>;
}

impl<P: Provision<Sample> + Provisioner<Inputs = ()>> Tried for TreeHarness<Sample, P> {
    fn object(&mut self) -> &mut Sample {
        TreeHarness::object(self)
    }
    fn answer(&self, node: &str, answer: Answer) {
        TreeHarness::answer(self, node, answer);
    }
    fn pass(&self, up: bool) -> Result<()> {
        Handle::current().block_on(async { if up { self.up().await } else { self.down().await } })
    }
    fn called(&self) -> Vec<String> {
        TreeHarness::called(self)
    }
    fn provisioned_nodes(&self) -> BTreeSet<String> {
        TreeHarness::provisioned_nodes(self)
    }
}

/// Begins a rehearsal of a tree.
pub(super) type Begin = fn() -> Box<dyn Tried>;

pub(super) fn begin<P: Provision<Sample> + Provisioner<Inputs = ()>>() -> Box<dyn Tried> {
    Box::new(TreeHarness::<Sample, P>::new(blank()))
}

pub(super) fn shape<P: Provisioner>() -> &'static Shape {
    const { &P::SHAPE }
}
