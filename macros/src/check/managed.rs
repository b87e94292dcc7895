//! Checks a managed kind for settings that kube's derive accepts and the API server rejects.

use super::{Checked, bucket, convention, enumeration, field, names, printcolumn, schema, subresource, validation};
use crate::{
    diag::Diags,
    model::{
        kube::Kube,
        managed::{Managed, SpecStyle},
    },
};
use syn::{Ident, LitStr};

/// Names of Rust's prelude that a generated struct must not shadow.
const PRELUDE_NAMES: [&str; 18] = [
    "Box", "Clone", "Default", "Drop", "Eq", "Err", "Fn", "From", "Into", "Iterator", "None", "Ok", "Option", "Result",
    "Some", "String", "ToString", "Vec",
];

/// Checks a managed kind, and wraps the model in `Checked` if `diags` has no errors. Otherwise it returns the model as the error, from
/// which the macro still generates a reduced implementation to avoid follow-up errors.
pub(crate) fn check(model: Managed, diags: &mut Diags) -> Result<Checked<Managed>, Box<Managed>> {
    check_style(&model, diags);
    match &model.kube {
        Some(kube) => check_kube(&model, kube, diags),
        None => diags.missing(
            "missing `#[kube(...)]`",
            "derive `kube::CustomResource` next to `Managed` and set `group`, `version`, `kind` and `status`",
        ),
    }
    check_attributes(&model, diags);
    bucket::check(&model, diags);
    field::check(&model, diags);
    schema::check(&model, diags);
    validation::check(&model, diags);
    convention::check(&model, diags);
    if diags.has_errors() { Err(Box::new(model)) } else { Ok(Checked(model)) }
}

/// Checks that the type can be a spec: a struct with named fields or an enum, without generics.
fn check_style(model: &Managed, diags: &mut Diags) {
    match &model.style {
        SpecStyle::Named => (),
        SpecStyle::Enum(variants) => enumeration::check(model, variants, diags),
        SpecStyle::Tuple => diags.error(
            &model.spec,
            format!("`{}` is a tuple struct, so its spec is not an object", model.spec),
            "give each field a name",
        ),
        SpecStyle::Unit => {
            diags.error(
                &model.spec,
                format!("`{}` is a unit struct, so its spec is not an object", model.spec),
                "write `{}` after its name",
            );
        }
        SpecStyle::Union => {
            diags.error(
                &model.spec,
                "`#[derive(Managed)]` needs a struct with named fields, found a union",
                "make it a struct",
            );
        }
    }
    if !model.generics.params.is_empty() {
        diags.error(
            &model.generics,
            format!("`{}` is generic, but a kind has one schema", model.spec),
            "remove the parameters and name the types",
        );
    }
}

/// Checks the settings in `#[kube(...)]`: group, version, kind, names, metadata, a served version with a schema, a status,
/// printer columns and subresources.
fn check_kube(model: &Managed, kube: &Kube, diags: &mut Diags) {
    check_group(kube, diags);
    check_version(kube, diags);
    check_kind(kube, diags);
    check_resource_names(kube, diags);
    check_metadata(kube, diags);
    check_serving(kube, diags);
    if let Some(key) = &kube.no_spec {
        diags.error(key, "`no_spec` is not supported", "remove it and keep the fields in `spec`");
    }
    if kube.status.is_none() {
        diags.missing(
            "missing `status` in `#[kube(...)]`",
            "add `status = \"opgen::Status\"`, or your own struct that embeds it",
        );
    }
    printcolumn::check(model, kube, diags);
    subresource::check(model, kube, diags);
}

