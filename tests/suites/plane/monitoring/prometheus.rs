//! Runs a Prometheus and queries its API.

use std::{path::Path, process::Command};

use kube::{Client, Config};
use opgen_tests::{
    Port, Process,
    wait::{self, PATIENCE},
};
use serde_json::{Value, json};

use super::{binary, promtool};

/// A Prometheus with the data of one test. Dropping it kills it.
pub(super) struct Prometheus {
    process: Process,
    client: Client,
    _reserved: Port,
}

impl Prometheus {
    /// Starts it with scrape configurations and rules, both of which it reads every second, and waits until it is ready.
    pub(super) async fn start(folder: &Path, scrape_configs: &[Value], rules: &Value) -> Self {
        let port = Port::reserve();
        promtool::write(folder, "rules.json", rules);
        let global = json!({"scrape_interval": "1s", "evaluation_interval": "1s"});
        let config = json!({"global": global, "rule_files": ["rules.json"], "scrape_configs": scrape_configs});
        promtool::write(folder, "prometheus.json", &config);
        promtool::succeed(folder, &["check", "config", "prometheus.json"], None);
        let mut command = Command::new(binary::program("prometheus").unwrap());
        command.current_dir(folder).args(["--config.file=prometheus.json", "--storage.tsdb.path=prometheus"]);
        command.arg(format!("--web.listen-address={}", port.address()));
        let process = Process::spawn("prometheus", command, &folder.join("prometheus.log"));
        let mut config = Config::new(format!("http://{}", port.address()).parse().unwrap());
        config.default_retry = false;
        let client = Client::try_from(config).unwrap();
        let mut started = Self { process, client, _reserved: port };
        wait::until("Prometheus is ready", PATIENCE, async || {
            if let Some(status) = started.process.exited() {
                panic!("Prometheus ended: {status}; {}", started.process.log_tail(20));
            }
            let request = http::Request::get("/-/ready").body(Vec::new()).unwrap();
            started.client.request_text(request).await.map_err(|error| error.to_string())
        })
        .await;
        started
    }

    /// The data of a response of the API.
    pub(super) async fn get(&self, path: &str) -> Result<Value, String> {
        let request = http::Request::get(format!("/api/v1/{path}")).body(Vec::new()).unwrap();
        let response: Value = self.client.request(request).await.map_err(|error| format!("{path}: {error}"))?;
        if response["status"] == "success" { Ok(response["data"].clone()) } else { Err(response.to_string()) }
    }

    /// The values of the series that a query gives now.
    pub(super) async fn query(&self, query: &str) -> Result<Vec<f64>, String> {
        let data = self.get(&format!("query?query={}", encode(query))).await?;
        let series = data["result"].as_array().ok_or_else(|| data.to_string())?;
        let value = |one: &Value| one["value"][1].as_str().and_then(|value| value.parse().ok());
        series.iter().map(|one| value(one).ok_or_else(|| one.to_string())).collect()
    }

    /// The alerts in a state, `pending` or `firing`.
    pub(super) async fn alerts(&self, state: &str) -> Result<Vec<Value>, String> {
        let data = self.get("alerts").await?;
        let alerts = data["alerts"].as_array().ok_or_else(|| data.to_string())?;
        Ok(alerts.iter().filter(|alert| alert["state"] == state).cloned().collect())
    }
}

/// A text as a part of a URL.
fn encode(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}
