//! What chaos is played with: objects of an example, how they are edited, and how their children can be harmed.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
};
use kube::api::ApiResource;
use opgen::{Managed, Status};
use serde_json::{Value, json};
use shop_api::Shop;
use webapp_api::WebApp;

use crate::{
    operator::{
        example::{Example, SHOP, WEBAPP},
        fleet,
        mirror::Namespaced,
    },
    shop::{
        part,
        shops::{schedule, shop},
    },
};

/// An example that chaos is played with.
pub(super) trait Stock: 'static {
    type Kind: Namespaced + Managed<Status = Status>;

    const EXAMPLE: Example;
    /// How many names there are.
    const NAMES: u64;
    /// Kinds of children that an edit may take away.
    const OPTIONAL: &'static [&'static str];

    fn kind() -> String {
        <Self::Kind as kube::Resource>::kind(&()).into_owned()
    }

    fn object(name: &str) -> Self::Kind;

    /// A change of a spec; `any` gives a number below another.
    fn edit(any: &mut dyn FnMut(u64) -> u64) -> Value;

    /// The namespaced kinds of its children.
    fn children() -> Vec<ApiResource>;
}

pub(super) struct WebApps;

impl Stock for WebApps {
    type Kind = WebApp;

    const EXAMPLE: Example = WEBAPP;
    const NAMES: u64 = 20;
    const OPTIONAL: &'static [&'static str] = &[];

    fn object(name: &str) -> WebApp {
        fleet::app(name)
    }

    fn edit(any: &mut dyn FnMut(u64) -> u64) -> Value {
        match any(4) {
            0 => json!({"greeting": format!("greeting {}", any(100))}),
            1 => json!({"greeting": null}),
            2 => json!({"replicas": any(4)}),
            _ => json!({"image": format!("example.com/web:{}", 1 + any(3)), "port": 8080 + any(3)}),
        }
    }

    fn children() -> Vec<ApiResource> {
        vec![
            ApiResource::erase::<ConfigMap>(&()),
            ApiResource::erase::<Deployment>(&()),
            ApiResource::erase::<Service>(&()),
        ]
    }
}

pub(super) struct Shops;

impl Stock for Shops {
    type Kind = Shop;

    const EXAMPLE: Example = SHOP;
    const NAMES: u64 = 8;
    const OPTIONAL: &'static [&'static str] = &["CronJob", "Ingress", "PodDisruptionBudget"];

    fn object(name: &str) -> Shop {
        shop(name)
    }

    fn edit(any: &mut dyn FnMut(u64) -> u64) -> Value {
        match any(6) {
            0 => json!({"host": null}),
            1 => json!({"host": format!("host-{}.example.com", any(3))}),
            2 => json!({"backend": {"replicas": any(4)}}),
            3 => json!({"backend": {"settings": {"currency": format!("currency {}", any(3))}}}),
            4 => json!({"database": {"replicas": 1 + any(2)}}),
            _ => {
                let names = ["report", "backup", "sweep"];
                let schedules = names.iter().filter(|_| any(2) == 0).map(|name| schedule(name));
                json!({"schedules": schedules.collect::<Vec<_>>()})
            }
        }
    }

    fn children() -> Vec<ApiResource> {
        part::kinds().into_iter().filter(|kind| kind.kind != "PriorityClass").collect()
    }
}

/// Another value of a field that the operator owns, as a JSON patch; `None` where it owns none that may be changed.
pub(super) fn drift(kind: &str, object: &Value, number: u64) -> Option<Value> {
    let replace = |path: &str, value: Value| json!([{"op": "replace", "path": path, "value": value}]);
    Some(match kind {
        "ConfigMap" => {
            let key = object["data"].as_object()?.keys().next()?.replace('~', "~0").replace('/', "~1");
            replace(&format!("/data/{key}"), format!("drift {number}").into())
        }
        "Deployment" | "StatefulSet" => replace("/spec/replicas", (5 + number % 3).into()),
        "Service" => replace("/spec/ports/0/port", (9000 + number).into()),
        "CronJob" => replace("/spec/schedule", format!("{} 3 * * *", number % 60).into()),
        "Ingress" => replace("/spec/rules/0/host", format!("drift-{number}.example.com").into()),
        "Role" => replace("/rules/0/verbs", json!(["get"])),
        _ => return None,
    })
}
