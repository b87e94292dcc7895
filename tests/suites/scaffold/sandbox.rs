//! `opgen sandbox`: from its first line to its end.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, Config,
    api::ListParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use rustix::process::{Pid, Signal, kill_process};

use super::command::program;

#[tokio::test]
async fn it_says_where_it_is_serves_and_leaves_nothing_behind() {
    let mut sandbox =
        Command::new(program()).arg("sandbox").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(sandbox.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let path = line.trim().strip_prefix("export KUBECONFIG=").expect("where the kubeconfig is").to_owned();

    let kubeconfig = Kubeconfig::read_from(&path).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let namespaces = Api::<Namespace>::all(Client::try_from(config).unwrap());
    let found = namespaces.list(&ListParams::default()).await.unwrap();
    assert!(found.items.iter().any(|namespace| namespace.metadata.name.as_deref() == Some("default")));

    kill_process(Pid::from_child(&sandbox), Signal::TERM).unwrap();
    assert!(sandbox.wait().unwrap().success());
    assert!(!Path::new(&path).exists());
}

#[test]
fn a_port_that_is_taken_is_said() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = Command::new(program()).args(["sandbox", "--port", &port]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("error: port {port} can't be listened on")) && said.contains("hint: "), "{said}");
    assert!(output.stdout.is_empty());
}
