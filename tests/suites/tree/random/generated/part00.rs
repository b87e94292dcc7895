//! Written by the test beside it; `cargo bless` writes it anew.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opgen::{prelude::*, testing::Recorder};

use super::super::sample::{Sample, is_on, keys};

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree0 {
    group0: Tree0G0,
    group1: Tree0G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree0G0 {
    #[provisioner(each = |sample| sample.keys(0), key = |key| key)]
    group0: Tree0G0G0,
    node1: Recorder,
    #[provisioner(resource)]
    one2: ConfigMap,
    #[provisioner(resource, after(one2))]
    one3: ConfigMap,
}

impl Tree0G0 {
    fn one2(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one3(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree0G0G0 {
    #[provisioner(resource, when = is_on::<0, _>)]
    maybe0: Option<Secret>,
    #[provisioner(each = keys::<0, _>, key = |key| key)]
    group1: Tree0G0G0G1,
    group2: Tree0G0G0G2,
}

impl Tree0G0G0 {
    fn maybe0(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(2)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree0G0G0G1 {
    #[provisioner(when = is_on::<3, _>)]
    node0: Recorder,
    #[provisioner(resource)]
    maybe1: Option<Secret>,
}

impl Tree0G0G0G1 {
    fn maybe1(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(0)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree0G0G0G2 {
    #[provisioner(when = is_on::<0, _>)]
    node0: Recorder,
    #[provisioner(resource)]
    many1: Vec<Service>,
    #[provisioner(when = is_on::<2, _>)]
    node2: Recorder,
    #[provisioner(after(node2))]
    node3: Recorder,
}

impl Tree0G0G0G2 {
    fn many1(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree0G1 {
    group0: Tree0G1G0,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree0G1G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    group1: Tree0G1G0G1,
}

impl Tree0G1G0 {
    fn one0(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree0G1G0G1 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    node1: Recorder,
    #[provisioner(when = |sample| sample.is_on(3), after(many0))]
    node2: Recorder,
}

impl Tree0G1G0G1 {
    fn many0(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree1 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(when = |sample| sample.is_on(2), each = |sample| sample.keys(2), key = |key| key)]
    group1: Tree1G1,
}

impl Tree1 {
    fn one0(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree1G1 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    node1: Recorder,
    #[provisioner(resource, when = is_on::<0, _>, after(node1))]
    one2: ConfigMap,
}

impl Tree1G1 {
    fn many0(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
    fn one2(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
pub(super) struct Tree2 {
    group0: Tree2G0,
    group1: Tree2G1,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
struct Tree2G0 {
    node0: Recorder,
    #[provisioner(resource)]
    maybe1: Option<Secret>,
    group2: Tree2G0G2,
    #[provisioner(resource, when = |sample| sample.is_on(0))]
    maybe3: Option<Secret>,
}

impl Tree2G0 {
    fn maybe1(draft: &Draft<'_, Sample>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(1)?.then(Secret::default))
    }
    fn maybe3(draft: &Draft<'_, Sample>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
struct Tree2G0G2 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    node1: Recorder,
}

impl Tree2G0G2 {
    fn many0(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(0).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree2G1 {
    node0: Recorder,
    #[provisioner(when = |sample| sample.is_on(3))]
    node1: Recorder,
    #[provisioner(each = |sample| sample.keys(0), key = |key| key)]
    group2: Tree2G1G2,
    #[provisioner(when = |sample| sample.is_on(2))]
    node3: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree2G1G2 {
    node0: Recorder,
    #[provisioner(when = is_on::<2, _>)]
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree3 {
    #[provisioner(when = |sample| sample.is_on(2))]
    node0: Recorder,
    #[provisioner(when = |sample| sample.is_on(0), after(node0))]
    node1: Recorder,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group2: Tree3G2,
    #[provisioner(resource, after(node1))]
    maybe3: Option<Secret>,
}

impl Tree3 {
    fn maybe3(draft: &Draft<'_, Sample>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(0)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree3G2 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    #[provisioner(each = keys::<2, _>, key = |key| key)]
    group1: Tree3G2G1,
    #[provisioner(resource)]
    one2: ConfigMap,
    #[provisioner(each = keys::<2, _>, key = |key| key)]
    group3: Tree3G2G3,
}

impl Tree3G2 {
    fn many0(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
    fn one2(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Each<Sample, String>, String>)]
struct Tree3G2G1 {
    #[provisioner(resource, when = is_on::<0, _>)]
    one0: ConfigMap,
    node1: Recorder,
    group2: Tree3G2G1G2,
    group3: Tree3G2G1G3,
}

impl Tree3G2G1 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree3G2G1G2 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(resource, when = is_on::<0, _>)]
    many1: Vec<Service>,
}

impl Tree3G2G1G2 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn many1(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Each<Sample, String>, String>)]
struct Tree3G2G1G3 {
    #[provisioner(resource, when = is_on::<0, _>)]
    many0: Vec<Service>,
    #[provisioner(when = is_on::<1, _>)]
    node1: Recorder,
    #[provisioner(resource, when = is_on::<1, _>)]
    maybe2: Option<Secret>,
}

impl Tree3G2G1G3 {
    fn many0(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
    fn maybe2(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(0)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Each<Sample, String>, String>)]
struct Tree3G2G3 {
    #[provisioner(resource)]
    one0: ConfigMap,
    node1: Recorder,
}

impl Tree3G2G3 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}
