//! Tests that each option has the value of the highest source that sets it: flag, environment, file, code, library.

use super::{
    super::{keys::KEYS, log_options::LogOptions, nats::BucketOptions, otlp::OtlpOptions},
    OwnCli, load,
};
use crate::{
    foreign::Foreign,
    lease::options::LeaderElection,
    manager::{operator::Operator, run_options::RunOptions},
    metrics::MetricsServer,
    provisioner::tree_harness::Recorder,
    queue::Backoff,
};
use clap::CommandFactory;
use k8s_openapi::api::core::v1::Namespace;
use serde_json::{Value, json};
use std::{fmt::Debug, net::SocketAddr, process::Command, time::Duration};

/// What an operator gets from all sources.
struct Effective {
    operator: Operator,
    run: RunOptions,
    log: LogOptions,
    otlp: OtlpOptions,
    nats: BucketOptions,
}

/// The code of an operator, which sets an option.
type Code = fn(Operator, RunOptions) -> (Operator, RunOptions);

/// An option with the values that its sources set.
struct Row {
    flag: &'static str,
    default: &'static str,
    /// The code that sets it, and its value.
    code: Option<(Code, &'static str)>,
    file: &'static str,
    environment: &'static str,
    value: &'static str,
    /// Other flags without which the option has no effect.
    with: &'static [&'static str],
    read: fn(&Effective) -> String,
}

const ELECTED: &[&str] = &["--leader-elect=true"];
const SERVED: &[&str] = &["--metrics-bind-address=127.0.0.1:1", "--metrics-secure=true"];
const CERTIFIED: &[&str] = &["--metrics-bind-address=127.0.0.1:1", "--metrics-cert-path=/certs"];

const HOOKED: &[&str] = &["--webhook-address=127.0.0.1:1"];
const HOOKED_BY_FILES: &[&str] = &["--webhook-address=127.0.0.1:1", "--webhook-cert-path=/certs"];

const fn row(
    flag: &'static str,
    default: &'static str,
    [file, environment, value]: [&'static str; 3],
    read: fn(&Effective) -> String,
) -> Row {
    Row { flag, default, code: None, file, environment, value, with: &[], read }
}

impl Row {
    const fn code(self, value: &'static str, code: Code) -> Self {
        Self { code: Some((code, value)), ..self }
    }

    const fn with(self, with: &'static [&'static str]) -> Self {
        Self { with, ..self }
    }

    /// The key of the option in the file.
    fn key(&self) -> &'static str {
        KEYS.iter().find(|(flag, _)| *flag == self.flag).unwrap().1
    }

    /// The value of the option with this code and these flags.
    fn effective(&self, code: Option<Code>, flags: &[String]) -> String {
        let operator = Operator::new("demo").controls::<Foreign<Namespace>, Recorder>();
        let (operator, run) = match code {
            Some(code) => code(operator, RunOptions::default()),
            None => (operator, RunOptions::default()),
        };
        let with = self.with.iter().map(|flag| (*flag).to_owned());
        let configuration = load(&with.chain(flags.iter().cloned()).collect::<Vec<_>>()).unwrap();
        let (operator, run) = configuration.apply_to(operator, run).unwrap();
        let (log, otlp) = (configuration.log_options(), configuration.otlp_options());
        (self.read)(&Effective { operator, run, log, otlp, nats: configuration.bucket_options() })
    }

    /// The content of a file that sets the option alone, as JSON, which is YAML.
    fn content(&self) -> String {
        let plain = || serde_json::from_str(self.file).unwrap_or_else(|_| Value::from(self.file));
        let is_list = matches!(self.flag, "namespace" | "nats-url");
        let value = if is_list { json!([self.file]) } else { plain() };
        let body = self.key().rsplit('.').fold(value, |value, name| json!({name: value}));
        let mut content = json!({"apiVersion": "config.opgen.dev/v1alpha1", "kind": "OperatorConfiguration"});
        content.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        content.to_string()
    }
}

