//! Written by the test beside it; `cargo bless` writes it anew.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opgen::{prelude::*, testing::Recorder};

use super::super::sample::{Sample, is_on, keys};

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
pub(super) struct Tree18 {
    #[provisioner(each = |sample| sample.keys(0), key = |key| key)]
    group0: Tree18G0,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group1: Tree18G1,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree18G0 {
    #[provisioner(resource)]
    maybe0: Option<Secret>,
    #[provisioner(resource)]
    many1: Vec<Service>,
    #[provisioner(each = keys::<1, _>, key = |key| key, after(many1))]
    group2: Tree18G0G2,
    #[provisioner(when = is_on::<1, _>, after(many1, group2))]
    group3: Tree18G0G3,
}

impl Tree18G0 {
    fn maybe0(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(1)?.then(Secret::default))
    }
    fn many1(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree18G0G2 {
    node0: Recorder,
    node1: Recorder,
    group2: Tree18G0G2G2,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Each<Sample, String>, String>)]
struct Tree18G0G2G2 {
    node0: Recorder,
    node1: Recorder,
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree18G0G3 {
    #[provisioner(when = is_on::<2, _>, each = keys::<2, _>, key = |key| key)]
    group0: Tree18G0G3G0,
    #[provisioner(when = is_on::<3, _>)]
    node1: Recorder,
    #[provisioner(resource, when = is_on::<0, _>)]
    maybe2: Option<Secret>,
}

impl Tree18G0G3 {
    fn maybe2(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Each<Sample, String>, String>)]
struct Tree18G0G3G0 {
    #[provisioner(resource)]
    maybe0: Option<Secret>,
    #[provisioner(resource, after(maybe0))]
    many1: Vec<Service>,
    #[provisioner(when = is_on::<1, _>)]
    node2: Recorder,
}

impl Tree18G0G3G0 {
    fn maybe0(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(2)?.then(Secret::default))
    }
    fn many1(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Vec<Service> {
        draft.owner.keys(0).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree18G1 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    #[provisioner(when = is_on::<1, _>)]
    node1: Recorder,
}

impl Tree18G1 {
    fn many0(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
pub(super) struct Tree19 {
    #[provisioner(when = |sample| sample.is_on(3), each = |sample| sample.keys(0), key = |key| key)]
    group0: Tree19G0,
    #[provisioner(when = |sample| sample.is_on(3), each = |sample| sample.keys(1), key = |key| key)]
    group1: Tree19G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree19G0 {
    #[provisioner(when = is_on::<0, _>)]
    node0: Recorder,
    #[provisioner(when = is_on::<1, _>, after(node0))]
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree19G1 {
    group0: Tree19G1G0,
    #[provisioner(each = keys::<2, _>, key = |key| key)]
    group1: Tree19G1G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree19G1G0 {
    #[provisioner(when = is_on::<2, _>)]
    group0: Tree19G1G0G0,
    #[provisioner(resource)]
    one1: ConfigMap,
    group2: Tree19G1G0G2,
    #[provisioner(when = is_on::<0, _>, after(group0, one1, group2))]
    node3: Recorder,
}

impl Tree19G1G0 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree19G1G0G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    node1: Recorder,
    #[provisioner(when = is_on::<2, _>)]
    node2: Recorder,
    #[provisioner(resource, when = is_on::<2, _>)]
    one3: ConfigMap,
}

impl Tree19G1G0G0 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one3(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree19G1G0G2 {
    node0: Recorder,
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Each<Sample, String>, String>)]
struct Tree19G1G1 {
    group0: Tree19G1G1G0,
    group1: Tree19G1G1G1,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Each<Sample, String>, String>)]
struct Tree19G1G1G0 {
    #[provisioner(when = is_on::<3, _>)]
    node0: Recorder,
    #[provisioner(after(node0))]
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree19G1G1G1 {
    #[provisioner(when = is_on::<2, _>)]
    node0: Recorder,
    #[provisioner(resource, when = is_on::<1, _>)]
    many1: Vec<Service>,
}

impl Tree19G1G1G1 {
    fn many1(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
pub(super) struct Tree20 {
    #[provisioner(each = |sample| sample.keys(0), key = |key| key)]
    group0: Tree20G0,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree20G0 {
    group0: Tree20G0G0,
    group1: Tree20G0G1,
    group2: Tree20G0G2,
    #[provisioner(when = is_on::<1, _>, each = keys::<1, _>, key = |key| key, after(group1))]
    group3: Tree20G0G3,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree20G0G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(resource)]
    one1: ConfigMap,
    #[provisioner(after(one1))]
    node2: Recorder,
}

impl Tree20G0G0 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree20G0G1 {
    #[provisioner(when = is_on::<0, _>, each = keys::<1, _>, key = |key| key)]
    group0: Tree20G0G1G0,
    #[provisioner(resource)]
    maybe1: Option<Secret>,
}

impl Tree20G0G1 {
    fn maybe1(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree20G0G1G0 {
    #[provisioner(when = is_on::<3, _>)]
    node0: Recorder,
    #[provisioner(when = is_on::<0, _>)]
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree20G0G2 {
    node0: Recorder,
    #[provisioner(resource)]
    maybe1: Option<Secret>,
    group2: Tree20G0G2G2,
}

impl Tree20G0G2 {
    fn maybe1(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree20G0G2G2 {
    #[provisioner(resource)]
    maybe0: Option<Secret>,
    #[provisioner(resource)]
    many1: Vec<Service>,
    #[provisioner(resource)]
    maybe2: Option<Secret>,
}

impl Tree20G0G2G2 {
    fn maybe0(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
    fn many1(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(0).iter().map(|_| Service::default()).collect()
    }
    fn maybe2(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(1)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree20G0G3 {
    group0: Tree20G0G3G0,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree20G0G3G0 {
    node0: Recorder,
    node1: Recorder,
    node2: Recorder,
}
