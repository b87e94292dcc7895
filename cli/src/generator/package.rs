//! Renders the generator's package: its manifest and `main.rs`, without any I/O.
//!
//! The package has exactly the build dependencies of the operator, and the profiles, patches and the resolver of the project's
//! workspace, so that cargo can reuse every built crate.

use std::path::Path;

use cargo_metadata::{Dependency, DependencyKind, Package};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

use crate::{
    error::{Error, Result},
    project::Project,
};

const HEADER: &str = "# Written by `opgen generate`.\n";
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The two files of the package.
#[derive(Debug)]
pub(crate) struct GeneratorPackage {
    pub(crate) manifest: String,
    pub(crate) main: String,
}

/// Returns the name of the generator's package and of its program.
pub(crate) fn name(project: &Project) -> String {
    format!("{}-generator", project.name)
}

/// Renders the package of the generator, the program that prints a project's YAML. `operator` is the package of the project's operator,
/// and `workspace` the parsed `Cargo.toml` in the folder `root` of its workspace.
pub(crate) fn generator(
    project: &Project,
    operator: &Package,
    root: &Path,
    workspace: &DocumentMut,
) -> Result<GeneratorPackage> {
    let mut manifest = DocumentMut::new();
    manifest["workspace"] = Item::Table(Table::new());
    if let Some(resolver) = workspace.get("workspace").and_then(|workspace| workspace.get("resolver")) {
        manifest["workspace"]["resolver"] = resolver.clone();
    }
    let mut package = Table::new();
    package["name"] = value(name(project));
    package["version"] = value("0.0.0");
    package["edition"] = value("2024");
    package["publish"] = value(false);
    manifest["package"] = Item::Table(package);
    let dependencies = dependencies(project, operator)?;
    manifest["dependencies"] = Item::Table(dependencies.clone());
    // There is no build script, so these are not built. They make cargo resolve the features of procedural macros and their dependencies
    // as for the operator, whose build script has the same dependencies.
    manifest["build-dependencies"] = Item::Table(dependencies);
    for section in ["profile", "patch"] {
        if let Some(item) = workspace.get(section) {
            manifest[section] = item.clone();
            // A patch may have a path relative to the workspace.
            make_paths_absolute(&mut manifest[section], root);
        }
    }
    Ok(GeneratorPackage { manifest: format!("{HEADER}{manifest}"), main: main_source(project) })
}

/// Returns the source of the generator's `main.rs`.
fn main_source(project: &Project) -> String {
    let controller = project.controller_package().replace('-', "_");
    format!("fn main() -> std::process::ExitCode {{\n    opgen::manifest::generator({controller}::operator())\n}}\n")
}

/// Returns the build dependencies of the operator as dependencies of the generator. Fails if the controller or opgen is missing.
fn dependencies(project: &Project, operator: &Package) -> Result<Table> {
    let dependencies = operator.dependencies.iter();
    let needed: Vec<_> = dependencies.filter(|dependency| dependency.kind == DependencyKind::Build).collect();
    for name in [project.controller_package(), "opgen".to_owned()] {
        if !needed.iter().any(|dependency| dependency.name == name) {
            return Err(Error::failed(format!("package `{}` has no build dependency `{name}`", operator.name))
                .hint("add it to `[build-dependencies]`, which `opgen generate` uses"));
        }
    }
    let mut table = Table::new();
    for dependency in needed {
        let key = dependency.rename.as_ref().unwrap_or(&dependency.name);
        table[key] = value(dependency_source(dependency));
    }
    Ok(table)
}

/// Returns the value of a dependency in `[dependencies]` of a manifest: its package if it is renamed, its source, and its features.
fn dependency_source(dependency: &Dependency) -> InlineTable {
    let mut table = InlineTable::new();
    if dependency.rename.is_some() {
        table.insert("package", dependency.name.clone().into());
    }
    match (&dependency.path, &dependency.source) {
        (Some(path), _) => _ = table.insert("path", path.as_str().into()),
        (None, Some(source)) => insert_remote(&mut table, &source.repr, dependency),
        (None, None) => _ = table.insert("version", dependency.req.to_string().into()),
    }
    if !dependency.uses_default_features {
        table.insert("default-features", false.into());
    }
    if !dependency.features.is_empty() {
        table.insert("features", Value::Array(Array::from_iter(&dependency.features)));
    }
    table
}

/// Inserts the git repository, or the version and the registry, of a dependency into its value in a manifest. `source` is cargo's text for
/// the source, for example `git+https://example.com/x.git?branch=main`.
fn insert_remote(table: &mut InlineTable, source: &str, dependency: &Dependency) {
    if let Some(git) = source.strip_prefix("git+") {
        let (url, reference) = git.split_once('?').unwrap_or((git, ""));
        table.insert("git", url.into());
        if let Some((key, value)) = reference.split_once('=') {
            table.insert(key, value.into());
        }
        return;
    }
    table.insert("version", dependency.req.to_string().into());
    if source != CRATES_IO {
        table.insert("registry-index", source.trim_start_matches("registry+").into());
    }
}

