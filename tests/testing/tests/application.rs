//! Trials of an opgen operator whose tree deploys applications with Argo CD and Flux.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

use kube::CustomResource;
use opgen::{
    Operator,
    cd::{Application, ArgoCd, flux},
    prelude::*,
};
use opgen_testing::{Check, trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "platform.example.com", version = "v1", kind = "Stack", namespaced, status = "Status")]
pub struct StackSpec {
    /// The version of the database.
    #[schemars(length(min = 1))]
    database: String,
    #[serde(default)]
    #[managed(allow(bool))]
    monitored: bool,
    /// The chart of the web server.
    #[schemars(length(min = 1))]
    web: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Stack)]
pub struct Tree {
    #[provisioner(application(ArgoCd))]
    database: Application,
    #[provisioner(application(flux::HelmCharts))]
    web: Application,
    #[provisioner(application(ArgoCd), when = |stack| stack.spec.monitored)]
    monitoring: Application,
}

const CHARTS: &str = "https://charts.example.com";

impl Tree {
    fn database(stack: &Stack) -> Application {
        Application::chart(CHARTS, "database", format!("v{}", stack.spec.database)).parameter("storage", "10Gi")
    }

    fn web(stack: &Stack) -> Application {
        // Another chart is another application, with the same release.
        let web = Application::chart(CHARTS, &stack.spec.web, "1.0.0").name(&stack.spec.web);
        web.release(format!("{}-web", stack.name_any())).values(json!({"database": stack.name_any()}))
    }

    fn monitoring(_: &Stack) -> Application {
        Application::chart(CHARTS, "monitoring", "2.0.0")
    }
}

fn stack(name: &str, web: &str) -> Stack {
    Stack::new(name, StackSpec { database: "1".to_owned(), monitored: true, web: web.to_owned() })
}

fn operator() -> Operator {
    Operator::new("stacks").controls::<Stack, Tree>()
}

#[test]
fn applications_are_deployed_changed_and_removed_whatever_fails() {
    let report = trial(operator).sample(&stack("one", "nginx")).seeds(0..9).pairs(8).run();
    assert!(report.is_clean(), "{report}");
}

#[test]
fn applications_of_two_owners_are_independent() {
    let both = trial(operator).sample(&stack("one", "nginx")).sample(&stack("two", "caddy"));
    let report = both.only([Check::Isolation]).run();
    assert!(report.is_clean(), "{report}");
}

#[test]
fn an_application_that_stays_degraded_is_a_finding_with_the_reason_of_the_cd_system() {
    let report = trial(operator).sample(&stack("one", "degraded")).only([Check::Edit]).run();
    let text = report.to_string();
    assert!(!report.is_clean() && text.contains("it is not Ready (InstallFailed)"), "{text}");
}
