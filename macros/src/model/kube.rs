//! Models the settings of a kind in `#[kube(...)]`: names, scale, columns and metadata.

use crate::attrs::kube::{KubeEntry, KubeItem, KubeValue};
use syn::{LitBool, LitStr, Path};

/// The settings in `#[kube(...)]`.
#[derive(Default)]
pub(crate) struct Kube {
    pub(crate) group: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) kind: Option<LitStr>,
    /// The name of the generated struct, if it differs from the kind.
    pub(crate) root: Option<LitStr>,
    pub(crate) plural: Option<LitStr>,
    pub(crate) singular: Option<LitStr>,
    pub(crate) shortnames: Vec<LitStr>,
    pub(crate) categories: Vec<LitStr>,
    pub(crate) status: Option<Path>,
    /// The key, for messages that point at it.
    pub(crate) no_spec: Option<Path>,
    pub(crate) printcolumns: Vec<PrintColumn>,
    pub(crate) selectable: Vec<LitStr>,
    pub(crate) scale: Option<Scale>,
    pub(crate) served: Option<LitBool>,
    pub(crate) deprecated: Option<LitStr>,
    pub(crate) schema: Option<LitStr>,
    pub(crate) annotations: Vec<(LitStr, LitStr)>,
    pub(crate) labels: Vec<(LitStr, LitStr)>,
}

/// `printcolumn(...)`.
pub(crate) struct PrintColumn {
    pub(crate) name: Option<LitStr>,
    pub(crate) type_: Option<LitStr>,
    pub(crate) json_path: Option<LitStr>,
    pub(crate) format: Option<LitStr>,
    pub(crate) priority: Option<String>,
    pub(crate) priority_key: Option<Path>,
}

/// `scale(...)`.
pub(crate) struct Scale {
    pub(crate) key: Path,
    pub(crate) spec_replicas: Option<LitStr>,
    pub(crate) status_replicas: Option<LitStr>,
    pub(crate) label_selector: Option<LitStr>,
}

impl Kube {
    /// Reads the keys of `#[kube(...)]` that the checks need. Ignores unknown and invalid keys, which kube's derive reports.
    pub(crate) fn from_entries(entries: Vec<KubeEntry>) -> Self {
        let mut kube = Self::default();
        for entry in entries {
            let Some(key) = entry.key.get_ident().map(ToString::to_string) else { continue };
            match entry.value {
                KubeValue::Text(text) => kube.set_text(&key, text),
                KubeValue::Path(path) if key == "status" => kube.status = Some(path),
                KubeValue::Bool(flag) if key == "served" => kube.served = Some(flag),
                KubeValue::Bool(flag) if key == "no_spec" => kube.no_spec = flag.value.then_some(entry.key),
                KubeValue::Flag if key == "no_spec" => kube.no_spec = Some(entry.key),
                KubeValue::List(items) => kube.add_list(&key, entry.key, items),
                _ => (),
            }
        }
        kube
    }

    /// Returns the name of the generated struct; `None` if neither `root` nor `kind` is set.
    pub(crate) fn root(&self) -> Option<&LitStr> {
        self.root.as_ref().or(self.kind.as_ref())
    }

    /// Sets the setting of a key whose value is a string, such as `group = "demo.example.com"`. Ignores keys that no check needs.
    fn set_text(&mut self, key: &str, text: LitStr) {
        match key {
            "group" => self.group = Some(text),
            "version" => self.version = Some(text),
            "kind" => self.kind = Some(text),
            "root" => self.root = Some(text),
            "plural" => self.plural = Some(text),
            "singular" => self.singular = Some(text),
            "shortname" => self.shortnames.push(text),
            "category" => self.categories.push(text),
            "status" => self.status = text.parse().ok(),
            "selectable" => self.selectable.push(text),
            "deprecated" => self.deprecated = Some(text),
            "schema" => self.schema = Some(text),
            _ => (),
        }
    }

    /// Adds the setting of a key with a list in parentheses, for example `printcolumn(...)`. Ignores keys that no check needs.
    fn add_list(&mut self, key: &str, key_path: Path, items: Vec<KubeItem>) {
        match key {
            "printcolumn" => self.printcolumns.push(PrintColumn::from_items(items)),
            "scale" => self.scale = Some(Scale::from_items(key_path, items)),
            "annotation" => self.annotations.extend(text_pair(items)),
            "label" => self.labels.extend(text_pair(items)),
            _ => (),
        }
    }
}

impl PrintColumn {
    /// Reads the keys of `printcolumn(...)`. Ignores unknown keys and invalid values, which kube's derive reports. A priority stays text,
    /// so that a check can report a negative number.
    fn from_items(items: Vec<KubeItem>) -> Self {
        let mut column =
            Self { name: None, type_: None, json_path: None, format: None, priority: None, priority_key: None };
        for entry in only_entries(items) {
            let Some(key) = entry.key.get_ident().map(ToString::to_string) else { continue };
            match (key.as_str(), entry.value) {
                ("name", KubeValue::Text(text)) => column.name = Some(text),
                ("type_", KubeValue::Text(text)) => column.type_ = Some(text),
                ("json_path", KubeValue::Text(text)) => column.json_path = Some(text),
                ("format", KubeValue::Text(text)) => column.format = Some(text),
                ("priority", KubeValue::Other(number)) => {
                    column.priority = Some(number.to_string());
                    column.priority_key = Some(entry.key);
                }
                _ => (),
            }
        }
        column
    }
}

impl Scale {
    /// Reads the three paths of `scale(...)`. `key` is the word `scale` in the attribute, for messages that point at it.
    fn from_items(key: Path, items: Vec<KubeItem>) -> Self {
        let mut scale = Self { key, spec_replicas: None, status_replicas: None, label_selector: None };
        for entry in only_entries(items) {
            let KubeValue::Text(text) = entry.value else { continue };
            if entry.key.is_ident("spec_replicas_path") {
                scale.spec_replicas = Some(text);
            } else if entry.key.is_ident("status_replicas_path") {
                scale.status_replicas = Some(text);
            } else if entry.key.is_ident("label_selector_path") {
                scale.label_selector = Some(text);
            }
        }
        scale
    }
}

/// Returns the arguments in a list (`key`, `key = value` or `key(...)`), without its string literals.
fn only_entries(items: Vec<KubeItem>) -> impl Iterator<Item = KubeEntry> {
    items.into_iter().filter_map(|item| match item {
        KubeItem::Entry(entry) => Some(entry),
        KubeItem::Text(_) => None,
    })
}

/// Returns the two strings of `annotation("key", "value")` or `label(...)`; `None` if there are fewer.
fn text_pair(items: Vec<KubeItem>) -> Option<(LitStr, LitStr)> {
    let mut texts = items.into_iter().filter_map(|item| match item {
        KubeItem::Text(text) => Some(text),
        KubeItem::Entry(_) => None,
    });
    Some((texts.next()?, texts.next()?))
}
