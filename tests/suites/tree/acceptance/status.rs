//! What provisioners set in the status, however the pass ends (unikorn R6, §9.5).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use opgen::{
    prelude::*,
    testing::{Answer, Recorder, TreeHarness},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A client of an identity provider.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "acceptance.opgen.dev", version = "v1", kind = "LoginClient", namespaced, status = "LoginClientStatus")]
struct LoginClientSpec {}

/// What became of it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(rename_all = "camelCase")]
struct LoginClientStatus {
    /// Generated once.
    number: Option<String>,
    passes: Option<i64>,
    #[serde(flatten)]
    standard: Status,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = LoginClient)]
struct Tree {
    number: Number,
    health: Health,
    client: Recorder,
}

/// Sets a field once, and another in every pass.
#[derive(Provisioner)]
#[provisioner(access())]
struct Number;

impl Provision<LoginClient> for Number {
    async fn provision(cx: &Context<'_, LoginClient, Self>) -> Result<()> {
        cx.status(|status| {
            let passes = status.passes.unwrap_or_default() + 1;
            status.number.get_or_insert_with(|| format!("drawn in pass {passes}"));
            status.passes = Some(passes);
        });
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, LoginClient, Self>) -> Result<()> {
        Ok(())
    }
}

/// A condition beside those of the loop.
#[derive(Provisioner)]
#[provisioner(access())]
struct Health;

impl Provision<LoginClient> for Health {
    async fn provision(cx: &Context<'_, LoginClient, Self>) -> Result<()> {
        let condition = Condition {
            type_: "Healthy".to_owned(),
            status: "True".to_owned(),
            reason: "Healthy".to_owned(),
            message: String::new(),
            observed_generation: None,
            last_transition_time: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(cx.now()),
        };
        cx.status(|status| {
            let conditions = &mut status.standard.conditions;
            if !conditions.iter().any(|held| held.type_ == "Healthy") {
                conditions.push(condition);
            }
        });
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, LoginClient, Self>) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn group_case9_fields_and_conditions_survive_success_yield_and_failure() {
    let rehearsal = TreeHarness::<LoginClient, Tree>::new(LoginClient::new("web", LoginClientSpec {}));
    let mut begun = None;
    for (pass, answer) in [Answer::Fail, Answer::Yield, Answer::Ok, Answer::Terminal].into_iter().enumerate() {
        rehearsal.answer("client", answer);
        assert_eq!(rehearsal.up().await.is_ok(), answer == Answer::Ok);
        let status = rehearsal.status().unwrap();
        assert_eq!(status.number.as_deref(), Some("drawn in pass 1"), "{answer:?}");
        assert_eq!(status.passes, Some(pass as i64 + 1), "{answer:?}");
        let [healthy] = &status.standard.conditions[..] else { panic!("{status:?}") };
        assert_eq!(healthy.type_, "Healthy");
        assert_eq!(*begun.get_or_insert(healthy.last_transition_time.clone()), healthy.last_transition_time);
    }
    rehearsal.answer("client", Answer::Ok);
    assert!(rehearsal.down().await.is_ok());
    assert_eq!(rehearsal.status().unwrap().passes, Some(4), "the way down leaves it as it is");
}