/// Checks that the API group is a domain name with a dot. A group of Kubernetes (`*.k8s.io`, `*.kubernetes.io`) needs the annotation
/// `api-approved.kubernetes.io`, without which the API server rejects the definition.
fn check_group(kube: &Kube, diags: &mut Diags) {
    let Some(group) = &kube.group else { return };
    let text = group.value();
    if !names::is_subdomain(&text) {
        let fix = "use a domain name in lower case, for example `demo.example.com`";
        return diags.error(group, format!("`\"{text}\"` is not a valid group"), fix);
    }
    if !text.contains('.') {
        return diags.error(
            group,
            format!("`\"{text}\"` is a group without a dot"),
            format!("use a domain you own, for example `{text}.example.com`"),
        );
    }
    let approval = kube.annotations.iter().find(|(key, _)| key.value() == "api-approved.kubernetes.io");
    match approval {
        None if names::is_protected(&text) => diags.error(
            group,
            format!("`\"{text}\"` is a reserved group of Kubernetes, which the API server rejects without an approval"),
            "use a domain you own, or add `annotation(\"api-approved.kubernetes.io\", \"<URL of the approval>\")`",
        ),
        Some((_, value)) if !value.value().starts_with("https://") && !value.value().starts_with("unapproved") => {
            diags.error(value, "the approval is not a URL", "use a URL, or a text that starts with `unapproved`");
        }
        _ => (),
    }
}

/// Reports a version that does not have the form `v1`, `v1beta1` or `v1alpha1`.
fn check_version(kube: &Kube, diags: &mut Diags) {
    let Some(version) = kube.version.as_ref().filter(|version| !names::is_version(&version.value())) else { return };
    let problem = format!("`\"{}\"` is not a valid version", version.value());
    diags.error(version, problem, "use `v1`, `v1beta1` or `v1alpha1`, with any numbers");
}

/// Checks the kind, and the name of the struct that kube generates (`root`): PascalCase, at most 63 characters, no keyword and no name of
/// Rust's prelude. A kind must not end with `List`, as the kinds of lists do.
pub(super) fn check_kind(kube: &Kube, diags: &mut Diags) {
    for (word, name) in [("kind", &kube.kind), ("root", &kube.root)] {
        let Some(name) = name else { continue };
        let text = name.value();
        let refuse = |diags: &mut Diags, why: &str, fix: String| diags.error(name, format!("`\"{text}\"` {why}"), fix);
        if !names::is_pascal(&text) {
            let fix = format!("use PascalCase letters and digits, for example `{}`", names::pascal(&text));
            refuse(diags, &format!("is not a valid {word}"), fix);
        } else if text.len() > 63 {
            refuse(diags, &format!("is a {word} of more than 63 characters"), "shorten it".to_owned());
        } else if name.parse::<Ident>().is_err() {
            refuse(diags, "is a keyword of Rust", format!("use another name, for example `{text}Resource`"));
        } else if PRELUDE_NAMES.contains(&text.as_str()) {
            refuse(
                diags,
                "would shadow a name of Rust's prelude",
                format!("use another name, for example `App{text}`"),
            );
        } else if word == "kind" && text.ends_with("List") {
            refuse(diags, "ends like the list of a kind", format!("use another name, for example `{text}ing`"));
        }
    }
}

/// Checks that the plural, the singular, the short names and the categories are DNS labels. Reports repeated short names, categories and
/// selectable fields.
fn check_resource_names(kube: &Kube, diags: &mut Diags) {
    let single = [("plural", &kube.plural), ("singular", &kube.singular)];
    let single = single.into_iter().filter_map(|(word, name)| Some((word, name.as_ref()?)));
    let many = kube.shortnames.iter().map(|name| ("shortname", name));
    let many = many.chain(kube.categories.iter().map(|name| ("category", name)));
    for (word, name) in single.chain(many).filter(|(_, name)| !names::is_label(&name.value())) {
        let problem = format!("`\"{}\"` is not a valid {word}", name.value());
        let fix = format!(
            "use at most 63 lower case letters, digits and hyphens, for example `{}`",
            names::label(&name.value())
        );
        diags.error(name, problem, fix);
    }
    check_duplicates("shortname", &kube.shortnames, diags);
    check_duplicates("category", &kube.categories, diags);
    check_duplicates("selectable", &kube.selectable, diags);
}

