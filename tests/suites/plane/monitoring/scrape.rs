//! Tests that a real Prometheus scrapes an operator over TLS with the token of a ServiceAccount.

use std::{fs, path::PathBuf, sync::Arc};

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    authorization::v1::{NonResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    core::v1::{ConfigMap, ServiceAccount},
    rbac::v1::ClusterRoleBinding,
};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
    client::Body,
    config::{AuthInfo, Config},
};
use libtest_mimic::Trial;
use opgen_tests::{
    Options, Plane, Port, case_on,
    wait::{self, PATIENCE},
};
use serde_json::{Value, json};

use super::{dashboard, manifest, prometheus::Prometheus, promtool};
use crate::operator::{example::WEBAPP, fleet::Fleet, program::Program};

pub(super) fn cases() -> Vec<Trial> {
    vec![case_on("monitoring_a_prometheus_scrapes_an_operator_and_its_alerts_fire", Options::served(), monitored)]
}

/// The object whose ConfigMap is another client's.
const STUCK: &str = "stuck";

/// The threshold of the alert for stuck objects in the generated rules, and in this test, in seconds.
const THRESHOLDS: (&str, &str) = ("> 900", "> 3");

async fn monitored(plane: Arc<Plane>) {
    let access = WEBAPP.install(&plane).await;
    let port = Port::reserve();
    let address = port.address().to_string();
    let arguments = ["--leader-elect", "--metrics-secure=true", "--metrics-bind-address", &address];
    let mut program = Program::start(&WEBAPP, &plane, &access, &arguments);
    program.ready().await;
    let namespace = plane.namespace("monitoring").await;
    let reader = Scraper::new(&plane, &namespace, "reader").await;
    reader.may_read(&plane).await;
    let stranger = Scraper::new(&plane, &namespace, "stranger").await;

    let config = manifest::scrape_config(&WEBAPP, &address, reader.token_file());
    let mut refused = manifest::scrape_config(&WEBAPP, &address, stranger.token_file());
    refused["job_name"] = json!("refused");
    let mut rules = manifest::rules(&WEBAPP);
    shorten(&mut rules);
    let prometheus = Prometheus::start(plane.folder(), &[config.clone(), refused], &rules).await;
    let job = config["job_name"].as_str().expect("a name");
    is_up(&prometheus, job, "").await;
    is_up(&prometheus, "refused", "403").await;

    let fleet = Fleet::new(&plane, 5).await;
    fleet.create(&fleet.names).await;
    fleet.available(5).await;
    let foreign: ConfigMap = serde_json::from_value(json!({"metadata": {"name": STUCK}})).unwrap();
    fleet.api::<ConfigMap>().create(&PostParams::default(), &foreign).await.unwrap();
    fleet.create(&[STUCK.to_owned()]).await;
    dashboard::shows_data(&WEBAPP, &prometheus).await;
    one_alert_fires(&prometheus).await;
    rules_are_healthy(&prometheus).await;
    fs::write(plane.folder().join("metrics.txt"), reader.metrics(&port).await).unwrap();
    promtool::succeed(plane.folder(), &["check", "metrics"], Some("metrics.txt"));

    fleet.api::<ConfigMap>().delete(STUCK, &DeleteParams::default()).await.unwrap();
    fleet.available(6).await;
    wait::until("no alert fires", PATIENCE, async || match &prometheus.alerts("firing").await?[..] {
        [] => Ok(()),
        alerts => Err(format!("{alerts:?}")),
    })
    .await;
    program.stop().await;
    wait::until("Prometheus notices that nobody leads", PATIENCE, async || {
        let pending = prometheus.alerts("pending").await?;
        let is_noticed = pending.iter().any(|alert| alert["labels"]["alertname"] == "OpgenNoLeader");
        if is_noticed { Ok(()) } else { Err(format!("{pending:?}")) }
    })
    .await;
}

/// Lets the alert for stuck objects fire soon.
fn shorten(rules: &mut Value) {
    let rules = rules["groups"][0]["rules"].as_array_mut().expect("rules");
    let stuck = rules.iter_mut().find(|rule| rule["alert"] == "OpgenObjectStuck").expect("the alert");
    let expression = stuck["expr"].as_str().expect("a query");
    assert!(expression.ends_with(THRESHOLDS.0), "{expression}");
    stuck["expr"] = expression.replace(THRESHOLDS.0, THRESHOLDS.1).into();
}

