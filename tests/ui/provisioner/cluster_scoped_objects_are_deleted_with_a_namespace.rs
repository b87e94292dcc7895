use k8s_openapi::api::{core::v1::Namespace, scheduling::v1::PriorityClass};
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(resource, deleted_with(namespace))]
    classes: Vec<PriorityClass>,
}

impl Tree {
    fn namespace(_: &WebApp) -> Namespace {
        Namespace::default()
    }

    fn classes(_: &WebApp) -> Vec<PriorityClass> {
        Vec::new()
    }
}

fn main() {}
