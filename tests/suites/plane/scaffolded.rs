//! What `opgen new` writes, as it is: installed by its own YAML, run as its ServiceAccount, every request counted.

mod project;

/// The kind as a new project has it, which the scaffold suite compares with what is written.
#[path = "../../golden/scaffold/namespaced/api/src/widget.rs"]
#[allow(unreachable_pub, reason = "in a project it is public")]
mod widget;

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, ResourceExt as _};
use libtest_mimic::Trial;
use opgen_tests::{Access, Entries, Entry, Plane, case_served, kubectl, skip_sandbox_in_both, wait};
use serde_json::json;

use crate::operator::{
    install,
    mirror::Mirror,
    program::Program,
    rest, right,
    site::Site,
    tally::{Tally, state_writes},
};
use project::{HOME, NAME, Project};
use widget::{Widget, WidgetSpec};

const COUNT: usize = 200;

pub(crate) fn cases() -> Vec<Trial> {
    vec![skip_sandbox_in_both(case_served("a_new_project_lives_by_its_generated_role_and_no_call_too_many", life))]
}

async fn life(plane: Arc<Plane>) {
    let run = Run::begin(&plane).await;
    let mut program = run.start().await;
    run.objects_become_available().await;
    program = run.a_pass_over_what_is_as_wanted_makes_no_call(program).await;
    run.children_follow_their_specs().await;
    run.children_deleted_by_hand_come_back().await;
    run.nothing_is_left_of_what_is_deleted().await;
    run.the_sample_is_one_that_works().await;
    program.stop().await;
    run.every_right_was_used_and_none_was_missing().await;
    run.the_server_warns_of_no_file().await;
}

struct Run {
    site: Site,
    project: Project,
    access: Access,
    names: Vec<String>,
    widgets: Mirror<Widget>,
    configs: Mirror<ConfigMap>,
}

impl Run {
    /// Installs it by the one file that a user applies.
    async fn begin(plane: &Arc<Plane>) -> Self {
        let project = Project::new();
        install::apply_quietly(plane, &project.deploy("install.yaml")).await;
        plane.until_established("widgets.demo.example.com").await;
        let (site, access) = (Site::new(plane).await, plane.service_account(HOME, NAME).await);
        Self {
            widgets: Mirror::follow(plane.client(), &site.namespace).await,
            configs: Mirror::follow(plane.client(), &site.namespace).await,
            names: (0..COUNT).map(|number| format!("widget-{number:03}")).collect(),
            site,
            project,
            access,
        }
    }

    async fn start(&self) -> Program {
        let mut program = Program::start_built(NAME, &self.project.program, &self.site.plane, &self.access, &[]);
        program.ready().await;
        program
    }

    /// What the operator asked for since `earlier`.
    async fn asked(&self, earlier: &Entries) -> Entries {
        self.site.plane.audit().await.since(earlier).by_account(HOME, NAME)
    }

    /// The same, once the operator has asked for nothing for a while.
    async fn settled(&self, earlier: &Entries) -> Entries {
        rest::settled(async || self.asked(earlier).await).await
    }

    async fn create(&self, name: &str) {
        self.site.create(&Widget::new(name, WidgetSpec { message: "hello".to_owned(), copies: 2 })).await;
    }

    /// Waits until `count` are there, available as they are now wanted, and their children say this.
    async fn say(&self, count: usize, text: &str) {
        let fits = |config: &ConfigMap| is_the_clusters(config) || said(config) == text;
        self.configs.until(&format!("say {text:?}"), count + 1, fits).await;
        self.widgets.until("are available", count, is_available).await;
    }

    async fn objects_become_available(&self) {
        let earlier = self.site.plane.audit().await;
        for name in &self.names {
            self.create(name).await;
        }
        self.say(COUNT, "hello\nhello").await;
        let asked = self.settled(&earlier).await;
        // The finalizer, the ConfigMap and the status.
        Tally::of(&state_writes(&asked), &self.names).is("writes of a creation", 3);
        Tally::of(&asked.verb("get"), &self.names).is("reads of a creation", 0);
    }

