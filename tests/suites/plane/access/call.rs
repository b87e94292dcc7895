//! Each class of calls, by an operator that has nothing but its generated role.

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Pod, ResourceQuota},
    networking::v1::Ingress,
};
use libtest_mimic::Trial;
use opgen_tests::{Plane, case, wait::until_object};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::clerk::{Clerk, Task, TaskSpec};
use crate::operator::{kinds::available, site::Site};

type Asked = (&'static str, &'static str, &'static str);

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        row(
            "objects",
            &[
                ("create", "configmaps", ""),
                ("update", "configmaps", ""),
                ("patch", "configmaps", ""),
                ("list", "configmaps", ""),
                ("get", "configmaps", ""),
                ("delete", "configmaps", ""),
                ("deletecollection", "configmaps", ""),
            ],
        ),
        row("named", &[("patch", "secrets", ""), ("get", "secrets", ""), ("delete", "secrets", "")]),
        row("elsewhere", &[("patch", "limitranges", ""), ("get", "limitranges", ""), ("delete", "limitranges", "")]),
        row(
            "status",
            &[("patch", "ingresses", "status"), ("get", "ingresses", "status"), ("update", "ingresses", "status")],
        ),
        row(
            "scale",
            &[("patch", "deployments", "scale"), ("get", "deployments", "scale"), ("update", "deployments", "scale")],
        ),
        row(
            "parts",
            &[
                ("create", "serviceaccounts", "token"),
                ("get", "pods", "log"),
                ("patch", "pods", "ephemeralcontainers"),
                ("get", "pods", "ephemeralcontainers"),
                ("create", "pods", "eviction"),
            ],
        ),
        row(
            "dynamic",
            &[
                ("create", "leases", ""),
                ("update", "leases", ""),
                ("patch", "leases", ""),
                ("get", "leases", ""),
                ("list", "leases", ""),
                ("delete", "leases", ""),
            ],
        ),
        row("path", &[]),
        row("raw", &[("list", "resourcequotas", "")]),
        refused("not named", "add `Secret(\"other\"): get` to its `access(...)`"),
        refused("another path", "add `\"/openapi/v2\": get` to `access(...)`"),
    ]
}

/// Work that is done with these requests, all of them allowed.
fn row(what: &'static str, requests: &'static [Asked]) -> Trial {
    let name = format!("calls_of_a_hand_written_node_are_allowed_by_its_declaration_{}", what.replace(' ', "_"));
    case(&name, async move |plane| {
        let site = works(&plane, what, "Provisioned", "").await;
        let asked = site.asked().await;
        assert!(asked.denied().is_empty(), "{}", asked.denied());
        for (verb, resource, part) in requests {
            let made = asked.verb(verb).resource(resource).subresource(part).with(|entry| entry.code < 300);
            assert!(!made.is_empty(), "no {verb} of {resource}/{part} in\n{asked}");
        }
    })
}

/// Work beyond the declaration, which nobody asks the server for.
fn refused(what: &'static str, sentence: &'static str) -> Trial {
    let name = format!("calls_beyond_a_declaration_are_never_made_{}", what.replace(' ', "_"));
    case(&name, async move |plane| {
        let site = works(&plane, what, "NotDeclared", sentence).await;
        let asked = site.asked().await;
        assert!(asked.resource("secrets").is_empty() && asked.denied().is_empty(), "{asked}");
    })
}

/// Lets the clerk work until it says how it went.
async fn works(plane: &Arc<Plane>, what: &str, reason: &str, part: &str) -> Site {
    let site = Site::new(plane).await;
    site.create(&object::<Deployment>(json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "example.com/web:1"}]},
            },
        },
    })))
    .await;
    let backend = json!({"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}});
    site.create(&object::<Ingress>(json!({"metadata": {"name": "web"}, "spec": backend}))).await;
    // No scheduler puts it anywhere.
    let spec = json!({"schedulerName": "nobody", "containers": [{"name": "web", "image": "example.com/web:1"}]});
    for name in ["web", "old"] {
        site.create(&object::<Pod>(json!({"metadata": {"name": name}, "spec": spec}))).await;
    }
    site.create(&object::<ResourceQuota>(json!({"metadata": {"name": "roomy"}}))).await;
    let running = site.start(&site.operator().controls::<Task, Clerk>()).await;
    site.create(&Task::new("task", TaskSpec { what: what.to_owned() })).await;
    let says = |task: &Task| {
        available(task.status.as_ref()).is_some_and(|(_, why, text)| why == reason && text.contains(part))
    };
    until_object(&site.api::<Task>(), "task", &format!("says {reason}"), says).await;
    drop(running);
    site
}

fn object<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}
