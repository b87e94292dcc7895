//! `Template`: a YAML document with template expressions and conditions of Helm, which can be written as text.

use crate::manifest::{ManifestError, yaml};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A part of a YAML document whose content may depend on the values of a chart.
#[derive(Clone, Debug)]
pub(super) enum Template {
    /// A constant. Its texts may contain placeholders, which the caller replaces in the text.
    Value(Value),
    /// The result of an expression, on the line of its key.
    Expression(String),
    /// The YAML of an expression, below its key.
    Block(String),
    /// The text of an expression, as lines below its key.
    Text(String),
    /// As `Block`, but the key is absent if the expression is empty.
    With(String),
    /// The entries of an expression, in place of an entry of an object.
    Entries(String),
    /// The items of an expression, as items of a list.
    Items(String),
    /// A part that exists if a condition holds.
    If(String, Box<Self>),
    Object(BTreeMap<String, Self>),
    List(Vec<Self>),
}

impl Template {
    /// Returns a part that exists if a condition holds.
    pub(super) fn when(condition: &str, then: impl Into<Self>) -> Self {
        Self::If(condition.to_owned(), Box::new(then.into()))
    }

    /// Returns the result of an expression.
    pub(super) fn expression(text: impl Into<String>) -> Self {
        Self::Expression(text.into())
    }

    /// Replaces the part at a path of keys and list positions, and adds missing keys. Does nothing if a list has no such position, or if
    /// an expression stands on the path.
    pub(super) fn set(&mut self, path: &[&str], part: impl Into<Self>) {
        if let Some(current) = self.part(path) {
            *current = part.into();
        }
    }

    /// Adds an item to the list at a path. Adds nothing if the part at the path is not a list, or if an expression stands on the path.
    pub(super) fn push(&mut self, path: &[&str], item: impl Into<Self>) {
        let Some(list) = self.part(path) else { return };
        list.expand();
        if let Self::List(items) = list {
            items.push(item.into());
        }
    }

    /// Encloses the part at a path in a condition. Does nothing if a list has no such position, or if an expression stands on the path.
    pub(super) fn restrict(&mut self, path: &[&str], condition: &str) {
        if let Some(current) = self.part(path) {
            let then = std::mem::replace(current, Self::Value(Value::Null));
            *current = Self::when(condition, then);
        }
    }

    /// Returns the part at a path of keys and list positions, and adds missing keys. A condition on the path is not a step of the path.
    /// Returns `None` if a list has no such position, or if an expression stands on the path.
    fn part(&mut self, path: &[&str]) -> Option<&mut Self> {
        let Some((key, rest)) = path.split_first() else { return Some(self) };
        self.expand();
        match self {
            Self::Object(entries) => entries.entry((*key).to_owned()).or_insert(Self::Value(Value::Null)).part(rest),
            Self::List(items) => items.get_mut(key.parse::<usize>().ok()?)?.part(rest),
            Self::If(_, then) => then.part(path),
            _ => None,
        }
    }

