//! Tests the environment variables of OpenTelemetry that have no option in the table.

use super::load;
use crate::spans::export::{ExportSettings, ServiceFacts};
use std::process::Command;

/// The variable with the command line of the child process.
const CHILD: &str = "OPGEN_TEST_OTLP";

/// Names and values of variables.
type Variables<'a> = &'a [(&'a str, &'a str)];

/// A process has one environment, so a child process prints the settings of each case.
#[test]
fn the_variables_of_opentelemetry_have_their_meaning() {
    if let Ok(arguments) = std::env::var(CHILD) {
        return print(&arguments);
    }
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4318/");
    let of_traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b/spans");
    let ratio = ("OTEL_TRACES_SAMPLER_ARG", "0.5");
    let off = ("OTEL_TRACES_SAMPLER", "parentbased_always_off");
    let (headers, headers_of_traces) =
        (("OTEL_EXPORTER_OTLP_HEADERS", "a=1"), ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "b=2"));
    let cases: [(Variables<'_>, &str, &str); 13] = [
        (&[], "", "none"),
        (&[endpoint], "", "http://a:4318/v1/traces all"),
        (&[endpoint, of_traces], "", "http://b/spans all"),
        (&[endpoint, of_traces], "--otlp-endpoint=http://c", "http://c/v1/traces all"),
        (&[of_traces], "--otlp-endpoint=", "none"),
        (&[endpoint, ("OTEL_SDK_DISABLED", "true")], "", "none"),
        (&[endpoint, ("OTEL_TRACES_EXPORTER", "none")], "", "none"),
        (&[endpoint, ratio], "", "http://a:4318/v1/traces 0.5"),
        (&[endpoint, ratio, off], "", "http://a:4318/v1/traces 0"),
        (&[endpoint, ratio, off], "--otlp-sampling-ratio=0.25", "http://a:4318/v1/traces 0.25"),
        (&[endpoint, headers], "", "http://a:4318/v1/traces all a=1"),
        (&[endpoint, headers, headers_of_traces], "", "http://a:4318/v1/traces all b=2"),
        (&[endpoint, headers, headers_of_traces], "--otlp-headers=c=3", "http://a:4318/v1/traces all c=3"),
    ];
    for (variables, arguments, expected) in cases {
        assert_eq!(settings_of_child(variables, arguments), expected, "{variables:?} {arguments}");
    }
}

#[test]
fn a_wrong_value_is_refused_without_its_secrets() {
    for (argument, reason) in [
        ("--otlp-headers=a b=secret", "`a b` is no valid header"),
        ("--otlp-sampling-ratio=2", "a ratio must be from 0 to 1"),
        ("--otlp-resource-attributes=team", "an entry has no `=`"),
    ] {
        let error = <super::OwnCli as clap::Parser>::try_parse_from(["operator", argument]).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let settings = load(&["--otlp-endpoint=http://a".to_owned(), "--otlp-headers=key=secret".to_owned()]).unwrap();
    assert!(!format!("{settings:?}").contains("secret"));
    let settings = settings.export_settings(ServiceFacts::default()).unwrap();
    assert_eq!(settings.headers, [("key".to_owned(), "secret".to_owned())]);
    assert!(!format!("{settings:?}").contains("secret"));
}

/// Prints the settings of a command line.
fn print(arguments: &str) {
    let arguments: Vec<_> = arguments.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let settings = load(&arguments).unwrap().export_settings(ServiceFacts::default());
    let text = settings.map_or_else(
        || "none".to_owned(),
        |ExportSettings { endpoint, sampling_ratio, headers, .. }| {
            let ratio = sampling_ratio.map_or_else(|| "all".to_owned(), |ratio| ratio.to_string());
            let headers: String = headers.iter().map(|(name, value)| format!(" {name}={value}")).collect();
            format!("{endpoint} {ratio}{headers}")
        },
    );
    println!("settings: {text}.");
}

/// Runs the test again as a child process with only these variables of OpenTelemetry, and returns what it prints.
fn settings_of_child(variables: Variables<'_>, arguments: &str) -> String {
    let name =
        module_path!().split_once("::").unwrap().1.to_owned() + "::the_variables_of_opentelemetry_have_their_meaning";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &name, "--nocapture", "--test-threads=1"]);
    for (variable, _) in std::env::vars_os() {
        if variable.to_str().is_some_and(|name| name.starts_with("OTEL_")) {
            command.env_remove(variable);
        }
    }
    let output = command.env(CHILD, arguments).envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let settings = text.split_once("settings: ").unwrap().1;
    settings.split(".\n").next().unwrap().to_owned()
}
