//! Tests the slice options of a network (frameworks N2–N4, D2.7).

use serde_json::{Value, json};

use super::*;

fn config(cni: &Value) -> Config {
    read(&cni.to_string())
}

fn ipam() -> Value {
    json!({"type": "whereabouts", "range": "10.0.0.0/16", "node_slice_size": "/24"})
}

fn wanted(pool: &str) -> Config {
    Config::Wanted(Wanted { pool: pool.into(), range: "10.0.0.0/16".into(), slice_size: "/24".into() })
}

#[test]
fn nodeslice_n2_networks_without_slices_are_passed_over() {
    for text in ["", "  ", "{}", r#"{"name":"a","type":"bridge"}"#] {
        assert_eq!(read(text), Config::Elsewhere, "{text:?}");
    }
    for field in ["range", "node_slice_size"] {
        let mut ipam = ipam();
        ipam[field] = json!("");
        assert_eq!(config(&json!({"name": "a", "ipam": ipam})), Config::Elsewhere, "no {field}");
    }
    let other = json!({"type": "host-local", "range": "10.0.0.0/16", "node_slice_size": "/24"});
    assert_eq!(config(&json!({"name": "a", "ipam": other})), Config::Elsewhere);
}

#[test]
fn nodeslice_n2_configuration_that_is_no_json_is_said() {
    // whereabouts ignored it at first.
    for text in ["{", "1", r#"{"name": 1}"#, r#"{"plugins": {}}"#] {
        assert!(matches!(read(text), Config::Malformed(_)), "{text}");
    }
    assert!(matches!(config(&json!({"ipam": ipam()})), Config::Malformed(why) if why.contains("name")));
}

#[test]
fn nodeslice_n3_the_first_plugin_of_whereabouts_counts() {
    assert_eq!(config(&json!({"name": "a", "ipam": ipam()})), wanted("a"));
    let mut later = ipam();
    later["range"] = json!("10.9.0.0/16");
    let plugins =
        json!([{"type": "bridge"}, {"ipam": {"type": "dhcp"}}, {"name": "b", "ipam": ipam()}, {"ipam": later}]);
    assert_eq!(config(&json!({"name": "a", "plugins": plugins})), wanted("a"), "the name is that of the whole");
}

#[test]
fn nodeslice_n4_the_name_of_the_network_is_that_of_the_pool() {
    let mut named = ipam();
    named["network_name"] = json!("shared");
    assert_eq!(config(&json!({"name": "a", "ipam": named})), wanted("shared"));
}

#[test]
fn nodeslice_n5_slice_sizes_are_the_same_with_and_without_a_slash() {
    let of = |range: &str, size: &str| Wanted { pool: "a".into(), range: range.into(), slice_size: size.into() };
    assert!(of("10.0.0.0/16", "24").agrees_with(&of("10.0.0.0/16", "/24")));
    assert!(!of("10.0.0.0/16", "24").agrees_with(&of("10.0.0.0/16", "25")));
    assert!(!of("10.0.0.0/16", "24").agrees_with(&of("10.1.0.0/16", "24")));
}
