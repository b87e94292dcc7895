//! Tests `ExecRunner` with shell scripts as the programs that issue credentials.

use super::*;
use futures::future::join_all;
use secrecy::ExposeSecret as _;
use std::{fs, sync::Arc};

const V1: &str = "client.authentication.k8s.io/v1";

/// A script that the operator allows, with the clock of the operator.
struct Script {
    folder: tempfile::TempDir,
    runner: ExecRunner,
    clock: Arc<Mutex<Timestamp>>,
}

impl Script {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let clock = Arc::new(Mutex::new(start));
        let read_clock = clock.clone();
        let environment = Environment::new(move || *read_clock.lock(), || 0);
        let path = folder.path().join("plugin.sh");
        fs::write(&path, text).unwrap();
        let plugin = ExecPlugin::new("sh").arguments([path.to_str().unwrap()]);
        Self { runner: ExecRunner::new(&[plugin], &environment), folder, clock }
    }

    fn exec(&self) -> ExecConfig {
        let path = self.folder.path().join("plugin.sh").to_str().unwrap().to_owned();
        let (api_version, command) = (Some(V1.to_owned()), Some("sh".to_owned()));
        ExecConfig { api_version, command, args: Some(vec![path]), ..ExecConfig::default() }
    }

    async fn run(&self) -> Result<Arc<IssuedCredentials>, String> {
        self.runner.run(&self.exec(), &Cluster::default()).await.map_err(Cow::into_owned)
    }

    /// Returns what the script has written beside itself.
    fn written(&self) -> String {
        fs::read_to_string(self.folder.path().join("plugin.sh.out")).unwrap()
    }
}

/// Returns a script that prints this status.
fn printing(status: &Value) -> String {
    let output = json!({"apiVersion": V1, "kind": "ExecCredential", "status": status});
    format!("cat <<'END'\n{output}\nEND\n")
}

#[tokio::test]
async fn a_user_gets_the_credentials_that_the_program_prints() {
    let status = json!({
        "token": "t", "clientCertificateData": "cert", "clientKeyData": "key",
        "expirationTimestamp": "2026-01-01T01:00:00+00:00",
    });
    let issued = Script::new(&printing(&status)).run().await.unwrap();
    assert_eq!(issued.expire_at, Some("2026-01-01T01:00:00Z".parse().unwrap()));
    assert_eq!(issued.renew_at, Some("2026-01-01T00:59:00Z".parse().unwrap()));
    let mut user = AuthInfo::default();
    issued.apply_to(&mut user);
    let secret = |text: &Option<SecretString>| text.as_ref().map(|text| text.expose_secret().to_owned());
    assert_eq!(secret(&user.token).as_deref(), Some("t"));
    assert_eq!(user.client_certificate_data.as_deref(), Some("Y2VydA=="));
    assert_eq!(secret(&user.client_key_data).as_deref(), Some("a2V5"));
}

#[tokio::test]
async fn a_program_gets_its_version_its_variables_and_if_wanted_its_cluster() {
    let text = format!(
        "printf '%s %s' \"$USER_OF_TEST\" \"$KUBERNETES_EXEC_INFO\" > \"$0.out\"\n{}",
        printing(&json!({"token": "t"}))
    );
    let mut script = Script::new(&text);
    script.runner.plugins[0] = script.runner.plugins[0].clone().environment(["USER_OF_TEST"]);
    let cluster = Cluster {
        server: Some("https://a".to_owned()),
        certificate_authority_data: Some("Y2E=".to_owned()),
        ..Cluster::default()
    };
    for (provide_cluster_info, spec) in [
        (false, json!({"interactive": false})),
        (true, json!({"interactive": false, "cluster": {"server": "https://a", "certificate-authority-data": "Y2E="}})),
    ] {
        let variable = [("name".to_owned(), "USER_OF_TEST".to_owned()), ("value".to_owned(), "me".to_owned())];
        let exec = ExecConfig { provide_cluster_info, env: Some(vec![variable.into()]), ..script.exec() };
        assert!(script.runner.run(&exec, &cluster).await.is_ok());
        let written = script.written();
        let input: Value = serde_json::from_str(written.strip_prefix("me ").unwrap()).unwrap();
        assert_eq!(input, json!({"apiVersion": V1, "kind": "ExecCredential", "spec": spec}));
    }
}