/// The text between two others in the debug form of a value; empty if there is none.
fn between(value: &impl Debug, begin: &str, end: &str) -> String {
    let text = format!("{value:?}");
    let rest = text.split_once(begin).map_or("", |(_, rest)| rest);
    rest.split(end).next().unwrap_or_default().to_owned()
}

fn settings(effective: &Effective) -> crate::controller::Settings {
    effective.operator.settings_of(effective.operator.factories[0].as_ref())
}

fn election(operator: Operator, set: fn(LeaderElection) -> LeaderElection) -> Operator {
    operator.leader_election(set(LeaderElection::default()))
}

fn controller(change: fn(crate::Controller<Foreign<Namespace>>) -> crate::Controller<Foreign<Namespace>>) -> Operator {
    Operator::new("demo").controls_with::<Foreign<Namespace>, Recorder>(change)
}

fn server(run: RunOptions, change: fn(MetricsServer) -> MetricsServer) -> RunOptions {
    run.metrics(change(MetricsServer::new(([127, 0, 0, 1], 2).into())))
}

const SECONDS: fn(u64) -> Duration = Duration::from_secs;

fn rows() -> Vec<Row> {
    [process_rows(), otlp_rows(), client_rows(), election_rows(), controller_rows()].into_iter().flatten().collect()
}

fn process_rows() -> Vec<Row> {
    vec![
        row("namespace", "", ["a", "b", "c"], |e| e.run.namespaces.join(","))
            .code("own", |operator, run| (operator, run.namespace("own"))),
        row("shutdown-timeout", "30s", ["1s", "2s", "3s"], |e| format!("{:?}", e.operator.shutdown))
            .code("9s", |operator, run| (operator.shutdown_timeout(SECONDS(9)), run)),
        row("shards", "None", ["1", "2", "3"], |e| {
            e.operator.shards.map_or_else(|| "None".to_owned(), |count| count.to_string())
        })
        .code("9", |operator, run| (operator.shards(9), run)),
        row("probe-address", "0.0.0.0:8081", ["1.1.1.1:1", "2.2.2.2:2", "3.3.3.3:3"], |e| {
            e.run.probes.unwrap().to_string()
        })
        .code("9.9.9.9:9", |operator, run| (operator, run.probes(([9, 9, 9, 9], 9).into()))),
        row("metrics-bind-address", "", ["1.1.1.1:1", "2.2.2.2:2", "3.3.3.3:3"], |e| {
            between(&e.run.metrics, "address: ", ",")
        })
        .code("127.0.0.1:2", |operator, run| (operator, server(run, |server| server))),
        row("metrics-secure", "", ["true", "false", "true"], |e| between(&e.run.metrics, "secure: Some(", ")"))
            .code("false", |operator, run| (operator, server(run, |server| server.secure(false))))
            .with(&SERVED[..1]),
        row("metrics-cert-path", "", ["/a", "/b", "/c"], |e| {
            let chain = between(&e.run.metrics, "chain: \"", "\"");
            chain.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap_or_default()
        })
        .code("/own", |operator, run| {
            (operator, server(run, |server| server.certificate("/own", "tls.crt", "tls.key")))
        })
        .with(SERVED),
        row("metrics-cert-name", "tls.crt", ["a", "b", "c"], |e| between(&e.run.metrics, "chain: \"/certs/", "\""))
            .with(CERTIFIED),
        row("metrics-cert-key", "tls.key", ["a", "b", "c"], |e| between(&e.run.metrics, "key: \"/certs/", "\""))
            .with(CERTIFIED),
        row("profiling", "false", ["true", "false", "true"], |e| between(&e.run.metrics, "profiling: ", " "))
            .code("true", |operator, run| (operator, server(run, |server| server.profiling(true))))
            .with(&SERVED[..1]),
        row("webhook-address", "", ["1.1.1.1:1", "2.2.2.2:2", "3.3.3.3:3"], |e| {
            between(&e.run.webhooks, "address: ", ",")
        })
        .code("9.9.9.9:9", |operator, run| (operator, run.webhooks(SocketAddr::from(([9, 9, 9, 9], 9))))),
        row("webhook-cert-path", "", ["/a", "/b", "/c"], |e| {
            let chain = between(&e.run.webhooks, "chain: \"", "\"");
            chain.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap_or_default()
        })
        .with(HOOKED),
        row("webhook-cert-name", "tls.crt", ["a", "b", "c"], |e| between(&e.run.webhooks, "chain: \"/certs/", "\""))
            .with(HOOKED_BY_FILES),
        row("webhook-cert-key", "tls.key", ["a", "b", "c"], |e| between(&e.run.webhooks, "key: \"/certs/", "\""))
            .with(HOOKED_BY_FILES),
        row("webhook-service", "", ["a", "b", "c"], |e| between(&e.run.webhooks, "service: Some(\"", "\""))
            .with(HOOKED),
        row("webhook-configuration", "", ["a", "b", "c"], |e| between(&e.run.webhooks, "configuration: Some(\"", "\""))
            .with(HOOKED),
        row("log", "info", ["warn", "debug", "trace"], |e| e.log.filter().to_owned()),
        row("log-format", "Text", ["json", "text", "json"], |e| format!("{:?}", e.log.log_format.unwrap_or_default())),
    ]
}

