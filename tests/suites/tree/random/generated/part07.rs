//! Written by the test beside it; `cargo bless` writes it anew.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opgen::{prelude::*, testing::Recorder};

use super::super::sample::{Sample, is_on};

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree25 {
    #[provisioner(when = |sample| sample.is_on(1))]
    group0: Tree25G0,
    group1: Tree25G1,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree25G0 {
    #[provisioner(resource, when = |sample| sample.is_on(1))]
    one0: ConfigMap,
    #[provisioner(resource, when = |sample| sample.is_on(1), after(one0))]
    one1: ConfigMap,
    group2: Tree25G0G2,
}

impl Tree25G0 {
    fn one0(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one1(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree25G0G2 {
    group0: Tree25G0G2G0,
    #[provisioner(when = |sample| sample.is_on(3))]
    node1: Recorder,
    #[provisioner(resource, after(node1))]
    many2: Vec<Service>,
    node3: Recorder,
}

impl Tree25G0G2 {
    fn many2(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree25G0G2G0 {
    #[provisioner(resource)]
    maybe0: Option<Secret>,
    node1: Recorder,
}

impl Tree25G0G2G0 {
    fn maybe0(draft: &Draft<'_, Sample>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree25G1 {
    node0: Recorder,
    group1: Tree25G1G1,
    node2: Recorder,
    #[provisioner(when = |sample| sample.is_on(0), each = |sample| sample.keys(0), key = |key| key)]
    group3: Tree25G1G3,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree25G1G1 {
    node0: Recorder,
    #[provisioner(resource, after(node0))]
    many1: Vec<Service>,
}

impl Tree25G1G1 {
    fn many1(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree25G1G3 {
    node0: Recorder,
    node1: Recorder,
    #[provisioner(after(node1))]
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree26 {
    #[provisioner(each = |sample| sample.keys(1), key = |key| key)]
    group0: Tree26G0,
    #[provisioner(resource)]
    one1: ConfigMap,
    group2: Tree26G2,
}

impl Tree26 {
    fn one1(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree26G0 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    node1: Recorder,
}

impl Tree26G0 {
    fn many0(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
struct Tree26G2 {
    group0: Tree26G2G0,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree26G2G0 {
    group0: Tree26G2G0G0,
    #[provisioner(resource, when = |sample| sample.is_on(1))]
    maybe1: Option<Secret>,
    #[provisioner(when = |sample| sample.is_on(1))]
    group2: Tree26G2G0G2,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group3: Tree26G2G0G3,
}

impl Tree26G2G0 {
    fn maybe1(draft: &Draft<'_, Sample>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(0)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
struct Tree26G2G0G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(resource)]
    one1: ConfigMap,
    #[provisioner(resource)]
    one2: ConfigMap,
    node3: Recorder,
}

impl Tree26G2G0G0 {
    fn one0(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one1(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one2(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree26G2G0G2 {
    node0: Recorder,
    #[provisioner(resource)]
    many1: Vec<Service>,
}

impl Tree26G2G0G2 {
    fn many1(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(0).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree26G2G0G3 {
    node0: Recorder,
    node1: Recorder,
    #[provisioner(after(node1))]
    node2: Recorder,
    #[provisioner(resource, after(node0))]
    one3: ConfigMap,
}

impl Tree26G2G0G3 {
    fn one3(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree27 {
    #[provisioner(when = |sample| sample.is_on(2), each = |sample| sample.keys(2), key = |key| key)]
    group0: Tree27G0,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group1: Tree27G1,
    #[provisioner(resource)]
    one2: ConfigMap,
    #[provisioner(when = |sample| sample.is_on(1))]
    group3: Tree27G3,
}

impl Tree27 {
    fn one2(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree27G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(resource, when = is_on::<3, _>)]
    maybe1: Option<Secret>,
    #[provisioner(resource, after(maybe1))]
    many2: Vec<Service>,
    #[provisioner(after(maybe1))]
    node3: Recorder,
}

impl Tree27G0 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn maybe1(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(1)?.then(Secret::default))
    }
    fn many2(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(0).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree27G1 {
    node0: Recorder,
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree27G3 {
    node0: Recorder,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key, after(node0))]
    group1: Tree27G3G1,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree27G3G1 {
    #[provisioner(when = is_on::<2, _>)]
    node0: Recorder,
    #[provisioner(when = is_on::<2, _>)]
    group1: Tree27G3G1G1,
    #[provisioner(when = is_on::<1, _>)]
    node2: Recorder,
    group3: Tree27G3G1G3,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree27G3G1G1 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(when = is_on::<0, _>, after(one0))]
    node1: Recorder,
}

impl Tree27G3G1G1 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree27G3G1G3 {
    node0: Recorder,
    #[provisioner(when = is_on::<0, _>)]
    node1: Recorder,
}
