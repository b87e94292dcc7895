//! What a hand-written node is limited to, as far as no compiler can tell.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod, Secret, ServiceAccount},
};
use opgen::{Subresource, access::subresource::Token, prelude::*, testing::TreeHarness};
use serde_json::{Value, json};

use super::kind::{App, Pool, app};

/// Makes the call that the first pool names.
#[derive(Provisioner)]
#[provisioner(access(
    Secret("tls"): get;
    Secret in "vault": get, list;
    ConfigMap("settings"): apply;
    ServiceAccount("web")/token: create;
    "/metrics": get;
    "/healthz/*": get;
))]
struct Caller;

impl Provision<App> for Caller {
    async fn provision(cx: &Context<'_, App, Self>) -> Result<()> {
        let Pool { name, .. } = &cx.object().spec.pools[0];
        let vault = cx.in_namespace("vault");
        match name.as_str() {
            "named" => drop(cx.get::<Secret>("tls").await?),
            "not named" => drop(cx.get::<Secret>("other").await?),
            "in the vault" => drop(vault.get::<Secret>("other").await?),
            "list in the vault" => drop(vault.list::<Secret>("").await?),
            "list" => drop(cx.list::<Secret>("").await?),
            "elsewhere" => drop(cx.in_namespace("attic").get::<Secret>("other").await?),
            "apply" => drop(cx.apply(&config("settings")).await?),
            "apply another" => drop(cx.apply(&config("another")).await?),
            "token" => drop(cx.subresource::<ServiceAccount, Token>("web").create(&Default::default()).await?),
            "token of another" => drop(cx.subresource::<ServiceAccount, Token>("a").create(&Default::default()).await?),
            "path" => drop(cx.get_path("/metrics?a=b").await?),
            "path below" => drop(cx.get_path("/healthz/etcd").await?),
            "another path" => drop(cx.get_path("/metrics/slis").await?),
            other => panic!("{other}"),
        }
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, App, Self>) -> Result<()> {
        Ok(())
    }
}

fn config(name: &str) -> ConfigMap {
    let mut config = ConfigMap::default();
    config.metadata.name = Some(name.to_owned());
    config
}

async fn outcome(call: &str) -> Error {
    TreeHarness::<App, Caller>::new(app(&[call])).up().await.unwrap_err()
}

#[tokio::test]
async fn a_call_within_its_limits_is_made() {
    let calls = ["named", "in the vault", "list in the vault", "apply", "token", "path", "path below"];
    for call in calls {
        let error = outcome(call).await;
        assert!(matches!(&error, Error::Unexpected(_)), "{call}: {error}");
        assert!(error.to_string().contains("there is no API server"), "{call}: {error}");
    }
}

#[tokio::test]
async fn a_call_beyond_its_limits_is_terminal_and_says_what_to_add() {
    let calls = [
        ("not named", "`Secret(\"other\"): get`"),
        ("elsewhere", "`Secret(\"other\") in \"attic\": get`"),
        ("list", "`Secret: list`"),
        ("apply another", "`ConfigMap(\"another\"): create`"),
        ("token of another", "`ServiceAccount(\"a\")/token: create`"),
        ("another path", "`\"/metrics/slis\": get`"),
    ];
    for (call, entry) in calls {
        let error = outcome(call).await;
        assert!(matches!(&error, Error::Terminal { reason, .. } if reason == "NotDeclared"), "{call}: {error}");
        assert!(error.to_string().contains(&format!("add {entry}")), "{call}: {error}");
    }
}

#[tokio::test]
async fn a_replacement_of_what_was_never_read_is_terminal() {
    #[derive(Provisioner)]
    #[provisioner(access(ConfigMap: update))]
    struct Replacer;

    impl Provision<App> for Replacer {
        async fn provision(cx: &Context<'_, App, Self>) -> Result<()> {
            cx.update(&config("settings")).await.map(drop)
        }

        async fn deprovision(_: &Teardown<'_, App, Self>) -> Result<()> {
            Ok(())
        }
    }

    let error = TreeHarness::<App, Replacer>::new(app(&[])).up().await.unwrap_err();
    assert!(matches!(&error, Error::Terminal { reason, .. } if reason == "NoVersion"), "{error}");
}

/// A subresource of a kind that has more than Kubernetes knows of.
struct Pause;

impl Subresource for Pause {
    const NAME: &'static str = "pause";
    type Body = Value;
    type Response = Value;
}

/// Declares what the compiler says to add where `subresources_are_not_declared.rs` declares too little, word for word.
#[derive(Provisioner)]
#[provisioner(access(
    Deployment/status: get;
    Deployment/status: patch;
    Deployment/status: update;
    Deployment/scale: get;
    Deployment/scale: patch;
    Deployment/scale: update;
    Pod/opgen::access::subresource::Log: get;
    Pod/opgen::access::subresource::Resize: get;
    Pod/opgen::access::subresource::Resize: patch;
    ServiceAccount/Token: create;
    Deployment/Pause: update;
))]
struct Advised;

impl Provision<App> for Advised {
    async fn provision(cx: &Context<'_, App, Self>) -> Result<()> {
        let deployment: Deployment = cx.get_status("web").await?;
        cx.patch_status::<Deployment>("web", &json!({})).await?;
        cx.update_status(&deployment).await?;
        let scale = cx.get_scale::<Deployment>("web").await?;
        cx.patch_scale::<Deployment>("web", 3).await?;
        cx.update_scale::<Deployment>(&scale).await?;
        cx.subresource::<Pod, opgen::access::subresource::Log>("web-0").text().await?;
        cx.subresource::<Pod, opgen::access::subresource::Resize>("web-0").get().await?;
        cx.subresource::<Pod, opgen::access::subresource::Resize>("web-0").patch(&json!({})).await?;
        cx.subresource::<ServiceAccount, Token>("web").create(&Default::default()).await?;
        cx.subresource::<Deployment, Pause>("web").update(&json!({})).await?;
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, App, Self>) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn what_the_compiler_says_to_add_is_what_compiles() {
    let messages = include_str!("../../ui/provisioner/subresources_are_not_declared.stderr");
    let entries: Vec<_> = messages.split("add `").skip(1).filter_map(|rest| rest.split('`').next()).collect();
    assert_eq!(entries.len(), 11, "{entries:?}");
    for entry in entries {
        assert!(include_str!("access.rs").contains(&format!("\n    {entry};\n")), "`{entry}` is not tried here");
    }
    let error = TreeHarness::<App, Advised>::new(app(&[])).up().await.unwrap_err();
    assert!(error.to_string().contains("there is no API server"), "{error}");
}
