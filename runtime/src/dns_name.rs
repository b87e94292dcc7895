//! Checks DNS labels and DNS subdomains, the forms that Kubernetes requires of names.

/// Returns whether `name` is a DNS label, the form that Kubernetes requires of names of namespaces and services.
pub(crate) fn is_dns_label(name: &str) -> bool {
    name.len() <= 63 && is_label_of_any_length(name)
}

/// Returns whether `name` is a DNS subdomain: labels joined by dots, at most 253 characters. As in Kubernetes, a single label may be longer
/// than 63 characters.
pub(crate) fn is_dns_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_label_of_any_length)
}

/// Returns whether `name` consists of lowercase letters, digits and `-`, is not empty, and neither begins nor ends with `-`.
fn is_label_of_any_length(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.chars().all(is_allowed) && !name.starts_with('-') && !name.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dns_names_are_recognised() {
        for good in ["a", "web-app", "0a"] {
            assert!(is_dns_label(good), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a_b", "a.b"] {
            assert!(!is_dns_label(bad), "{bad}");
        }
        assert!(is_dns_subdomain("demo.example.com"));
        assert!(!is_dns_subdomain("demo..com"));
        let long = "a".repeat(64);
        assert!(!is_dns_label(&long) && is_dns_subdomain(&long) && !is_dns_subdomain(&long.repeat(4)));
    }
}
