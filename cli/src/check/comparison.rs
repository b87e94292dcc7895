//! `Comparison`: the changes of CustomResourceDefinitions and of role permissions between two releases of a project.

use std::{collections::BTreeSet, path::PathBuf};

use opgen_schema::{Breaks, Change, compare_definitions};
use serde_json::{Value, json};

use super::{permissions::PermissionChanges, release::Release};

/// All changes between two releases.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// The changes of the definitions, by definition.
    pub(crate) definition_changes: Vec<DefinitionChange>,
    /// The changes of the roles.
    pub(crate) role_changes: Vec<RoleChange>,
    /// The fields of objects in the cluster that the new definitions refuse.
    pub(crate) invalid_objects: Vec<String>,
}

/// A change of a definition, or of its presence.
#[derive(Debug)]
pub(crate) struct DefinitionChange {
    /// The name of the definition.
    pub(crate) definition: String,
    /// The file of the definition; that of the old release if the new one doesn't have it.
    pub(crate) file: PathBuf,
    /// The version of the kind; `None` for a change of the whole definition.
    pub(crate) version: Option<String>,
    /// The path of the field; `None` if the definition was added or removed.
    pub(crate) path: Option<String>,
    pub(crate) message: String,
    pub(crate) breaks: Breaks,
}

/// The changes of a role.
#[derive(Debug)]
pub(crate) struct RoleChange {
    /// The kind and the name, for example `ClusterRole webapp`.
    pub(crate) role: String,
    pub(crate) gained: Vec<String>,
    pub(crate) lost: Vec<String>,
}

impl Comparison {
    /// Compares the CRDs and the roles of two releases.
    pub(crate) fn new(old: &Release, new: &Release) -> Self {
        let mut comparison = Self::default();
        comparison.add_definition_changes(old, new);
        for kind in ["Role", "ClusterRole"] {
            comparison.add_role_changes(kind, old, new);
        }
        comparison
    }

    /// Adds the changes of the CustomResourceDefinitions: of those in both releases, of the removed ones, and of the added ones.
    fn add_definition_changes(&mut self, old: &Release, new: &Release) {
        const KIND: &str = "CustomResourceDefinition";
        for before in old.of_kind(KIND) {
            let name = before.full_name();
            match new.of_kind(KIND).find(|after| after.full_name() == name) {
                Some(after) => {
                    let changes = compare_definitions(&before.object, &after.object);
                    let changes = changes.into_iter().map(|change| DefinitionChange::new(&name, &after.file, change));
                    self.definition_changes.extend(changes);
                }
                None => {
                    let message = "the definition is removed: its deletion deletes all objects of the kind";
                    // It breaks stored objects and clients.
                    let change = DefinitionChange::of_whole(name, &before.file, message, Breaks::BOTH);
                    self.definition_changes.push(change);
                }
            }
        }
        for after in new.of_kind(KIND) {
            let name = after.full_name();
            if !old.of_kind(KIND).any(|before| before.full_name() == name) {
                let message = "the definition is added";
                let change = DefinitionChange::of_whole(name, &after.file, message, Breaks::NOTHING);
                self.definition_changes.push(change);
            }
        }
    }

    /// Adds the changes of the roles of a kind: `Role` or `ClusterRole`.
    fn add_role_changes(&mut self, kind: &str, old: &Release, new: &Release) {
        let names: BTreeSet<_> = old.of_kind(kind).chain(new.of_kind(kind)).map(|role| role.full_name()).collect();
        for name in names {
            let find = |release: &Release| {
                release
                    .of_kind(kind)
                    .find(|role| role.full_name() == name)
                    .map_or(Value::Null, |role| role.object.clone())
            };
            let changes = PermissionChanges::new(&find(old), &find(new));
            if !changes.is_empty() {
                let PermissionChanges { gained, lost } = changes;
                self.role_changes.push(RoleChange { role: format!("{kind} {name}"), gained, lost });
            }
        }
    }

    /// Returns the comparison as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let roles = self.role_changes.iter();
        let roles = roles.map(|role| json!({"role": role.role, "gained": role.gained, "lost": role.lost}));
        json!({
            "changes": self.definition_changes.iter().map(DefinitionChange::to_json).collect::<Vec<_>>(),
            "invalidObjects": self.invalid_objects,
            "roles": roles.collect::<Vec<_>>(),
        })
    }
}

impl DefinitionChange {
    /// Returns a change that `compare_definitions` found in the CRD with this name; `file` is the CRD's file in the new release.
    fn new(definition: &str, file: &std::path::Path, change: Change) -> Self {
        let Change { version, path, message, breaks, .. } = change;
        let (definition, file) = (definition.to_owned(), file.to_owned());
        Self { definition, file, version, path: Some(path), message, breaks }
    }

    /// Returns a change without version and path: the CRD is added or removed as a whole.
    fn of_whole(definition: String, file: &std::path::Path, message: &str, breaks: Breaks) -> Self {
        Self { definition, file: file.to_owned(), version: None, path: None, message: message.to_owned(), breaks }
    }

    /// Returns whether the change makes `opgen check` fail. With `allow_alpha`, a change of an alpha version does not: Kubernetes allows
    /// such a version to change in any way.
    pub(crate) fn is_breaking(&self, allow_alpha: bool) -> bool {
        let is_alpha = self.version.as_ref().is_some_and(|version| version.contains("alpha"));
        self.breaks.any() && !(allow_alpha && is_alpha)
    }

    /// Returns a line with the CRD, the version, the field and the change, for example `widgets.demo.example.com v1 .spec.size: the field
    /// is removed`. A change without version or field omits it.
    pub(crate) fn text(&self) -> String {
        let location = [Some(&self.definition), self.version.as_ref(), self.path.as_ref()];
        let location: Vec<_> = location.into_iter().flatten().map(String::as_str).collect();
        format!("{}: {}", location.join(" "), self.message)
    }

    /// Returns the change as an item of `changes` in the JSON output of `opgen check`.
    fn to_json(&self) -> Value {
        let Breaks { stored, clients } = self.breaks;
        json!({
            "definition": self.definition,
            "file": self.file,
            "version": self.version,
            "path": self.path,
            "message": self.message,
            "breaks": {"storedObjects": stored, "clients": clients},
        })
    }
}
