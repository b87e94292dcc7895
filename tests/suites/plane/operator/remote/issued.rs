//! Clusters whose credentials a program issues.

use std::{fs, path::Path, process::Command, sync::Arc};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api,
    api::{ObjectMeta, Patch, PatchParams},
};
use opgen::scope::ExecPlugin;
use opgen_tests::{
    Options, Plane,
    wait::{PATIENCE, until, until_object},
};
use serde_json::{Value, json};

use super::{Note, NoteSpec, RemoteTree, Site, note, note_says, text};

/// Issues the token in a file. It waits for a writer of its pipe, if there is one.
const PROGRAM: &str = r#"
if [ -p "$0.wait" ]; then read -r _ < "$0.wait"; fi
status="{\"token\": \"$(cat "$0.token")\"}"
echo "{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": $status}"
"#;

/// Writes a Secret of this name with a kubeconfig.
async fn publish(site: &Site, name: &str, kubeconfig: &Value) {
    let secret = Secret {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        string_data: Some([("value".to_owned(), kubeconfig.to_string())].into()),
        ..Secret::default()
    };
    let (secrets, admin) = (site.api::<Secret>(), PatchParams::apply("admin").force());
    secrets.patch(name, &admin, &Patch::Apply(&secret)).await.unwrap();
}

/// Returns the kubeconfig with these credentials of its user.
fn with_user(kubeconfig: &Value, user: Value) -> Value {
    let mut kubeconfig = kubeconfig.clone();
    kubeconfig["users"][0]["user"] = user;
    kubeconfig
}

/// Makes a pipe.
fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
}

/// While the program for one cluster runs, another cluster is used. A program and arguments that the operator does not allow are refused.
pub(super) async fn issued(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let options = Options { form: plane.form(), kubelet: false, ..Options::served() };
    let second = Plane::start(options).await.expect("a second plane");
    let admin: Value = serde_json::from_str(&second.admin().embedded_kubeconfig()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("plugin.sh");
    let (waits, token) = (program.with_extension("sh.wait"), program.with_extension("sh.token"));
    fs::write(&program, PROGRAM).unwrap();
    fs::write(&token, admin["users"][0]["user"]["token"].as_str().unwrap()).unwrap();
    make_pipe(&waits);
    let path = program.to_str().unwrap();
    let plugin = ExecPlugin::new("sh").arguments([path]);
    let _running = site.start(&site.operator().exec_plugin(plugin).controls::<Note, RemoteTree>()).await;
    let exec = |arguments: Value| {
        let version = "client.authentication.k8s.io/v1";
        json!({"exec": {"apiVersion": version, "command": "sh", "args": arguments, "interactiveMode": "Never"}})
    };

    publish(&site, "blue", &with_user(&admin, exec(json!(["-c", "exit 0"])))).await;
    site.create(&note("blue/one")).await;
    let message = note_says(&site, "InvalidKubeconfig").await;
    assert!(message.ends_with("runs its program with arguments that the operator does not allow"), "{message}");

    publish(&site, "blue", &with_user(&admin, exec(json!([path])))).await;
    publish(&site, "green", &admin).await;
    site.patch::<Note>("one", &json!({"spec": {"text": "blue/new"}})).await;
    site.create(&Note::new("two", NoteSpec { text: "green/two".to_owned(), ..NoteSpec::default() })).await;
    let configs = Api::<ConfigMap>::namespaced(second.client(), "default");
    until_object(&configs, "two", "is made", |config| text(config) == "green/two").await;
    assert!(configs.get_opt("one").await.unwrap().is_none(), "its credentials are not issued yet");

    // A run that has waited for too long was killed. Then the next one reads the pipe.
    let writer = tokio::task::spawn_blocking(move || fs::write(&waits, "go\n").and_then(|()| fs::remove_file(&waits)));
    let notes = site.api::<Note>();
    until("`one` is made in the cluster", PATIENCE * 2, async || {
        let config = configs.get_opt("one").await.map_err(|error| error.to_string())?;
        match config.is_some_and(|config| text(&config) == "blue/new") {
            true => Ok(()),
            false => Err(format!("{:?}", notes.get_opt("one").await.map(|note| note.and_then(|note| note.status)))),
        }
    })
    .await;
    writer.await.unwrap().unwrap();
    note_says(&site, "Provisioned").await;
}
