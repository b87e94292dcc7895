//! What a hand-written node is limited to, as far as no compiler can tell.

use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use opgen::{part, prelude::*, testing::Trial};

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
            "token" => drop(cx.part::<ServiceAccount, part::Token>("web").create(&Default::default()).await?),
            "token of another" => drop(cx.part::<ServiceAccount, part::Token>("a").create(&Default::default()).await?),
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
    Trial::<App, Caller>::new(app(&[call])).up().await.unwrap_err()
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

    let error = Trial::<App, Replacer>::new(app(&[])).up().await.unwrap_err();
    assert!(matches!(&error, Error::Terminal { reason, .. } if reason == "NoVersion"), "{error}");
}