#[tokio::test]
async fn an_error_says_what_a_program_did_and_has_nothing_of_its_output() {
    let credential =
        |version: &str| json!({"apiVersion": version, "kind": "ExecCredential", "status": {"token": "hunter2"}});
    for (text, expected) in [
        ("echo hunter2 >&2; echo hunter2; exit 3".to_owned(), "which failed with exit code 3"),
        ("kill -9 $$".to_owned(), "which was ended by a signal"),
        ("head -c 2097152 /dev/zero".to_owned(), "whose output is longer than 1 MiB"),
        (
            "echo '{hunter2'".to_owned(),
            "whose output is not an ExecCredential of client.authentication.k8s.io/v1 with a status",
        ),
        (
            format!("echo '{}'", credential("client.authentication.k8s.io/v1beta1")),
            "whose output is not an ExecCredential of client.authentication.k8s.io/v1 with a status",
        ),
        (printing(&json!({"token": ""})), "whose output has neither a token nor a certificate"),
        (
            printing(&json!({"token": "hunter2", "clientKeyData": "hunter2"})),
            "whose output has only one of a certificate and its key",
        ),
        (
            printing(&json!({"token": "hunter2", "expirationTimestamp": "hunter2"})),
            "whose output has an expiration timestamp that is not a time",
        ),
    ] {
        let result = Script::new(&text).run().await.map(drop);
        assert_eq!(result, Err(format!("runs the program sh, {expected}")));
    }
}

#[tokio::test]
async fn a_program_that_does_not_end_is_killed() {
    let mut script = Script::new("exec sleep 1000");
    script.runner.deadline = Duration::from_millis(100);
    let result = script.run().await.map(drop);
    assert_eq!(result, Err("runs the program sh, which did not end within 100ms".to_owned()));
}

#[tokio::test]
async fn a_program_is_started_only_if_it_is_allowed_exists_and_needs_no_terminal() {
    let script = Script::new("echo run > \"$0.out\"");
    let refusal = async |exec: ExecConfig| {
        let result = script.runner.run(&exec, &Cluster::default()).await;
        result.map(drop).unwrap_err().into_owned()
    };
    let always = ExecConfig { interactive_mode: Some(ExecInteractiveMode::Always), ..script.exec() };
    assert_eq!(refusal(always).await, "runs a program that needs a terminal");
    let old = ExecConfig { api_version: Some("client.authentication.k8s.io/v1alpha1".to_owned()), ..script.exec() };
    let expected = "runs a program of another API version than client.authentication.k8s.io/v1 and v1beta1";
    assert_eq!(refusal(old).await, expected);
    let other = ExecConfig { args: Some(vec!["-c".to_owned()]), ..script.exec() };
    assert_eq!(refusal(other).await, "runs its program with arguments that the operator does not allow");
    assert!(!script.folder.path().join("plugin.sh.out").exists());
    let runner = ExecRunner::new(&[ExecPlugin::new("opgen-none")], &Environment::system());
    let exec = ExecConfig { command: Some("opgen-none".to_owned()), args: None, ..script.exec() };
    let result = runner.run(&exec, &Cluster::default()).await.map(drop).map_err(Cow::into_owned);
    let expected = "runs the program opgen-none, which the container of the operator does not have";
    assert_eq!(result, Err(expected.to_owned()));
}

#[tokio::test]
async fn callers_share_a_run_that_goes_on_without_them() {
    let script = Script::new(&format!("echo run >> \"$0.out\"\n{}", printing(&json!({"token": "t"}))));
    assert!(script.run().now_or_never().is_none(), "the caller does not wait");
    let results = join_all((0..4).map(|_| script.run())).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(script.written().lines().count(), 1);
    // The next one is a run of its own.
    assert!(script.run().await.is_ok());
    assert_eq!(script.written().lines().count(), 2);
}

#[tokio::test]
async fn a_program_that_failed_is_not_run_again_for_ten_seconds() {
    let script = Script::new("echo run >> \"$0.out\"; exit 1");
    let start = *script.clock.lock();
    for (seconds, runs) in [(0, 1), (9, 1), (10, 2)] {
        *script.clock.lock() = start + SignedDuration::from_secs(seconds);
        let result = script.run().await.map(drop);
        assert_eq!(result, Err("runs the program sh, which failed with exit code 1".to_owned()));
        assert_eq!(script.written().lines().count(), runs);
    }
}