/// Makes every value of the key `path` in a table and the tables inside it absolute, since the generator is in another folder than the
/// manifest in `root`.
fn make_paths_absolute(item: &mut Item, root: &Path) {
    let Some(table) = item.as_table_like_mut() else { return };
    for (key, item) in table.iter_mut() {
        match item.as_str().filter(|_| key == "path") {
            Some(path) => *item = value(root.join(path).to_string_lossy().into_owned()),
            None => make_paths_absolute(item, root),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn project() -> Project {
        Project { root: "/work".into(), name: "web-shop".to_owned(), generated: "deploy".into() }
    }

    /// Returns a build dependency from crates.io as `cargo metadata` prints it, with the fields of `changes` replaced.
    fn dependency(name: &str, changes: &serde_json::Value) -> serde_json::Value {
        let mut dependency = json!({
            "name": name, "req": "^1.2", "kind": "build", "optional": false, "uses_default_features": true,
            "features": [], "source": CRATES_IO, "target": null, "rename": null, "registry": null,
        });
        for (key, value) in changes.as_object().unwrap() {
            dependency[key] = value.clone();
        }
        dependency
    }

    /// Returns the package of an operator with these dependencies, as `cargo metadata` prints it.
    fn operator(dependencies: &[serde_json::Value]) -> Package {
        serde_json::from_value(json!({
            "name": "web-shop", "version": "0.1.0", "id": "web-shop", "dependencies": dependencies, "targets": [],
            "features": {}, "manifest_path": "/work/operator/Cargo.toml", "edition": "2024",
        }))
        .unwrap()
    }

    /// Returns the generator's manifest for an operator with the required and these dependencies, and for this manifest of the workspace.
    fn manifest(dependencies: &[serde_json::Value], workspace: &str) -> String {
        let (controller, opgen) = (json!({"path": "/work/controller", "source": null}), json!({}));
        let mut all = vec![dependency("web-shop-controller", &controller), dependency("opgen", &opgen)];
        all.extend_from_slice(dependencies);
        generator(&project(), &operator(&all), Path::new("/work"), &workspace.parse().unwrap()).unwrap().manifest
    }

    #[test]
    fn the_generator_has_only_the_build_dependencies_of_the_operator() {
        let text =
            manifest(&[dependency("serde", &json!({"kind": "dev"})), dependency("http", &json!({"kind": null}))], "");
        let parsed: DocumentMut = text.parse().unwrap();
        let names: Vec<_> = parsed["dependencies"].as_table().unwrap().iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["web-shop-controller", "opgen"]);
        assert!(text.contains("web-shop-controller = { path = \"/work/controller\" }"), "{text}");
        assert!(text.contains("opgen = { version = \"^1.2\" }"), "{text}");
    }

    #[test]
    fn features_sources_and_renames_of_dependencies_are_copied() {
        let features = json!({"features": ["v1_36"], "uses_default_features": false});
        let git = json!({"source": "git+https://example.com/x.git?branch=main", "rename": "y"});
        let registry = json!({"source": "registry+https://example.com/index"});
        let text =
            manifest(&[dependency("k8s-openapi", &features), dependency("x", &git), dependency("z", &registry)], "");
        for line in [
            "k8s-openapi = { version = \"^1.2\", default-features = false, features = [\"v1_36\"] }",
            "y = { package = \"x\", git = \"https://example.com/x.git\", branch = \"main\" }",
            "z = { version = \"^1.2\", registry-index = \"https://example.com/index\" }",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn profiles_and_patches_are_those_of_the_projects_workspace() {
        let text = manifest(&[], "[profile.dev]\ndebug = 1\n[patch.crates-io]\nopgen = { path = \"../opgen\" }\n");
        let parsed: DocumentMut = text.parse().unwrap();
        assert_eq!(parsed["profile"]["dev"]["debug"].as_integer(), Some(1));
        assert_eq!(parsed["patch"]["crates-io"]["opgen"]["path"].as_str(), Some("/work/../opgen"));
    }

    #[test]
    fn cargo_resolves_the_features_as_for_the_operator() {
        let text = manifest(&[], "[workspace]\nresolver = \"2\"\nmembers = [\"api\"]\n");
        let parsed: DocumentMut = text.parse().unwrap();
        let workspace: Vec<_> = parsed["workspace"].as_table().unwrap().iter().map(|(key, _)| key).collect();
        assert_eq!((workspace, parsed["workspace"]["resolver"].as_str()), (vec!["resolver"], Some("2")));
        assert_eq!(parsed["build-dependencies"].to_string(), parsed["dependencies"].to_string());
    }

    #[test]
    fn a_build_script_without_the_controller_is_an_error() {
        let error = generator(&project(), &operator(&[]), Path::new("/work"), &DocumentMut::new()).unwrap_err();
        assert_eq!(error.to_string(), "package `web-shop` has no build dependency `web-shop-controller`");
    }
}
