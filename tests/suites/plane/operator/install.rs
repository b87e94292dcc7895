//! Operators in a cluster, by what was generated for them.

use std::path::Path;

use opgen::{
    Operator,
    manifest::{self, Described as _},
};
use opgen_tests::{Access, Plane, kubectl};

/// Where `webapp` is installed, and the name of its ServiceAccount.
pub(crate) const WEBAPP: (&str, &str) = ("webapp-system", "webapp");

/// Installs `webapp` by its committed YAML, all but the Deployment; gives the access of its ServiceAccount.
pub(crate) async fn webapp(plane: &Plane) -> Access {
    let install = committed("install.yaml");
    let kept = install.split("\n---\n").filter(|document| !document.lines().any(|line| line == "kind: Deployment"));
    apply_quietly(plane, &kept.collect::<Vec<_>>().join("\n---\n"));
    is_established(plane, "webapps.demo.example.com");
    plane.account(WEBAPP.0, WEBAPP.1).await
}

/// The definition of `WebApp` alone.
pub(crate) fn webapp_definition(plane: &Plane) {
    apply_quietly(plane, &committed("crds/demo.example.com_webapps.yaml"));
    is_established(plane, "webapps.demo.example.com");
}

/// A file of `webapp` as it is committed.
pub(crate) fn committed(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/webapp/deploy").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Everything generated for an operator, by file.
pub(crate) fn generated(operator: &Operator) -> manifest::Rendered {
    manifest::files(&operator.project().expect("a project")).unwrap_or_else(|error| panic!("{error}"))
}

/// Installs the definitions of the operator's kinds.
pub(crate) fn definitions(plane: &Plane, operator: &Operator) {
    let rendered = generated(operator);
    for file in rendered.files.iter().filter(|file| file.path.starts_with("crds/")) {
        apply_quietly(plane, &file.text);
        let name = file.text.lines().find_map(|line| line.strip_prefix("  name: ")).expect("the definition's name");
        is_established(plane, name);
    }
}

/// Applies YAML; the server may not even warn about it.
pub(crate) fn apply_quietly(plane: &Plane, yaml: &str) {
    let warnings = kubectl::apply(plane, yaml);
    assert!(warnings.is_empty(), "{warnings}");
}

/// Waits until the kind of a definition can be used.
pub(crate) fn is_established(plane: &Plane, definition: &str) {
    let definition = format!("crd/{definition}");
    kubectl::succeed(plane, &["wait", "--for=condition=Established", "--timeout=60s", &definition]);
}
