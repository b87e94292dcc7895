//! Injects faults into operators with webhooks: a hand-written one with bugs that only faults of webhooks show, and an opgen operator whose
//! webhooks convert and validate its kind, and set defaults of its children.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, unreachable_pub)]

mod garden;

use garden::{Bug, gardener_with};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use opgen::{
    Operator,
    prelude::*,
    webhook::{Admission, Denied, FailurePolicy},
};
use opgen_testing::{Check, trial};
use serde_json::json;

#[opgen::versions(v1beta1, v1)]
mod kinds {
    use kube::CustomResource;
    use opgen::Managed;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    #[kube(group = "webhook.example.com", kind = "Shelf", namespaced, status = "opgen::Status")]
    #[serde(rename_all = "camelCase")]
    pub struct ShelfSpec {
        #[schemars(range(min = 1, max = 4))]
        #[version(renamed(v1, from = size))]
        pub boards: i32,
    }
}

use kinds::v1::Shelf;

/// The hint about a write that is not retried after a fault of a webhook.
const RETRY_WEBHOOK: &str = "retry a write that fails because the API server can't call a webhook (500), or because a webhook denies it: the webhook may respond, or allow it, the next time";

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shelf)]
pub struct Tree {
    #[provisioner(resource)]
    frame: ConfigMap,
    #[provisioner(resource)]
    boards: Vec<ConfigMap>,
}

impl Tree {
    fn frame(draft: &Draft<'_, Shelf>) -> ConfigMap {
        config(format!("{}-frame", draft.name_any()))
    }

    fn boards(draft: &Draft<'_, Shelf>) -> Vec<ConfigMap> {
        (0..draft.spec.boards).map(|board| config(format!("{}-board-{board}", draft.name_any()))).collect()
    }
}

fn config(name: String) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name), ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some([("wood".to_owned(), "oak".to_owned())].into()), ..ConfigMap::default() }
}

fn check_boards(request: &Admission<Shelf>) -> Result<(), Denied> {
    if request.object().spec.boards == 4 {
        return Err(Denied::invalid("spec.boards", "must not be 4"));
    }
    Ok(())
}

fn set_polish(_: &Admission<ConfigMap>, config: &mut ConfigMap) -> Result<(), Denied> {
    config.data.get_or_insert_default().entry("polish".to_owned()).or_insert_with(|| "wax".to_owned());
    Ok(())
}

fn operator(policy: FailurePolicy) -> Operator {
    let operator = Operator::new("shelf").controls::<Shelf, Tree>().validates(check_boards);
    operator.defaults_with(set_polish, |webhook| webhook.failure_policy(policy))
}

/// The sample has the version that is not stored: its creation needs a conversion. Without a mutating webhook whose failures the
/// server ignores, objects have other contents: it has no faults.
#[test]
fn an_operator_with_webhooks_lives_through_their_faults() {
    let sample = json!({
        "apiVersion": "webhook.example.com/v1beta1", "kind": "Shelf",
        "metadata": {"name": "shelf", "namespace": "default"}, "spec": {"size": 2},
    });
    for policy in [FailurePolicy::Fail, FailurePolicy::Ignore] {
        let report = trial(move || operator(policy)).sample(&sample).only([Check::Webhooks]).run();
        assert!(report.is_clean(), "{report}");
        assert!(report.steps.iter().any(|step| step.check == Check::Webhooks && step.runs > 60), "{report}");
    }
}

#[test]
fn a_swallowed_failure_of_a_webhook_call_is_found() {
    gardener_with(Bug::SwallowedWebhookFailure)
        .that_validates()
        .found_only_by(Check::Webhooks)
        .found_by(Check::Webhooks)
        .with_problem("the final state differs from that of an undisturbed run")
        .with_difference("- ConfigMap default/home-s")
        .with_hint(RETRY_WEBHOOK);
}

#[test]
fn a_write_that_is_given_up_after_a_denial_is_found() {
    gardener_with(Bug::FinalDenial)
        .that_validates()
        .found_by(Check::Webhooks)
        .with_problem("the final state differs from that of an undisturbed run")
        .with_hint(RETRY_WEBHOOK);
}

#[test]
fn only_a_program_with_webhooks_has_faults_of_webhooks() {
    gardener_with(Bug::None).has_no_runs_of(Check::Webhooks);
    gardener_with(Bug::None).that_validates().finds_nothing(Check::Webhooks);
    gardener_with(Bug::None).that_validates().upgraded_from(Bug::None).finds_nothing(Check::Webhooks);
}
