#![allow(clippy::unwrap_used)]
use super::*;
use crate::readiness::Readiness;
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;

/// A simulation of `helm` with one release, which records the commands that change it.
#[derive(Default)]
struct FakeHelm {
    revisions: Vec<Value>,
    commands: Vec<String>,
    /// The error of the next upgrade.
    error: Option<&'static str>,
    /// How often the objects of an uninstalled release are still shown.
    deletions: u32,
    /// Whether the output of `helm status` is longer than the limit.
    has_long_status: bool,
}

type Shared = Arc<Mutex<FakeHelm>>;

impl FakeHelm {
    fn run(&mut self, call: &HelmCall<'_>) -> HelmOutput {
        let command = call.arguments[0].as_str();
        let Some(latest) = self.revisions.last() else {
            return match command {
                "upgrade" => self.change(call),
                _ => HelmOutput::failed("Error: release: not found\n"),
            };
        };
        match command {
            "status" if self.has_long_status => HelmOutput::succeeded(" ".repeat(9 << 20)),
            "status" => {
                let mut info = json!({
                    "status": latest["status"], "description": latest["description"], "last_deployed": latest["updated"],
                });
                if latest["status"] == "uninstalled" && self.deletions > 0 {
                    self.deletions -= 1;
                    let object = json!({"kind": "Service", "metadata": {"deletionTimestamp": "2026-01-01T10:00:00Z"}});
                    info["resources"] = json!({"v1/Service": [object]});
                }
                HelmOutput::succeeded(json!({"version": latest["revision"], "info": info}).to_string())
            }
            "history" => HelmOutput::succeeded(Value::from(self.revisions.clone()).to_string()),
            _ => self.change(call),
        }
    }

    fn change(&mut self, call: &HelmCall<'_>) -> HelmOutput {
        let argument = |name: &str| call.arguments.iter().find_map(|argument| argument.strip_prefix(name));
        self.commands.push(format!("{} {}", call.arguments.join(" "), call.input).trim_end().to_owned());
        match call.arguments[0].as_str() {
            "uninstall" if call.arguments.iter().any(|argument| argument == "--keep-history") => {
                self.add("uninstalled", "Uninstallation complete", "");
            }
            "uninstall" => self.revisions.clear(),
            "upgrade" if self.error.is_some() => {
                return HelmOutput::failed(format!("Error: {}\n", self.error.take().unwrap()));
            }
            "upgrade" => self.add("deployed", argument("--description=").unwrap(), ""),
            _ => self.add("deployed", "Rollback", ""),
        }
        HelmOutput::succeeded("")
    }

    fn add(&mut self, status: &str, description: &str, updated: &str) {
        let number = self.revisions.len() + 1;
        self.revisions.push(json!({
            "revision": number, "status": status, "description": description, "updated": updated,
        }));
    }
}

fn spec() -> HelmDeploymentSpec {
    HelmDeploymentSpec {
        repository: "https://charts.example.com".to_owned(),
        chart: "web".to_owned(),
        version: "1.2.3".to_owned(),
        release: "web".to_owned(),
        namespace: "shop".to_owned(),
        ..HelmDeploymentSpec::default()
    }
}

fn parameter(name: &str, value: &str) -> HelmParameter {
    HelmParameter { name: name.to_owned(), value: value.to_owned() }
}

fn program(helm: &Shared) -> HelmProgram {
    let helm = helm.clone();
    HelmProgram::simulated(move |call| helm.lock().run(call))
}

fn runner<'a>(program: &'a HelmProgram, spec: &'a HelmDeploymentSpec, owner: &str) -> ReleaseRunner<'a> {
    let deadline = Duration::from_secs(300);
    ReleaseRunner { program, spec, owner: owner.to_owned(), kubeconfig: None, deadline, revisions: 10 }
}

/// The time of the passes.
fn now() -> Timestamp {
    "2026-01-01T10:00:00Z".parse().unwrap()
}

/// Deploys a spec, and returns the commands that have changed the release.
async fn deploy(helm: &Shared, spec: &HelmDeploymentSpec) -> Result<Vec<String>> {
    let program = program(helm);
    let deployed = runner(&program, spec, "shop/web-1").deploy(now()).await;
    let commands = std::mem::take(&mut helm.lock().commands);
    assert_eq!(deployed?.readiness(), Readiness::Ready);
    Ok(commands)
}

/// Returns the names of commands.
fn names(commands: &[String]) -> Vec<&str> {
    commands.iter().filter_map(|command| command.split(' ').next()).collect()
}

