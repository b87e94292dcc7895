//! Generates the files for kinds whose objects are in NATS key-value buckets: the buckets, the NATS permissions of the operator, and, for
//! other clients, JSON Schemas and sample scripts.

mod account;
pub(super) mod connection;
mod sample;
mod schema;
mod stream;
#[cfg(test)]
mod tests;

use crate::bucket::shared_bucket::shared_bucket;

use super::{
    crd::definition::Definition,
    json,
    lint::{Finding, Findings, ManifestError},
    project::Project,
    yaml,
};

/// Returns the files of the folder `nats` with their paths: the buckets, the permissions of the operator's user, and the JSON Schema and a
/// sample script of each kind in a bucket. Returns none if all kinds are in Kubernetes.
pub(crate) fn files(project: &Project, in_buckets: &[Definition]) -> Result<Vec<(String, String)>, ManifestError> {
    const BUCKETS: &str = "nats/buckets.yaml";
    if project.buckets().is_empty() {
        return Ok(Vec::new());
    }
    let (mut files, buckets) = (Vec::new(), stream::documents(project));
    if !buckets.is_empty() {
        let documents: Vec<_> = buckets.iter().collect();
        files.push((BUCKETS.to_owned(), yaml::render(BUCKETS, &documents)?));
    }
    files.push(("nats/account.json".to_owned(), json::render(account::permissions(project))));
    for definition in in_buckets {
        if let Some(schema) = schema::json_schema(project, definition) {
            files.push((format!("nats/{}.schema.json", definition.plural), json::render(schema)));
        }
        if let Some(script) = sample::script(project, definition) {
            files.push((format!("nats/{}.sample.sh", definition.plural), script));
        }
    }
    Ok(files)
}

/// Reports each webhook for a kind in a NATS bucket, since only API servers call webhooks, and two kinds that use the same bucket.
pub(crate) fn findings(project: &Project) -> Vec<Finding> {
    let mut report = Vec::new();
    for webhook in project.webhooks.iter().filter(|webhook| project.is_in_bucket(&webhook.kind)) {
        let mut findings = Findings::of(&*webhook.kind.kind);
        let fix = "remove the webhook, and express its rule in the schema: `#[schemars(...)]` or `#[valid(...)]`";
        findings.error("webhook", "no API server has the kind, which is in a bucket, so nobody calls the webhook", fix);
        report.extend(findings.into_vec());
    }
    if let Some((bucket, [kind, other])) = shared_bucket(&project.buckets()) {
        let mut findings = Findings::of(&*other.kind);
        let problem = format!(
            "the objects of {kind} are in bucket {bucket:?} as well, and each would take those of the other for its own"
        );
        findings.error("bucket", problem, "give each kind a bucket of its own: `#[managed(nats(bucket = \"...\"))]`");
        report.extend(findings.into_vec());
    }
    report
}