/// Reports each value in `names` that occurs before; `word` is the key of `#[kube(...)]` that has these values.
fn check_duplicates(word: &str, names: &[LitStr], diags: &mut Diags) {
    for (at, name) in names.iter().enumerate() {
        if let Some(first) = names[..at].iter().find(|first| first.value() == name.value()) {
            diags.conflict(
                name,
                format!("{word} `\"{}\"` is a duplicate", name.value()),
                "keep one",
                first,
                "first set here",
            );
        }
    }
}

/// Checks the keys of annotations and labels of the CRD, and the values of its labels.
fn check_metadata(kube: &Kube, diags: &mut Diags) {
    for (word, (key, _)) in
        kube.annotations.iter().map(|pair| ("annotation", pair)).chain(kube.labels.iter().map(|pair| ("label", pair)))
    {
        if !names::is_qualified(&key.value()) {
            let problem = format!("`\"{}\"` is not a valid {word} key", key.value());
            diags.error(
                key,
                problem,
                "use `name` or `domain/name`, the name at most 63 letters, digits, `-`, `_` and `.`",
            );
        }
    }
    for (_, value) in kube.labels.iter().filter(|(_, value)| !names::is_label_value(&value.value())) {
        let problem = format!("`\"{}\"` is not a valid label value", value.value());
        diags.error(value, problem, "use at most 63 letters, digits, `-`, `_` and `.`, or an annotation");
    }
}

/// Reports a version that is not served or has no schema, and a deprecation warning of a wrong length.
fn check_serving(kube: &Kube, diags: &mut Diags) {
    if let Some(served) = kube.served.as_ref().filter(|served| !served.value) {
        diags.error(served, "a version that is not served can't be watched", "remove `served = false`");
    }
    if let Some(schema) = kube.schema.as_ref().filter(|schema| schema.value() == "disabled") {
        diags.error(
            schema,
            "the API server rejects a kind without a schema",
            "use `schema = \"derived\"`, or remove it",
        );
    }
    if let Some(deprecated) = &kube.deprecated {
        check_deprecation(deprecated, diags);
    }
}

/// Checks the warning that clients of a deprecated version get. The API server allows 1 to 256 characters.
pub(super) fn check_deprecation(text: &LitStr, diags: &mut Diags) {
    let length = text.value().chars().count();
    if length == 0 || length > 256 {
        let problem = format!("a deprecation warning of {length} characters is not allowed");
        diags.error(text, problem, "use 1 to 256 characters, or `deprecated` without a text");
    }
}

/// Checks the keys of `#[managed(...)]` on the struct: misplaced keys, the finalizer, and the field of `pause`.
fn check_attributes(model: &Managed, diags: &mut Diags) {
    for key in &model.misplaced_keys {
        let name = key.get_ident().map(ToString::to_string).unwrap_or_default();
        diags.error(key, format!("`{name}` belongs on a field"), "move it to the field with the name");
    }
    if let Some(finalizer) = &model.finalizer {
        let text = finalizer.value();
        let domain = text.split_once('/').map_or("", |(domain, _)| domain);
        if !names::is_finalizer(&text) {
            let fix = "use `domain/name`, for example `demo.example.com/webapp`, the name at most 63 characters";
            diags.error(finalizer, format!("`\"{text}\"` is not a valid finalizer"), fix);
        } else if names::is_protected(domain) {
            diags.error(
                finalizer,
                format!("`\"{domain}\"` is a domain of Kubernetes itself"),
                "use the domain of your group",
            );
        }
    }
    // `pause_ident` is the field that `pause = ...` names. `pause` is `None` if no boolean field has this name.
    let Some(named) = model.pause_ident.as_ref().filter(|_| model.pause.is_none()) else { return };
    if model.fields.iter().any(|field| field.ident == *named) {
        diags.error(named, format!("field `{named}` is not a boolean"), "use a field of type `bool` or `Option<bool>`");
    } else {
        let fix = format!("add `pub {named}: bool`, or use another field");
        diags.error(named, format!("`{}` has no field `{named}`", model.spec), fix);
    }
}
