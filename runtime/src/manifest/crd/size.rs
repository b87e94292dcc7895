//! Checks the size of a CustomResourceDefinition against the limits of `kubectl apply` and etcd.

use serde_json::Value;

use super::super::lint::Findings;

// In bytes. `kubectl apply` stores the applied object in an annotation, and this limits all annotations of an object together.
const APPLY_LIMIT: usize = 262_144;
// In bytes: the default limit of a request to etcd.
const ETCD_LIMIT: usize = 1_572_864;

/// The advice to make a definition smaller.
const SHORTEN: &str = "shorten it: remove the descriptions of embedded types, or use `serde_json::Value` for a foreign \
                       type that the operator only copies";

/// Reports a CustomResourceDefinition that is too large as JSON: a warning from 80 % of the limit of `kubectl apply`, an error above the
/// limit of etcd.
pub(crate) fn check(definition: &Value, findings: &mut Findings) {
    let size = definition.to_string().len();
    let fix = format!("apply it with `kubectl apply --server-side`, or {SHORTEN}");
    if size > ETCD_LIMIT {
        findings.error("", format!("the definition has {size} bytes, the limit of etcd is {ETCD_LIMIT}"), SHORTEN);
    } else if size > APPLY_LIMIT {
        findings.warning(
            "",
            format!(
                "the definition has {size} bytes, the limit of `kubectl apply` without `--server-side` is {APPLY_LIMIT}"
            ),
            fix,
        );
    } else if size > APPLY_LIMIT / 5 * 4 {
        findings.warning("", format!("the definition has {size} bytes, close to the limit of `kubectl apply` without `--server-side`, {APPLY_LIMIT}"), fix);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::lint::Severity;
    use super::*;

    /// Returns the severity of the finding about a definition of about `size` bytes.
    fn severity_at(size: usize) -> Option<Severity> {
        let mut findings = Findings::of("K");
        check(&json!("x".repeat(size)), &mut findings);
        findings.into_vec().first().map(|finding| finding.severity)
    }

    #[test]
    fn a_definition_is_warned_about_at_four_fifths_of_the_apply_limit() {
        assert_eq!(severity_at(200_000), None);
        assert_eq!(severity_at(220_000), Some(Severity::Warning));
        assert_eq!(severity_at(300_000), Some(Severity::Warning));
        assert_eq!(severity_at(2_000_000), Some(Severity::Error));
    }
}
