//! Written by the test beside it; `cargo bless` writes it anew.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opgen::{prelude::*, testing::Recorder};

use super::super::sample::{Sample, is_on, keys};

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
pub(super) struct Tree15 {
    #[provisioner(when = |sample| sample.is_on(0))]
    node0: Recorder,
    #[provisioner(when = |sample| sample.is_on(3))]
    group1: Tree15G1,
    #[provisioner(when = |sample| sample.is_on(2), each = |sample| sample.keys(0), key = |key| key)]
    group2: Tree15G2,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
struct Tree15G1 {
    node0: Recorder,
    group1: Tree15G1G1,
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree15G1G1 {
    group0: Tree15G1G1G0,
    #[provisioner(resource)]
    many1: Vec<Service>,
    #[provisioner(after(group0))]
    group2: Tree15G1G1G2,
}

impl Tree15G1G1 {
    fn many1(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree15G1G1G0 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    #[provisioner(when = |sample| sample.is_on(2))]
    node1: Recorder,
}

impl Tree15G1G1G0 {
    fn many0(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree15G1G1G2 {
    #[provisioner(resource, when = |sample| sample.is_on(2))]
    one0: ConfigMap,
    #[provisioner(resource, when = |sample| sample.is_on(3))]
    many1: Vec<Service>,
}

impl Tree15G1G1G2 {
    fn one0(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
    fn many1(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree15G2 {
    node0: Recorder,
    group1: Tree15G2G1,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree15G2G1 {
    #[provisioner(when = is_on::<2, _>)]
    node0: Recorder,
    #[provisioner(when = is_on::<1, _>)]
    group1: Tree15G2G1G1,
    #[provisioner(after(node0, group1))]
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree15G2G1G1 {
    node0: Recorder,
    #[provisioner(resource)]
    maybe1: Option<Secret>,
    #[provisioner(resource)]
    many2: Vec<Service>,
}

impl Tree15G2G1G1 {
    fn maybe1(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(2)?.then(Secret::default))
    }
    fn many2(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
pub(super) struct Tree16 {
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group0: Tree16G0,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree16G0 {
    group0: Tree16G0G0,
    group1: Tree16G0G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree16G0G0 {
    node0: Recorder,
    #[provisioner(after(node0))]
    node1: Recorder,
    group2: Tree16G0G0G2,
    #[provisioner(resource, when = is_on::<3, _>)]
    maybe3: Option<Secret>,
}

impl Tree16G0G0 {
    fn maybe3(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(2)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree16G0G0G2 {
    #[provisioner(resource)]
    one0: ConfigMap,
    node1: Recorder,
    #[provisioner(resource)]
    one2: ConfigMap,
    #[provisioner(resource)]
    maybe3: Option<Secret>,
}

impl Tree16G0G0G2 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one2(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn maybe3(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(0)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree16G0G1 {
    group0: Tree16G0G1G0,
    group1: Tree16G0G1G1,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree16G0G1G0 {
    node0: Recorder,
    node1: Recorder,
    #[provisioner(when = is_on::<3, _>)]
    node2: Recorder,
    #[provisioner(when = is_on::<1, _>)]
    node3: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree16G0G1G1 {
    #[provisioner(when = is_on::<1, _>)]
    node0: Recorder,
    node1: Recorder,
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
pub(super) struct Tree17 {
    group0: Tree17G0,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree17G0 {
    #[provisioner(when = |sample| sample.is_on(0), each = |sample| sample.keys(0), key = |key| key)]
    group0: Tree17G0G0,
    #[provisioner(resource, when = |sample| sample.is_on(0))]
    one1: ConfigMap,
}

impl Tree17G0 {
    fn one1(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree17G0G0 {
    #[provisioner(each = keys::<0, _>, key = |key| key)]
    group0: Tree17G0G0G0,
    #[provisioner(each = keys::<2, _>, key = |key| key)]
    group1: Tree17G0G0G1,
    group2: Tree17G0G0G2,
    #[provisioner(each = keys::<2, _>, key = |key| key)]
    group3: Tree17G0G0G3,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree17G0G0G0 {
    node0: Recorder,
    #[provisioner(resource)]
    many1: Vec<Service>,
    #[provisioner(when = is_on::<3, _>)]
    node2: Recorder,
}

impl Tree17G0G0G0 {
    fn many1(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Vec<Service> {
        draft.owner.keys(0).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree17G0G0G1 {
    node0: Recorder,
    node1: Recorder,
    #[provisioner(after(node1))]
    node2: Recorder,
    node3: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree17G0G0G2 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(after(one0))]
    node1: Recorder,
    #[provisioner(when = is_on::<3, _>, after(one0))]
    node2: Recorder,
    #[provisioner(resource)]
    many3: Vec<Service>,
}

impl Tree17G0G0G2 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn many3(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Each<Sample, String>, String>)]
struct Tree17G0G0G3 {
    #[provisioner(when = is_on::<0, _>)]
    node0: Recorder,
    #[provisioner(resource)]
    many1: Vec<Service>,
}

impl Tree17G0G0G3 {
    fn many1(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}
