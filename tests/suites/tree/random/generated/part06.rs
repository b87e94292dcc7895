//! Written by the test beside it; `cargo bless` writes it anew.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opgen::{prelude::*, testing::Recorder};

use super::super::sample::{Sample, is_on, keys};

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
pub(super) struct Tree21 {
    #[provisioner(when = |sample| sample.is_on(2), each = |sample| sample.keys(1), key = |key| key)]
    group0: Tree21G0,
    group1: Tree21G1,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree21G0 {
    #[provisioner(resource, when = is_on::<1, _>)]
    maybe0: Option<Secret>,
    group1: Tree21G0G1,
    node2: Recorder,
    #[provisioner(resource)]
    one3: ConfigMap,
}

impl Tree21G0 {
    fn maybe0(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(1)?.then(Secret::default))
    }
    fn one3(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree21G0G1 {
    group0: Tree21G0G1G0,
    #[provisioner(resource)]
    one1: ConfigMap,
    node2: Recorder,
}

impl Tree21G0G1 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree21G0G1G0 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    #[provisioner(when = is_on::<1, _>)]
    node1: Recorder,
    #[provisioner(resource)]
    maybe2: Option<Secret>,
}

impl Tree21G0G1G0 {
    fn many0(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
    fn maybe2(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree21G1 {
    #[provisioner(when = |sample| sample.is_on(1))]
    node0: Recorder,
    #[provisioner(when = |sample| sample.is_on(2), each = |sample| sample.keys(0), key = |key| key)]
    group1: Tree21G1G1,
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree21G1G1 {
    node0: Recorder,
    #[provisioner(resource)]
    maybe1: Option<Secret>,
}

impl Tree21G1G1 {
    fn maybe1(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree22 {
    node0: Recorder,
    group1: Tree22G1,
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree22G1 {
    #[provisioner(each = |sample| sample.keys(0), key = |key| key)]
    group0: Tree22G1G0,
    #[provisioner(when = |sample| sample.is_on(2))]
    group1: Tree22G1G1,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree22G1G0 {
    #[provisioner(when = is_on::<1, _>)]
    group0: Tree22G1G0G0,
    #[provisioner(each = keys::<1, _>, key = |key| key)]
    group1: Tree22G1G0G1,
    #[provisioner(when = is_on::<2, _>, after(group0))]
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree22G1G0G0 {
    #[provisioner(when = is_on::<1, _>)]
    node0: Recorder,
    node1: Recorder,
    #[provisioner(after(node0, node1))]
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Each<Sample, String>, String>)]
struct Tree22G1G0G1 {
    node0: Recorder,
    #[provisioner(resource)]
    one1: ConfigMap,
    #[provisioner(after(node0))]
    node2: Recorder,
    #[provisioner(resource, after(one1))]
    one3: ConfigMap,
}

impl Tree22G1G0G1 {
    fn one1(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
    fn one3(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree22G1G1 {
    #[provisioner(each = |sample| sample.keys(1), key = |key| key)]
    group0: Tree22G1G1G0,
    #[provisioner(resource)]
    maybe1: Option<Secret>,
}

impl Tree22G1G1 {
    fn maybe1(draft: &Draft<'_, Sample>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(1)?.then(Secret::default))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree22G1G1G0 {
    node0: Recorder,
    #[provisioner(resource, after(node0))]
    one1: ConfigMap,
    #[provisioner(when = is_on::<2, _>, after(one1))]
    node2: Recorder,
    #[provisioner(when = is_on::<1, _>, after(node0, one1, node2))]
    node3: Recorder,
}

impl Tree22G1G1G0 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Sample)]
pub(super) struct Tree23 {
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group0: Tree23G0,
    node1: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree23G0 {
    #[provisioner(resource)]
    maybe0: Option<Secret>,
    group1: Tree23G0G1,
    #[provisioner(resource, when = is_on::<1, _>)]
    one2: ConfigMap,
}

impl Tree23G0 {
    fn maybe0(draft: &Draft<'_, Each<Sample, String>>) -> Result<Option<Secret>> {
        Ok(draft.owner.is_on(3)?.then(Secret::default))
    }
    fn one2(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree23G0G1 {
    group0: Tree23G0G1G0,
    #[provisioner(resource)]
    one1: ConfigMap,
    node2: Recorder,
    #[provisioner(each = keys::<2, _>, key = |key| key, after(one1))]
    group3: Tree23G0G1G3,
}

impl Tree23G0G1 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Each<Sample, String>)]
struct Tree23G0G1G0 {
    #[provisioner(resource)]
    many0: Vec<Service>,
    #[provisioner(resource)]
    one1: ConfigMap,
    #[provisioner(after(many0))]
    node2: Recorder,
}

impl Tree23G0G1G0 {
    fn many0(draft: &Draft<'_, Each<Sample, String>>) -> Vec<Service> {
        draft.owner.keys(2).iter().map(|_| Service::default()).collect()
    }
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Each<Sample, String>, String>)]
struct Tree23G0G1G3 {
    #[provisioner(when = is_on::<3, _>)]
    node0: Recorder,
    #[provisioner(when = is_on::<2, _>, after(node0))]
    node1: Recorder,
    #[provisioner(after(node1))]
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Sample)]
pub(super) struct Tree24 {
    #[provisioner(when = |sample| sample.is_on(0))]
    group0: Tree24G0,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Sample)]
struct Tree24G0 {
    #[provisioner(when = |sample| sample.is_on(2))]
    node0: Recorder,
    node1: Recorder,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group2: Tree24G0G2,
    group3: Tree24G0G3,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<Sample, String>)]
struct Tree24G0G2 {
    group0: Tree24G0G2G0,
    #[provisioner(resource, when = is_on::<2, _>)]
    one1: ConfigMap,
    #[provisioner(each = keys::<0, _>, key = |key| key)]
    group2: Tree24G0G2G2,
    #[provisioner(when = is_on::<1, _>)]
    node3: Recorder,
}

impl Tree24G0G2 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Each<Sample, String>)]
struct Tree24G0G2G0 {
    node0: Recorder,
    #[provisioner(resource)]
    one1: ConfigMap,
    #[provisioner(when = is_on::<0, _>)]
    node2: Recorder,
}

impl Tree24G0G2G0 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Each<Sample, String>, String>)]
struct Tree24G0G2G2 {
    #[provisioner(resource)]
    one0: ConfigMap,
    node1: Recorder,
}

impl Tree24G0G2G2 {
    fn one0(_: &Draft<'_, Each<Each<Sample, String>, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(up = serial, down = concurrent, owner = Sample)]
struct Tree24G0G3 {
    #[provisioner(each = |sample| sample.keys(0), key = |key| key)]
    group0: Tree24G0G3G0,
    #[provisioner(each = |sample| sample.keys(2), key = |key| key)]
    group1: Tree24G0G3G1,
    node2: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree24G0G3G0 {
    node0: Recorder,
    #[provisioner(resource)]
    one1: ConfigMap,
}

impl Tree24G0G3G0 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Sample, String>)]
struct Tree24G0G3G1 {
    #[provisioner(when = is_on::<2, _>)]
    node0: Recorder,
    #[provisioner(resource)]
    one1: ConfigMap,
}

impl Tree24G0G3G1 {
    fn one1(_: &Draft<'_, Each<Sample, String>>) -> ConfigMap {
        ConfigMap::default()
    }
}
