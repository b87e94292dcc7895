//! Plans the files of a project from the embedded templates, without any I/O.

use std::collections::BTreeMap;

use include_dir::{Dir, DirEntry, include_dir};

use super::answers::{ObjectStorage, ResourceScope};

/// The version of the templates. Increase it if older projects need more than new files.
pub(crate) const TEMPLATE_VERSION: u32 = 1;

static TEMPLATES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// The templates by the path of their output; the path is a template, too.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) files: BTreeMap<&'static str, Template>,
}

/// The template of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Template {
    Tera(&'static str),
    Verbatim(&'static str),
}

/// Returns the templates of a project. An overlay, a folder of templates that replace others, is added for a cluster-scoped kind, for
/// objects in NATS, and for operators without Kubernetes.
pub(crate) fn project(scope: ResourceScope, storage: ObjectStorage) -> Plan {
    let mut overlays = vec!["project"];
    if scope == ResourceScope::Cluster {
        overlays.push("project-cluster");
    }
    if storage != ObjectStorage::Kubernetes {
        overlays.push("project-nats");
        if scope == ResourceScope::Cluster {
            overlays.push("project-nats-cluster");
        }
    }
    if storage == ObjectStorage::NatsOnly {
        overlays.push("project-without-kubernetes");
    }
    overlay_files(&overlays)
}

/// Returns the templates in these folders of the embedded templates. A template of a later folder replaces one with the same path.
fn overlay_files(overlays: &[&str]) -> Plan {
    let mut files = BTreeMap::new();
    for overlay in overlays.iter().filter_map(|overlay| TEMPLATES.get_dir(overlay)) {
        add_templates(overlay, overlay, &mut files);
    }
    Plan { files }
}

/// Adds the files in and below `folder` to `files`, by their path relative to `overlay`. Files that end in `.tmpl` are Tera templates and
/// lose this ending; other files are copied as they are.
fn add_templates(
    overlay: &'static Dir<'static>,
    folder: &'static Dir<'static>,
    files: &mut BTreeMap<&'static str, Template>,
) {
    for entry in folder.entries() {
        let file = match entry {
            DirEntry::Dir(subfolder) => {
                add_templates(overlay, subfolder, files);
                continue;
            }
            DirEntry::File(file) => file,
        };
        let path = file.path().strip_prefix(overlay.path()).ok().and_then(|path| path.to_str());
        if let (Some(path), Some(text)) = (path, file.contents_utf8()) {
            match path.strip_suffix(".tmpl") {
                Some(path) => files.insert(path, Template::Tera(text)),
                None => files.insert(path, Template::Verbatim(text)),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERLAYS: [&str; 5] =
        ["project", "project-cluster", "project-nats", "project-nats-cluster", "project-without-kubernetes"];

    #[test]
    fn overlays_replace_files_and_add_none() {
        let project = |scope, storage| project(scope, storage).files;
        let plain = project(ResourceScope::Namespaced, ObjectStorage::Kubernetes);
        // The number and the names of the files that differ from those of a namespaced kind in Kubernetes.
        for (scope, storage, replaced, names) in [
            (ResourceScope::Cluster, ObjectStorage::Kubernetes, 2, "the types and the tree"),
            (ResourceScope::Namespaced, ObjectStorage::Nats, 5, "types, trial, operator, README and opgen.toml"),
            (ResourceScope::Cluster, ObjectStorage::Nats, 6, "also the tree"),
            (ResourceScope::Namespaced, ObjectStorage::NatsOnly, 6, "also the controllers"),
            (ResourceScope::Cluster, ObjectStorage::NatsOnly, 7, "also the tree and the controllers"),
        ] {
            let other = project(scope, storage);
            assert_eq!(plain.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
            let different = plain.keys().filter(|path| plain[*path] != other[*path]).count();
            assert_eq!(different, replaced, "{scope:?}, {storage:?}: {names}");
        }
    }

    #[test]
    fn every_template_is_text_of_an_overlay() {
        fn count(folder: &Dir<'_>) -> usize {
            folder.files().count() + folder.dirs().map(count).sum::<usize>()
        }
        for overlay in TEMPLATES.dirs() {
            let name = overlay.path().to_str().unwrap_or_default();
            assert!(OVERLAYS.contains(&name), "`{name}` is used by nothing");
            assert_eq!(overlay_files(&[name]).files.len(), count(overlay), "{name}");
        }
    }
}