fn otlp_rows() -> Vec<Row> {
    vec![
        row("otlp-endpoint", "", ["http://a", "http://b", "http://c"], |e| {
            e.otlp.otlp_endpoint.clone().unwrap_or_default()
        }),
        row("otlp-headers", "", ["a=1", "b=2", "c=3"], |e| {
            e.otlp.otlp_headers.clone().map(|headers| headers.0).unwrap_or_default()
        }),
        row("otlp-certificate", "", ["/a", "/b", "/c"], |e| {
            e.otlp.otlp_certificate.clone().unwrap_or_default().display().to_string()
        }),
        row("otlp-sampling-ratio", "", ["0.1", "0.2", "0.3"], |e| {
            e.otlp.otlp_sampling_ratio.map(|ratio| ratio.to_string()).unwrap_or_default()
        }),
        row("otlp-service-name", "", ["a", "b", "c"], |e| e.otlp.otlp_service_name.clone().unwrap_or_default()),
        row("otlp-resource-attributes", "", ["a=1", "b=2", "c=3"], |e| {
            e.otlp.otlp_resource_attributes.clone().unwrap_or_default()
        }),
    ]
}

fn client_rows() -> Vec<Row> {
    vec![
        row("connect-timeout", "10s", ["1s", "2s", "3s"], |e| between(&e.operator.timeouts, "connect: ", ","))
            .code("9s", |operator, run| (operator.timeouts(crate::Timeouts::default().connect(SECONDS(9))), run)),
        row("response-timeout", "70s", ["1s", "2s", "3s"], |e| between(&e.operator.timeouts, "response: ", ","))
            .code("9s", |operator, run| (operator.timeouts(crate::Timeouts::default().response(SECONDS(9))), run)),
        row("body-timeout", "60s", ["1s", "2s", "3s"], |e| between(&e.operator.timeouts, "body: ", ","))
            .code("9s", |operator, run| (operator.timeouts(crate::Timeouts::default().body(SECONDS(9))), run)),
        row("watch-timeout", "150s", ["1s", "2s", "3s"], |e| between(&e.operator.timeouts, "watch: ", " }"))
            .code("9s", |operator, run| (operator.timeouts(crate::Timeouts::default().watch(SECONDS(9))), run)),
        row("page-size", "500", ["1", "2", "3"], |e| e.operator.page_size.to_string())
            .code("9", |operator, run| (operator.page_size(9), run)),
        row("kube-api-qps", "", ["1.5", "2.5", "3.5"], |e| between(&e.operator.rate_limit, "qps: ", ","))
            .code("9.5", |operator, run| (operator.rate_limit(9.5, 10), run)),
        row("kube-api-burst", "5", ["1", "2", "3"], |e| between(&e.operator.rate_limit, "burst: ", " }"))
            .code("9", |operator, run| (operator.rate_limit(4.5, 9), run))
            .with(&["--kube-api-qps=4.5"]),
        row("nats-url", "", ["nats://a", "nats://b", "nats://c"], |e| {
            e.nats.nats_url.iter().flatten().cloned().collect()
        }),
        row("nats-credentials", "", ["a.creds", "b.creds", "c.creds"], |e| {
            e.nats.nats_credentials.clone().unwrap_or_default()
        })
        .with(&["--nats-url=nats://a"]),
    ]
}

