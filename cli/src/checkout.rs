//! A checkout of opgen to build against, in place of the released crate.

use std::path::{Component, Path, PathBuf};

use toml_edit::DocumentMut;

use crate::error::{Error, Explain as _, Result};

/// A folder that holds opgen's own sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkout {
    root: PathBuf,
}

impl Checkout {
    /// The one that was asked for.
    pub(crate) fn given(folder: &Path) -> Result<Self> {
        Self::at(folder).ok_or_else(|| {
            Error::usage(format!("`{}` is no checkout of opgen", folder.display()))
                .hint("`--opgen-path` takes the folder that holds opgen's `runtime/Cargo.toml`")
        })
    }

    /// The one that a folder lies in.
    pub(crate) fn around(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::at)
    }

    /// The one that this program was built from, if it is still there.
    pub(crate) fn built_from() -> Option<Self> {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Self::at)
    }

    /// The folder as the manifest of a project should name it: relative if the project lies in the checkout and moves with
    /// it, absolute otherwise.
    pub(crate) fn from(&self, project: &Path) -> PathBuf {
        match project.strip_prefix(&self.root) {
            Ok(inside) => {
                let up = inside.components().filter(|part| matches!(part, Component::Normal(_)));
                up.map(|_| Path::new("..")).collect()
            }
            Err(_) => self.root.clone(),
        }
    }

    fn at(folder: &Path) -> Option<Self> {
        let manifest = fs_err::read_to_string(folder.join("runtime/Cargo.toml")).ok()?;
        let manifest: DocumentMut = manifest.parse().ok()?;
        let is_opgen = manifest.get("package")?.get("name")?.as_str()? == "opgen";
        let root = folder.canonicalize().ok()?;
        is_opgen.then_some(Self { root })
    }
}

/// The folder with every symbolic link of the part that exists resolved, so that folders can be compared.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).or_failed(|| format!("failed to make sense of `{}`", path.display()))?;
    for ancestor in path.ancestors() {
        if let (Ok(existing), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return Ok(if rest.as_os_str().is_empty() { existing } else { existing.join(rest) });
        }
    }
    Ok(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn checkout_in(folder: &Path) -> Checkout {
        fs_err::create_dir_all(folder.join("runtime")).unwrap();
        fs_err::write(folder.join("runtime/Cargo.toml"), "[package]\nname = \"opgen\"\n").unwrap();
        Checkout::given(folder).unwrap()
    }

    #[test]
    fn a_checkout_is_found_from_any_folder_inside() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = checkout_in(folder.path());
        assert_eq!(Checkout::around(&folder.path().join("examples/new/deep")), Some(checkout));
    }

    #[test]
    fn a_folder_with_another_runtime_is_no_checkout() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("runtime")).unwrap();
        fs_err::write(folder.path().join("runtime/Cargo.toml"), "[package]\nname = \"other\"\n").unwrap();
        assert_eq!(Checkout::around(folder.path()), None);
        assert!(Checkout::given(folder.path()).unwrap_err().to_string().ends_with("is no checkout of opgen"));
    }

    #[test]
    fn a_project_inside_names_it_by_a_relative_path_and_one_outside_by_an_absolute_one() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = checkout_in(folder.path());
        let inside = resolved(&folder.path().join("examples/new")).unwrap();
        assert_eq!(checkout.from(&inside), Path::new("../.."));
        assert_eq!(checkout.from(Path::new("/elsewhere/new")), checkout.root);
    }
}
