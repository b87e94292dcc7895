//! Written by the test beside it; `cargo bless` writes it anew.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opgen::{prelude::*, testing::Recorder};

use super::super::sample::{Sample, is_on};

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree28 {
    #[provisioner(when = |sample| sample.is_on(0))]
    group0: Tree28G0,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree28G0 {
    group0: Tree28G0G0,
    #[provisioner(resource, when = |sample| sample.is_on(3), after(group0))]
    many1: Vec<Service>,
    #[provisioner(after(many1))]
    group2: Tree28G0G2,
}

impl Tree28G0 {
    fn many1(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(0).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree28G0G0 {
    #[provisioner(resource)]
    maybe0: Option<Secret>,
    #[provisioner(after(maybe0))]
    group1: Tree28G0G0G1,
}

impl Tree28G0G0 {
    fn maybe0(draft: &Draft<'_, Sample>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree28G0G0G1 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(when = |sample| sample.is_on(1))]
    node1: Recorder,
}

impl Tree28G0G0G1 {
    fn one0(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree28G0G2 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    group1: Tree28G0G2G1,
    #[provisioner(resource)]
    one2: ConfigMap,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key, after(many0, group1))]
    group3: Tree28G0G2G3,
}

impl Tree28G0G2 {
    fn many0(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
    fn one2(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree28G0G2G1 {
    node0: Recorder,
    node1: Recorder,
    #[provisioner(resource, when = |sample| sample.is_on(0))]
    one2: ConfigMap,
    #[provisioner(resource)]
    one3: ConfigMap,
}

impl Tree28G0G2G1 {
    fn one2(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one3(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree28G0G2G3 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    #[provisioner(when = is_on::<2, _>)]
    node1: Recorder,
    node2: Recorder,
    node3: Recorder,
}

impl Tree28G0G2G3 {
    fn many0(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(0).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree29 {
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group0: Tree29G0,
    #[provisioner(when = |sample| sample.is_on(0))]
    group1: Tree29G1,
    #[provisioner(when = |sample| sample.is_on(0))]
    group2: Tree29G2,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree29G0 {
    node0: Recorder,
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree29G1 {
    #[provisioner(when = |sample| sample.is_on(1), each = |sample| sample.keys(1), key = |key| key)]
    group0: Tree29G1G0,
    node1: Recorder,
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree29G1G0 {
    node0: Recorder,
    #[provisioner(when = is_on::<0, _>)]
    group1: Tree29G1G0G1,
    #[provisioner(after(group1))]
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree29G1G0G1 {
    #[provisioner(when = is_on::<1, _>)]
    node0: Recorder,
    node1: Recorder,
    #[provisioner(resource, after(node1))]
    one2: ConfigMap,
    #[provisioner(resource)]
    maybe3: Option<Secret>,
}

impl Tree29G1G0G1 {
    fn one2(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn maybe3(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(2)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree29G2 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    group1: Tree29G2G1,
}

impl Tree29G2 {
    fn many0(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree29G2G1 {
    node0: Recorder,
    #[provisioner(after(node0))]
    group1: Tree29G2G1G1,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree29G2G1G1 {
    #[provisioner(resource)]
    one0: ConfigMap,
    node1: Recorder,
}

impl Tree29G2G1G1 {
    fn one0(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}
