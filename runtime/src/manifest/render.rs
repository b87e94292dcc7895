//! Renders all manifest files of a project, after the linter has checked them.

use serde_json::Value;

use super::lint::{Finding, ManifestError, Severity};
use super::project::Project;
use super::{Findings, crd, dashboard, decode, deployment, metrics, policy, rbac, roles, rules, sample, yaml};
use crate::dns_name::{is_dns_label, is_dns_subdomain};

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct File {
    /// The path below the output folder, with `/` between folders.
    pub path: String,
    /// The text of the file.
    pub text: String,
}

/// The generated files of a project and the linter's warnings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendered {
    /// The files, sorted by path.
    pub files: Vec<File>,
    /// The linter's warnings, sorted.
    pub findings: Vec<Finding>,
}

impl Rendered {
    /// Returns the text of the file at `path`; `None` if there is none.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }
}

/// Returns the files of a project. The bytes depend on the project alone, and not on the order of its controllers.
///
/// # Errors
///
/// Fails with [`ManifestError::Invalid`] and all findings if the linter reports an error.
pub fn files(project: &Project) -> Result<Rendered, ManifestError> {
    let mut findings = check_names(project);
    findings.extend(check_shapes(project));
    let definitions = crd::definitions(project, &mut findings);
    let samples = sample::objects(project, &definitions, &mut findings);
    decode::check(project, &definitions, &mut findings);
    findings.extend(rbac::findings(project));
    findings.sort();
    findings.dedup();
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(ManifestError::Invalid(findings));
    }
    let rbac = rbac::documents(project);
    let roles = roles::documents(project, &definitions);
    let policy = policy::documents(project);
    let deployment = deployment::documents(project);

    let mut set = FileSet::default();
    for definition in &definitions {
        set.add(&definition.path(), [&definition.value])?;
    }
    set.add("rbac.yaml", &rbac)?;
    set.add("roles.yaml", &roles)?;
    set.add("operator.yaml", &deployment)?;
    set.add("finalizer-policy.yaml", &policy)?;
    // Not in `install.yaml`: a cluster without the Prometheus operator does not have its kinds.
    set.add(metrics::MONITOR_PATH, [&metrics::service_monitor(project)])?;
    set.add(rules::RULES_PATH, [&rules::prometheus_rule(project)])?;
    set.files.push(File { path: dashboard::DASHBOARD_PATH.to_owned(), text: dashboard::render(project) });
    for (path, sample) in &samples {
        set.add(path, [sample])?;
    }
    // `kubectl apply` creates the documents in order: the Namespace before its objects, and the rights before their user.
    let (namespace, deployment) = deployment.split_at(deployment.len() - 2);
    let crds = definitions.iter().map(|definition| &definition.value);
    set.add("install.yaml", crds.chain(namespace).chain(&rbac).chain(&roles).chain(deployment))?;
    set.files.sort();
    Ok(Rendered { files: set.files, findings })
}

/// Returns all objects that an installation may have created in a cluster, with the finalizer policy and without samples.
pub(crate) fn installed_objects(project: &Project) -> Vec<Value> {
    let definitions = crd::definitions(project, &mut Vec::new());
    let crds = definitions.iter().map(|definition| definition.value.clone()).collect();
    let roles = roles::documents(project, &definitions);
    let monitoring = vec![metrics::service_monitor(project), rules::prometheus_rule(project)];
    [crds, monitoring, deployment::documents(project), rbac::documents(project), roles, policy::documents(project)]
        .concat()
}

/// The files that have been rendered so far.
#[derive(Default)]
struct FileSet {
    files: Vec<File>,
}

impl FileSet {
    /// Adds a file, unless there are no documents for it.
    fn add<'a>(&mut self, path: &str, documents: impl IntoIterator<Item = &'a Value>) -> Result<(), ManifestError> {
        let documents: Vec<_> = documents.into_iter().collect();
        if !documents.is_empty() {
            self.files.push(File { path: path.to_owned(), text: yaml::render(path, &documents)? });
        }
        Ok(())
    }
}

/// Reports trees whose permissions can't be read.
fn check_shapes(project: &Project) -> Vec<Finding> {
    let mut findings = Findings::of(&project.name);
    for controlled in &project.controllers {
        if let Err(malformed) = controlled.shape.check_manifests() {
            findings.error(&controlled.kind.kind, malformed.to_string(), "fix the manifest of its tree");
        }
    }
    findings.into_vec()
}

/// Reports names that the API server would refuse at installation, with a less clear message.
fn check_names(project: &Project) -> Vec<Finding> {
    let mut findings = Findings::of(&project.name);
    for (field, name) in [("name", &project.name), ("namespace", &project.namespace)] {
        if !is_dns_label(name) {
            let problem = format!("`{name}` is not a DNS label");
            findings.error(field, problem, "use at most 63 of a-z, 0-9 and `-`, with a letter or digit at both ends");
        }
    }
    if project.image.is_empty() || project.image.contains(char::is_whitespace) {
        findings.error(
            "image",
            format!("`{}` is not an image", project.image),
            "use a name like `registry.example.com/team/operator`",
        );
    }
    for controlled in project.controllers.iter().filter(|controlled| !controlled.finalizer.is_empty()) {
        let (prefix, name) = controlled.finalizer.split_once('/').unwrap_or_default();
        if !is_dns_subdomain(prefix) || name.is_empty() || name.len() > 63 || name.contains('/') {
            let problem = format!("`{}` is not a valid finalizer", controlled.finalizer);
            findings.error(
                &controlled.kind.kind,
                problem,
                format!("use a domain, `/` and a name, for example `{}/finalizer`", controlled.kind.group),
            );
        }
    }
    findings.into_vec()
}

#[cfg(test)]
mod tests;
