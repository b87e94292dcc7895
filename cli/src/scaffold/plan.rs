//! Plans the files of a project from the embedded templates, without any I/O.

use std::collections::BTreeMap;

use include_dir::{Dir, DirEntry, include_dir};

use super::answers::ResourceScope;

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

/// Returns the templates of a project, with the overlay for its scope.
pub(crate) fn project(scope: ResourceScope) -> Plan {
    match scope {
        ResourceScope::Namespaced => overlay_files(&["project"]),
        ResourceScope::Cluster => overlay_files(&["project", "project-cluster"]),
    }
}

/// Returns the files of the overlays. A file of a later overlay replaces that of an earlier one.
fn overlay_files(overlays: &[&str]) -> Plan {
    let mut files = BTreeMap::new();
    for overlay in overlays.iter().filter_map(|overlay| TEMPLATES.get_dir(overlay)) {
        add_templates(overlay, overlay, &mut files);
    }
    Plan { files }
}

/// Adds the files below a folder of an overlay; those that end in `.tmpl` are templates.
fn add_templates(
    overlay: &'static Dir<'static>,
    folder: &'static Dir<'static>,
    files: &mut BTreeMap<&'static str, Template>,
) {
    for entry in folder.entries() {
        let file = match entry {
            DirEntry::Dir(below) => {
                add_templates(overlay, below, files);
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

    #[test]
    fn an_overlay_replaces_files_and_adds_none() {
        let (project, cluster) = (project(ResourceScope::Namespaced).files, project(ResourceScope::Cluster).files);
        assert_eq!(project.keys().collect::<Vec<_>>(), cluster.keys().collect::<Vec<_>>());
        let different = project.keys().filter(|path| project[*path] != cluster[*path]).count();
        assert_eq!(different, 2, "the types and the tree");
    }

    #[test]
    fn every_template_is_text_of_an_overlay() {
        fn count(folder: &Dir<'_>) -> usize {
            folder.files().count() + folder.dirs().map(count).sum::<usize>()
        }
        for overlay in TEMPLATES.dirs() {
            let name = overlay.path().to_str().unwrap_or_default();
            assert!(["project", "project-cluster"].contains(&name), "`{name}` is used by nothing");
            assert_eq!(overlay_files(&[name]).files.len(), count(overlay), "{name}");
        }
    }
}
