//! The whole life of two hundred WebApps, with every request counted.

use std::{sync::Arc, time::Instant};

use k8s_openapi::api::{
    admissionregistration::v1::MutatingAdmissionPolicyBinding,
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
};
use kube::{Api, ResourceExt as _, api::DeleteParams};
use libtest_mimic::Trial;
use opgen_tests::{Entries, Entry, Options, Plane, case_on, skip_sandbox_in_both, wait};
use serde_json::json;
use webapp_api::WebApp;

use super::{
    example::{Installed, WEBAPP},
    fleet::{self, Fleet},
    mirror::Namespaced,
    owners::spec,
    picture,
    program::Program,
    tally::{Tally, state_writes},
};

const COUNT: usize = 200;
/// A ConfigMap, a Deployment and a Service.
const CHILDREN: usize = 3;

pub(crate) fn cases() -> Vec<Trial> {
    let name = "two_hundred_webapps_live_by_the_generated_role_and_no_call_too_many";
    vec![skip_sandbox_in_both(case_on(name, Options::served(), life))]
}

async fn life(plane: Arc<Plane>) {
    let run = Run::begin(plane).await;
    let mut program = run.installed.start().await;
    run.objects_are_created_with_the_policy().await;
    program = run.a_pass_over_what_is_as_wanted_makes_no_call(program).await;
    run.metadata_is_no_news().await;
    run.children_follow_their_specs().await;
    run.children_deleted_by_hand_come_back().await;
    run.edits_by_strangers_are_repaired().await;
    run.objects_are_created_without_the_policy().await;
    run.nothing_is_left_of_what_is_deleted().await;
    program.stop().await;
    run.installed.used_its_role().await;
    let (code, said) = picture::verdict(&run.installed.plane, &[]).await;
    assert_eq!(code, Some(0), "what was granted and what was done differ: {said}");
}

struct Run {
    installed: Installed,
    fleet: Fleet,
    begin: Instant,
}

impl Run {
    async fn begin(plane: Arc<Plane>) -> Self {
        let installed = Installed::new(WEBAPP, plane).await;
        installed.apply_policy().await;
        let fleet = Fleet::new(&installed.plane, COUNT).await;
        Self { installed, fleet, begin: Instant::now() }
    }

    fn say(&self, what: &str) {
        println!("{:6.1} s: {what}", self.begin.elapsed().as_secs_f32());
    }

    async fn audit(&self) -> Entries {
        self.installed.plane.audit().await
    }

    async fn settled(&self, earlier: &Entries) -> Entries {
        self.installed.settled(earlier).await
    }

    async fn objects_are_created_with_the_policy(&self) {
        self.installed.policy_is(true, fleet::app).await;
        let earlier = self.audit().await;
        self.fleet.create(&self.fleet.names).await;
        self.fleet.available(COUNT).await;
        self.say("200 created and available");
        let asked = self.settled(&earlier).await;
        let writes = Tally::of(&state_writes(&asked), &self.fleet.names);
        writes.is("writes of a creation with the policy", CHILDREN + 2);
        Tally::of(&asked.verb("get"), &self.fleet.names).is("reads of a creation", 0);
    }

    /// A restart passes over everything. The last of the list was made while nobody ran: when it is available, the
    /// others have had their pass.
    async fn a_pass_over_what_is_as_wanted_makes_no_call(&self, program: Program) -> Program {
        program.stop().await;
        let last = ["zz-last".to_owned()];
        self.fleet.create(&last).await;
        let earlier = self.audit().await;
        let program = self.installed.start().await;
        self.fleet.available(COUNT + 1).await;
        self.say("restarted");
        let asked = self.settled(&earlier).await.with(|entry| entry.name != last[0] && entry.resource != "events");
        let follows = |entry: &Entry| matches!(entry.verb.as_str(), "list" | "watch");
        assert!(asked.iter().all(follows), "calls of passes over what is as wanted:\n{}", asked.with(|e| !follows(e)));
        self.fleet.delete::<WebApp>(&last).await;
        self.fleet.available(COUNT).await;
        self.settled(&earlier).await;
        program
    }

    async fn metadata_is_no_news(&self) {
        let earlier = self.audit().await;
        let note = json!({"metadata": {"annotations": {"touched": "yes"}, "labels": {"touched": "yes"}}});
        self.fleet.patch::<WebApp>(&self.fleet.names, &note).await;
        let asked = self.settled(&earlier).await;
        assert!(asked.is_empty(), "{asked}");
    }

