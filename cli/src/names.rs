//! Validates the names of an operator, an API group, a kind and a version.

mod reserved;

use heck::{ToKebabCase as _, ToSnakeCase as _};

use crate::error::{Error, Result};

/// Shorter than a DNS label, since names of objects extend the name of the operator.
const MAX_NAME: usize = 50;
const MAX_LABEL: usize = 63;
const MAX_SUBDOMAIN: usize = 253;

macro_rules! name_types {
    ($($(#[$docs:meta])* $name:ident;)*) => {$(
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) struct $name(String);

        impl $name {
            pub(crate) fn as_str(&self) -> &str {
                &self.0
            }
        }
    )*};
}

name_types! {
    /// The operator's name: a DNS label, and the name of a package and its crates.
    Name;
    /// An API group of the user's own.
    Group;
    /// A kind whose name is free in Kubernetes and in the templates.
    Kind;
    /// An API version by the grammar of Kubernetes.
    ApiVersion;
}

impl Name {
    /// Validates the name of an operator: a DNS label that starts with a letter, is short and is not reserved.
    pub(crate) fn check(name: &str) -> Result<Self> {
        let refused = |why: &str, hint: String| {
            Err(Error::usage(format!("`{name}` can't be the name of an operator: {why}")).hint(hint))
        };
        if !is_dns_label(name) {
            return refused(
                "a name consists of lower case letters, digits and inner dashes",
                name_example(&dns_label_of(name)),
            );
        }
        if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
            return refused("the name of a package starts with a letter", name_example(&format!("operator-{name}")));
        }
        if name.len() > MAX_NAME {
            let why = format!("it has {} characters, the maximum is {MAX_NAME}", name.len());
            return refused(&why, "shorten it; the names of its Kubernetes objects contain it".to_owned());
        }
        match reserved::name(name) {
            Some(why) => refused(&format!("it is {why}"), name_example(&format!("{name}-operator"))),
            None => Ok(Self(name.to_owned())),
        }
    }

    /// Returns the name as an identifier of Rust.
    pub(crate) fn ident(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl Group {
    /// Validates an API group: a DNS subdomain with a dot, outside the domains of Kubernetes.
    pub(crate) fn check(group: &str) -> Result<Self> {
        let refused = |why: &str, hint: &str| {
            Err(Error::usage(format!("`{group}` can't be an API group: {why}")).hint(hint.to_owned()))
        };
        let hint = "use a domain that you own, for example `--group demo.example.com`";
        if group.len() > MAX_SUBDOMAIN || !group.split('.').all(is_dns_label) {
            return refused("a group is a domain name: lower case letters, digits, inner dashes and dots", hint);
        }
        if !group.contains('.') {
            return refused("it has no dot, like the groups of Kubernetes itself", hint);
        }
        if ["k8s.io", "kubernetes.io"].iter().any(|domain| is_below(group, domain)) {
            return refused("groups below `k8s.io` and `kubernetes.io` are reserved for Kubernetes", hint);
        }
        Ok(Self(group.to_owned()))
    }
}

impl Kind {
    /// Validates a kind: PascalCase, short enough for a DNS label, and not reserved.
    pub(crate) fn check(kind: &str) -> Result<Self> {
        let refused =
            |why: &str, hint: String| Err(Error::usage(format!("`{kind}` can't be a kind: {why}")).hint(hint));
        let example = pascal_case_of(kind);
        if !is_pascal_case(kind) {
            return refused(
                "a kind is written in PascalCase letters and digits",
                format!("for example `--kind {example}`"),
            );
        }
        if kind.len() > MAX_LABEL {
            let why = format!("it has {} characters, the maximum is {MAX_LABEL}", kind.len());
            return refused(&why, "shorten it; its lower case form must be a DNS label".to_owned());
        }
        match reserved::kind(kind) {
            Some(why) => refused(&why, format!("use a more specific name, for example `--kind My{kind}`")),
            None => Ok(Self(kind.to_owned())),
        }
    }

    /// Returns the name of the kind's module and of a variable of the kind.
    pub(crate) fn module(&self) -> String {
        self.0.to_snake_case()
    }

    /// Returns the name of the NATS bucket for objects of the kind: the English plural of the kind, in lower case.
    pub(crate) fn bucket(&self) -> String {
        let singular = self.0.to_lowercase();
        // After a sibilant, the plural ends in `es`.
        let is_sibilant = ["s", "x", "z", "ch", "sh"].iter().any(|end| singular.ends_with(end));
        match singular.strip_suffix('y') {
            Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
            _ if is_sibilant => format!("{singular}es"),
            _ => format!("{singular}s"),
        }
    }
}

impl ApiVersion {
    /// Validates an API version such as `v1` or `v2beta1`.
    pub(crate) fn check(version: &str) -> Result<Self> {
        if is_api_version(version) {
            return Ok(Self(version.to_owned()));
        }
        Err(Error::usage(format!("`{version}` can't be the version of an API: it is `v1`, `v2beta1`, `v1alpha2`, …"))
            .hint("use `--api-version v1alpha1` for a new API"))
    }
}

fn is_dns_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_LABEL).contains(&text.len()) && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_pascal_case(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase()) && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Returns whether a text is `v<number>`, `v<number>alpha<number>` or `v<number>beta<number>`, with numbers from 1, and no longer than a
/// DNS label.
fn is_api_version(text: &str) -> bool {
    let is_number = |digits: &str| {
        digits.starts_with(|first: char| ('1'..='9').contains(&first)) && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let Some(rest) = text.strip_prefix('v').filter(|_| text.len() <= MAX_LABEL) else { return false };
    match ["alpha", "beta"].iter().find_map(|stage| rest.split_once(stage)) {
        Some((major, minor)) => is_number(major) && is_number(minor),
        None => is_number(rest),
    }
}

fn is_below(group: &str, domain: &str) -> bool {
    group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn name_example(name: &str) -> String {
    format!("for example `opgen new {name}`")
}

/// Returns a valid name of an operator that resembles a refused one, for the hint of the error; `demo` if there is none.
fn dns_label_of(text: &str) -> String {
    let kebab: String = text.to_kebab_case().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let is_valid = is_dns_label(&kebab) && kebab.starts_with(|first: char| first.is_ascii_lowercase());
    if is_valid && reserved::name(&kebab).is_none() { kebab } else { "demo".to_owned() }
}

/// Returns a valid kind that resembles a refused one, for the hint of the error; `Widget` if there is none.
fn pascal_case_of(text: &str) -> String {
    let pascal = heck::ToUpperCamelCase::to_upper_camel_case(text);
    if is_pascal_case(&pascal) && reserved::kind(&pascal).is_none() { pascal } else { "Widget".to_owned() }
}

#[cfg(test)]
#[path = "names/tests.rs"]
mod tests;
