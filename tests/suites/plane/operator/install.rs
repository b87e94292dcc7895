//! Operators in a cluster, by what was generated for them.

use opgen::{
    Operator,
    manifest::{self, Describe as _},
};
use opgen_tests::Plane;

/// Everything generated for an operator, by file.
pub(crate) fn generated(operator: &Operator) -> manifest::Rendered {
    manifest::files(&operator.project().expect("a project")).unwrap_or_else(|error| panic!("{error}"))
}

/// Installs the definitions of the operator's kinds.
pub(crate) async fn definitions(plane: &Plane, operator: &Operator) {
    let rendered = generated(operator);
    for file in rendered.files.iter().filter(|file| file.path.starts_with("base/crds/")) {
        apply_quietly(plane, &file.text).await;
        let name = file.text.lines().find_map(|line| line.strip_prefix("  name: ")).expect("the definition's name");
        plane.until_established(name).await;
    }
}

/// Applies YAML; the server may not even warn about it.
pub(crate) async fn apply_quietly(plane: &Plane, yaml: &str) {
    let warnings = plane.apply(yaml).await;
    assert!(warnings.is_empty(), "{warnings}");
}
