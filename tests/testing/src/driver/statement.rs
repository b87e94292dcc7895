//! Lists the numbered rules for drivers of CD systems that the conformance suite checks.

/// The statements. The documentation of the module lists them, too.
pub(super) const STATEMENTS: [(u32, &str); 28] = [
    (1, "`NAME` is not empty"),
    (2, "`ACCESS` has at least one kind, and each kind once"),
    (
        3,
        "Each permission of `ACCESS` is for whole objects of any name, with get, list, watch, create, patch and delete",
    ),
    (4, "Each source of the author is accepted; without one, at least one of the generated sources"),
    (5, "`objects` returns for each application, without a panic"),
    (6, "The same application gives equal objects"),
    (7, "Each application has an object of the last kind of `ACCESS`, which is the one that deploys it"),
    (8, "Each object has a name, and the `apiVersion` and the `kind` of a kind of `ACCESS`"),
    (9, "The objects are in the order of `ACCESS`"),
    (
        10,
        "An object of a namespaced kind has a namespace that `ACCESS` covers, its own or that of the owner; any other object has none",
    ),
    (11, "The name of each object is a DNS subdomain"),
    (12, "The labels and annotations of each object are valid"),
    (13, "No object has a field that the API server or the operator sets"),
    (
        14,
        "No object has an empty map, an empty list, or a null in a list, which a typed client leaves out: the object would differ for ever",
    ),
    (15, "No two applications have an object in common, and no application has one twice"),
    (16, "Another version, and other parameters or values, keep the name of the object that deploys the application"),
    (
        17,
        "Another version or revision changes the object that deploys the application, so that it is not ready with the one before",
    ),
    (18, "Each option is in the objects, is refused, or is declared with `ignores`"),
    (19, "Each declared option has a reason, and is ignored"),
    (20, "Each part of the source is in the objects, or is refused"),
    (
        21,
        "The text of `InvalidApplication` is one line, without the values of parameters, the values, and the password in a URL",
    ),
    (22, "The `access` covers the Secret, with get, list, watch, create, patch and delete"),
    (23, "The Secret is valid and has a name, a namespace, labels, annotations, a type and data, and no other field"),
    (24, "The same credentials give the same Secret"),
    (
        25,
        "The namespace of the Secret depends on the owner only, and its name on the server only: each server has another name",
    ),
    (26, "All credentials are in the data of the Secret or declared with `ignores`, and none are in its metadata"),
    (27, "The data of the Secret has the key `kubeconfig_key`"),
    (28, "An application is deployed into the registered cluster, by objects in the namespace of the Secret"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_all_statements() {
        let documentation: Vec<&str> = include_str!("mod.rs").lines().collect();
        for (at, (number, text)) in STATEMENTS.iter().enumerate() {
            assert_eq!(*number as usize, at + 1);
            let line = format!("//! {number}. {text}");
            assert!(documentation.contains(&line.as_str()), "{line}");
        }
    }
}
