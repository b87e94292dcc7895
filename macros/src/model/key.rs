//! Lists the keys of `#[provisioner(...)]` and the options of `resource(...)`, and rejects reserved and repeated ones.

use crate::diag::Diags;
use proc_macro2::Ident;

/// The keys of a struct, for messages.
pub(super) const STRUCT_KEYS: [&str; 10] =
    ["serial", "concurrent", "up", "down", "access", "owner", "inputs", "output", "retired", "crate"];
/// The keys of a field, for messages.
pub(super) const FIELD_KEYS: [&str; 11] =
    ["resource", "manifest", "application", "remote", "when", "each", "key", "after", "from", "if_api", "deleted_with"];
/// The options of `resource(...)`, for messages.
pub(super) const RESOURCE_OPTIONS: [&str; 6] = ["once", "adopt", "grants", "pods", "delete", "timeout"];
/// The options of `remote(...)`, for messages.
pub(super) const REMOTE_OPTIONS: [&str; 1] = ["background"];

/// Returns an option of `resource(...)` as a user would write it, with an example of its arguments, for messages. Any other word is
/// returned unchanged.
pub(super) fn example_of_option(option: &str) -> &str {
    match option {
        "adopt" => r#"adopt("helm")"#,
        "grants" => "grants(ConfigMap: get)",
        "delete" => r#"delete = "foreground""#,
        "timeout" => r#"timeout = "10m""#,
        flag => flag,
    }
}

/// Reports each key that repeats an earlier one.
pub(super) fn reject_duplicates<'a>(keys: impl Iterator<Item = &'a Ident>, diags: &mut Diags) {
    let mut earlier: Vec<&Ident> = Vec::new();
    for key in keys {
        match earlier.iter().find(|first| **first == key) {
            Some(first) => {
                diags.conflict(key, format!("`{key}` is a duplicate"), "keep one", first, "first set here");
            }
            None => earlier.push(key),
        }
    }
}
