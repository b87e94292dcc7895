//! Renders the files of a project in memory, without any I/O.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tera::{Context, Tera};

use super::{
    answers::{Answers, ResourceScope},
    plan::{Plan, TEMPLATE_VERSION, Template},
};
use crate::{
    error::{Result, ResultExt as _},
    scaffold::answers::OpgenSource,
    toolchain::RUST_VERSION,
};

/// The key and the value of an example object in a NATS bucket, by the scope of the kind.
const NAMESPACED_KEY: &str = "default.first";
const NAMESPACED_ENTRY: &str = r#"{"spec": {"message": "hello", "copies": 2}}"#;
const CLUSTER_KEY: &str = "first";
const CLUSTER_ENTRY: &str = r#"{"spec": {"namespace": "default", "message": "hello", "copies": 2}}"#;

/// The rendered files of a project.
#[derive(Debug)]
pub(crate) struct RenderedProject {
    files: BTreeMap<PathBuf, String>,
}

impl RenderedProject {
    /// Returns the paths and texts of the files, sorted by path.
    pub(crate) fn files(&self) -> impl ExactSizeIterator<Item = (&Path, &str)> {
        self.files.iter().map(|(path, text)| (path.as_path(), text.as_str()))
    }
}

#[cfg(test)]
impl<'a> FromIterator<(&'a str, &'a str)> for RenderedProject {
    /// Creates a project from pairs of the path and the text of a file.
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(files: I) -> Self {
        Self { files: files.into_iter().map(|(path, text)| (path.into(), text.into())).collect() }
    }
}

/// Renders the paths and texts of all files with the answers. Fails at the first broken template.
pub(crate) fn render(plan: &Plan, answers: &Answers) -> Result<RenderedProject> {
    let variables = variables(answers);
    let mut tera = Tera::new();
    let mut files = BTreeMap::new();
    for (&path, template) in &plan.files {
        let broken = || format!("failed to render the template of `{path}`");
        let text = match *template {
            Template::Verbatim(text) => text.to_owned(),
            Template::Tera(text) => {
                tera.add_raw_template(path, text).or_failed(broken)?;
                tera.render(path, &variables).or_failed(broken)?
            }
        };
        let path = tera.render_str(path, &variables, false).or_failed(broken)?;
        files.insert(PathBuf::from(path), text);
    }
    Ok(RenderedProject { files })
}

/// Returns the variables that the templates may use, with their values for these answers.
fn variables(answers: &Answers) -> Context {
    let mut variables = Context::new();
    variables.insert("name", answers.name.as_str());
    variables.insert("name_ident", &answers.name.ident());
    variables.insert("group", answers.group.as_str());
    variables.insert("kind", answers.kind.as_str());
    variables.insert("module", &answers.kind.module());
    variables.insert("version", answers.version.as_str());
    variables.insert("scope", answers.scope.as_str());
    variables.insert("bucket", &answers.kind.bucket());
    let (key, key_form, entry) = match answers.scope {
        ResourceScope::Namespaced => (NAMESPACED_KEY, "`<namespace>.<name>`", NAMESPACED_ENTRY),
        ResourceScope::Cluster => (CLUSTER_KEY, "its name", CLUSTER_ENTRY),
    };
    variables.insert("key", key);
    variables.insert("key_form", key_form);
    variables.insert("entry", entry);
    variables.insert("opgen", &answers.opgen.dependency("runtime"));
    variables.insert("opgen_api", &answers.opgen.renamed_dependency("opgen-api", "runtime/api"));
    variables.insert("opgen_testing", &answers.opgen.dependency("tests/testing"));
    variables.insert("opgen_version", OpgenSource::VERSION);
    variables.insert("rust_version", RUST_VERSION);
    variables.insert("template_version", &TEMPLATE_VERSION);
    variables
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::error::Error as _;

    use super::*;
    use crate::{
        names::{ApiVersion, Group, Kind, Name},
        scaffold::{answers::ObjectStorage, plan},
    };

    /// Returns valid answers with this scope and storage.
    fn answers(scope: ResourceScope, storage: ObjectStorage) -> Answers {
        Answers {
            name: Name::check("web-shop").unwrap(),
            group: Group::check("shop.example.com").unwrap(),
            kind: Kind::check("HTTPShop").unwrap(),
            version: ApiVersion::check("v1beta2").unwrap(),
            scope,
            storage,
            opgen: OpgenSource::Released,
        }
    }

    #[test]
    fn names_of_files_are_rendered_too() {
        let (scope, storage) = (ResourceScope::Namespaced, ObjectStorage::Kubernetes);
        let rendered = render(&plan::project(scope, storage), &answers(scope, storage)).unwrap();
        let paths: Vec<_> = rendered.files().map(|(path, _)| path.to_str().unwrap()).collect();
        assert!(paths.contains(&"controller/src/http_shop.rs"), "{paths:?}");
        assert!(paths.iter().all(|path| !path.contains(['{', '}']) && !path.ends_with(".tmpl")), "{paths:?}");
    }

    #[test]
    fn every_rendered_file_ends_in_one_newline_and_has_no_template_syntax() {
        let storages = [ObjectStorage::Kubernetes, ObjectStorage::Nats, ObjectStorage::NatsOnly];
        let scopes = [ResourceScope::Namespaced, ResourceScope::Cluster];
        for (scope, storage) in scopes.into_iter().flat_map(|scope| storages.map(|storage| (scope, storage))) {
            let rendered = render(&plan::project(scope, storage), &answers(scope, storage)).unwrap();
            for (path, text) in rendered.files() {
                assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{}", path.display());
                assert!(!text.contains("{{ ") && !text.contains("{%"), "{}", path.display());
                assert!(text.lines().count() <= 80, "{} is long for a template", path.display());
            }
        }
    }

    #[test]
    fn an_undefined_variable_is_an_error_that_names_the_file() {
        let plan = Plan { files: BTreeMap::from([("a/b.rs", Template::Tera("{{ nmae }}"))]) };
        let error = render(&plan, &answers(ResourceScope::Namespaced, ObjectStorage::Kubernetes)).unwrap_err();
        assert_eq!(error.to_string(), "failed to render the template of `a/b.rs`");
        assert!(error.source().unwrap().to_string().contains("nmae"));
    }
}
