//! `Direction`: whether a conversion goes to the newer or to the older version.

/// The direction of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the newer version.
    Up,
    /// To the older version.
    Down,
}

impl Direction {
    pub(super) fn reversed(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}
