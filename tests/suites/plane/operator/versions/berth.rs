//! The kind `Berth` in two releases of its operator, which differ in the version that is stored.

/// Declares a release of the kind, and the tree of its operator.
macro_rules! release {
    ($module:ident, $tree:ident, $($versions:tt)*) => {
        #[opgen::versions($($versions)*)]
        pub(crate) mod $module {
            use std::collections::BTreeMap;

            use kube::CustomResource;
            use opgen::prelude::*;
            use schemars::JsonSchema;
            use serde::{Deserialize, Serialize};

            use super::{join, split};

            #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
            #[kube(group = "berth.example.com", kind = "Berth", namespaced, status = "Status")]
            #[serde(rename_all = "camelCase")]
            #[version(replaced(v1beta1, from(endpoint), to(host, port), up = split, down = join))]
            pub(crate) struct BerthSpec {
                #[version(renamed(v1beta1, from = size))]
                pub(crate) length: i32,
                pub(crate) endpoint: String,
                pub(crate) host: String,
                pub(crate) port: i32,
                #[version(removed(v1))]
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub(crate) legacy: Option<String>,
                #[version(added(v1, default = Berthing::Quay))]
                pub(crate) berthing: Berthing,
                pub(crate) cargo: Cargo,
                #[serde(default)]
                pub(crate) notes: BTreeMap<String, i64>,
            }

            #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
            pub(crate) enum Berthing {
                Quay,
                Buoy,
            }

            #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
            pub(crate) enum Cargo {
                Bulk,
                #[version(added(v1, instead = Bulk))]
                Grain,
            }
        }

        #[derive(Provisioner)]
        #[provisioner(serial, owner = $module::v1::Berth)]
        pub(crate) struct $tree {
            #[provisioner(resource)]
            config: ConfigMap,
        }

        impl $tree {
            fn config(berth: &$module::v1::Berth) -> ConfigMap {
                config(&berth.name_any(), &berth.spec.host, berth.spec.length)
            }
        }
    };
}

use k8s_openapi::api::core::v1::ConfigMap;
use opgen::prelude::*;

release!(first, FirstTree, v1alpha1(stored), v1beta1, v1);
release!(second, SecondTree, v1alpha1(deprecated), v1beta1, v1);

fn config(name: &str, host: &str, length: i32) -> ConfigMap {
    let mut config = ConfigMap::default();
    config.metadata.name = Some(format!("{name}-berth"));
    config.data = Some([("host".to_owned(), host.to_owned()), ("length".to_owned(), length.to_string())].into());
    config
}

fn split(endpoint: String) -> Result<(String, i32), String> {
    let (host, port) = endpoint.rsplit_once(':').ok_or("the endpoint has no port")?;
    Ok((host.to_owned(), port.parse().map_err(|_| "the port is not a number")?))
}

fn join(host: String, port: i32) -> String {
    format!("{host}:{port}")
}
