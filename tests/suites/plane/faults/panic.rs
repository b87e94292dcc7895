//! Provisioners that panic.

use std::time::Duration;

use libtest_mimic::Trial;
use opgen::{Backoff, For};
use opgen_tests::{
    case,
    wait::{self, PATIENCE, until_gone, until_object},
};
use serde_json::json;

use crate::operator::{
    kinds::{Diary, Errand, ErrandSpec, ErrandTree, Outcome, RelayTree, available},
    log,
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("a_panic_in_a_group_is_an_error_of_its_pass_and_of_no_other", async |plane| {
            let (site, diary) = (Site::new(&plane).await, Diary::default());
            let (options, after) = (diary.clone(), Backoff::Fixed(Duration::from_millis(300)));
            let operator = site.operator().controls_with::<For<Errand, Diary>, ErrandTree>(|controller| {
                controller.options(options).backoff(after).workers(2)
            });
            let _running = site.start(&operator).await;
            survives(&site, &diary).await;
        }),
        case("a_panic_at_the_end_of_a_serial_tree_is_an_error_of_its_pass_and_of_no_other", async |plane| {
            let (site, diary) = (Site::new(&plane).await, Diary::default());
            let (options, after) = (diary.clone(), Backoff::Fixed(Duration::from_millis(300)));
            let operator = site.operator().controls_with::<For<Errand, Diary>, RelayTree>(|controller| {
                controller.options(options).backoff(after).workers(2)
            });
            let _running = site.start(&operator).await;
            survives(&site, &diary).await;
        }),
    ]
}

/// More panics than workers; then other work, which is done; then an end to the panics.
async fn survives(site: &Site, diary: &Diary) {
    for number in 0..4 {
        let spec = ErrandSpec { first: Outcome::Panic, ..ErrandSpec::default() };
        site.create(&Errand::new(&format!("mad-{number}"), spec)).await;
    }
    says(site, "mad-0", "Errored").await;
    wait::until("passes that panic come again", PATIENCE, async || {
        let times = diary.times("first mad-0").len();
        if times > 2 { Ok(()) } else { Err(format!("{times} passes")) }
    })
    .await;
    site.create(&Errand::new("sane", ErrandSpec::default())).await;
    says(site, "sane", "Provisioned").await;
    let mad = says(site, "mad-0", "Errored").await;
    let said = available(mad.status.as_ref().map(|status| &status.standard)).unwrap();
    assert_eq!(said, ("False", "Errored", "an unexpected error occurred; see the operator's log"));
    let tried = mad.status.as_ref().and_then(|status| status.tried);
    assert_eq!(tried, Some(Outcome::Panic), "what was set before the panic is written");
    let place = format!("{}/mad-0", site.namespace);
    assert!(!log::lines_with(&["ERROR", &place, "a provisioner panicked: the secret detail"]).is_empty());

    site.patch::<Errand>("mad-0", &json!({"spec": {"first": "Done"}})).await;
    says(site, "mad-0", "Provisioned").await;
    site.patch::<Errand>("mad-1", &json!({"spec": {"undo": "Panic"}})).await;
    for name in ["mad-1", "mad-2"] {
        site.delete::<Errand>(name).await;
    }
    until_gone(&site.api::<Errand>(), "mad-2").await;
    site.patch::<Errand>("mad-1", &json!({"spec": {"undo": "Done"}})).await;
    until_gone(&site.api::<Errand>(), "mad-1").await;
}

async fn says(site: &Site, name: &str, reason: &str) -> Errand {
    let fits = |errand: &Errand| {
        let status = errand.status.as_ref().map(|status| &status.standard);
        available(status).is_some_and(|(_, said, _)| said == reason)
    };
    until_object(&site.api::<Errand>(), name, &format!("says {reason}"), fits).await
}