fn election_rows() -> Vec<Row> {
    vec![
        row("leader-elect", "false", ["true", "false", "true"], |e| e.operator.leader_election.is_some().to_string())
            .code("true", |operator, run| (election(operator, |own| own), run)),
        row("leader-elect-lease-duration", "15s", ["41s", "42s", "43s"], |e| {
            between(&e.operator.leader_election, "lease_duration: ", ",")
        })
        .code("49s", |operator, run| (election(operator, |own| own.lease_duration(SECONDS(49))), run))
        .with(ELECTED),
        row("leader-elect-renew-deadline", "10s", ["11s", "12s", "13s"], |e| {
            between(&e.operator.leader_election, "renew_deadline: ", ",")
        })
        .code("9s", |operator, run| (election(operator, |own| own.renew_deadline(SECONDS(9))), run))
        .with(ELECTED),
        row("leader-elect-retry-period", "2s", ["3s", "4s", "5s"], |e| {
            between(&e.operator.leader_election, "retry_period: ", " }")
        })
        .code("1s", |operator, run| (election(operator, |own| own.retry_period(SECONDS(1))), run))
        .with(ELECTED),
        row("leader-elect-lease-name", "", ["a", "b", "c"], |e| {
            between(&e.operator.leader_election, "lease_name: Some(\"", "\"")
        })
        .code("own", |operator, run| (election(operator, |own| own.lease_name("own")), run))
        .with(ELECTED),
        row("leader-elect-namespace", "", ["a", "b", "c"], |e| {
            between(&e.operator.leader_election, "namespace: Some(\"", "\"")
        })
        .code("own", |operator, run| (election(operator, |own| own.namespace("own")), run))
        .with(ELECTED),
    ]
}

fn controller_rows() -> Vec<Row> {
    vec![
        row("workers", "16", ["1", "2", "3"], |e| settings(e).workers.to_string())
            .code("9", |_, run| (controller(|own| own.workers(9)), run)),
        row("requeue-after", "10s", ["1s", "2s", "3s"], |e| format!("{:?}", settings(e).requeue_after))
            .code("9s", |_, run| (controller(|own| own.requeue_after(SECONDS(9))), run)),
        row("resync-period", "0ns", ["1s", "2s", "3s"], |e| {
            format!("{:?}", settings(e).resync_period.unwrap_or_default())
        })
        .code("9s", |_, run| (controller(|own| own.resync_period(SECONDS(9))), run)),
        row("backoff-base", "10s", ["1s", "2s", "3s"], |e| format!("{:?}", settings(e).backoff.after(0)))
            .code("9s", |_, run| (controller(|own| own.backoff(Backoff::Fixed(SECONDS(9)))), run))
            .with(&["--backoff-cap=60s"]),
        row("backoff-cap", "1s", ["10s", "20s", "30s"], |e| format!("{:?}", settings(e).backoff.after(9)))
            .code("90s", |_, run| {
                (controller(|own| own.backoff(Backoff::Exponential { base: SECONDS(1), cap: SECONDS(90) })), run)
            })
            .with(&["--backoff-base=1s"]),
    ]
}

