//! Written by the test beside it; `cargo bless` writes it anew.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opgen::{prelude::*, testing::Recorder};

use super::super::sample::{Sample, is_on, keys};

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
pub(super) struct Tree8 {
    #[provisioner(each = |sample| sample.keys(1), key = |key| key)]
    group0: Tree8G0,
    group1: Tree8G1,
    #[provisioner(each = |sample| sample.keys(1), key = |key| key)]
    group2: Tree8G2,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree8G0 {
    #[provisioner(when = is_on::<2, _>)]
    node0: Recorder,
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
struct Tree8G1 {
    node0: Recorder,
    #[provisioner(when = |sample| sample.is_on(2))]
    node1: Recorder,
    node2: Recorder,
    #[provisioner(when = |sample| sample.is_on(3))]
    node3: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree8G2 {
    #[provisioner(resource, when = is_on::<2, _>)]
    one0: ConfigMap,
    #[provisioner(each = keys::<0, _>, key = |key| key)]
    group1: Tree8G2G1,
    #[provisioner(resource, when = is_on::<3, _>)]
    many2: Vec<Service>,
}

impl Tree8G2 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn many2(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(1).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree8G2G1 {
    node0: Recorder,
    group1: Tree8G2G1G1,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Each<Sample, String>, String>)]
struct Tree8G2G1G1 {
    #[provisioner(when = is_on::<3, _>)]
    node0: Recorder,
    #[provisioner(when = is_on::<2, _>)]
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree9 {
    group0: Tree9G0,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree9G0 {
    #[provisioner(when = |sample| sample.is_on(2), each = |sample| sample.keys(2), key = |key| key)]
    group0: Tree9G0G0,
    node1: Recorder,
    node2: Recorder,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group3: Tree9G0G3,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree9G0G0 {
    #[provisioner(when = is_on::<3, _>)]
    node0: Recorder,
    #[provisioner(each = keys::<0, _>, key = |key| key)]
    group1: Tree9G0G0G1,
    group2: Tree9G0G0G2,
    #[provisioner(each = keys::<2, _>, key = |key| key, after(node0))]
    group3: Tree9G0G0G3,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Each<Sample, String>, String>)]
struct Tree9G0G0G1 {
    #[provisioner(when = is_on::<2, _>)]
    node0: Recorder,
    #[provisioner(resource, after(node0))]
    maybe1: Option<Secret>,
}

impl Tree9G0G0G1 {
    fn maybe1(draft: &Draft<'_, Each<Each<Sample, String>, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(1)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree9G0G0G2 {
    #[provisioner(when = is_on::<1, _>)]
    node0: Recorder,
    #[provisioner(when = is_on::<0, _>)]
    node1: Recorder,
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Each<Sample, String>, String>)]
struct Tree9G0G0G3 {
    node0: Recorder,
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree9G0G3 {
    node0: Recorder,
    #[provisioner(when = is_on::<1, _>)]
    group1: Tree9G0G3G1,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree9G0G3G1 {
    #[provisioner(resource, when = is_on::<1, _>)]
    maybe0: Option<Secret>,
    #[provisioner(when = is_on::<2, _>)]
    node1: Recorder,
    #[provisioner(resource, when = is_on::<3, _>)]
    one2: ConfigMap,
}

impl Tree9G0G3G1 {
    fn maybe0(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
    fn one2(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
pub(super) struct Tree10 {
    #[provisioner(when = |sample| sample.is_on(3), each = |sample| sample.keys(1), key = |key| key)]
    group0: Tree10G0,
    group1: Tree10G1,
    #[provisioner(resource)]
    one2: ConfigMap,
}

impl Tree10 {
    fn one2(_: &Draft<'_, Sample>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree10G0 {
    group0: Tree10G0G0,
    group1: Tree10G0G1,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree10G0G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(resource)]
    one1: ConfigMap,
    node2: Recorder,
    #[provisioner(when = is_on::<1, _>)]
    group3: Tree10G0G0G3,
}

impl Tree10G0G0 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree10G0G0G3 {
    #[provisioner(resource)]
    one0: ConfigMap,
    #[provisioner(when = is_on::<2, _>)]
    node1: Recorder,
    #[provisioner(resource, after(one0, node1))]
    one2: ConfigMap,
    node3: Recorder,
}

impl Tree10G0G0G3 {
    fn one0(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one2(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree10G0G1 {
    node0: Recorder,
    #[provisioner(when = is_on::<2, _>)]
    node1: Recorder,
    #[provisioner(when = is_on::<3, _>, after(node1))]
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
struct Tree10G1 {
    #[provisioner(when = |sample| sample.is_on(3))]
    node0: Recorder,
    #[provisioner(resource, after(node0))]
    many1: Vec<Service>,
}

impl Tree10G1 {
    fn many1(draft: &Draft<'_, Sample>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
pub(super) struct Tree11 {
    node0: Recorder,
    #[provisioner(when = |sample| sample.is_on(1))]
    group1: Tree11G1,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree11G1 {
    #[provisioner(when = |sample| sample.is_on(3), each = |sample| sample.keys(2), key = |key| key)]
    group0: Tree11G1G0,
    #[provisioner(when = |sample| sample.is_on(1), each = |sample| sample.keys(1), key = |key| key)]
    group1: Tree11G1G1,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree11G1G0 {
    #[provisioner(when = is_on::<3, _>)]
    node0: Recorder,
    #[provisioner(resource, when = is_on::<3, _>)]
    one1: ConfigMap,
    group2: Tree11G1G0G2,
}

impl Tree11G1G0 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree11G1G0G2 {
    node0: Recorder,
    #[provisioner(resource)]
    one1: ConfigMap,
}

impl Tree11G1G0G2 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree11G1G1 {
    #[provisioner(when = is_on::<1, _>, each = keys::<0, _>, key = |key| key)]
    group0: Tree11G1G1G0,
    #[provisioner(when = is_on::<3, _>)]
    node1: Recorder,
    group2: Tree11G1G1G2,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree11G1G1G0 {
    #[provisioner(resource)]
    one0: ConfigMap,
    node1: Recorder,
    #[provisioner(resource)]
    one2: ConfigMap,
    #[provisioner(resource, when = is_on::<1, _>)]
    one3: ConfigMap,
}

impl Tree11G1G1G0 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one2(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one3(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree11G1G1G2 {
    node0: Recorder,
    node1: Recorder,
    node2: Recorder,
    #[provisioner(resource)]
    one3: ConfigMap,
}

impl Tree11G1G1G2 {
    fn one3(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}
