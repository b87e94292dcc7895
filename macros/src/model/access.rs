//! What a hand-written node may do, and what a role hands on.

use super::provisioner::starts_upper;
use crate::{
    attrs::access::{self, Subject},
    diag::Diags,
};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{LitStr, Path};

pub(crate) struct Access {
    pub(crate) subject: Subject,
    pub(crate) subresource: Option<Path>,
    /// Objects by name; `None` means all of them.
    pub(crate) names: Option<Vec<LitStr>>,
    pub(crate) namespace: Option<LitStr>,
    /// For the raw client, and for none of the calls.
    pub(crate) raw: bool,
    /// In the order of [`Verb`], each once.
    pub(crate) verbs: Vec<Verb>,
    /// What was written, for messages.
    pub(crate) written: Vec<Ident>,
}

/// A subresource.
pub(crate) enum Part<'a> {
    Status,
    Scale,
    /// One that Kubernetes has, and its type in `opgen::part`.
    Known {
        word: &'static str,
        name: &'static str,
    },
    /// A type of the user's, which says its name.
    Type(&'a Path),
    /// Any other word: there are no calls for it.
    Word(String),
}

/// The subresources with a type in `opgen::part`.
const PARTS: [(&str, &str); 8] = [
    ("approval", "Approval"),
    ("binding", "Binding"),
    ("ephemeralcontainers", "EphemeralContainers"),
    ("eviction", "Eviction"),
    ("finalize", "Finalize"),
    ("log", "Log"),
    ("resize", "Resize"),
    ("token", "Token"),
];

/// The subresources that have calls, for messages.
pub(crate) fn part_words() -> Vec<&'static str> {
    ["scale", "status"].into_iter().chain(PARTS.iter().map(|(word, _)| *word)).collect()
}

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
    /// What opgen does with what is named; a role spells other verbs for it.
    Reference,
}

/// Every verb, and `apply`: what server-side apply needs.
const WORDS: [&str; 10] =
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

    /// The name of the variant, and of the trait that grants it.
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

    /// A subresource exists as soon as its object does, so applying to one only patches.
    fn of_word(word: &str, subresource: bool) -> &'static [Self] {
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
            "apply" if subresource => &[Self::Patch],
            "apply" => &[Self::Create, Self::Patch],
            _ => &[],
        }
    }
}

pub(crate) fn resolve(entries: Vec<access::Entry>, diags: &mut Diags) -> Vec<Access> {
    let mut resolved: Vec<Access> = Vec::new();
    for entry in entries {
        let entry = Access::resolve(entry, diags);
        let same = |other: &&mut Access| {
            other.subject == entry.subject
                && other.subresource == entry.subresource
                && other.names == entry.names
                && other.namespace == entry.namespace
                && other.raw == entry.raw
        };
        match resolved.iter_mut().find(same) {
            Some(first) => first.merge(entry),
            None => resolved.push(entry),
        }
    }
    resolved
}

impl Access {
    fn resolve(entry: access::Entry, diags: &mut Diags) -> Self {
        let mut verbs = Vec::new();
        for word in &entry.verbs {
            let meant = Verb::of_word(&word.to_string(), entry.subresource.is_some());
            if meant.is_empty() {
                unknown(word, diags);
            }
            verbs.extend(meant);
        }
        verbs.sort_unstable();
        verbs.dedup();
        let access::Entry { subject, subresource, names, namespace, verbs: written, raw } = entry;
        Self { subject, subresource, names, namespace, raw, verbs, written }
    }

    /// The kind, if it is about one.
    pub(crate) fn kind(&self) -> Option<&Path> {
        match &self.subject {
            Subject::Kind(kind) => Some(kind),
            Subject::Url(_) => None,
        }
    }

    /// The subresource, if there is one.
    pub(crate) fn part(&self) -> Option<Part<'_>> {
        let path = self.subresource.as_ref()?;
        if starts_upper(path) {
            return Some(Part::Type(path));
        }
        let word = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let part = match word.as_str() {
            "status" => Part::Status,
            "scale" => Part::Scale,
            _ => PARTS
                .iter()
                .find(|(known, _)| *known == word)
                .map_or(Part::Word(word), |(word, name)| Part::Known { word, name }),
        };
        Some(part)
    }

    /// What stands before the colon, as far as it says the kind.
    pub(crate) fn said(&self) -> String {
        match &self.subject {
            Subject::Kind(kind) => kind.to_token_stream().to_string().replace(' ', ""),
            Subject::Url(url) => url.to_token_stream().to_string(),
        }
    }

    fn merge(&mut self, other: Self) {
        self.verbs.extend(other.verbs);
        self.verbs.sort_unstable();
        self.verbs.dedup();
    }
}

fn unknown(word: &Ident, diags: &mut Diags) {
    let lower = word.to_string().to_lowercase();
    if WORDS.contains(&lower.as_str()) {
        diags.error(word, format!("`{word}` is not a verb"), format!("write `{lower}`, as a role does"));
    } else {
        diags.unknown("verb", word, &WORDS);
    }
}
