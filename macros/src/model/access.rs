//! What a hand-written node may do, and what a role hands on.

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
    /// In the order of [`Verb`], each once.
    pub(crate) verbs: Vec<Verb>,
    /// What was written, for messages.
    pub(crate) written: Vec<Ident>,
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
}

/// Every verb, and `apply`: what server-side apply needs.
const WORDS: [&str; 9] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "apply"];

impl Verb {
    pub(crate) const ALL: [Self; 8] = [
        Self::Get,
        Self::List,
        Self::Watch,
        Self::Create,
        Self::Update,
        Self::Patch,
        Self::Delete,
        Self::DeleteCollection,
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
        let access::Entry { subject, subresource, names, namespace, verbs: written } = entry;
        Self { subject, subresource, names, namespace, verbs, written }
    }

    /// The kind, if it is about one.
    pub(crate) fn kind(&self) -> Option<&Path> {
        match &self.subject {
            Subject::Kind(kind) => Some(kind),
            Subject::Url(_) => None,
        }
    }

    /// The subresource, as a word.
    pub(crate) fn part(&self) -> Option<String> {
        self.subresource.as_ref().and_then(|path| path.segments.last()).map(|last| last.ident.to_string())
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
