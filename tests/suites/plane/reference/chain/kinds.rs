//! Five kinds, each of which names the one below.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind whose objects are made of one ConfigMap, and stand on one of another kind.
macro_rules! kinds {
    ($($spec:ident $kind:ident $name:tt $tree:ident $(on $below:ident)?;)+) => {$(
        #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
        #[kube(group = "chain.example.com", version = "v1", kind = $name, namespaced, status = "Status")]
        pub(crate) struct $spec {
            #[serde(default)]
            $(#[managed(reference = $below)])?
            pub(crate) on: String,
        }

        #[derive(Debug, Provisioner)]
        #[provisioner(serial, owner = $kind)]
        pub(crate) struct $tree {
            #[provisioner(resource)]
            content: ConfigMap,
        }

        impl $tree {
            fn content(_: &$kind) -> ConfigMap {
                ConfigMap::default()
            }
        }
    )+};
}

kinds! {
    LandSpec Land "Land" LandTree;
    HouseSpec House "House" HouseTree on Land;
    StoreySpec Storey "Storey" StoreyTree on House;
    RoomSpec Room "Room" RoomTree on Storey;
    ChairSpec Chair "Chair" ChairTree on Room;
}

/// With a controller for each.
pub(crate) fn controlled_by(operator: Operator) -> Operator {
    let operator = operator.controls::<Land, LandTree>().controls::<House, HouseTree>();
    operator.controls::<Storey, StoreyTree>().controls::<Room, RoomTree>().controls::<Chair, ChairTree>()
}
