//! Renders all manifest files of a project, after the linter has checked them.

use serde_json::Value;

use super::lint::{Finding, ManifestError, Severity};
use super::project::Project;
use super::{
    Findings, cert_manager, chart, crd, dashboard, decode, deployment, disruption_budget, finalizer_policy, kustomize,
    metrics, nats, network_policy, policies, rbac, roles, rules, sample, webhooks, yaml,
};
use crate::dns_name::{is_dns_label, is_dns_subdomain};
use crd::definition::Definition;

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
    findings.extend(webhooks::findings(project));
    findings.extend(policies::findings(project));
    findings.extend(nats::findings(project));
    findings.sort();
    findings.dedup();
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(ManifestError::Invalid(findings));
    }
    let (in_buckets, definitions) = split_by_bucket(project, definitions);
    let mut set = FileSet::default();
    set.add_installation(project, &definitions)?;
    set.add_components(project)?;
    set.add("finalizer-policy.yaml", &finalizer_policy::documents(project))?;
    set.add("remote/role.yaml", rbac::remote_role(project).iter())?;
    if project.serves_metrics() {
        set.add_text(dashboard::DASHBOARD_PATH, dashboard::render(project));
    }
    for (path, sample) in &samples {
        set.add(path, [sample])?;
    }
    for (path, text) in nats::files(project, &in_buckets)? {
        set.add_text(&path, text);
    }
    for (path, text) in chart::files(project, &definitions)? {
        set.add_text(&path, text);
    }
    set.files.sort();
    Ok(Rendered { files: set.files, findings })
}

/// Splits the CustomResourceDefinitions: returns first those of kinds in NATS buckets, which are not installed, and then those of kinds in
/// Kubernetes.
fn split_by_bucket(project: &Project, definitions: Vec<Definition>) -> (Vec<Definition>, Vec<Definition>) {
    let is_in_bucket = |definition: &Definition| {
        let mut kinds = project.controllers.iter().filter(|described| described.bucket.is_some());
        kinds.any(|described| described.kind.group == definition.group && described.kind.kind == definition.kind)
    };
    definitions.into_iter().partition(is_in_bucket)
}

/// Returns the Deployment, its PodDisruptionBudget, and the Services of its metrics and its webhooks.
fn workload(project: &Project) -> Vec<Value> {
    let objects = [deployment::deployment(project), disruption_budget::document(project)];
    let metrics = project.serves_metrics().then(|| metrics::service(project));
    objects.into_iter().chain(metrics).chain(webhooks::service(project)).collect()
}

/// Returns the objects of the optional components: of the Prometheus operator, the NetworkPolicy, and for webhooks the objects of
/// cert-manager with the Secrets that it creates.
fn optional_objects(project: &Project) -> Vec<Value> {
    let general =
        [metrics::service_monitor(project), rules::prometheus_rule(project), network_policy::document(project)];
    let for_webhooks = [cert_manager::documents(project), cert_manager::secrets(project)].concat();
    general.into_iter().chain(for_webhooks).collect()
}

/// Returns all objects that an installation of the operator may have created in a cluster, including the optional components and the
/// finalizer policy, but not the samples.
pub(crate) fn installed_objects(project: &Project) -> Vec<Value> {
    let (_, definitions) = split_by_bucket(project, crd::definitions(project, &mut Vec::new()));
    let crds = definitions.iter().map(|definition| definition.value.clone()).collect();
    let roles = roles::documents(project, &definitions);
    let namespace = deployment::namespace(project).into_iter().collect();
    let operator = [workload(project), rbac::documents(project), roles].concat();
    let webhooks = webhooks::configurations(project).into_iter().chain(webhooks::secret(project)).collect();
    let policies = [policies::documents(project), finalizer_policy::documents(project)].concat();
    [crds, optional_objects(project), namespace, operator, webhooks, policies].concat()
}

/// The files that have been rendered so far.
#[derive(Default)]
struct FileSet {
    files: Vec<File>,
}

impl FileSet {
    /// Adds the file at `path` with these documents as YAML, unless there are no documents.
    fn add<'a>(&mut self, path: &str, documents: impl IntoIterator<Item = &'a Value>) -> Result<(), ManifestError> {
        let documents: Vec<_> = documents.into_iter().collect();
        if !documents.is_empty() {
            self.add_text(path, yaml::render(path, &documents)?);
        }
        Ok(())
    }

    /// Adds a file with this text.
    fn add_text(&mut self, path: &str, text: String) {
        self.files.push(File { path: path.to_owned(), text });
    }

    /// Adds `install.yaml` for kubectl, and for kustomize the same objects as files of the base, with all `kustomization.yaml` files.
    fn add_installation(&mut self, project: &Project, definitions: &[Definition]) -> Result<(), ManifestError> {
        let (rbac, roles) = (rbac::documents(project), roles::documents(project, definitions));
        let (namespace, workload) = (deployment::namespace(project), workload(project));
        let webhooks = webhooks::configurations(project);
        let base = |file: &str| kustomize::path(kustomize::BASE, file);
        for definition in definitions {
            self.add(&base(&definition.file_path()), [&definition.value])?;
        }
        self.add(&base(kustomize::RBAC), &rbac)?;
        self.add(&base(kustomize::ROLES), &roles)?;
        self.add(&base(kustomize::OPERATOR), namespace.iter().chain(&workload))?;
        self.add(&base(kustomize::WEBHOOKS), &webhooks)?;
        let policies = policies::documents(project);
        self.add(&base(kustomize::POLICIES), &policies)?;
        for (path, document) in kustomize::documents(project, definitions) {
            self.add(&path, [&document])?;
        }
        // `kubectl apply` creates the documents in order: the Namespace before its objects, and the rights before their user.
        let crds = definitions.iter().map(|definition| &definition.value);
        let operator = rbac.iter().chain(&roles).chain(&workload).chain(&webhooks).chain(&policies);
        self.add("install.yaml", crds.chain(&namespace).chain(operator))
    }

    /// Adds the files of the optional kustomize components: monitoring, NetworkPolicy and cert-manager. They are optional, since some
    /// clusters don't have their kinds, and a NetworkPolicy may keep an operator from working.
    fn add_components(&mut self, project: &Project) -> Result<(), ManifestError> {
        if project.serves_metrics() {
            let monitoring = |file: &str| kustomize::path(kustomize::MONITORING, file);
            self.add(&monitoring(metrics::MONITOR_FILE), [&metrics::service_monitor(project)])?;
            self.add(&monitoring(rules::RULES_FILE), [&rules::prometheus_rule(project)])?;
        }
        let policy = kustomize::path(kustomize::NETWORK_POLICY, kustomize::POLICY_FILE);
        self.add(&policy, [&network_policy::document(project)])?;
        for (file, documents) in kustomize::cert_manager_files(project) {
            self.add(&kustomize::path(kustomize::CERT_MANAGER, file), &documents)?;
        }
        Ok(())
    }
}

/// Reports each tree that embeds an invalid YAML manifest, from which no permissions can be derived.
fn check_shapes(project: &Project) -> Vec<Finding> {
    let mut findings = Findings::of(&project.name);
    for controlled in &project.controllers {
        if let Err(malformed) = controlled.shape.check_manifests() {
            findings.error(&controlled.kind.kind, malformed.to_string(), "fix the manifest of its tree");
        }
    }
    findings.into_vec()
}

/// Reports an operator name, a namespace, an image or a finalizer that the API server would refuse at the installation, with a less clear
/// message.
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
