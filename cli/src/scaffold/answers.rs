//! `Answers`: the validated settings of a new project (name, group, kind, version, scope, source of the opgen crates).

use std::path::{Path, PathBuf};

use toml_edit::{InlineTable, Value};

use crate::names::{ApiVersion, Group, Kind, Name};

/// The validated answers.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(crate) name: Name,
    pub(crate) group: Group,
    pub(crate) kind: Kind,
    pub(crate) version: ApiVersion,
    pub(crate) scope: ResourceScope,
    pub(crate) storage: ObjectStorage,
    pub(crate) opgen: OpgenSource,
}

/// Where the objects of a project are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectStorage {
    /// All in Kubernetes.
    Kubernetes,
    /// Those of the kind in a bucket of NATS, and the child objects in Kubernetes.
    Nats,
    /// All in buckets of NATS.
    NatsOnly,
}

/// The scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceScope {
    Namespaced,
    Cluster,
}

impl ResourceScope {
    /// Returns the scope as spelled in a CRD's `spec.scope`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Namespaced => "Namespaced",
            Self::Cluster => "Cluster",
        }
    }
}

/// The source of the opgen crates for a project.
#[derive(Clone, Debug)]
pub(crate) enum OpgenSource {
    /// The released crates of this version.
    Released,
    /// The crates in a checkout.
    Checkout(PathBuf),
}

impl OpgenSource {
    pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Returns the TOML value of a dependency in a manifest: the version, or the path of the crate. `folder` is the crate's folder in the
    /// checkout.
    pub(crate) fn dependency(&self, folder: &str) -> String {
        match self {
            Self::Released => Value::from(Self::VERSION).to_string(),
            Self::Checkout(checkout) => {
                Value::from(InlineTable::from_iter([("path", path(checkout, folder))])).to_string()
            }
        }
    }

    /// Returns the TOML value of a renamed dependency (`{ package = "...", version | path }`) for the manifest of a workspace member.
    /// `folder` is the crate's folder in the checkout. A relative path gets `../`, because the member is one folder below the workspace.
    pub(crate) fn renamed_dependency(&self, package: &str, folder: &str) -> String {
        let source = match self {
            Self::Released => ("version", Self::VERSION.to_owned()),
            Self::Checkout(checkout) if checkout.is_absolute() => ("path", path(checkout, folder)),
            Self::Checkout(checkout) => ("path", path(&Path::new("..").join(checkout), folder)),
        };
        Value::from(InlineTable::from_iter([("package", package.to_owned()), source])).to_string()
    }
}

/// Returns the path of a folder in a checkout as text.
fn path(checkout: &Path, folder: &str) -> String {
    checkout.join(folder).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_is_a_version_or_a_path_as_a_toml_value() {
        assert_eq!(OpgenSource::Released.dependency("runtime"), format!("\"{}\"", OpgenSource::VERSION));
        assert_eq!(OpgenSource::Checkout("/a b".into()).dependency("runtime"), "{ path = \"/a b/runtime\" }");
        assert_eq!(OpgenSource::Checkout("C:\\x".into()).dependency(""), "{ path = 'C:\\x/' }");
        let api = OpgenSource::Checkout("/a".into()).renamed_dependency("opgen-api", "runtime/api");
        assert_eq!(api, "{ package = \"opgen-api\", path = \"/a/runtime/api\" }");
        let relative = OpgenSource::Checkout("../fork".into()).renamed_dependency("opgen-api", "runtime/api");
        assert_eq!(relative, "{ package = \"opgen-api\", path = \"../../fork/runtime/api\" }");
        let released = OpgenSource::Released.renamed_dependency("opgen-api", "runtime/api");
        assert_eq!(released, format!("{{ package = \"opgen-api\", version = \"{}\" }}", OpgenSource::VERSION));
    }
}
