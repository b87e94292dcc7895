//! Where a node is in its tree.

use std::fmt;

/// Where a node is in its tree; shown as `workload/service`.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    up: Option<&'a Path<'a>>,
    name: &'a str,
}

impl<'a> Path<'a> {
    pub(crate) const ROOT: Path<'static> = Path { up: None, name: "" };

    pub(crate) fn child(&'a self, name: &'a str) -> Path<'a> {
        Path { up: Some(self), name }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(up) = self.up.filter(|up| !up.name.is_empty()) {
            write!(f, "{up}/")?;
        }
        f.write_str(self.name)
    }
}