#[tokio::test]
async fn a_release_is_deployed_once_and_upgraded_after_a_change() {
    let (helm, mut spec) = (Shared::default(), spec());
    let commands = deploy(&helm, &spec).await.unwrap();
    let digest = helm.lock().revisions[0]["description"].as_str().unwrap().to_owned();
    let expected = format!(
        "upgrade web web --repo=https://charts.example.com --install --version=1.2.3 --values=- --reset-values \
         --description={digest} --hide-notes --server-side=true --force-conflicts --history-max=10 --timeout=290s \
         --namespace=shop {{}}"
    );
    assert_eq!(commands, [expected]);
    assert!(digest.starts_with("opgen:shop/web-1:"), "{digest}");
    assert!(deploy(&helm, &spec).await.unwrap().is_empty());
    // What concerns no object changes nothing.
    spec.allow_degraded = true;
    assert!(deploy(&helm, &spec).await.unwrap().is_empty());
    spec.parameters = vec![parameter("a", "1,2"), parameter("b", "{x,y}"), parameter("c", r"1\,2")];
    spec.values.insert("z".to_owned(), json!(1));
    spec.create_namespace = true;
    let [upgrade] = &deploy(&helm, &spec).await.unwrap()[..] else { panic!("one upgrade") };
    assert!(upgrade.contains(r" --create-namespace --set=a=1\,2 --set=b={x,y} --set=c=1\,2 --namespace"), "{upgrade}");
    assert!(upgrade.ends_with("{\"z\":1}"), "{upgrade}");
    spec.repository = "oci://ghcr.io/example/".to_owned();
    let [upgrade] = &deploy(&helm, &spec).await.unwrap()[..] else { panic!("one upgrade") };
    assert!(upgrade.starts_with("upgrade web oci://ghcr.io/example/web --install"), "{upgrade}");
}

#[tokio::test]
async fn a_failed_upgrade_says_why_and_is_made_again() {
    let (helm, mut spec) = (Shared::default(), spec());
    spec.values.insert("password".to_owned(), json!("hunter2"));
    helm.lock().error = Some("INSTALLATION FAILED: no chart for hunter2");
    let error = deploy(&helm, &spec).await.unwrap_err();
    assert!(matches!(error, Error::Unexpected(_)));
    assert_eq!(error.to_string(), "helm upgrade: no chart for …");
    helm.lock().add("failed", "Release \"web\" failed", "");
    assert_eq!(names(&deploy(&helm, &spec).await.unwrap()), ["upgrade"]);
    // Somebody else has changed the release.
    helm.lock().add("deployed", "Upgrade complete", "");
    assert_eq!(names(&deploy(&helm, &spec).await.unwrap()), ["upgrade"]);
}

#[tokio::test]
async fn an_interrupted_run_is_repaired_after_its_deadline() {
    for (states, expected) in [
        (&["pending-install"][..], &["uninstall", "uninstall", "upgrade"][..]),
        (&["uninstalling"][..], &["uninstall", "uninstall", "upgrade"][..]),
        (&["superseded", "deployed", "failed", "pending-upgrade"][..], &["rollback web 2", "upgrade"][..]),
        (&["superseded", "failed", "pending-rollback"][..], &["rollback web 1", "upgrade"][..]),
        (&["failed", "pending-upgrade"][..], &["rollback web 1", "upgrade"][..]),
        (&["superseded", "uninstalled"][..], &["uninstall", "upgrade"][..]),
        (&["superseded", "new"][..], &["upgrade"][..]),
    ] {
        let helm = Shared::default();
        for state in states {
            let is_deployed = matches!(*state, "superseded" | "deployed");
            let description = if is_deployed { "opgen:shop/web-1:0f" } else { "Preparing upgrade" };
            helm.lock().add(state, description, "2026-01-01T09:55:00Z");
        }
        let commands = deploy(&helm, &spec()).await.unwrap();
        assert_eq!(commands.len(), expected.len(), "{commands:?}");
        for (command, start) in commands.iter().zip(expected) {
            assert!(command.starts_with(start), "{states:?}: {command}");
        }
    }
    let helm = Shared::default();
    helm.lock().add("pending-install", "Initial install underway", "2026-01-01T09:56:00Z");
    let error = deploy(&helm, &spec()).await.unwrap_err();
    assert!(matches!(&error, Error::Yield { reason, .. } if reason == "HelmRunning"), "{error}");
    let helm = Shared::default();
    helm.lock().add("pending-upgrade", "Preparing upgrade", "");
    let error = deploy(&helm, &spec()).await.unwrap_err().to_string();
    assert_eq!(error, "release web in namespace shop has no revision to which it can return; uninstall it");
}

