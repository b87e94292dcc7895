//! Written by the test beside it; `cargo bless` writes it anew.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opgen::{prelude::*, testing::Recorder};

use super::super::sample::{Sample, is_on, keys};

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree12 {
    node0: Recorder,
    #[provisioner(after(node0))]
    group1: Tree12G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree12G1 {
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group0: Tree12G1G0,
    #[provisioner(when = |sample| sample.is_on(1), after(group0))]
    group1: Tree12G1G1,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree12G1G0 {
    #[provisioner(when = is_on::<2, _>)]
    node0: Recorder,
    node1: Recorder,
    #[provisioner(resource)]
    maybe2: Option<Secret>,
    #[provisioner(when = is_on::<0, _>)]
    group3: Tree12G1G0G3,
}

impl Tree12G1G0 {
    fn maybe2(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(1)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree12G1G0G3 {
    node0: Recorder,
    #[provisioner(when = is_on::<0, _>)]
    node1: Recorder,
    #[provisioner(resource, when = is_on::<1, _>)]
    maybe2: Option<Secret>,
    #[provisioner(resource)]
    many3: Vec<Service>,
}

impl Tree12G1G0G3 {
    fn maybe2(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(0)?.then(Secret::default))
    }
    fn many3(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree12G1G1 {
    node0: Recorder,
    #[provisioner(resource, after(node0))]
    maybe1: Option<Secret>,
    #[provisioner(after(maybe1))]
    group2: Tree12G1G1G2,
    #[provisioner(after(group2))]
    node3: Recorder,
}

impl Tree12G1G1 {
    fn maybe1(draft: &Draft<'_, Sample>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(0)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
struct Tree12G1G1G2 {
    node0: Recorder,
    node1: Recorder,
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
pub(super) struct Tree13 {
    #[provisioner(each = |sample| sample.keys(1), key = |key| key)]
    group0: Tree13G0,
    group1: Tree13G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree13G0 {
    node0: Recorder,
    #[provisioner(resource)]
    maybe1: Option<Secret>,
    #[provisioner(after(maybe1))]
    node2: Recorder,
    #[provisioner(when = is_on::<1, _>, after(node2))]
    group3: Tree13G0G3,
}

impl Tree13G0 {
    fn maybe1(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree13G0G3 {
    #[provisioner(each = keys::<2, _>, key = |key| key)]
    group0: Tree13G0G3G0,
    #[provisioner(each = keys::<1, _>, key = |key| key)]
    group1: Tree13G0G3G1,
    #[provisioner(when = is_on::<3, _>, each = keys::<2, _>, key = |key| key)]
    group2: Tree13G0G3G2,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Each<Sample, String>, String>)]
struct Tree13G0G3G0 {
    #[provisioner(when = is_on::<1, _>)]
    node0: Recorder,
    #[provisioner(resource)]
    one1: ConfigMap,
    #[provisioner(after(one1))]
    node2: Recorder,
}

impl Tree13G0G3G0 {
    fn one1(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree13G0G3G1 {
    #[provisioner(resource)]
    one0: ConfigMap,
    node1: Recorder,
    #[provisioner(resource, after(node1))]
    many2: Vec<Service>,
}

impl Tree13G0G3G1 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn many2(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree13G0G3G2 {
    #[provisioner(resource, when = is_on::<2, _>)]
    many0: Vec<Service>,
    node1: Recorder,
}

impl Tree13G0G3G2 {
    fn many0(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree13G1 {
    group0: Tree13G1G0,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree13G1G0 {
    #[provisioner(each = |sample| sample.keys(0), key = |key| key)]
    group0: Tree13G1G0G0,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree13G1G0G0 {
    #[provisioner(when = is_on::<3, _>)]
    node0: Recorder,
    #[provisioner(when = is_on::<3, _>, after(node0))]
    node1: Recorder,
    #[provisioner(when = is_on::<1, _>)]
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
pub(super) struct Tree14 {
    #[provisioner(each = |sample| sample.keys(1), key = |key| key)]
    group0: Tree14G0,
    #[provisioner(when = |sample| sample.is_on(0), each = |sample| sample.keys(2), key = |key| key)]
    group1: Tree14G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree14G0 {
    node0: Recorder,
    #[provisioner(resource, after(node0))]
    one1: ConfigMap,
}

impl Tree14G0 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree14G1 {
    #[provisioner(resource, when = is_on::<0, _>)]
    one0: ConfigMap,
    node1: Recorder,
    #[provisioner(each = keys::<1, _>, key = |key| key)]
    group2: Tree14G1G2,
    #[provisioner(when = is_on::<0, _>, each = keys::<1, _>, key = |key| key)]
    group3: Tree14G1G3,
}

impl Tree14G1 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree14G1G2 {
    #[provisioner(when = is_on::<2, _>)]
    group0: Tree14G1G2G0,
    #[provisioner(when = is_on::<3, _>, after(group0))]
    group1: Tree14G1G2G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree14G1G2G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(after(one0))]
    node1: Recorder,
}

impl Tree14G1G2G0 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Each<Sample, String>, String>)]
struct Tree14G1G2G1 {
    #[provisioner(when = is_on::<1, _>)]
    node0: Recorder,
    node1: Recorder,
    #[provisioner(resource)]
    one2: ConfigMap,
}

impl Tree14G1G2G1 {
    fn one2(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree14G1G3 {
    group0: Tree14G1G3G0,
    #[provisioner(when = is_on::<3, _>)]
    group1: Tree14G1G3G1,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree14G1G3G0 {
    node0: Recorder,
    #[provisioner(resource)]
    one1: ConfigMap,
    #[provisioner(resource)]
    one2: ConfigMap,
}

impl Tree14G1G3G0 {
    fn one1(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one2(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree14G1G3G1 {
    #[provisioner(resource, when = is_on::<1, _>)]
    one0: ConfigMap,
    node1: Recorder,
}

impl Tree14G1G3G1 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}
