//! References across namespaces: refused, or allowed by the object that is named.

use std::sync::Arc;

use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen::{NamespacedName, Operator, RunOptions, reference::ALLOW_FROM};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::kinds::{Desk, DeskTree, Net, NetSpec, NetTree, desk, says};
use crate::operator::{
    install,
    site::{Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("reference_to_another_namespace_is_refused_unless_the_field_takes_grants", refused),
        case("reference_to_another_namespace_needs_the_annotation_of_the_object_and_ends_with_it", allowed),
    ]
}

/// Of the objects of all namespaces, those of one case.
struct Scene {
    site: Site,
    operator: Operator,
    nets: Api<Net>,
    elsewhere: String,
    label: String,
}

impl Scene {
    async fn new(plane: &Arc<Plane>) -> Self {
        let site = Site::new(plane).await;
        let (elsewhere, label) = (plane.namespace("elsewhere").await, site.namespace.clone());
        let ours = || [("case".to_owned(), label.clone())];
        let operator = Operator::new("allow")
            .namespace(&site.namespace)
            .controls_with::<Desk, DeskTree>(|c| c.labels(ours()))
            .controls_with::<Net, NetTree>(|c| c.labels(ours()));
        install::definitions(plane, &operator).await;
        let nets = Api::namespaced(plane.client(), &elsewhere);
        Self { site, operator, nets, elsewhere, label }
    }

    fn run(&self) -> Running {
        Site::run_with(&self.operator, self.site.plane.client(), RunOptions::default())
    }

    /// A net that its own namespace has made, and a desk here.
    async fn net(&self) {
        let mut blue = Net::new("blue", NetSpec { up: true });
        blue.metadata.labels = Some([("case".to_owned(), self.label.clone())].into());
        self.nets.create(&PostParams::default(), &blue).await.unwrap();
    }

    async fn desk(&self, change: impl FnOnce(&mut Desk)) {
        let mut desk = desk("a", "");
        desk.metadata.labels = Some([("case".to_owned(), self.label.clone())].into());
        change(&mut desk);
        self.site.create(&desk).await;
    }

    fn blue(&self) -> NamespacedName {
        NamespacedName::in_namespace(&self.elsewhere, "blue")
    }

    async fn allow(&self, from: Option<&str>) {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {ALLOW_FROM: from}}}));
        self.nets.patch("blue", &PatchParams::default(), &patch).await.unwrap();
    }

    async fn is_held(&self, held: bool) {
        let fits = move |net: &Net| net.finalizers().iter().any(|finalizer| finalizer.contains("/reference_")) == held;
        until_object(&self.nets, "blue", if held { "is referenced" } else { "is not referenced" }, fits).await;
    }
}

async fn refused(plane: Arc<Plane>) {
    let scene = Scene::new(&plane).await;
    let running = scene.run();
    scene.net().await;
    scene.allow(Some("*")).await;
    scene.desk(|desk| desk.spec.others = vec![scene.blue()]).await;
    let said = says(&scene.site, "a", "ReferenceAcrossNamespaces").await;
    let place = &scene.elsewhere;
    let expected =
        format!("spec.others: Net {place}/blue is in another namespace; reference an object of the same namespace");
    assert_eq!(said, expected);
    scene.is_held(false).await;

    // A reference of an earlier release goes.
    drop(running);
    let reference = format!("desks.reference.example.com/reference_{}_a", scene.site.namespace);
    let own = scene.nets.get("blue").await.unwrap().finalizers().to_vec();
    let all = own.into_iter().chain([reference]).collect::<Vec<_>>();
    let patch = Patch::Merge(json!({"metadata": {"finalizers": all}}));
    scene.nets.patch("blue", &PatchParams::default(), &patch).await.unwrap();
    let _running = scene.run();
    scene.is_held(false).await;
    scene.site.patch::<Desk>("a", &json!({"spec": {"others": []}})).await;
    says(&scene.site, "a", "Provisioned").await;
    scene.site.delete::<Desk>("a").await;
    until_gone(&scene.site.api::<Desk>(), "a").await;
}

async fn allowed(plane: Arc<Plane>) {
    let scene = Scene::new(&plane).await;
    let _running = scene.run();
    scene.desk(|desk| desk.spec.shared = Some(scene.blue())).await;
    // Whether there is such a net is not told.
    let missing = says(&scene.site, "a", "ReferenceNotAllowed").await;
    let (here, there) = (&scene.site.namespace, &scene.elsewhere);
    let expected = format!(
        "spec.shared: Net {there}/blue can't be referenced from namespace {here}; its owner can allow it with the annotation \
         {ALLOW_FROM}"
    );
    assert_eq!(missing, expected);
    scene.net().await;
    assert_eq!(says(&scene.site, "a", "ReferenceNotAllowed").await, expected);
    let asked = tokio::time::Instant::now();
    scene.allow(Some(&format!("nobody, {here}"))).await;
    says(&scene.site, "a", "Provisioned").await;
    assert!(asked.elapsed() < opgen::controller::DEFAULT_REQUEUE, "it was polled, not woken");
    scene.is_held(true).await;

    // The owner of the net takes the word back: nothing keeps it.
    scene.allow(None).await;
    says(&scene.site, "a", "ReferenceNotAllowed").await;
    scene.is_held(false).await;
    scene.allow(Some(here)).await;
    says(&scene.site, "a", "Provisioned").await;
    scene.is_held(true).await;
    scene.site.delete::<Desk>("a").await;
    until_gone(&scene.site.api::<Desk>(), "a").await;
    scene.is_held(false).await;
}
