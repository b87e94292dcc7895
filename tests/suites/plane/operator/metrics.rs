//! What `/metrics` serves, and to whom: over TLS, with tokens of ServiceAccounts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
    rbac::v1::ClusterRoleBinding,
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
    client::Body,
    config::{AuthInfo, Config},
};
use libtest_mimic::Trial;
use opgen::{
    For, RunOptions,
    counters::Closure,
    metrics::{MetricsServer, TABLE},
};
use opgen_tests::{
    Plane, Port, case_served,
    wait::{self, PATIENCE},
};
use serde_json::json;

use super::{
    install,
    kinds::{Diary, Errand, ErrandSpec, Outcome, RelayTree},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("manager_m47_every_metric_of_the_table_is_exposed_and_nothing_else", exposed),
        case_served("manager_m8_an_operator_whose_metrics_have_no_address_starts_nothing", taken),
    ]
}

async fn exposed(plane: Arc<Plane>) {
    let (site, port) = (Site::new(&plane).await, Port::reserve());
    let operator = site.operator().controls_with::<For<Errand, Diary>, RelayTree>(|c| c.options(Diary::default()));
    site.install(&operator).await;
    let options = RunOptions::default().metrics(MetricsServer::new(port.address()).secure(true));
    let _running = site.run(&operator, options).await;
    let outcomes = [
        ("done", Outcome::Done),
        ("gone", Outcome::Done),
        ("later", Outcome::Yield),
        ("broken", Outcome::Unexpected),
        ("contended", Outcome::Conflict),
        ("closed", Outcome::Terminal),
        ("torn", Outcome::Panic),
    ];
    for (name, first) in outcomes {
        site.create(&Errand::new(name, ErrandSpec { first, ..ErrandSpec::default() })).await;
    }

    let scraper = scraper(&site, &port, "prometheus").await;
    let said = wait::until("a stranger is known and refused", PATIENCE, async || match get(&scraper, "").await {
        Ok((403, said)) => Ok(said),
        other => Err(format!("{other:?}")),
    })
    .await;
    assert!(said.contains(&format!("system:serviceaccount:{}:prometheus", site.namespace)), "{said}");
    assert_eq!(get(&client(&port, None), "").await.map(|(status, _)| status), Ok(401));
    assert_eq!(get(&client(&port, Some("made-up")), "").await.map(|(status, _)| status), Ok(401));

    // The refusal is remembered for a minute, so the reader is another one.
    let rendered = install::generated(&operator);
    install::apply_quietly(&plane, rendered.text("base/roles.yaml").expect("the role of readers")).await;
    bind(&site, "reader").await;
    let reader = self::scraper(&site, &port, "reader").await;
    wait::until("the role of the reader is in force", PATIENCE, async || match get(&reader, "").await {
        Ok((200, _)) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    site.delete::<Errand>("gone").await;
    wait::until_gone(&site.api::<Errand>(), "gone").await;
    let cached = r#"opgen_cache_objects{resource="errands.live.example.com"}"#;
    let text = wait::until("each errand had its pass, and the cache knows the deletion", PATIENCE, async || {
        let (_, text) = get(&reader, "").await?;
        let missing: Vec<_> = EXPECTED.iter().filter(|(series, least)| value(&text, series) < *least).collect();
        let objects = value(&text, cached);
        if missing.is_empty() && objects == 6.0 {
            Ok(text)
        } else {
            Err(format!("{missing:?}, {objects} cached in\n{text}"))
        }
    })
    .await;
    is_the_table(&text);
    assert!(operator.counters().panics(Closure::Provisioner) >= 1);
    let (_, open_metrics) = get(&reader, "application/openmetrics-text").await.expect("OpenMetrics");
    assert!(open_metrics.ends_with("# EOF\n"), "{open_metrics}");
}

/// Series, and the least that they say after the errands had their passes.
const EXPECTED: [(&str, f64); 17] = [
    (r#"controller_runtime_reconcile_total{controller="errand",result="success"}"#, 2.0),
    (r#"controller_runtime_reconcile_total{controller="errand",result="error"}"#, 3.0),
    (r#"controller_runtime_reconcile_total{controller="errand",result="requeue"}"#, 1.0),
    (r#"controller_runtime_reconcile_total{controller="errand",result="requeue_after"}"#, 1.0),
    (r#"controller_runtime_terminal_reconcile_errors_total{controller="errand"}"#, 1.0),
    (r#"controller_runtime_reconcile_panics_total{controller="errand"}"#, 1.0),
    (r#"controller_runtime_reconcile_time_seconds_count{controller="errand"}"#, 7.0),
    (r#"workqueue_adds_total{name="errand",controller="errand"}"#, 7.0),
    (r#"workqueue_retries_total{name="errand",controller="errand"}"#, 2.0),
    (r#"opgen_yields_total{controller="errand",reason="NotYet"}"#, 1.0),
    (r#"opgen_errors_total{controller="errand",reason="RoadClosed"}"#, 1.0),
    (r#"opgen_unconverged_objects{controller="errand"}"#, 4.0),
    (r#"opgen_panics_total{closure="provisioner"}"#, 1.0),
    (r#"opgen_watches{resource="configmaps",state="following"}"#, 1.0),
    (r#"opgen_call_duration_seconds_count{verb="create",resource="configmaps"}"#, 6.0),
    (r#"rest_client_requests_total{code="201",host="unknown",method="POST"}"#, 1.0),
    (r#"leader_election_master_status{name="live"}"#, 1.0),
];

/// The value of a series; less than any value if there is none.
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or(-1.0)
}

/// Checks names, types and labels of the text of an operator that is connected to no other cluster.
#[track_caller]
fn is_the_table(text: &str) {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let metrics = TABLE.iter().filter(|metric| !metric.name.starts_with("opgen_remote_cluster_"));
    let listed: BTreeMap<_, _> = metrics.map(|metric| (metric.name, metric.kind.as_str())).collect();
    assert_eq!(types.collect::<BTreeMap<_, _>>(), listed);
    let labels: BTreeMap<_, BTreeSet<_>> =
        TABLE.iter().map(|metric| (metric.name, metric.labels.iter().copied().collect())).collect();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let series = line.split([' ', '{']).next().unwrap_or_default();
        let without = |suffix| series.strip_suffix(suffix).filter(|name| listed.get(name) == Some(&"histogram"));
        let name = ["_bucket", "_sum", "_count"].into_iter().find_map(without).unwrap_or(series);
        let pairs = line.split_once('{').map_or("", |(_, rest)| rest.split('}').next().unwrap_or_default());
        let names = pairs.split(',').filter_map(|pair| pair.split_once('=')).map(|(name, _)| name);
        let names: BTreeSet<_> = names.filter(|name| *name != "le").collect();
        assert_eq!(Some(&names), labels.get(name), "{line}");
    }
}

async fn taken(plane: Arc<Plane>) {
    let (site, port) = (Site::new(&plane).await, Port::reserve());
    let _other = std::net::TcpListener::bind(port.address()).unwrap();
    let operator = site.operator();
    site.install(&operator).await;
    let running = site.run(&operator, RunOptions::default().metrics(port.address())).await;
    let error = running.end().await.unwrap_err().to_string();
    assert!(error.contains(&format!("failed to listen on {} for metrics", port.address())), "{error}");
    assert!(site.asked().await.is_empty(), "nothing was started");
}

/// A client with the token of a new ServiceAccount.
async fn scraper(site: &Site, port: &Port, name: &str) -> Client {
    let accounts = site.api::<ServiceAccount>();
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
    accounts.patch(name, &PatchParams::apply("test"), &Patch::Apply(account)).await.unwrap();
    let spec = TokenRequestSpec { expiration_seconds: Some(3600), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let answer = accounts.create_token_request(name, &PostParams::default(), &request).await.unwrap();
    client(port, answer.status.and_then(|status| status.token).as_deref())
}

/// Lets a ServiceAccount read the metrics.
async fn bind(site: &Site, name: &str) {
    let role = format!("{}-live-metrics-reader", site.namespace);
    let binding: ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": {"name": role},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": site.namespace}],
    }))
    .unwrap();
    Api::all(site.plane.client()).create(&PostParams::default(), &binding).await.unwrap();
}

/// A client of the metrics, which accepts their self-signed certificate.
fn client(port: &Port, token: Option<&str>) -> Client {
    let mut config = Config::new(format!("https://{}", port.address()).parse().unwrap());
    config.accept_invalid_certs = true;
    config.auth_info = AuthInfo { token: token.map(|token| token.to_owned().into()), ..AuthInfo::default() };
    Client::try_from(config).unwrap()
}

/// The status and the text of an answer.
async fn get(client: &Client, accept: &str) -> Result<(u16, String), String> {
    let request = http::Request::get("/metrics").header("accept", accept).body(Body::empty()).unwrap();
    let answer = client.send(request).await.map_err(|error| format!("{error:?}"))?;
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect_bytes().await.map_err(|error| error.to_string())?;
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}