    async fn children_follow_their_specs(&self) {
        let names = &self.fleet.names;
        let earlier = self.audit().await;
        self.fleet.patch::<WebApp>(names, &spec(json!({"greeting": "good morning"}))).await;
        self.fleet.greets(COUNT, "good morning").await;
        self.fleet.available(COUNT).await;
        self.say("greetings changed");
        let asked = self.settled(&earlier).await;
        Tally::of(&state_writes(&asked), names).is("writes of a change that is done at once", 1 + 1);

        let earlier = self.audit().await;
        self.fleet.patch::<WebApp>(names, &spec(json!({"image": "example.com/web:2"}))).await;
        let runs = |deployment: &Deployment| fleet::image(deployment) == "example.com/web:2";
        self.fleet.deployments.until("run the new image", COUNT, runs).await;
        self.fleet.available(COUNT).await;
        self.say("images changed");
        let asked = self.settled(&earlier).await;
        Tally::of(&state_writes(&asked), names).is("writes of a change that takes its time", 1 + 2);
        assert!(asked.verb("get").is_empty(), "{}", asked.verb("get"));
    }

    /// Each twice, so that its event is repeated.
    async fn children_deleted_by_hand_come_back(&self) {
        let some = &self.fleet.names[..20];
        for _ in 0..2 {
            self.comes_back::<ConfigMap>(some).await;
            self.comes_back::<Service>(some).await;
            self.comes_back::<Deployment>(some).await;
        }
        self.fleet.available(COUNT).await;
        self.say("children deleted and back");
    }

    async fn comes_back<K: Namespaced>(&self, names: &[String]) {
        let (api, earlier) = (self.fleet.api::<K>(), self.audit().await);
        let before = api.list(&Default::default()).await.unwrap();
        self.fleet.delete::<K>(names).await;
        for old in before.items.iter().filter(|old| names.contains(&old.name_any())) {
            let anew = |new: &K| new.uid() != old.uid() && new.meta().deletion_timestamp.is_none();
            wait::until_object(&api, &old.name_any(), "is there anew", anew).await;
        }
        let made = self.installed.asked(&earlier).await.resource(&K::plural(&())).code(201);
        Tally::of(&made, names).is(&format!("{} made anew", K::plural(&())), 1);
    }

    async fn edits_by_strangers_are_repaired(&self) {
        let some = &self.fleet.names[..20];
        let earlier = self.audit().await;
        self.fleet.patch::<ConfigMap>(some, &json!({"data": {"greeting": "boo"}})).await;
        self.fleet.patch::<Deployment>(some, &spec(json!({"replicas": 3}))).await;
        let port = json!({"name": "http", "port": 80, "targetPort": 9});
        self.fleet.patch::<Service>(some, &spec(json!({"ports": [port]}))).await;
        self.fleet.greets(COUNT, "good morning").await;
        let replicas = |deployment: &Deployment| deployment.spec.as_ref().and_then(|spec| spec.replicas) == Some(1);
        self.fleet.deployments.until("have one replica", COUNT, replicas).await;
        self.fleet.services.until("have their port", COUNT, |service| port_of(service) == Some(8080)).await;
        self.fleet.available(COUNT).await;
        self.say("edits repaired");
        let repairs = state_writes(&self.settled(&earlier).await);
        Tally::of(&repairs.subresource(""), some).is("writes that repair three children", CHILDREN);
    }

    async fn objects_are_created_without_the_policy(&self) {
        let bindings = Api::<MutatingAdmissionPolicyBinding>::all(self.installed.plane.client());
        bindings.delete("webapp-finalizer-policy", &DeleteParams::default()).await.unwrap();
        self.installed.policy_is(false, fleet::app).await;
        let names: Vec<_> = (0..20).map(|number| format!("bare-{number:03}")).collect();
        let earlier = self.audit().await;
        self.fleet.create(&names).await;
        self.fleet.available(COUNT + names.len()).await;
        let asked = self.settled(&earlier).await;
        Tally::of(&state_writes(&asked), &names).is("writes of a creation without the policy", CHILDREN + 3);
        self.fleet.delete::<WebApp>(&names).await;
        self.fleet.available(COUNT).await;
    }

    async fn nothing_is_left_of_what_is_deleted(&self) {
        let earlier = self.audit().await;
        self.fleet.delete::<WebApp>(&self.fleet.names).await;
        self.fleet.gone().await;
        self.say("all gone");
        let asked = self.settled(&earlier).await;
        println!("writes of a deletion: {}", Tally::of(&state_writes(&asked), &self.fleet.names));
        println!("reads of a deletion: {}", Tally::of(&asked.verb("get"), &self.fleet.names));
    }
}

fn port_of(service: &Service) -> Option<i32> {
    match service.spec.as_ref()?.ports.as_ref()?.first()?.target_port.as_ref()? {
        k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::Int(port) => Some(*port),
        _ => None,
    }
}
