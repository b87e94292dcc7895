//! Applications of operators that can't deploy them.

use std::sync::Arc;

use kube::CustomResource;
use libtest_mimic::Trial;
use opgen::{
    cd::{Application, ArgoCd},
    prelude::*,
};
use opgen_tests::{Plane, case, wait::until_object};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{kinds::available, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("applications_in_a_namespace_that_is_not_watched_are_reported", not_watched)]
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Platform", namespaced, status = "Status")]
struct PlatformSpec {}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Platform)]
struct PlatformTree {
    #[provisioner(application(ArgoCd))]
    web: Application,
}

impl PlatformTree {
    fn web(_: &Platform) -> Application {
        Application::chart("https://charts.example.com", "web", "1.0.0")
    }
}

/// An operator of one namespace has no permission in that of Argo CD, and its cache has nothing from there.
async fn not_watched(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Platform, PlatformTree>();
    let _running = site.start(&operator).await;
    site.create(&Platform::new("one", PlatformSpec {})).await;
    let problem = "application web: the operator does not watch namespace argocd, where its Application is";
    until_object(&site.api::<Platform>(), "one", "says what is wrong", |platform| {
        available(platform.status.as_ref()).is_some_and(|(truth, reason, message)| {
            truth == "False" && reason == "InvalidApplication" && message == problem
        })
    })
    .await;
    site.delete::<Platform>("one").await;
    opgen_tests::wait::until_gone(&site.api::<Platform>(), "one").await;
}
