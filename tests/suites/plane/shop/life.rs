//! The whole life of twenty shops, with every request counted.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc, time::Instant};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret},
};
use kube::Api;
use libtest_mimic::Trial;
use opgen_tests::{Entries, Entry, Options, Plane, case_on, skip_sandbox_in_both};
use serde_json::{Value, json};
use shop_api::Shop;

use super::{
    part::{Part, wanted},
    shops::{Passwords, Shops, schedule, shop},
};
use crate::operator::{
    example::{Installed, SHOP},
    program::Program,
    tally::{Tally, state_writes},
};

const COUNT: usize = 20;

pub(crate) fn cases() -> Vec<Trial> {
    let name = "twenty_shops_live_by_the_generated_role_and_no_call_too_many";
    vec![skip_sandbox_in_both(case_on(name, Options::served(), life))]
}

async fn life(plane: Arc<Plane>) {
    let installed = Installed::new(SHOP, plane).await;
    installed.apply_policy().await;
    let shops = Shops::new(&installed.plane, COUNT).await;
    let run = Run { installed, shops, begin: Instant::now() };
    let mut program = run.installed.start().await;
    let passwords = run.shops_are_created().await;
    program = run.a_pass_over_what_is_as_wanted_makes_no_call(program).await;
    run.metadata_is_no_news().await;
    run.backends_have_the_rights_of_their_role_and_no_more().await;
    run.specs_are_followed().await;
    run.children_deleted_by_hand_come_back().await;
    run.shops.passwords().await.are(&passwords, &[]);
    run.a_secret_without_its_label_is_marked_again().await;
    run.shops.passwords().await.are(&passwords, &[]);
    run.a_secret_deleted_by_hand_is_made_anew(&passwords).await;
    run.nothing_is_left_of_what_is_deleted().await;
    program.stop().await;
    run.installed.used_its_role().await;
}

struct Run {
    installed: Installed,
    shops: Shops,
    begin: Instant,
}

impl Run {
    fn say(&self, what: &str) {
        println!("{:6.1} s: {what}", self.begin.elapsed().as_secs_f32());
    }

    async fn audit(&self) -> Entries {
        self.installed.plane.audit().await
    }

    /// How much was written for each shop since `earlier`, once there is nothing to do any more.
    async fn writes(&self, earlier: &Entries) -> Tally {
        Tally::of_parts(&state_writes(&self.installed.settled(earlier).await), &self.shops.names)
    }

    async fn shops_are_created(&self) -> Passwords {
        self.installed.policy_is(true, shop).await;
        self.say("the policy is in force");
        let earlier = self.audit().await;
        self.shops.create(&self.shops.names).await;
        self.shops.complete().await;
        self.say("20 created and available");
        // The status says what is waited for: the database, then the backend, then nothing.
        self.writes(&earlier).await.is("writes of a creation with the policy", children() + 3);
        let passwords = self.shops.passwords().await;
        passwords.are_good(COUNT);
        passwords
    }

    /// A restart passes over everything. The last of the list was made while nobody ran: when it is available, the
    /// others have had their pass.
    async fn a_pass_over_what_is_as_wanted_makes_no_call(&self, program: Program) -> Program {
        program.stop().await;
        let last = ["zz-last".to_owned()];
        self.shops.create(&last).await;
        let earlier = self.audit().await;
        let program = self.installed.start().await;
        self.shops.complete().await;
        self.say("restarted");
        let asked = self.installed.settled(&earlier).await;
        let asked = asked.with(|entry| !entry.name.contains(&last[0]) && entry.resource != "events");
        let follows = |entry: &Entry| matches!(entry.verb.as_str(), "list" | "watch");
        assert!(asked.iter().all(follows), "calls of passes over what is as wanted:\n{}", asked.with(|e| !follows(e)));
        self.shops.delete::<Shop>(&last).await;
        self.shops.available(COUNT).await;
        self.installed.settled(&earlier).await;
        program
    }

    async fn metadata_is_no_news(&self) {
        let earlier = self.audit().await;
        let note = json!({"metadata": {"annotations": {"touched": "yes"}, "labels": {"touched": "yes"}}});
        self.shops.patch::<Shop>(&self.shops.names, &note).await;
        let asked = self.installed.settled(&earlier).await;
        assert!(asked.is_empty(), "{asked}");
    }

    async fn backends_have_the_rights_of_their_role_and_no_more(&self) {
        let (namespace, name) = (&self.shops.namespace, &self.shops.names[0]);
        let client = self.installed.plane.service_account(namespace, name).await.client();
        let settings = Api::<ConfigMap>::namespaced(client.clone(), namespace).get(name).await.unwrap();
        assert_eq!(settings.data.unwrap()["currency"], "EUR");
        let refused = Api::<Secret>::namespaced(client, namespace).get(name).await.map(drop);
        assert!(matches!(&refused, Err(kube::Error::Api(refusal)) if refusal.code == 403), "{refused:?}");
    }