    /// Turns a constant object or list into the variant whose entries or items can be changed, and a constant scalar or null into an empty
    /// object. Leaves other variants alone.
    fn expand(&mut self) {
        let Self::Value(value) = self else { return };
        *self = match value.take() {
            Value::Object(entries) => {
                Self::Object(entries.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            _ => Self::Object(BTreeMap::new()),
        };
    }

    /// Writes the template as the text of a YAML document with Helm expressions. An error names `path`, the path of the file.
    pub(super) fn document(self, path: &str) -> Result<String, ManifestError> {
        let mut writer = Writer { path, text: String::new() };
        match self {
            Self::If(condition, then) => {
                writer.push_line(0, &format!("{{{{- if {condition} }}}}"));
                writer.entries(0, *then)?;
                writer.push_line(0, "{{- end }}");
            }
            document => writer.entries(0, document)?,
        }
        Ok(writer.text)
    }
}

impl From<Value> for Template {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

/// Writes the lines of a document.
struct Writer<'a> {
    path: &'a str,
    text: String,
}

impl Writer<'_> {
    /// Adds a line to the text, indented by `indent` spaces.
    fn push_line(&mut self, indent: usize, line: &str) {
        self.text.push_str(&" ".repeat(indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes the entries of an object, one below the other. Writes nothing for a part that is not an object.
    fn entries(&mut self, indent: usize, mut object: Template) -> Result<(), ManifestError> {
        object.expand();
        let Template::Object(entries) = object else { return Ok(()) };
        entries.into_iter().try_for_each(|(key, part)| self.entry(indent, &key, part))
    }

    /// Writes the entry `key` of an object, with the lines of Helm's conditions around it.
    fn entry(&mut self, indent: usize, key: &str, part: Template) -> Result<(), ManifestError> {
        match part {
            Template::If(condition, then) => {
                self.push_line(indent, &format!("{{{{- if {condition} }}}}"));
                self.entry(indent, key, *then)?;
                self.push_line(indent, "{{- end }}");
            }
            Template::With(expression) => {
                self.push_line(indent, &format!("{{{{- with {expression} }}}}"));
                self.entry(indent, key, Template::Block(".".to_owned()))?;
                self.push_line(indent, "{{- end }}");
            }
            Template::Expression(expression) => self.push_line(indent, &format!("{key}: {{{{ {expression} }}}}")),
            Template::Block(expression) => {
                self.push_line(indent, &format!("{key}:"));
                self.push_line(indent + 2, &format!("{{{{- toYaml {expression} | nindent {} }}}}", indent + 2));
            }
            Template::Text(expression) => {
                self.push_line(indent, &format!("{key}: |"));
                self.push_line(indent + 2, &format!("{{{{- {expression} | nindent {} }}}}", indent + 2));
            }
            Template::Entries(expression) => self.spliced(indent, &expression),
            Template::Items(expression) => {
                return self.entry(indent, key, Template::List(vec![Template::Items(expression)]));
            }
            Template::Object(entries) => {
                self.push_line(indent, &format!("{key}:"));
                self.entries(indent + 2, Template::Object(entries))?;
            }
            Template::List(items) => {
                self.push_line(indent, &format!("{key}:"));
                items.into_iter().try_for_each(|item| self.item(indent, item))?;
            }
            Template::Value(value) => {
                self.constant(indent, &Value::Object(Map::from_iter([(key.to_owned(), value)])))?
            }
        }
        Ok(())
    }

    /// Writes lines that insert the entries or items of the value of `expression`, and nothing if the value is empty.
    fn spliced(&mut self, indent: usize, expression: &str) {
        self.push_line(indent, &format!("{{{{- with {expression} }}}}"));
        self.push_line(indent, &format!("{{{{- toYaml . | nindent {indent} }}}}"));
        self.push_line(indent, "{{- end }}");
    }

    /// Writes an item of a list.
    fn item(&mut self, indent: usize, item: Template) -> Result<(), ManifestError> {
        match item {
            Template::If(condition, then) => {
                self.push_line(indent, &format!("{{{{- if {condition} }}}}"));
                self.item(indent, *then)?;
                self.push_line(indent, "{{- end }}");
            }
            Template::Items(expression) => self.spliced(indent, &expression),
            Template::Expression(expression) => self.push_line(indent, &format!("- {{{{ {expression} }}}}")),
            Template::Value(value) => self.constant(indent, &Value::Array(vec![value]))?,
            object => {
                let start = self.text.len();
                self.entries(indent + 2, object)?;
                // Put the dash of the list item before the first key. The first line contains a key and no condition, since the first key
                // of an object in a list is never optional.
                let dash = start + indent;
                if self.text.get(dash..dash + 2) == Some("  ") {
                    self.text.replace_range(dash..dash + 2, "- ");
                }
            }
        }
        Ok(())
    }

    /// Writes the lines of a constant. It replaces `{{` by an expression that yields `{{`, so Helm evaluates nothing in the constant.
    fn constant(&mut self, indent: usize, value: &Value) -> Result<(), ManifestError> {
        let yaml = yaml::fragment(self.path, value)?.replace("{{", "{{ \"{{\" }}");
        for line in yaml.lines() {
            self.push_line(if line.is_empty() { 0 } else { indent }, line);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_are_written_below_their_keys() {
        let mut template = Template::from(json!({
            "kind": "A",
            "list": [{"b": 1, "a": "{{ $labels }}"}, 2],
            "text": "one\n\ntwo",
        }));
        template.set(&["list", "0", "ports"], Template::expression("int .Values.port"));
        template.restrict(&["list", "0", "ports"], ".Values.port");
        template.push(&["list"], Template::Items(".Values.more".to_owned()));
        template.set(&["metadata", "name"], Template::expression(".Release.Name"));
        template.set(&["metadata", "labels"], Template::Entries(".Values.labels".to_owned()));
        template.set(&["lines"], Template::Text("include \"a.lines\" .".to_owned()));
        template.set(&["block"], Template::Block(".Values.block".to_owned()));
        template.set(&["optional", "with"], Template::With(".Values.with".to_owned()));
        let text = Template::when(".Values.on", template).document("a.yaml").unwrap();
        let expected = "{{- if .Values.on }}
block:
  {{- toYaml .Values.block | nindent 2 }}
kind: A
lines: |
  {{- include \"a.lines\" . | nindent 2 }}
list:
- a: \"{{ \"{{\" }} $labels }}\"
  b: 1
  {{- if .Values.port }}
  ports: {{ int .Values.port }}
  {{- end }}
- 2
{{- with .Values.more }}
{{- toYaml . | nindent 0 }}
{{- end }}
metadata:
  {{- with .Values.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  name: {{ .Release.Name }}
optional:
  {{- with .Values.with }}
  with:
    {{- toYaml . | nindent 4 }}
  {{- end }}
text: |-
  one

  two
{{- end }}
";
        assert_eq!(text, expected);
    }
}
