#![allow(clippy::expect_used)]

use super::*;

fn refusal<T: std::fmt::Debug>(checked: Result<T>) -> String {
    checked.expect_err("refused").to_string()
}

#[test]
fn dns_labels_that_are_good_crate_names_are_names() {
    for name in ["demo", "web-app", "a", "nats2", "x-1-y", &"a".repeat(MAX_NAME)] {
        assert_eq!(Name::check(name).map(|name| name.as_str().to_owned()).ok().as_deref(), Some(name));
    }
}

#[test]
fn names_that_no_package_or_dns_label_can_have_are_refused() {
    let table = [
        ("", "lower case letters"),
        ("Demo", "lower case letters"),
        ("my_demo", "lower case letters"),
        ("-demo", "lower case letters"),
        ("demo-", "lower case letters"),
        ("dé", "lower case letters"),
        ("a.b", "lower case letters"),
        ("../demo", "lower case letters"),
        ("1demo", "starts with a letter"),
        ("match", "keyword"),
        ("gen", "keyword"),
        ("macro-rules", "keyword"),
        ("test", "crate of the Rust standard library"),
        ("core", "crate of the Rust standard library"),
        ("std", "crate of the Rust standard library"),
        ("proc-macro", "crate of the Rust standard library"),
        ("kube", "the project depends on"),
        ("k8s-openapi", "the project depends on"),
        ("serde", "the project depends on"),
        ("build", "a folder of cargo"),
        ("con", "Windows"),
        ("pod", "the Kubernetes kind Pod"),
        ("config-map", "the Kubernetes kind ConfigMap"),
    ];
    for (name, why) in table {
        let refusal = refusal(Name::check(name));
        assert!(refusal.contains(why), "`{name}`: {refusal}");
    }
    assert!(refusal(Name::check(&"a".repeat(MAX_NAME + 1))).contains("51 characters"));
}

#[test]
fn a_hint_names_something_that_would_be_taken() {
    for name in ["My_Demo", "", "---", "1", "test", "Pod", "é", "Match", "1demo"] {
        let error = Name::check(name).expect_err("refused");
        let hint = error.hint_text().expect("a hint");
        let advice = hint.trim_start_matches("for example `opgen new ").trim_end_matches('`');
        assert!(Name::check(advice).is_ok(), "`{name}`: {hint}");
    }
    for kind in ["widget", "", "my-kind", "Pod", "Option", "9", "Match"] {
        let error = Kind::check(kind).expect_err("refused");
        let hint = error.hint_text().expect("a hint");
        let advice = hint.rsplit(' ').next().expect("a word").trim_end_matches('`');
        assert!(Kind::check(advice).is_ok(), "`{kind}`: {hint}");
    }
}

#[test]
fn groups_are_domains_outside_of_kubernetes_own() {
    for group in ["demo.example.com", "a.b", "x-k8s.io", "my-k8s.io", "k8s.io.example.com"] {
        assert!(Group::check(group).is_ok(), "{group}");
    }
    let table = [
        ("demo", "no dot"),
        ("", "a domain name"),
        ("Demo.example.com", "a domain name"),
        ("demo..com", "a domain name"),
        (".demo.com", "a domain name"),
        ("demo.com.", "a domain name"),
        ("demo_x.com", "a domain name"),
        ("k8s.io", "are reserved for Kubernetes"),
        ("demo.k8s.io", "are reserved for Kubernetes"),
        ("demo.kubernetes.io", "are reserved for Kubernetes"),
    ];
    for (group, why) in table {
        let refusal = refusal(Group::check(group));
        assert!(refusal.contains(why), "`{group}`: {refusal}");
    }
}

#[test]
fn kinds_are_pascal_case_and_not_reserved() {
    for (kind, module) in
        [("Widget", "widget"), ("HTTPRoute", "http_route"), ("VPC", "vpc"), ("NodeSlice2", "node_slice2")]
    {
        assert_eq!(Kind::check(kind).map(|kind| kind.module()).ok().as_deref(), Some(module));
    }
    let table = [
        ("widget", "PascalCase"),
        ("My_Kind", "PascalCase"),
        ("My Kind", "PascalCase"),
        ("Köln", "PascalCase"),
        ("", "PascalCase"),
        ("Pod", "a kind of Kubernetes"),
        ("Service", "a kind of Kubernetes"),
        ("ConfigMap", "a kind of Kubernetes"),
        ("Status", "a kind of Kubernetes"),
        ("Option", "imports another"),
        ("Result", "imports another"),
        ("Operator", "imports another"),
        ("Match", "keyword"),
        ("Self", "keyword"),
        ("Lib", "another module of the project"),
        ("Tests", "another module of the project"),
    ];
    for (kind, why) in table {
        let refusal = refusal(Kind::check(kind));
        assert!(refusal.contains(why), "`{kind}`: {refusal}");
    }
    assert!(refusal(Kind::check(&"A".repeat(64))).contains("64 characters"));
}

#[test]
fn the_bucket_of_a_kind_is_its_plural() {
    for (kind, bucket) in [
        ("Widget", "widgets"),
        ("Policy", "policies"),
        ("Proxy2", "proxy2s"),
        ("Gateway", "gateways"),
        ("Index", "indexes"),
    ] {
        assert_eq!(Kind::check(kind).map(|kind| kind.bucket()).ok().as_deref(), Some(bucket));
    }
}

#[test]
fn versions_follow_the_grammar_of_kubernetes() {
    for version in ["v1", "v12", "v1alpha1", "v2beta3", "v10alpha10"] {
        assert!(ApiVersion::check(version).is_ok(), "{version}");
    }
    for version in
        ["", "1", "v", "v0", "v01", "V1", "v1alpha", "v1alpha0", "valpha1", "v1gamma1", "v1alpha1beta1", "v1.0"]
    {
        assert!(ApiVersion::check(version).is_err(), "{version}");
    }
}
