//! Written by the test beside it; `cargo bless` writes it anew.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opgen::{prelude::*, testing::Recorder};

use super::super::sample::{Sample, is_on, keys};

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
pub(super) struct Tree4 {
    group0: Tree4G0,
    group1: Tree4G1,
    group2: Tree4G2,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
struct Tree4G0 {
    node0: Recorder,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group1: Tree4G0G1,
    #[provisioner(when = |sample| sample.is_on(2))]
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree4G0G1 {
    node0: Recorder,
    #[provisioner(resource)]
    many1: Vec<Service>,
    #[provisioner(when = is_on::<3, _>)]
    node2: Recorder,
    #[provisioner(when = is_on::<0, _>, after(node0, many1, node2))]
    node3: Recorder,
}

impl Tree4G0G1 {
    fn many1(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree4G1 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    node1: Recorder,
    #[provisioner(resource)]
    many2: Vec<Service>,
}

impl Tree4G1 {
    fn many0(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
    fn many2(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree4G2 {
    #[provisioner(when = |sample| sample.is_on(0), each = |sample| sample.keys(1), key = |key| key)]
    group0: Tree4G2G0,
    #[provisioner(when = |sample| sample.is_on(1))]
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree4G2G0 {
    #[provisioner(each = keys::<2, _>, key = |key| key)]
    group0: Tree4G2G0G0,
    #[provisioner(resource, after(group0))]
    maybe1: Option<Secret>,
    #[provisioner(resource)]
    one2: ConfigMap,
}

impl Tree4G2G0 {
    fn maybe1(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
    fn one2(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree4G2G0G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(after(one0))]
    node1: Recorder,
}

impl Tree4G2G0G0 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree5 {
    group0: Tree5G0,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree5G0 {
    group0: Tree5G0G0,
    group1: Tree5G0G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree5G0G0 {
    #[provisioner(when = |sample| sample.is_on(3), each = |sample| sample.keys(0), key = |key| key)]
    group0: Tree5G0G0G0,
    #[provisioner(resource, when = |sample| sample.is_on(3))]
    many1: Vec<Service>,
    group2: Tree5G0G0G2,
    node3: Recorder,
}

impl Tree5G0G0 {
    fn many1(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree5G0G0G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(when = is_on::<0, _>)]
    node1: Recorder,
    #[provisioner(when = is_on::<1, _>, after(one0, node1))]
    node2: Recorder,
}

impl Tree5G0G0G0 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree5G0G0G2 {
    #[provisioner(resource)]
    one0: ConfigMap,
    node1: Recorder,
    #[provisioner(resource)]
    one2: ConfigMap,
    #[provisioner(resource)]
    one3: ConfigMap,
}

impl Tree5G0G0G2 {
    fn one0(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one2(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one3(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree5G0G1 {
    node0: Recorder,
    node1: Recorder,
    node2: Recorder,
    #[provisioner(each = |sample| sample.keys(1), key = |key| key, after(node0, node2))]
    group3: Tree5G0G1G3,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree5G0G1G3 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(resource, when = is_on::<1, _>)]
    many1: Vec<Service>,
}

impl Tree5G0G1G3 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn many1(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
pub(super) struct Tree6 {
    #[provisioner(when = |sample| sample.is_on(3))]
    group0: Tree6G0,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree6G0 {
    #[provisioner(when = |sample| sample.is_on(0))]
    node0: Recorder,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group1: Tree6G0G1,
    #[provisioner(when = |sample| sample.is_on(0), after(node0))]
    group2: Tree6G0G2,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree6G0G1 {
    #[provisioner(when = is_on::<3, _>)]
    group0: Tree6G0G1G0,
    node1: Recorder,
    #[provisioner(each = keys::<2, _>, key = |key| key)]
    group2: Tree6G0G1G2,
    group3: Tree6G0G1G3,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree6G0G1G0 {
    node0: Recorder,
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Each<Sample, String>, String>)]
struct Tree6G0G1G2 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(resource, when = is_on::<1, _>)]
    one1: ConfigMap,
}

impl Tree6G0G1G2 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one1(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree6G0G1G3 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    #[provisioner(resource)]
    one1: ConfigMap,
    node2: Recorder,
}

impl Tree6G0G1G3 {
    fn many0(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(0).iter().map(|_| Service::default()).collect()
    }
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree6G0G2 {
    group0: Tree6G0G2G0,
    #[provisioner(resource)]
    many1: Vec<Service>,
}

impl Tree6G0G2 {
    fn many1(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree6G0G2G0 {
    node0: Recorder,
    #[provisioner(resource)]
    maybe1: Option<Secret>,
    node2: Recorder,
    node3: Recorder,
}

impl Tree6G0G2G0 {
    fn maybe1(draft: &Draft<'_, Sample>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(0)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
pub(super) struct Tree7 {
    node0: Recorder,
    #[provisioner(each = |sample| sample.keys(1), key = |key| key, after(node0))]
    group1: Tree7G1,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree7G1 {
    group0: Tree7G1G0,
    #[provisioner(after(group0))]
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree7G1G0 {
    node0: Recorder,
    node1: Recorder,
    group2: Tree7G1G0G2,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree7G1G0G2 {
    #[provisioner(when = is_on::<1, _>)]
    node0: Recorder,
    node1: Recorder,
}
