//! Generates the `values.yaml` of the Helm chart: the default of every value, with its meaning as a comment.

use super::{nats, options};
use crate::manifest::{
    ManifestError,
    deployment::{self, GRACE_SECONDS},
    finalizer_policy,
    project::Project,
    yaml::{self, HEADER},
};
use serde_json::Value;

const TEXT: &str = include_str!("values.yaml");

/// The values of the finalizer policy, for an operator that has one.
const POLICY: &str = "
# The policy that gives new objects their finalizer, which saves a write for each. It needs Kubernetes 1.36.
finalizerPolicy:
  enabled: false
";

/// The values of the webhooks, for an operator that has some.
const WEBHOOKS: &str = "
# The certificate of the webhooks. The operator makes it, unless `certManager` is true: then the chart has Issuers and Certificates of
# cert-manager, and the operator has no rights on Secrets and webhook configurations for it.
webhooks:
  certManager: false
";

/// Returns the text of `values.yaml`: the template with the image, the options and the security settings of the operator. An error names
/// `path`, the path of the file.
pub(super) fn file(project: &Project, path: &str) -> Result<String, ManifestError> {
    let image = Image::of(project);
    let container = deployment::container(project);
    let indented_yaml = |indent: &str, value: &Value| -> Result<String, ManifestError> {
        let yaml = yaml::fragment(path, value)?;
        Ok(yaml.lines().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n"))
    };
    let has_policy = !finalizer_policy::documents(project).is_empty();
    let text = TEXT
        .replace("$REPOSITORY", &image.repository)
        .replace("$TAG", &image.tag)
        .replace("$DIGEST", &image.digest)
        .replace("$CONFIG", options::values(project).trim_end())
        .replace("$RESOURCES", &indented_yaml("  ", &container["resources"])?)
        .replace("$POD_SECURITY", &indented_yaml("  ", &deployment::pod(project)["securityContext"])?)
        .replace("$SECURITY", &indented_yaml("  ", &container["securityContext"])?)
        .replace("$PRIORITY", project.priority_class.as_deref().unwrap_or_default())
        .replace("$GRACE", &GRACE_SECONDS.to_string())
        .replace("$WEBHOOKS\n", if project.has_webhooks() { WEBHOOKS } else { "" })
        .replace("$NATS\n", if project.buckets().is_empty() { "" } else { nats::VALUES })
        .replace("$POLICY\n", if has_policy { POLICY } else { "" });
    Ok(format!("{HEADER}\n\n{text}"))
}

/// The parts of an image. Without a tag and a digest, the tag is the version of the chart.
#[derive(Debug, Default, PartialEq)]
struct Image {
    repository: String,
    tag: String,
    digest: String,
}

impl Image {
    /// Splits the image reference of a project into its repository, tag and digest; a missing part is empty.
    fn of(project: &Project) -> Self {
        let (name, digest) = project.image.split_once('@').unwrap_or((&project.image, ""));
        let (repository, tag) = match name.rsplit_once(':') {
            // A colon before a slash separates the registry's host from its port.
            Some((repository, tag)) if !tag.contains('/') => (repository, tag),
            _ => (name, ""),
        };
        Self { repository: repository.to_owned(), tag: tag.to_owned(), digest: digest.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::fixture;

    #[test]
    fn an_image_has_a_repository_a_tag_and_a_digest() {
        let parts_of = |image: &str| {
            let image = Image::of(&Project { image: image.to_owned(), ..fixture::project() });
            [image.repository, image.tag, image.digest]
        };
        assert_eq!(parts_of("registry:5000/team/demo"), ["registry:5000/team/demo", "", ""]);
        assert_eq!(parts_of("demo:1.2"), ["demo", "1.2", ""]);
        assert_eq!(parts_of("registry:5000/demo:1.2@sha256:00"), ["registry:5000/demo", "1.2", "sha256:00"]);
    }
}
