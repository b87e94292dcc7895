//! `opgen sandbox`: from its first line to its end.

use std::{
    ffi::OsString,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use k8s_openapi::api::{
    authentication::v1::{SelfSubjectReview, TokenRequest},
    core::v1::{ConfigMap, Namespace, ServiceAccount},
};
use kube::{
    Api, Client, Config,
    api::{ListParams, PostParams},
    config::{AuthInfo, KubeConfigOptions, Kubeconfig},
};
use opgen_tests::wait::until_object;
use rustix::process::{Pid, Signal, kill_process};

use super::command::{Place, program};

#[tokio::test]
async fn it_says_where_it_is_serves_and_leaves_nothing_behind() {
    let (mut sandbox, path) = started(&["sandbox".into()]);
    let namespaces = Api::<Namespace>::all(Client::try_from(config_of(&path).await).unwrap());
    let found = namespaces.list(&ListParams::default()).await.unwrap();
    assert!(found.items.iter().any(|namespace| namespace.metadata.name.as_deref() == Some("default")));
    let maps = Api::<ConfigMap>::namespaced(Client::try_from(config_of(&path).await).unwrap(), "default");
    let certified = |map: &ConfigMap| map.data.as_ref().is_some_and(|data| data["ca.crt"].starts_with("-----BEGIN"));
    until_object(&maps, "kube-root-ca.crt", "has the certificate", certified).await;

    end(&mut sandbox);
    assert!(!Path::new(&path).exists());
}

#[tokio::test]
async fn with_a_file_everything_is_there_again_and_its_tokens_are_good() {
    let place = Place::new();
    let (data, folder) = (place.path("cluster.redb"), place.path("kubeconfigs"));
    std::fs::create_dir(&folder).unwrap();
    let arguments =
        ["sandbox".into(), "--data".into(), data.into_os_string(), "--folder".into(), folder.clone().into_os_string()];

    let (mut first, kubeconfig) = started(&arguments);
    assert_eq!(Path::new(&kubeconfig), folder.join("kubeconfig"));
    let config = config_of(&kubeconfig).await;
    let client = Client::try_from(config.clone()).unwrap();
    let maps = Api::<ConfigMap>::namespaced(client.clone(), "default");
    let mut map = ConfigMap::default();
    map.metadata.name = Some("kept".to_owned());
    maps.create(&PostParams::default(), &map).await.unwrap();
    let accounts = Api::<ServiceAccount>::namespaced(client, "default");
    let token =
        accounts.create_token_request("default", &PostParams::default(), &TokenRequest::default()).await.unwrap();
    let token = token.status.unwrap().token.unwrap();
    end(&mut first);

    let (mut second, kubeconfig) = started(&arguments);
    let config = config_of(&kubeconfig).await;
    let maps = Api::<ConfigMap>::namespaced(Client::try_from(config.clone()).unwrap(), "default");
    assert_eq!(maps.get("kept").await.unwrap().metadata.name.as_deref(), Some("kept"));
    let mut account = config;
    account.auth_info = AuthInfo { token: Some(token.into()), ..AuthInfo::default() };
    let review = SelfSubjectReview::default();
    let reviews = Api::<SelfSubjectReview>::all(Client::try_from(account).unwrap());
    let who = reviews.create(&PostParams::default(), &review).await.unwrap();
    let who = who.status.and_then(|status| status.user_info).and_then(|user| user.username);
    assert_eq!(who.as_deref(), Some("system:serviceaccount:default:default"));
    end(&mut second);
}

/// `opgen sandbox`, and its kubeconfig.
fn started(arguments: &[OsString]) -> (Child, String) {
    let mut sandbox =
        Command::new(program()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(sandbox.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let path = line.trim().strip_prefix("export KUBECONFIG=").expect("where the kubeconfig is").to_owned();
    (sandbox, path)
}

async fn config_of(kubeconfig: &str) -> Config {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap()
}

fn end(sandbox: &mut Child) {
    kill_process(Pid::from_child(sandbox), Signal::TERM).unwrap();
    assert!(sandbox.wait().unwrap().success());
}

#[test]
fn a_port_that_is_taken_is_said() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = Command::new(program()).args(["sandbox", "--port", &port]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("error: failed to listen on port {port}")) && said.contains("hint: "), "{said}");
    assert!(output.stdout.is_empty());
}
