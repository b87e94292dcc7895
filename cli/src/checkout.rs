//! Finds a checkout of opgen to build against, in place of the released crate.

use std::path::{Component, Path, PathBuf};

use toml_edit::DocumentMut;

use crate::error::{Error, Result, ResultExt as _};

/// A folder with opgen's sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkout {
    root: PathBuf,
}

impl Checkout {
    /// Returns the checkout in a folder; an error if there is none.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        Self::try_open(folder).ok_or_else(|| {
            Error::usage(format!("`{}` is not a checkout of opgen", folder.display()))
                .hint("set `--opgen-path` to the folder that contains opgen's `runtime/Cargo.toml`")
        })
    }

    /// Returns the checkout that contains a folder; `None` if none does.
    pub(crate) fn find_above(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::try_open)
    }

    /// Returns the checkout that this program was built from; `None` if it no longer exists.
    pub(crate) fn of_this_build() -> Option<Self> {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Self::try_open)
    }

    /// Returns the path of the checkout for the manifest of a project: relative if the checkout contains the project, absolute
    /// otherwise.
    pub(crate) fn path_from(&self, project: &Path) -> PathBuf {
        match project.strip_prefix(&self.root) {
            Ok(inside) => {
                // One `..` for each folder between the root of the checkout and the project.
                let up = inside.components().filter(|part| matches!(part, Component::Normal(_)));
                up.map(|_| Path::new("..")).collect()
            }
            Err(_) => self.root.clone(),
        }
    }

    /// Returns the checkout in a folder; `None` if the folder has no manifest of the package `opgen`.
    fn try_open(folder: &Path) -> Option<Self> {
        let manifest = fs_err::read_to_string(folder.join("runtime/Cargo.toml")).ok()?;
        let manifest: DocumentMut = manifest.parse().ok()?;
        let is_opgen = manifest.get("package")?.get("name")?.as_str()? == "opgen";
        let root = folder.canonicalize().ok()?;
        is_opgen.then_some(Self { root })
    }
}

/// Returns the absolute path with the symbolic links of its existing part resolved, so that paths can be compared.
pub(crate) fn canonical_path(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).or_failed(|| format!("failed to resolve `{}`", path.display()))?;
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
        Checkout::open(folder).unwrap()
    }

    #[test]
    fn a_checkout_is_found_from_any_folder_inside() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = checkout_in(folder.path());
        assert_eq!(Checkout::find_above(&folder.path().join("examples/new/deep")), Some(checkout));
    }

    #[test]
    fn a_folder_with_another_runtime_is_no_checkout() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("runtime")).unwrap();
        fs_err::write(folder.path().join("runtime/Cargo.toml"), "[package]\nname = \"other\"\n").unwrap();
        assert_eq!(Checkout::find_above(folder.path()), None);
        assert!(Checkout::open(folder.path()).unwrap_err().to_string().ends_with("is not a checkout of opgen"));
    }

    #[test]
    fn the_path_of_a_checkout_is_relative_for_a_project_inside_and_absolute_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = checkout_in(folder.path());
        let inside = canonical_path(&folder.path().join("examples/new")).unwrap();
        assert_eq!(checkout.path_from(&inside), Path::new("../.."));
        assert_eq!(checkout.path_from(Path::new("/elsewhere/new")), checkout.root);
    }
}
