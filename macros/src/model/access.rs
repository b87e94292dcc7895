//! Models access rights: those of a hand-written tree node, or those that a role grants to others.

use super::type_path::starts_upper;
use crate::{
    attrs::access::{self, AccessTarget},
    diag::Diags,
};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{LitStr, Path};

/// The rights on one target.
pub(crate) struct Access {
    pub(crate) target: AccessTarget,
    pub(crate) subresource_path: Option<Path>,
    /// Objects by name; `None` means all of them.
    pub(crate) names: Option<Vec<LitStr>>,
    pub(crate) namespace: Option<LitStr>,
    /// Whether only the raw client has the right, not the typed calls.
    pub(crate) raw: bool,
    /// Sorted, each once.
    pub(crate) verbs: Vec<Verb>,
    /// The verbs as spelled in the source, for messages.
    pub(crate) verb_words: Vec<Ident>,
}

/// A subresource of a kind.
pub(crate) enum Subresource<'a> {
    Status,
    Scale,
    /// A subresource with a type in `opgen::access::subresource`.
    Known {
        name: &'static str,
        type_name: &'static str,
    },
    /// A user type that implements `Subresource`.
    Type(&'a Path),
    /// Any other name, without typed calls.
    Other(String),
}

/// The subresources with a type in `opgen::access::subresource`.
const SUBRESOURCES: [(&str, &str); 8] = [
    ("approval", "Approval"),
    ("binding", "Binding"),
    ("ephemeralcontainers", "EphemeralContainers"),
    ("eviction", "Eviction"),
    ("finalize", "Finalize"),
    ("log", "Log"),
    ("resize", "Resize"),
    ("token", "Token"),
];

/// Returns the subresources with typed calls, for messages.
pub(crate) fn subresource_names() -> Vec<&'static str> {
    ["scale", "status"].into_iter().chain(SUBRESOURCES.iter().map(|(name, _)| *name)).collect()
}

/// A verb of RBAC, or `reference`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
    /// opgen's own verb for references; the role expands it to verbs of RBAC.
    Reference,
}

/// Every verb, and `apply` for the verbs of server-side apply.
const VERB_WORDS: [&str; 10] =
    ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "reference", "apply"];

impl Verb {
    pub(crate) const ALL: [Self; 9] = [
        Self::Get,
        Self::List,
        Self::Watch,
        Self::Create,
        Self::Update,
        Self::Patch,
        Self::Delete,
        Self::DeleteCollection,
        Self::Reference,
    ];

    /// Returns the name of the variant, and of the trait that grants it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "Get",
            Self::List => "List",
            Self::Watch => "Watch",
            Self::Create => "Create",
            Self::Update => "Update",
            Self::Patch => "Patch",
            Self::Delete => "Delete",
            Self::DeleteCollection => "DeleteCollection",
            Self::Reference => "Reference",
        }
    }

    /// Parses a verb in `access(...)`; returns no verbs for an unknown word. `apply` stands for the two verbs of server-side apply,
    /// `create` and `patch`. On a subresource it is only `patch`, since a subresource exists as long as its object.
    fn parse(word: &str, is_subresource: bool) -> &'static [Self] {
        match word {
            "get" => &[Self::Get],
            "list" => &[Self::List],
            "watch" => &[Self::Watch],
            "create" => &[Self::Create],
            "update" => &[Self::Update],
            "patch" => &[Self::Patch],
            "delete" => &[Self::Delete],
            "deletecollection" => &[Self::DeleteCollection],
            "reference" => &[Self::Reference],
            "apply" if is_subresource => &[Self::Patch],
            "apply" => &[Self::Create, Self::Patch],
            _ => &[],
        }
    }
}

/// Converts the parsed entries of `access(...)` to access rights: parses their verbs, and merges entries for the same kind or URL,
/// subresource, names and namespace. Reports unknown verbs.
pub(crate) fn resolve(entries: Vec<access::AccessEntry>, diags: &mut Diags) -> Vec<Access> {
    let mut resolved: Vec<Access> = Vec::new();
    for entry in entries {
        let entry = Access::resolve(entry, diags);
        let has_same_target = |other: &&mut Access| {
            other.target == entry.target
                && other.subresource_path == entry.subresource_path
                && other.names == entry.names
                && other.namespace == entry.namespace
                && other.raw == entry.raw
        };
        match resolved.iter_mut().find(has_same_target) {
            Some(first) => first.merge(entry),
            None => resolved.push(entry),
        }
    }
    resolved
}

impl Access {
    /// Converts one parsed entry of `access(...)` to an access right, with its verbs sorted and without duplicates. Reports unknown verbs.
    fn resolve(entry: access::AccessEntry, diags: &mut Diags) -> Self {
        let mut verbs = Vec::new();
        for word in &entry.verbs {
            let has_subresource = entry.subresource.is_some();
            let verbs_of_word = Verb::parse(&word.to_string(), has_subresource);
            if verbs_of_word.is_empty() {
                report_unknown_verb(word, diags);
            }
            verbs.extend(verbs_of_word);
        }
        verbs.sort_unstable();
        verbs.dedup();
        let access::AccessEntry { target, subresource: subresource_path, names, namespace, verbs: verb_words, raw } =
            entry;
        Self { target, subresource_path, names, namespace, raw, verbs, verb_words }
    }

    /// Returns the kind; `None` for a non-resource URL.
    pub(crate) fn kind(&self) -> Option<&Path> {
        match &self.target {
            AccessTarget::Kind(kind) => Some(kind),
            AccessTarget::Url(_) => None,
        }
    }

    /// Returns the subresource; `None` if the rights are on the object itself. A path with an upper case name is a type of the user that
    /// implements `Subresource`; other names are those of the API, such as `log`.
    pub(crate) fn subresource(&self) -> Option<Subresource<'_>> {
        let path = self.subresource_path.as_ref()?;
        if starts_upper(path) {
            return Some(Subresource::Type(path));
        }
        let word = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let subresource = match word.as_str() {
            "status" => Subresource::Status,
            "scale" => Subresource::Scale,
            _ => SUBRESOURCES
                .iter()
                .find(|(known, _)| *known == word)
                .map_or(Subresource::Other(word), |(name, type_name)| Subresource::Known { name, type_name }),
        };
        Some(subresource)
    }

    /// Returns the kind or URL before the colon, as text.
    pub(crate) fn target_text(&self) -> String {
        match &self.target {
            AccessTarget::Kind(kind) => kind.to_token_stream().to_string().replace(' ', ""),
            AccessTarget::Url(url) => url.to_token_stream().to_string(),
        }
    }

    /// Adds the verbs of `other`, an access right for the same kind or URL.
    fn merge(&mut self, other: Self) {
        self.verbs.extend(other.verbs);
        self.verbs.sort_unstable();
        self.verbs.dedup();
    }
}

/// Reports an unknown verb. If only its case is wrong (`Get`), the fix is the verb in lower case.
fn report_unknown_verb(word: &Ident, diags: &mut Diags) {
    let lower = word.to_string().to_lowercase();
    if VERB_WORDS.contains(&lower.as_str()) {
        diags.error(word, format!("`{word}` is not a verb"), format!("write `{lower}`, as a role does"));
    } else {
        diags.unknown("verb", word, &VERB_WORDS);
    }
}