/// The variable that tells the test that it is the child process, and whether the variables of the options are set.
const CHILD: &str = "OPGEN_TEST_OPTIONS";

/// A process has one environment, so a child process with the variables of all options prints what they are.
#[test]
fn the_highest_source_of_each_option_wins() {
    match std::env::var(CHILD).as_deref() {
        Ok("set") => return print(&["environment", "flag"]),
        Ok(_) => return print(&["default", "code", "file", "flag over file"]),
        Err(_) => {}
    }
    let mut found = lines_of_child(false);
    found.extend(lines_of_child(true));
    found.sort();
    let mut expected = Vec::new();
    for row in rows() {
        let mut expect = |stage: &str, value: &str| expected.push(format!("option {} by {stage}: {value}", row.flag));
        expect("default", row.default);
        if let Some((_, value)) = row.code {
            expect("code", value);
        }
        let debug_form = |value: &'static str| match (row.flag, value) {
            ("log-format", "json") => "Json",
            ("log-format", "text") => "Text",
            (_, value) => value,
        };
        expect("file", debug_form(row.file));
        expect("environment", debug_form(row.environment));
        expect("flag", debug_form(row.value));
        expect("flag over file", debug_form(row.value));
    }
    expected.sort();
    let only_in =
        |one: &[String], other: &[String]| one.iter().filter(|line| !other.contains(line)).cloned().collect::<Vec<_>>();
    assert_eq!(
        (only_in(&found, &expected), only_in(&expected, &found)),
        (vec![], vec![]),
        "found and not expected; expected and not found"
    );
    assert_eq!(found.len(), expected.len());
}

/// Every flag has a row, and every row has a flag.
#[test]
fn every_option_has_a_row() {
    let command = OwnCli::command();
    let flags = command.get_arguments().filter_map(clap::Arg::get_long).filter(|flag| *flag != "config");
    let mut flags: Vec<_> = flags.filter(|flag| !matches!(*flag, "help" | "version")).collect();
    let mut rows: Vec<_> = rows().iter().map(|row| row.flag).collect();
    flags.sort_unstable();
    rows.sort_unstable();
    assert_eq!(flags, rows);
}

/// Prints the value of each option by these sources.
fn print(stages: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    for row in rows() {
        let path = folder.path().join(row.flag);
        std::fs::write(&path, row.content()).unwrap();
        let (file, flag) = (format!("--config={}", path.display()), format!("--{}={}", row.flag, row.value));
        let code = row.code.map(|(code, _)| code);
        for stage in stages {
            let value = match *stage {
                "default" => row.effective(None, &[]),
                "code" if code.is_none() => continue,
                "code" => row.effective(code, &[]),
                "file" | "environment" => row.effective(code, std::slice::from_ref(&file)),
                _ => row.effective(code, &[file.clone(), flag.clone()]),
            };
            println!("option {} by {stage}: {value}", row.flag);
        }
    }
}

/// Runs the test again as a child process, with or without the variables of all options, and returns what it prints.
fn lines_of_child(is_set: bool) -> Vec<String> {
    let name = module_path!().split_once("::").unwrap().1.to_owned() + "::the_highest_source_of_each_option_wins";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &name, "--nocapture", "--test-threads=1"])
        .env(CHILD, if is_set { "set" } else { "unset" });
    for argument in OwnCli::command().get_arguments() {
        let Some(variable) = argument.get_env() else { continue };
        command.env_remove(variable);
        if let Some(row) = rows().iter().find(|row| is_set && Some(row.flag) == argument.get_long()) {
            command.env(variable, row.environment);
        }
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    // The harness begins the line of the test with its name.
    let lines = text.lines().filter_map(|line| line.find("option ").map(|at| line[at..].to_owned()));
    lines.filter(|line| line.contains(" by ")).collect()
}
