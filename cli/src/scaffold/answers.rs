//! What a project is made from.

use std::path::PathBuf;

use toml_edit::{InlineTable, Value};

use crate::names::{ApiVersion, Group, Kind, Name};

/// Every answer that shapes a project; all of them checked.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(crate) name: Name,
    pub(crate) group: Group,
    pub(crate) kind: Kind,
    pub(crate) version: ApiVersion,
    pub(crate) scope: Scope,
    pub(crate) opgen: Opgen,
}

/// Where the objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Namespaced,
    Cluster,
}

impl Scope {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Namespaced => "Namespaced",
            Self::Cluster => "Cluster",
        }
    }
}

/// Which opgen a project is built against.
#[derive(Clone, Debug)]
pub(crate) enum Opgen {
    /// The crates of this program's version.
    Released,
    /// The crates in this checkout.
    InFolder(PathBuf),
}

impl Opgen {
    pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// One of its crates, by its folder in a checkout, as a dependency in a manifest.
    pub(crate) fn dependency(&self, folder: &str) -> String {
        match self {
            Self::Released => Value::from(Self::VERSION).to_string(),
            Self::InFolder(checkout) => {
                let path = checkout.join(folder).to_string_lossy().into_owned();
                Value::from(InlineTable::from_iter([("path", path)])).to_string()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dependency_is_a_version_or_a_folder_quoted_as_toml_wants_it() {
        assert_eq!(Opgen::Released.dependency("runtime"), format!("\"{}\"", Opgen::VERSION));
        assert_eq!(Opgen::InFolder("/a b".into()).dependency("runtime"), "{ path = \"/a b/runtime\" }");
        assert_eq!(Opgen::InFolder("C:\\x".into()).dependency(""), "{ path = 'C:\\x/' }");
    }
}
