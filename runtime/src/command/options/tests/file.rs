//! Tests that a wrong configuration file is refused with a hint, and that the options for a single kind override those for all kinds.

use super::{super::ConfigurationError, load};
use crate::{
    foreign::Foreign,
    manager::{operator::Operator, run_options::RunOptions},
    provisioner::tree_harness::Recorder,
};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use std::path::Path;

const HEADER: &str = "apiVersion: config.opgen.dev/v1alpha1\nkind: OperatorConfiguration\n";

/// Applies a file with this content, and these flags, to an operator of two kinds.
fn apply(content: &str, flags: &[&str]) -> Result<(Operator, RunOptions), ConfigurationError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.yaml");
    std::fs::write(&path, content).unwrap();
    let operator = Operator::new("demo").controls::<Foreign<Namespace>, Recorder>();
    let operator = operator.controls_with::<Foreign<Secret>, Recorder>(|controller| controller.workers(7));
    let flags = flags.iter().map(|flag| (*flag).to_owned());
    let arguments: Vec<_> = [format!("--config={}", path.display())].into_iter().chain(flags).collect();
    load(&arguments)?.apply_to(operator, RunOptions::default())
}

/// The error of a file, without the path of the file, and its hint.
fn refusal(content: &str) -> (String, String) {
    let error = apply(content, &[]).unwrap_err();
    let text = error.to_string();
    let text = text.rsplit_once("config.yaml").map_or(text.as_str(), |(_, rest)| rest).trim_start_matches(": ");
    (text.to_owned(), error.hint().unwrap_or_default())
}

#[test]
fn a_wrong_file_is_refused_with_the_path_of_the_key_and_a_hint() {
    let did_you_mean = |key: &str| format!("did you mean `{key}`?");
    for (body, error, hint) in [
        ("controllers: {wokers: 2}", "controllers.wokers: unknown key", did_you_mean("controllers.workers")),
        ("workers: 2", "workers: unknown key", did_you_mean("controllers.workers")),
        ("kinds: {Secret: {worker: 2}}", "kinds.Secret.worker: unknown key", did_you_mean("kinds.Secret.workers")),
        ("log: {colour: red}", "log.colour: unknown key", "known keys are filter, format".to_owned()),
        (
            "kinds: {Secrets: {workers: 2}}",
            "kinds.Secrets: the operator demo does not control this kind",
            did_you_mean("Secret"),
        ),
        (
            "kinds: {Pod: {workers: 2}}",
            "kinds.Pod: the operator demo does not control this kind",
            "the operator controls Namespace, Secret".to_owned(),
        ),
    ] {
        assert_eq!(refusal(&format!("{HEADER}{body}\n")), (error.to_owned(), hint), "{body}");
    }
}

#[test]
fn a_wrong_value_is_refused_with_the_path_of_the_key() {
    for (body, error) in [
        ("controllers: {workers: many}", "controllers.workers: invalid type: string \"many\", expected"),
        ("controllers: {workers: 0}", "controllers.workers: invalid value: integer `0`, expected a nonzero"),
        ("controllers: 5", "controllers: invalid type: integer `5`, expected a mapping"),
        (
            "kinds: {Secret: {requeueAfter: 5}}",
            "kinds.Secret.requeueAfter: invalid type: integer `5`, expected a string",
        ),
        ("client: {watchTimeout: soon}", "client.watchTimeout: \"soon\" is no duration; use a number with a unit"),
        ("client: {bodyTimeout: 0s}", "client.bodyTimeout: a duration must be greater than zero"),
        ("client: {qps: -1}", "client.qps: a rate must be zero or positive"),
        ("probes: {address: localhost}", "probes.address: \"localhost\" is no address; use one such as :8443"),
        ("metrics: {address: [1]}", "metrics.address: expected an address"),
        ("log: {format: xml}", "log.format: unknown variant `xml`, expected `text` or `json`"),
        ("log: {filter: 'a=b=c'}", "log.filter: error parsing level filter"),
        ("shards: 257", "shards: 257 shards are too many; the maximum is 256"),
        ("namespaces: web", "namespaces: invalid type: string \"web\", expected a sequence"),
    ] {
        let (text, hint) = refusal(&format!("{HEADER}{body}\n"));
        assert!(text.starts_with(error) && hint.contains("OPTIONS.md"), "{body}: {text}");
    }
}

#[test]
fn a_file_names_its_version() {
    for (content, error) in [
        ("", "apiVersion: expected config.opgen.dev/v1alpha1, found nothing"),
        ("apiVersion: v1\nkind: OperatorConfiguration", "apiVersion: expected config.opgen.dev/v1alpha1, found v1"),
        ("apiVersion: config.opgen.dev/v1alpha1\nkind: 5", "kind: expected OperatorConfiguration, found 5"),
    ] {
        let (text, hint) = refusal(content);
        assert!(text == error && hint.starts_with("write `"), "{text}");
    }
    assert!(matches!(apply("[1]", &[]), Err(ConfigurationError::Yaml { .. })));
    assert!(matches!(apply(&format!("{HEADER}log: {{}}\nlog: {{}}\n"), &[]), Err(ConfigurationError::Yaml { .. })));
    let absent = load(&["--config=/nowhere/config.yaml".to_owned()]).unwrap_err();
    assert!(matches!(&absent, ConfigurationError::Read { path, .. } if path == Path::new("/nowhere/config.yaml")));
}

#[test]
fn the_options_of_a_kind_override_those_of_all_controllers_and_a_flag_overrides_both() {
    let workers = |body: &str, flags: &[&str]| {
        let (operator, _) = apply(&format!("{HEADER}{body}\n"), flags).unwrap();
        operator.factories.iter().map(|factory| operator.settings_of(factory.as_ref()).workers).collect::<Vec<_>>()
    };
    assert_eq!(workers("", &[]), [16, 7]);
    assert_eq!(workers("kinds: {Namespace: {workers: 3}}", &[]), [3, 7]);
    let both = "controllers: {workers: 4, requeueAfter: 1m}\nkinds: {Secret: {workers: 5}}";
    assert_eq!(workers(both, &[]), [4, 5]);
    assert_eq!(workers(both, &["--workers=6"]), [6, 6]);
    let (operator, _) = apply(&format!("{HEADER}{both}\n"), &[]).unwrap();
    // The longest pause of an operator, which trials wait for, knows them as well.
    assert_eq!(operator.longest_pause().as_secs(), 60);
}

#[test]
fn contradictory_options_of_leader_election_are_refused_before_the_start() {
    let body = "leaderElection: {enabled: true, leaseDuration: 5s}";
    let (text, hint) = refusal(&format!("{HEADER}{body}\n"));
    assert!(text.contains("the renew deadline 10s must be shorter than the lease duration 5s"), "{text}");
    assert!(hint.contains("leaderElection"), "{hint}");
    assert!(apply(&format!("{HEADER}{body}\n"), &["--leader-elect=false"]).is_ok());
}

#[test]
fn an_empty_variable_of_namespaces_is_all_namespaces() {
    let namespaces = |flags: &[&str]| apply(&format!("{HEADER}namespaces: [web]\n"), flags).unwrap().1.namespaces;
    assert_eq!(namespaces(&[]), ["web"]);
    assert_eq!(namespaces(&["--namespace=a,b"]), ["a", "b"]);
    assert_eq!(namespaces(&["--namespace=a", "--namespaces=b"]), ["a", "b"]);
    assert!(crate::informer::namespaces::Namespaces::new(namespaces(&["--namespace="])).is_all());
}