/// Waits until the last scrape of a job had this error; none if it is empty.
async fn is_up(prometheus: &Prometheus, job: &str, error: &str) {
    wait::until(format!("the target of {job} has the error `{error}`"), PATIENCE, async || {
        let data = prometheus.get("targets").await?;
        let targets = data["activeTargets"].as_array().ok_or_else(|| data.to_string())?;
        let target = targets.iter().find(|target| target["labels"]["job"] == job).ok_or_else(|| data.to_string())?;
        assert!(target["scrapeUrl"].as_str().is_some_and(|url| url.starts_with("https://")), "{target}");
        let said = target["lastError"].as_str().unwrap_or_default();
        let is_expected =
            if error.is_empty() { target["health"] == "up" && said.is_empty() } else { said.contains(error) };
        if is_expected { Ok(()) } else { Err(target.to_string()) }
    })
    .await;
}

/// Waits until an alert fires: the one for stuck objects, with its texts, and no other.
async fn one_alert_fires(prometheus: &Prometheus) {
    let alert = wait::until("an alert fires", PATIENCE, async || match &prometheus.alerts("firing").await?[..] {
        [] => Err("none fires".to_owned()),
        [alert] => Ok(alert.clone()),
        alerts => panic!("{alerts:?}"),
    })
    .await;
    let expected = json!({
        "alertname": "OpgenObjectStuck",
        "controller": "webapp",
        "namespace": "webapp-system",
        "operator": "webapp",
        "severity": "warning",
    });
    assert_eq!(alert["labels"], expected);
    let description = alert["annotations"]["description"].as_str().unwrap_or_default();
    let start = "The oldest unready object of webapp has been unready for ";
    assert!(description.strip_prefix(start).is_some_and(|rest| rest.ends_with("s.")), "{description}");
}

/// Every rule was evaluated without an error.
async fn rules_are_healthy(prometheus: &Prometheus) {
    let data = prometheus.get("rules").await.unwrap();
    let rules = data["groups"][0]["rules"].as_array().expect("rules");
    assert_eq!(rules.len(), opgen::metrics::ALERTS.len());
    for rule in rules {
        assert_eq!(rule["health"], "ok", "{rule}");
    }
}

/// A ServiceAccount that reads metrics, with its token in a file.
struct Scraper {
    namespace: String,
    name: &'static str,
    token: String,
    file: PathBuf,
}

impl Scraper {
    async fn new(plane: &Plane, namespace: &str, name: &'static str) -> Self {
        let accounts = Api::<ServiceAccount>::namespaced(plane.client(), namespace);
        let account: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        accounts.create(&PostParams::default(), &account).await.unwrap();
        let spec = TokenRequestSpec { expiration_seconds: Some(3600), ..TokenRequestSpec::default() };
        let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
        let answer = accounts.create_token_request(name, &PostParams::default(), &request).await.unwrap();
        let token = answer.status.and_then(|status| status.token).expect("a token");
        let file = plane.folder().join(format!("{name}.token"));
        fs::write(&file, &token).unwrap();
        Self { namespace: namespace.to_owned(), name, token, file }
    }

    fn token_file(&self) -> &str {
        self.file.to_str().expect("a path in UTF-8")
    }

    /// Binds it to the generated role, and waits until the role is in force: the operator remembers a refusal for a minute.
    async fn may_read(&self, plane: &Plane) {
        let binding: ClusterRoleBinding = serde_json::from_value(json!({
            "metadata": {"name": "prometheus-webapp"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "webapp-metrics-reader"},
            "subjects": [{"kind": "ServiceAccount", "name": self.name, "namespace": self.namespace}],
        }))
        .unwrap();
        Api::all(plane.client()).create(&PostParams::default(), &binding).await.unwrap();
        let client = plane.service_account(&self.namespace, self.name).await.client();
        let path = NonResourceAttributes { path: Some("/metrics".to_owned()), verb: Some("get".to_owned()) };
        let spec = SelfSubjectAccessReviewSpec { non_resource_attributes: Some(path), ..Default::default() };
        let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
        wait::until("the role of the reader is in force", PATIENCE, async || {
            let answer = Api::all(client.clone()).create(&PostParams::default(), &review).await;
            let status = answer.map_err(|error| error.to_string())?.status;
            status.as_ref().filter(|status| status.allowed).map(drop).ok_or_else(|| format!("{status:?}"))
        })
        .await;
    }

    /// The metrics as Prometheus would read them in its text format.
    async fn metrics(&self, port: &Port) -> String {
        let mut config = Config::new(format!("https://{}", port.address()).parse().unwrap());
        config.accept_invalid_certs = true;
        config.auth_info = AuthInfo { token: Some(self.token.clone().into()), ..AuthInfo::default() };
        let client = Client::try_from(config).unwrap();
        let request = http::Request::get("/metrics").body(Body::empty()).unwrap();
        let answer = client.send(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        let bytes = answer.into_body().collect_bytes().await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}
