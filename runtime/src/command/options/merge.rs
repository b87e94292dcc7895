//! Defines a macro that merges two groups of options: an option that is set in the first group overrides that of the second.

/// Implements `or` for groups whose fields are options or such groups: each field is that of `self` if it is set, else of `other`.
macro_rules! overriding {
    ($group:ident { $($field:ident),+ $(,)? }) => {
        impl $group {
            /// Returns these options; the unset ones are those of `other`.
            #[must_use]
            pub(super) fn or(self, other: Self) -> Self {
                Self { $($field: self.$field.or(other.$field)),+ }
            }
        }
    };
}
pub(super) use overriding;
