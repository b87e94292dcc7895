//! Tests which kubeconfigs of other clusters are accepted, and which credentials are read from them.

use super::*;
use crate::{environment::Environment, scope};
use k8s_openapi::ByteString;
use serde_json::{Value, json};

fn secret(user: Value, cluster: Value) -> Secret {
    secret_of_users(json!([{"name": "u", "user": user}]), cluster)
}

fn secret_of_users(users: Value, cluster: Value) -> Secret {
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": users,
    });
    Secret {
        data: Some([("value".to_owned(), ByteString(kubeconfig.to_string().into_bytes()))].into()),
        ..Secret::default()
    }
}

async fn read_secret(secret: &Secret) -> Result<ClientConfig, String> {
    read_secret_with(&[], secret).await
}

async fn read_secret_with(plugins: &[scope::ExecPlugin], secret: &Secret) -> Result<ClientConfig, String> {
    let runner = ExecRunner::new(plugins, &Environment::system());
    let source = scope::Kubeconfig::secret("blue").record(Some("teams")).unwrap().secret;
    let checked = check(&source, secret, &runner).map_err(|error| error.to_string())?;
    checked.into_config(&runner).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_kubeconfig_can_neither_read_files_nor_run_programs_of_the_operator() {
    let server = || json!({"server": "https://127.0.0.1:1"});
    let kubeconfig = "the kubeconfig in key value of Secret teams/blue";
    for (user, cluster, problem) in [
        (json!({"tokenFile": "/var/run/secrets/token"}), server(), "names files of credentials"),
        (json!({"client-key": "/key", "client-certificate": "/cert"}), server(), "names files of credentials"),
        (
            json!({"exec": {"command": "sh"}}),
            server(),
            "runs the program sh for its credentials, which the operator does not allow",
        ),
        (json!({"exec": {"command": "/bin/sh"}}), server(), "runs a program for its credentials"),
        (json!({"auth-provider": {"name": "gcp", "config": {}}}), server(), "has an auth provider"),
        (
            json!({"token": "t"}),
            json!({"server": "https://a", "certificate-authority": "/etc/passwd"}),
            "names the file of a certificate authority",
        ),
        (json!({"token": "t"}), json!({"server": "https://a", "proxy-url": "http://b"}), "names a proxy"),
        (json!({"token": "t"}), json!({"server": "http://a"}), "names a server without https"),
    ] {
        let result = read_secret(&secret(user, cluster)).await.map(drop);
        assert_eq!(result, Err(format!("{kubeconfig} {problem}")));
    }
}

#[tokio::test]
async fn all_users_of_a_kubeconfig_may_run_only_allowed_programs_and_then_have_no_other_credentials() {
    let aws = scope::ExecPlugin::new("aws").arguments(["eks"]).environment(["AWS_PROFILE"]);
    let exec = |args: Value, variable: &str| {
        let variables = json!([{"name": variable, "value": "hunter2"}]);
        json!({"command": "aws", "args": args, "env": variables})
    };
    for (user, problem) in [
        (
            json!({"exec": exec(json!(["hunter2"]), "AWS_PROFILE")}),
            "runs its program with arguments that the operator does not allow",
        ),
        (
            json!({"exec": exec(json!(["eks"]), "LD_PRELOAD")}),
            "runs its program with the environment variable LD_PRELOAD that the operator does not allow",
        ),
        (
            json!({"exec": exec(json!(["eks"]), "AWS_PROFILE"), "token": "hunter2"}),
            "has credentials beside those of its program",
        ),
    ] {
        let users = json!([{"name": "u", "user": {"token": "t"}}, {"name": "other", "user": user}]);
        let secret = secret_of_users(users, json!({"server": "https://a"}));
        let result = read_secret_with(std::slice::from_ref(&aws), &secret).await.map(drop);
        assert_eq!(result, Err(format!("the kubeconfig in key value of Secret teams/blue {problem}")));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_program_of_the_current_user_gives_the_credentials_and_no_other_program_runs() {
    let exec = |script: &str| {
        let version = "client.authentication.k8s.io/v1beta1";
        json!({"exec": {"apiVersion": version, "command": "sh", "args": ["-c", script], "interactiveMode": "IfAvailable"}})
    };
    let output = json!({
        "apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential",
        "status": {"token": "t", "expirationTimestamp": null},
    });
    let (ours, other) = (exec(&format!("echo '{output}'")), exec("exit 1"));
    let users = json!([{"name": "other", "user": other}, {"name": "u", "user": ours}]);
    let secret = secret_of_users(users, json!({"server": "https://a"}));
    let config = read_secret_with(&[scope::ExecPlugin::new("sh").arguments(["-c"])], &secret).await.unwrap();
    let user = &config.config.auth_info;
    assert_eq!(user.token.as_ref().map(|token| token.expose_secret()), Some("t"));
    assert!(user.exec.is_none() && config.is_issued && config.renew_at.is_none());
    assert_ne!(config.version, config.kubeconfig);
    let problem = config.credentials.map(drop);
    assert_eq!(problem, Err("gets its credentials from a program, which a CD system can't run"));
}

#[tokio::test]
async fn a_cd_system_can_not_run_the_program_of_a_kubeconfig_whether_the_operator_allows_it_or_not() {
    let source = scope::Kubeconfig::secret("blue").record(Some("teams")).unwrap().secret;
    let read = async |users: Value| {
        let secret = secret_of_users(users, json!({"server": "https://a"}));
        read_credentials(&source, &secret).await.map(|credentials| credentials.token).map_err(|error| error.to_string())
    };
    let exec = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws"}});
    let problem = format!("InvalidKubeconfig: the kubeconfig in key value of Secret teams/blue {ISSUED_CREDENTIALS}");
    assert_eq!(read(json!([{"name": "u", "user": exec}])).await, Err(problem));
    let beside = json!([{"name": "u", "user": {"token": "t"}}, {"name": "other", "user": exec}]);
    assert_eq!(read(beside).await, Ok(Some("t".to_owned())));
}

#[tokio::test]
async fn an_error_has_no_text_of_the_kubeconfig() {
    for text in ["token: hunter2: [", "hunter2", "{\"clusters\": \"hunter2\"}"] {
        let secret = Secret {
            data: Some([("value".to_owned(), ByteString(text.as_bytes().to_vec()))].into()),
            ..Secret::default()
        };
        let error = read_secret(&secret).await.map(drop).unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn other_credentials_are_the_same_cluster_and_another_server_is_another_one() {
    let of = async |token: &str, server: &str| {
        let config = read_secret(&secret(json!({"token": token}), json!({"server": server}))).await.unwrap();
        (config.identity, config.version)
    };
    let first = of("one", "https://a").await;
    assert_eq!(of("one", "https://a").await, first);
    let rotated = of("two", "https://a").await;
    assert!(rotated.0 == first.0 && rotated.1 != first.1);
    let other = of("one", "https://b").await;
    assert!(other.0 != first.0);
}
