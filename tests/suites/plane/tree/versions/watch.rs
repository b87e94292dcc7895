//! The watches of a kind that an operator uses in two versions.

use std::sync::Arc;

use k8s_openapi::api::autoscaling::{v1 as autoscaling_v1, v2 as autoscaling_v2};
use kube::api::ObjectMeta;
use opgen::{Enqueue, Operator, prelude::*};
use opgen_tests::{Plane, wait::until_object};

use super::{AUTOSCALERS, is_done, scaler, spoken_versions};
use crate::{
    operator::{
        kinds::{Note, NoteSpec},
        site::Site,
    },
    tree::kinds::{Shop, ShopSpec, done, named, shop},
};

/// A tree of notes with an autoscaler in the first version; nobody reads it.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct OldNote {
    #[provisioner(resource)]
    scaler: autoscaling_v1::HorizontalPodAutoscaler,
}

impl OldNote {
    fn scaler(note: &Note) -> autoscaling_v1::HorizontalPodAutoscaler {
        autoscaling_v1::HorizontalPodAutoscaler { metadata: named(&note.name_any()), ..scaler(note.spec.pause) }
    }
}

/// A tree of shops with an autoscaler in the second version; nobody reads it.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct NewShop {
    #[provisioner(resource)]
    scaler: autoscaling_v2::HorizontalPodAutoscaler,
}

impl NewShop {
    fn scaler(shop: &Shop) -> autoscaling_v2::HorizontalPodAutoscaler {
        scaler(shop.spec.extra)
    }
}

fn nobody<K>(_: &K) -> Option<opgen::NamespacedName> {
    None
}

pub(super) async fn shared(plane: Arc<Plane>) {
    let watches = async |operator: fn(&Site) -> Operator| {
        let site = Site::new(&plane).await;
        let _running = site.start(&operator(&site)).await;
        site.create(&shop(ShopSpec::default())).await;
        site.create(&Note::new("note", NoteSpec { pause: false, text: "a".to_owned() })).await;
        done(&site).await;
        let is_done = |note: &Note| is_done(&note.metadata, note.status.as_ref());
        until_object(&site.api::<Note>(), "note", "is done", is_done).await;
        let asked = site.settled().await;
        assert!(asked.denied().is_empty(), "{}", asked.denied());
        let asked = asked.resource(AUTOSCALERS);
        (asked.verb("list").len(), asked.verb("watch").len(), spoken_versions(&asked.writes()).len())
    };
    // Children of two trees, each written in the version of its tree.
    let children = watches(|site| site.operator().controls::<Note, OldNote>().controls::<Shop, NewShop>());
    assert_eq!(children.await, (1, 1, 2));
    // Mapped kinds have a watch beside that of the children, which is selected by label. Metadata has no version.
    let mapped = watches(|site| {
        let operator = site.operator();
        let operator = operator.controls_with::<Note, OldNote>(|c| {
            c.watches(Enqueue::<autoscaling_v1::HorizontalPodAutoscaler>::map_metadata(nobody::<ObjectMeta>))
        });
        operator.controls_with::<Shop, NewShop>(|c| {
            c.watches(Enqueue::<autoscaling_v2::HorizontalPodAutoscaler>::map(nobody))
        })
    });
    assert_eq!(mapped.await, (2, 2, 2));
    // Two types need two versions.
    let decoded = watches(|site| {
        let operator = site.operator();
        let operator = operator.controls_with::<Note, OldNote>(|c| {
            c.watches(Enqueue::<autoscaling_v1::HorizontalPodAutoscaler>::map(nobody))
        });
        operator.controls_with::<Shop, NewShop>(|c| {
            c.watches(Enqueue::<autoscaling_v2::HorizontalPodAutoscaler>::map(nobody))
        })
    });
    assert_eq!(decoded.await, (3, 3, 2));
}
