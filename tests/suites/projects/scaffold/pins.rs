//! What the templates repeat of the workspace must stay what the workspace says.

use std::{collections::BTreeSet, fs};

use toml_edit::{DocumentMut, Item, TableLike};

use super::command::{GOOD, Place, cargo, checkout};

fn manifests() -> [DocumentMut; 2] {
    let place = Place::new();
    assert_eq!(place.opgen(&format!("{GOOD} --path . --quiet")).code, 0);
    [checkout().join("Cargo.toml"), place.path("Cargo.toml")]
        .map(|path| fs::read_to_string(path).expect("a manifest").parse().expect("TOML"))
}

fn table<'a>(document: &'a DocumentMut, path: &[&str]) -> &'a dyn TableLike {
    let item = path.iter().fold(document.as_item(), |item, key| &item[key]);
    item.as_table_like().unwrap_or_else(|| panic!("`{}` is a table", path.join(".")))
}

fn text(item: Option<&Item>) -> String {
    item.map(|item| item.to_string().trim().to_owned()).unwrap_or_default()
}

#[test]
fn a_project_pins_the_versions_that_opgen_is_built_with() {
    let [workspace, project] = manifests();
    let path = ["workspace", "dependencies"];
    for (name, item) in
        table(&project, &path).iter().filter(|(name, _)| !name.starts_with("opgen") && !name.starts_with("demo"))
    {
        let ours = &table(&workspace, &path).get(name).unwrap_or_else(|| panic!("`{name}` is ours too"));
        let version = |item: &Item| text(item.get("version").or(Some(item)));
        assert_eq!(version(item), version(ours), "{name}");
        assert_eq!(text(item.get("default-features")), text(ours.get("default-features")), "{name}");
    }
    let package = ["workspace", "package"];
    for key in ["edition", "rust-version"] {
        assert_eq!(text(table(&project, &package).get(key)), text(table(&workspace, &package).get(key)), "{key}");
    }
}

#[test]
fn a_project_has_the_lints_and_the_profiles_of_the_workspace() {
    let [workspace, project] = manifests();
    // A project optimizes its sandbox less: it runs fewer trials, and its first build is waited for.
    let tables: [&[&str]; 7] = [
        &["workspace", "lints", "rust"],
        &["workspace", "lints", "clippy"],
        &["profile", "release"],
        &["profile", "release", "build-override"],
        &["profile", "dev"],
        &["profile", "dev", "package", "*"],
        &["profile", "dev", "package", "serde_json"],
    ];
    for path in tables {
        assert_eq!(values(&project, path), values(&workspace, path), "{}", path.join("."));
    }
    let place = Place::new();
    assert_eq!(place.opgen(&format!("{GOOD} --path . --quiet")).code, 0);
    let config: DocumentMut = fs::read_to_string(place.path(".cargo/config.toml")).unwrap().parse().expect("TOML");
    let path = ["profile", "release", "package"];
    assert_eq!(values(&config, &path), values(&workspace, &path), "the crates of a release");
}

/// The values of a table; for the profile of a package its level of optimization.
fn values(document: &DocumentMut, path: &[&str]) -> Vec<String> {
    let level = |item: &Item| item.get("opt-level").cloned();
    let table = table(document, path);
    // A project doesn't build the sandbox for a release.
    let is_shared = |key: &str, item: &Item| key != "opgen-sandbox" && (item.is_value() || level(item).is_some());
    let shared = table.iter().filter(|(key, item)| is_shared(key, item));
    shared.map(|(key, item)| format!("{key} = {}", text(level(item).as_ref().or(Some(item))))).collect()
}

