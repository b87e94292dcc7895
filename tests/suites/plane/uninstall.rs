//! An operator goes: by its own command, or with its namespace.

mod installation;
mod program;

use std::{collections::BTreeSet, sync::Arc};

use kube::{Api, ResourceExt as _, api::PostParams};
use libtest_mimic::Trial;
use opgen_tests::{Options, Plane, case_on, wait};
use webapp_api::WebApp;

use installation::{DEFINITION, FINALIZER, Installation, app};
use program::uninstall;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_on("an_operator_that_went_with_its_namespace_holds_nobody_up", Options::served(), with_its_namespace),
        case_on("uninstall_takes_everything_out_and_asks_about_objects_first", Options::served(), by_command),
    ]
}

async fn with_its_namespace(plane: Arc<Plane>) {
    let installation = Installation::new(plane).await;
    let running = installation.operate().await;
    installation.create(&["before"]).await;
    running.stop().await;
    installation.delete_home().await;
    installation.until_new_apps_are_claimed(false).await;

    let apps = &installation.apps;
    let made = apps.create(&PostParams::default(), &app("after")).await.unwrap();
    assert!(made.finalizers().is_empty(), "{:?}", made.finalizers());
    apps.delete("after", &Default::default()).await.unwrap();
    wait::until_gone(apps, "after").await;

    // What is left of it can still be taken out, and lets the older objects go.
    uninstall(&installation.access, &["--objects", "keep"]).await.succeeded();
    assert_eq!(installation.remains().await, BTreeSet::from([DEFINITION.to_owned()]));
    apps.delete("before", &Default::default()).await.unwrap();
    wait::until_gone(apps, "before").await;
}

async fn by_command(plane: Arc<Plane>) {
    let installation = Installation::new(plane).await;
    let running = installation.operate().await;
    installation.create(&["one", "two", "three"]).await;
    it_refuses_while_there_are_objects(&installation).await;
    it_shows_what_it_would_do(&installation).await;
    it_deletes_objects(&installation).await;
    running.stop().await;

    installation.install().await;
    let running = installation.operate().await;
    installation.create(&["one", "two"]).await;
    running.stop().await;
    it_keeps_objects(&installation).await;
    let said = uninstall(&installation.access, &["--objects", "delete"]).await.succeeded();
    assert_eq!(said.lines().filter(|line| line.starts_with("deleted WebApp ")).count(), 2, "{said}");
    nothing_remains(&installation).await;
}

async fn it_refuses_while_there_are_objects(installation: &Installation) {
    for arguments in [&[][..], &["--objects", "refuse"], &["--dry-run"]] {
        let said = unchanged(installation, arguments).await;
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
        assert!(said.error.starts_with("error: 3 objects of kind WebApp still exist\n"), "{}", said.error);
        assert!(said.error.contains("\n\nhint: `--objects delete`"), "{}", said.error);
    }
}

async fn it_shows_what_it_would_do(installation: &Installation) {
    let deletes = unchanged(installation, &["--dry-run", "--objects", "delete"]).await.succeeded();
    let keeps = unchanged(installation, &["--dry-run", "--objects", "keep"]).await.succeeded();
    let namespace = &installation.namespace;
    for name in ["one", "two", "three"] {
        assert!(deletes.contains(&format!("would delete WebApp {namespace}/{name}\n")), "{deletes}");
        assert!(keeps.contains(&format!("would release WebApp {namespace}/{name}\n")), "{keeps}");
    }
    let would = |text: &str| text.lines().filter(|line| line.starts_with("would delete ")).count();
    let installed = Installation::objects().len();
    assert_eq!((would(&deletes), would(&keeps)), (installed + 3, installed - 1), "{deletes}{keeps}");
}

async fn it_deletes_objects(installation: &Installation) {
    uninstall(&installation.access, &["--objects", "delete"]).await.succeeded();
    assert_eq!(installation.children(), "");
    nothing_remains(installation).await;
    assert_eq!(uninstall(&installation.access, &["--objects", "delete"]).await.succeeded(), "");
    assert_eq!(uninstall(&installation.access, &[]).await.succeeded(), "");
}

async fn it_keeps_objects(installation: &Installation) {
    let Installation { access, apps, plane, namespace, .. } = installation;
    uninstall(access, &["--objects", "keep"]).await.succeeded();
    assert_eq!(installation.remains().await, BTreeSet::from([DEFINITION.to_owned()]));
    for app in apps.list(&Default::default()).await.unwrap() {
        assert!(!app.finalizers().iter().any(|finalizer| finalizer == FINALIZER), "{:?}", app.finalizers());
        let configs = Api::<k8s_openapi::api::core::v1::ConfigMap>::namespaced(plane.client(), namespace);
        assert!(configs.get_opt(&app.name_any()).await.unwrap().is_some(), "its ConfigMap is gone");
    }
    assert_eq!(uninstall(access, &["--objects", "keep"]).await.succeeded(), "");
    let refused = unchanged(installation, &[]).await;
    assert!(refused.error.starts_with("error: 2 objects of kind WebApp still exist\n"), "{}", refused.error);
}

async fn nothing_remains(installation: &Installation) {
    assert_eq!(installation.remains().await, BTreeSet::new());
    let apps = Api::<WebApp>::all(installation.plane.client());
    let listed = apps.list(&Default::default()).await;
    assert!(matches!(&listed, Err(kube::Error::Api(refusal)) if refusal.code == 404), "{listed:?}");
}

/// Runs it; it must not write.
async fn unchanged(installation: &Installation, arguments: &[&str]) -> program::Said {
    let earlier = installation.plane.audit().await;
    let said = uninstall(&installation.access, arguments).await;
    let asked = installation.plane.audit().await.since(&earlier).by_user(installation.access.user());
    assert!(!asked.is_empty() && asked.writes().is_empty(), "{arguments:?}:\n{asked}");
    said
}
