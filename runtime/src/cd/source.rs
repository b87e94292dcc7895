//! Defines the source of an application: a chart repository or a git repository.

use std::fmt;

/// The source of an application.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplicationSource {
    /// A chart of a chart repository (`https://…`) or an OCI registry (`oci://…`).
    Chart {
        /// The URL of the repository; for a registry, without the name of the chart.
        repository: String,
        /// The name of the chart.
        chart: String,
        /// The version of the chart, as written.
        version: String,
    },
    /// A chart in a folder of a git repository.
    GitChart {
        /// The URL of the repository.
        repository: String,
        /// The branch, tag or commit.
        revision: GitRevision,
        /// The folder of the chart, relative to the root of the repository.
        path: String,
    },
    /// Manifests, or a kustomization, in a folder of a git repository.
    GitManifests {
        /// The URL of the repository.
        repository: String,
        /// The branch, tag or commit.
        revision: GitRevision,
        /// The folder, relative to the root of the repository.
        path: String,
    },
}

impl fmt::Debug for ApplicationSource {
    /// Shows all fields except the URL of the repository, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chart { chart, version, .. } => {
                f.debug_struct("Chart").field("chart", chart).field("version", version).finish_non_exhaustive()
            }
            Self::GitChart { revision, path, .. } => {
                f.debug_struct("GitChart").field("revision", revision).field("path", path).finish_non_exhaustive()
            }
            Self::GitManifests { revision, path, .. } => {
                f.debug_struct("GitManifests").field("revision", revision).field("path", path).finish_non_exhaustive()
            }
        }
    }
}

/// A revision of a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GitRevision {
    /// The newest commit of a branch. The CD system deploys new commits by itself.
    Branch(String),
    /// The commit of a tag.
    Tag(String),
    /// A commit, by its full hash.
    Commit(String),
}

impl GitRevision {
    /// Returns the revision of a branch.
    pub fn branch(name: impl Into<String>) -> Self {
        Self::Branch(name.into())
    }

    /// Returns the revision of a tag.
    pub fn tag(name: impl Into<String>) -> Self {
        Self::Tag(name.into())
    }

    /// Returns the revision of a commit.
    pub fn commit(hash: impl Into<String>) -> Self {
        Self::Commit(hash.into())
    }

    /// Returns the name of the branch or tag, or the hash of the commit.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Branch(text) | Self::Tag(text) | Self::Commit(text) => text,
        }
    }
}

impl ApplicationSource {
    /// Returns the fields that must not be empty, each with its name for messages.
    pub(super) fn required_fields(&self) -> [(&'static str, &str); 3] {
        match self {
            Self::Chart { repository, chart, version } => {
                [("repository", repository), ("chart", chart), ("version", version)]
            }
            Self::GitChart { repository, revision, path } | Self::GitManifests { repository, revision, path } => {
                [("repository", repository), ("revision", revision.as_str()), ("path", path)]
            }
        }
    }
}
