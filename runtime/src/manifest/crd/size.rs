//! How big a definition may get.

use serde_json::Value;

use super::super::finding::Findings;

// `kubectl apply` keeps the object it applied in an annotation, and all annotations together may not be longer.
const APPLY_LIMIT: usize = 262_144;
// etcd's default limit of a request.
const STORE_LIMIT: usize = 1_572_864;

/// Warns when `kubectl apply` can't take the definition any more, or soon.
pub(crate) fn check(definition: &Value, found: &mut Findings) {
    let size = definition.to_string().len();
    let fix = "apply it with `kubectl apply --server-side`, or shorten it: leave out the descriptions of embedded types, or take `serde_json::Value` for a foreign type that is only handed on";
    if size > STORE_LIMIT {
        found.error("", format!("the definition has {size} bytes, the cluster's store takes {STORE_LIMIT}"), "shorten it: leave out the descriptions of embedded types, or take `serde_json::Value` for a foreign type that is only handed on");
    } else if size > APPLY_LIMIT {
        found.warning(
            "",
            format!("the definition has {size} bytes, `kubectl apply` without `--server-side` takes {APPLY_LIMIT}"),
            fix,
        );
    } else if size > APPLY_LIMIT / 5 * 4 {
        found.warning("", format!("the definition has {size} of the {APPLY_LIMIT} bytes that `kubectl apply` without `--server-side` takes"), fix);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::finding::Severity;
    use super::*;

    fn severity_at(size: usize) -> Option<Severity> {
        let mut found = Findings::of("K");
        check(&json!("x".repeat(size)), &mut found);
        found.into_vec().first().map(|finding| finding.severity)
    }

    #[test]
    fn a_definition_is_warned_about_at_four_fifths_of_the_apply_limit() {
        assert_eq!(severity_at(200_000), None);
        assert_eq!(severity_at(220_000), Some(Severity::Warning));
        assert_eq!(severity_at(300_000), Some(Severity::Warning));
        assert_eq!(severity_at(2_000_000), Some(Severity::Error));
    }
}