/// `cargo test` reuses what `cargo build` has compiled, except for these packages and their dependents: tests pause the clock of tokio,
/// the sandbox serves HTTP/2, and its compression is a library in C.
#[test]
fn the_tests_of_a_project_use_the_features_of_its_build() {
    let place = Place::new();
    assert_eq!(place.opgen(&format!("{GOOD} --path . --quiet")).code, 0);
    fs::copy(checkout().join("Cargo.lock"), place.path("Cargo.lock")).expect("the versions of the workspace");
    let [built, tested] = ["normal,build", "normal,build,dev"].map(|edges| {
        let mut tree = cargo(&place.root, &place.path("target"));
        tree.args(["tree", "--offline", "--workspace", "--edges", edges, "--prefix", "none", "--format", "{p} {f}"]);
        let output = tree.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect::<BTreeSet<_>>()
    });
    let other: Vec<_> = built.difference(&tested).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(other, ["cc", "hyper", "hyper-rustls", "hyper-util", "tokio"]);
}

/// The packages that the runtime links with these features, in a package of its own: in the workspace its tests add features.
fn linked_by_opgen(features: &[&str]) -> BTreeSet<String> {
    let place = Place::new();
    let runtime = checkout().join("runtime");
    let package = "[package]\nname = \"linked\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n";
    let manifest = format!("{package}\n[dependencies]\nopgen = {{ path = {runtime:?}, features = {features:?} }}\n");
    fs::write(place.path("Cargo.toml"), manifest).expect("a manifest");
    fs::write(place.path("lib.rs"), "").expect("a source file");
    fs::copy(checkout().join("Cargo.lock"), place.path("Cargo.lock")).expect("the versions of the workspace");
    let mut tree = cargo(&place.root, &place.path("target"));
    tree.args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let output = tree.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// An operator that exports no spans is not larger for it, and one that does needs neither another client nor gRPC.
#[test]
fn the_runtime_links_opentelemetry_only_with_its_feature() {
    let of_telemetry = |linked: &BTreeSet<String>| linked.iter().filter(|name| name.contains("opentelemetry")).count();
    let (without, with) = (linked_by_opgen(&[]), linked_by_opgen(&["otlp"]));
    assert!(without.contains("tracing-subscriber") && of_telemetry(&without) == 0, "{without:?}");
    assert!(of_telemetry(&with) >= 4, "{with:?}");
    for unwanted in ["reqwest", "tonic", "openssl-sys", "h2"] {
        assert!(!with.contains(unwanted), "the export links {unwanted}");
    }
}

/// An operator without buckets is not larger for them, and the client of NATS uses the TLS library that kube uses.
#[test]
fn the_runtime_links_a_client_of_nats_only_with_its_feature() {
    let (without, with) = (linked_by_opgen(&[]), linked_by_opgen(&["nats"]));
    assert!(!without.contains("async-nats"), "{without:?}");
    assert!(with.contains("async-nats"), "{with:?}");
    for unwanted in ["aws-lc-rs", "openssl-sys", "tokio-websockets"] {
        assert!(!with.contains(unwanted), "the client of NATS links {unwanted}");
    }
}

/// What only an operator links: a crate of kinds is for clients, too.
const OPERATOR_ONLY: [&str; 7] = ["axum", "clap", "kube-client", "kube-runtime", "lz4_flex", "opgen", "tokio"];

#[test]
fn a_crate_of_kinds_links_no_part_of_an_operator() {
    let place = Place::new();
    let run = place.opgen(&format!("{GOOD} --path . --quiet --opgen-path {}", checkout().display()));
    assert_eq!(run.code, 0, "{}", run.stderr);
    fs::copy(checkout().join("Cargo.lock"), place.path("Cargo.lock")).expect("the versions of the workspace");
    let mut tree = cargo(&place.root, &place.path("target"));
    tree.args(["tree", "--offline", "-p", "demo-api", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let output = tree.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let linked: BTreeSet<_> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(linked.contains("opgen-api") && linked.contains("kube-core"), "{text}");
    let too_much: Vec<_> = OPERATOR_ONLY.into_iter().filter(|name| linked.contains(name)).collect();
    assert!(too_much.is_empty(), "a crate of kinds links {too_much:?}:\n{text}");
}