    /// Changes all shops, and says what that takes: so many objects, and the status once or, if they take time, twice.
    async fn change(&self, what: &str, fields: Value, objects: usize, statuses: RangeInclusive<usize>) {
        let earlier = self.audit().await;
        self.shops.change(fields).await;
        self.shops.complete().await;
        self.say(what);
        let (least, most) = (objects + statuses.start(), objects + statuses.end());
        self.writes(&earlier).await.is_within(&format!("writes when {what}"), least, most);
    }

    async fn specs_are_followed(&self) {
        let before = self.templates().await;
        self.change("settings changed", json!({"backend": {"settings": {"currency": "CHF"}}}), 2, 2..=2).await;
        let after = self.templates().await;
        assert!(before.iter().all(|(name, digest)| after[name] != *digest), "other settings, other Pods");
        self.change("a replica was added to the backend", json!({"backend": {"replicas": 3}}), 1, 2..=2).await;
        self.change("a replica was added to the database", json!({"database": {"replicas": 2}}), 1, 2..=2).await;
        let (report, backup) = (schedule("report"), schedule("backup"));
        self.change("a schedule was added", json!({"schedules": [report, backup]}), 1, 1..=1).await;
        // The news that it is gone may be here before the status says that it is waited for.
        self.change("a schedule was removed", json!({"schedules": [backup]}), 1, 1..=2).await;
        self.change("the host was given up", json!({"host": null}), 1, 1..=1).await;
        self.change("there was a host again", json!({"host": "all.example.com"}), 1, 1..=1).await;
        self.change("one replica was left", json!({"backend": {"replicas": 1}}), 2, 2..=2).await;
        self.change("there were two again", json!({"backend": {"replicas": 2}}), 2, 2..=2).await;
    }

    /// The settings that the Pods of each Deployment are started with, as a digest.
    async fn templates(&self) -> BTreeMap<String, String> {
        let deployments = self.shops.api::<Deployment>().list(&Default::default()).await.unwrap().items;
        let digest = |deployment: Deployment| {
            let annotations = deployment.spec?.template.metadata?.annotations?;
            Some((deployment.metadata.name?, annotations.get("shop.example.com/settings")?.clone()))
        };
        deployments.into_iter().filter_map(digest).collect()
    }

    /// Each twice, so that its event is repeated.
    async fn children_deleted_by_hand_come_back(&self) {
        for _ in 0..2 {
            let before = self.shops.complete().await;
            let some = &self.shops.names[..3];
            let theirs = |part: &&Part| part.kind != "Secret" && some.iter().any(|name| part.name.contains(name));
            let parts: Vec<_> = before.keys().filter(theirs).collect();
            assert_eq!(parts.len(), some.len() * (children() - 1));
            for part in &parts {
                self.shops.parts.delete(part).await;
            }
            self.installed.settled(&self.audit().await).await;
            let after = self.shops.complete().await;
            for part in before.keys() {
                assert_eq!(before[part] != after[part], parts.contains(&part), "{part} is another one");
            }
        }
        self.say("children deleted and back");
    }

    async fn a_secret_without_its_label_is_marked_again(&self) {
        let before = self.shops.complete().await;
        let stripped = json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": null}}});
        self.shops.patch::<Secret>(&self.shops.names[1..2], &stripped).await;
        // A Secret without the label is not among them.
        assert_eq!(self.shops.complete().await, before);
        self.installed.settled(&self.audit().await).await;
    }

    async fn a_secret_deleted_by_hand_is_made_anew(&self, passwords: &Passwords) {
        let some = &self.shops.names[..1];
        let before = self.shops.complete().await;
        let part = Part { kind: "Secret".to_owned(), name: some[0].clone() };
        self.shops.parts.delete(&part).await;
        self.installed.settled(&self.audit().await).await;
        assert_ne!(self.shops.complete().await[&part], before[&part]);
        let anew = self.shops.passwords().await;
        anew.are(passwords, some);
        anew.are_good(COUNT);
    }

    async fn nothing_is_left_of_what_is_deleted(&self) {
        let earlier = self.audit().await;
        self.shops.delete::<Shop>(&self.shops.names).await;
        self.shops.gone().await;
        self.say("all gone");
        println!("writes of a deletion: {}", self.writes(&earlier).await);
    }
}

/// How many objects a shop is made of.
fn children() -> usize {
    wanted(&shop("any")).len()
}
