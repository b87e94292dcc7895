#![allow(clippy::unwrap_used)]

use super::*;

fn found(text: &str) -> Vec<String> {
    ignored_rules(text).into_iter().map(|IgnoredRule { line, text }| format!("{line}: {text}")).collect()
}

#[test]
fn rules_of_nested_types_status_and_variants_are_found() {
    let text = r#"
use k8s_openapi::apimachinery::pkg::{api::resource::Quantity, util::intstr};

#[derive(JsonSchema, Clone)]
pub struct Parts {
    #[schemars(length(max = 5))]
    labels: BTreeMap<String, String>,
    #[schemars(inner(length(max = 5)))]
    notes: Option<std::collections::HashMap<String, String>>,
    #[schemars(regex(pattern = "Gi$"), range(min = 1))]
    size: Quantity,
    #[schemars(contains("a"))]
    port: Option<intstr::IntOrString>,
    #[schemars(required)]
    #[serde(default)]
    image: Option<String>,
}

mod status {
    #[derive(schemars::JsonSchema)]
    #[serde(default)]
    struct Status {
        #[schemars(required, length(min = 1))]
        ready: Option<bool>,
    }
}

#[derive(KubeSchema)]
enum Place {
    Here { #[validate(range(max = 3))] names: Vec<String> },
    There(#[garde(length(max = 5))] HashMap<String, u8>),
}
"#;
    let expected = [
        "6: `Parts.labels`: `length` has no effect on a map; use `#[schemars(extend(\"minProperties\" = ..., \"maxProperties\" = ...))]`",
        "8: `Parts.notes`: `inner` has no effect on a map; use a type with these rules for the values",
        "10: `Parts.size`: `regex` has no effect on a number or string; use `#[schemars(extend(\"pattern\" = ...))]`",
        "10: `Parts.size`: `range` has no effect on a number or string; use `#[schemars(extend(\"minimum\" = ..., \"maximum\" = ...))]`",
        "12: `Parts.port`: `contains` has no effect on a number or string; use `#[schemars(extend(\"pattern\" = ...))]`",
        "14: `Parts.image`: `required` has no effect on a field with a default, which is optional; remove `required` or the default",
        "23: `Status.ready`: `required` has no effect on a field with a default, which is optional; remove `required` or the default",
        "23: `Status.ready`: `length` has no effect on a `bool`; use `range`, or remove it",
        "30: `Place::Here.names`: `range` has no effect on a list; write it in `inner(...)`",
        "31: `Place::There.0`: `length` has no effect on a map; use `#[schemars(extend(\"minProperties\" = ..., \"maxProperties\" = ...))]`",
    ];
    assert_eq!(found(text), expected);
}

#[test]
fn rules_that_have_an_effect_or_may_have_one_are_left_alone() {
    let text = r#"
use crate::own::{Quantity, BTreeMap as Tree};
use other::Vec;

struct IntOrString(String);

#[derive(JsonSchema)]
struct Good {
    #[schemars(length(max = 5), regex(pattern = "a"))]
    name: Option<String>,
    #[schemars(length(max = 5), inner(regex(pattern = "a")), extend("x-kubernetes-list-type" = "atomic"))]
    names: std::vec::Vec<String>,
    #[schemars(range(min = 1))]
    count: u8,
    #[schemars(regex(pattern = "a"))]
    size: Quantity,
    #[schemars(regex(pattern = "a"))]
    port: IntOrString,
    #[schemars(length(max = 5))]
    tree: Tree<String, String>,
    #[schemars(schema_with = "own", length(max = 5))]
    map: BTreeMap<String, String>,
    #[schemars(required)]
    must: Option<String>,
}

#[derive(JsonSchema, Validate)]
struct Validated {
    #[validate(length(max = 5))]
    labels: HashMap<String, String>,
}

#[derive(Clone)]
struct WithoutSchema {
    #[garde(length(max = 5))]
    labels: HashMap<String, String>,
}

#[cfg(test)]
mod tests {
    #[derive(JsonSchema)]
    struct Tested {
        #[schemars(length(max = 5))]
        labels: HashMap<String, String>,
    }
}
"#;
    assert_eq!(found(text), Vec::<String>::new());
    assert_eq!(found("schemars( is no Rust"), Vec::<String>::new());
}

#[test]
fn the_error_names_files_below_the_root_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#[derive(JsonSchema)]\nstruct A {\n    #[schemars(length(max = 5))]\n    on: bool,\n}\n";
    let files = [folder.path().join("api/b.rs"), folder.path().join("api/a.rs"), folder.path().join("api/a.txt")];
    fs_err::create_dir(folder.path().join("api")).unwrap();
    files.iter().for_each(|file| fs_err::write(file, text).unwrap());
    let error = check(files.iter().map(AsRef::as_ref), folder.path()).unwrap_err();
    let line = "3: `A.on`: `length` has no effect on a `bool`; use `range`, or remove it";
    let expected = format!(
        "the schema would lack rules that the code has; nothing was written\n  api/a.rs:{line}\n  api/b.rs:{line}"
    );
    assert_eq!(error.to_string(), expected);
    check(files.iter().map(AsRef::as_ref), &folder.path().join("other")).unwrap();
}
