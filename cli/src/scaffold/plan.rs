//! Which files a project gets. Touches nothing.

use std::collections::BTreeMap;

use include_dir::{Dir, DirEntry, include_dir};

use super::answers::Scope;

/// Raised when a project made from older templates needs more than a re-rendered file.
pub(crate) const TEMPLATE_VERSION: u32 = 1;

static TEMPLATES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// Templates by the path of what they become; the path is a template itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) files: BTreeMap<&'static str, Template>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Template {
    Rendered(&'static str),
    Verbatim(&'static str),
}

/// The project, and over it what is different for its scope.
pub(crate) fn project(scope: Scope) -> Plan {
    match scope {
        Scope::Namespaced => layered(&["project"]),
        Scope::Cluster => layered(&["project", "project-cluster"]),
    }
}

fn layered(overlays: &[&str]) -> Plan {
    let mut files = BTreeMap::new();
    for overlay in overlays.iter().filter_map(|overlay| TEMPLATES.get_dir(overlay)) {
        collect(overlay, overlay, &mut files);
    }
    Plan { files }
}

fn collect(
    overlay: &'static Dir<'static>,
    folder: &'static Dir<'static>,
    files: &mut BTreeMap<&'static str, Template>,
) {
    for entry in folder.entries() {
        let file = match entry {
            DirEntry::Dir(below) => {
                collect(overlay, below, files);
                continue;
            }
            DirEntry::File(file) => file,
        };
        let path = file.path().strip_prefix(overlay.path()).ok().and_then(|path| path.to_str());
        if let (Some(path), Some(text)) = (path, file.contents_utf8()) {
            match path.strip_suffix(".tmpl") {
                Some(path) => files.insert(path, Template::Rendered(text)),
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
        let (project, cluster) = (project(Scope::Namespaced).files, project(Scope::Cluster).files);
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
            assert_eq!(layered(&[name]).files.len(), count(overlay), "{name}");
        }
    }
}