#[tokio::test]
async fn a_release_belongs_to_one_deployment() {
    let (helm, spec) = (Shared::default(), spec());
    deploy(&helm, &spec).await.unwrap();
    let program = program(&helm);
    let other = runner(&program, &spec, "shop/web-2");
    let error = other.deploy(now()).await.map(drop).unwrap_err().to_string();
    assert_eq!(error, "release web in namespace shop belongs to HelmDeployment shop/web-1");
    assert!(other.remove().await.unwrap() && helm.lock().commands.is_empty());
    assert!(helm.lock().revisions.len() == 1);
    // Whatever became of a later run of its owner.
    for state in ["failed", "pending-upgrade"] {
        helm.lock().add(state, "Preparing upgrade", "2026-01-01T09:55:00Z");
        assert!(other.deploy(now()).await.is_err(), "{state}");
        assert!(other.remove().await.unwrap() && helm.lock().commands.is_empty(), "{state}");
    }
}

#[tokio::test]
async fn a_release_of_another_client_is_neither_taken_over_nor_removed() {
    let (helm, spec) = (Shared::default(), spec());
    helm.lock().add("deployed", "Install complete", "");
    let error = deploy(&helm, &spec).await.unwrap_err().to_string();
    assert_eq!(error, "release web in namespace shop belongs to another client of helm");
    let program = program(&helm);
    assert!(runner(&program, &spec, "shop/web-1").remove().await.unwrap());
    assert!(helm.lock().commands.is_empty() && helm.lock().revisions.len() == 1);
}

#[tokio::test]
async fn a_rollback_whose_earlier_revisions_are_forgotten_is_no_release_of_another_client() {
    let (helm, spec) = (Shared::default(), spec());
    helm.lock().add("deployed", "Rollback to 1", "");
    helm.lock().add("failed", "Upgrade failed", "");
    assert!(names(&deploy(&helm, &spec).await.unwrap()).contains(&"upgrade"));
    let program = program(&helm);
    assert!(runner(&program, &spec, "shop/web-1").remove().await.unwrap());
    assert!(names(&helm.lock().commands).contains(&"uninstall"));
}

#[tokio::test]
async fn a_release_is_removed_once_its_objects_are_gone() {
    let (helm, spec) = (Shared::default(), spec());
    deploy(&helm, &spec).await.unwrap();
    helm.lock().deletions = 2;
    let program = program(&helm);
    let runner = runner(&program, &spec, "shop/web-1");
    let first =
        "uninstall web --keep-history --ignore-not-found --wait --cascade=foreground --timeout=290s --namespace=shop";
    let last = "uninstall web --ignore-not-found --namespace=shop";
    for (is_gone, expected) in [(false, vec![first]), (false, vec![]), (true, vec![last]), (true, vec![])] {
        assert_eq!(runner.remove().await.unwrap(), is_gone);
        let commands = std::mem::take(&mut helm.lock().commands);
        assert_eq!(commands, expected);
    }
}

#[tokio::test]
async fn a_release_whose_status_is_too_long_is_removed_without_a_check_of_its_objects() {
    let (helm, spec) = (Shared::default(), spec());
    deploy(&helm, &spec).await.unwrap();
    helm.lock().has_long_status = true;
    let program = program(&helm);
    let runner = runner(&program, &spec, "shop/web-1");
    let error = runner.deploy(now()).await.map(drop).unwrap_err().to_string();
    assert_eq!(error, "helm status: its output is too long");
    assert!(runner.remove().await.unwrap());
    let commands = std::mem::take(&mut helm.lock().commands);
    assert_eq!(names(&commands), ["uninstall", "uninstall"]);
}

#[tokio::test]
async fn an_interrupted_installation_is_removed_before_the_next_one() {
    let helm = Shared::default();
    helm.lock().add("pending-install", "Initial install underway", "");
    helm.lock().deletions = 1;
    let error = deploy(&helm, &spec()).await.unwrap_err();
    assert!(matches!(&error, Error::Yield { reason, .. } if reason == "Uninstalling"), "{error}");
    assert_eq!(names(&deploy(&helm, &spec()).await.unwrap()), ["uninstall", "upgrade"]);
}

#[tokio::test]
async fn a_program_that_is_missing_is_named() {
    let (program, spec) = (HelmProgram::new("/none/helm"), spec());
    let error = runner(&program, &spec, "shop/web-1").deploy(now()).await.map(drop).unwrap_err().to_string();
    assert_eq!(error, "helm status: the program can't be started: entity not found");
}