    /// A restart passes over everything. The last of the list was made while nobody ran: when it is available, the
    /// others have had their pass.
    async fn a_pass_over_what_is_as_wanted_makes_no_call(&self, program: Program) -> Program {
        program.stop().await;
        let last = "zz-last";
        self.create(last).await;
        let earlier = self.site.plane.audit().await;
        let program = self.start().await;
        self.say(COUNT + 1, "hello\nhello").await;
        let asked = self.settled(&earlier).await.with(|entry| entry.name != last && entry.resource != "events");
        let follows = |entry: &Entry| matches!(entry.verb.as_str(), "list" | "watch");
        assert!(asked.iter().all(follows), "calls of passes over what is as wanted:\n{}", asked.with(|e| !follows(e)));
        self.site.delete::<Widget>(last).await;
        self.say(COUNT, "hello\nhello").await;
        program
    }

    async fn children_follow_their_specs(&self) {
        let earlier = self.site.plane.audit().await;
        for name in &self.names {
            self.site.patch::<Widget>(name, &json!({"spec": {"message": "bye", "copies": 1}})).await;
        }
        self.say(COUNT, "bye").await;
        let asked = self.settled(&earlier).await;
        Tally::of(&state_writes(&asked), &self.names).is("writes of a change", 1 + 1);
    }

    /// Each twice, so that its event is repeated.
    async fn children_deleted_by_hand_come_back(&self) {
        for _ in 0..2 {
            let (api, earlier) = (self.site.api::<ConfigMap>(), self.site.plane.audit().await);
            for name in &self.names {
                let old = api.get(name).await.unwrap().uid();
                self.site.delete::<ConfigMap>(name).await;
                wait::until_object(&api, name, "is there anew", |new: &ConfigMap| new.uid() != old).await;
            }
            self.say(COUNT, "bye").await;
            let made = self.settled(&earlier).await.resource("configmaps").code(201);
            Tally::of(&made, &self.names).is("configmaps made anew", 1);
        }
    }

    async fn nothing_is_left_of_what_is_deleted(&self) {
        for name in &self.names {
            self.site.delete::<Widget>(name).await;
        }
        self.widgets.until("are left", 0, |_| false).await;
        self.configs.until("are left", 1, is_the_clusters).await;
    }

    async fn the_sample_is_one_that_works(&self) {
        let sample = self.project.deploy("samples/demo.example.com_v1alpha1_widget.yaml");
        install::apply_quietly(&self.site.plane, &sample).await;
        let widgets = Api::<Widget>::namespaced(self.site.plane.client(), "default");
        wait::until_object(&widgets, "widget-sample", "is available", is_available).await;
        widgets.delete("widget-sample", &Default::default()).await.unwrap();
        wait::until_gone(&widgets, "widget-sample").await;
    }

    async fn every_right_was_used_and_none_was_missing(&self) {
        right::all_are_used(&self.site.plane, NAME, &self.asked(&Entries::default()).await).await;
    }

    /// Each file of objects on its own; the sample was there already, and the server has no kind of the Prometheus operator. Other cases
    /// install charts and build kustomizations.
    async fn the_server_warns_of_no_file(&self) {
        let files = self.project.deployed();
        let is_object = |file: &&String| {
            let of_base = file.starts_with("base/") && !file.ends_with("/kustomization.yaml");
            of_base || ["finalizer-policy.yaml", "install.yaml"].contains(&file.as_str())
        };
        let objects: Vec<_> = files.iter().filter(is_object).collect();
        assert_eq!(objects.len(), 6, "{files:?}");
        for file in objects {
            install::apply_quietly(&self.site.plane, &self.project.deploy(file)).await;
        }
        let deployment = format!("deployment/{NAME}");
        let operator = ["wait", "--for=condition=Available", "--timeout=60s", "--namespace", HOME, &deployment];
        kubectl::succeed(&self.site.plane, &operator);
    }
}

/// Says True of its present generation.
fn is_available(widget: &Widget) -> bool {
    let Some(status) = &widget.status else { return false };
    let says_true = status.conditions.iter().any(|held| held.type_ == "Available" && held.status == "True");
    says_true && status.observed_generation == widget.metadata.generation
}

/// The one that every namespace has.
fn is_the_clusters(config: &ConfigMap) -> bool {
    config.name_any() == "kube-root-ca.crt"
}

fn said(config: &ConfigMap) -> &str {
    config.data.as_ref().and_then(|data| data.get("message")).map_or("", String::as_str)
}
