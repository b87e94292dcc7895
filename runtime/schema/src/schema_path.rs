//! `SchemaPath`: a path in the schema of a CustomResourceDefinition, as text in the form of kube-apiserver and as a list of steps.

use crate::step::Step;

/// A path in the schema of a definition.
#[derive(Clone, Debug)]
pub(crate) struct SchemaPath {
    /// The path as kube-apiserver writes it, `spec.validation.openAPIV3Schema.properties[spec].type`.
    pub(crate) text: String,
    /// The steps from the root of the schema.
    pub(crate) steps: Vec<Step>,
}

impl SchemaPath {
    /// Returns the root of a schema, which is at `text` in the definition.
    pub(crate) fn root(text: &str) -> Self {
        Self { text: text.to_owned(), steps: Vec::new() }
    }

    /// Returns the path of a part of this schema; `text` is the last element as kube-apiserver writes it.
    fn child(&self, text: &str, step: Step) -> Self {
        let steps = self.steps.iter().cloned().chain([step]).collect();
        Self { text: format!("{}.{text}", self.text), steps }
    }

    pub(crate) fn keyword(&self, name: &str) -> Self {
        self.child(name, Step::Keyword(name.to_owned()))
    }

    pub(crate) fn property(&self, name: &str) -> Self {
        self.child(&format!("properties[{name}]"), Step::Property(name.to_owned()))
    }

    pub(crate) fn items(&self) -> Self {
        self.child("items", Step::Items)
    }

    pub(crate) fn additional(&self) -> Self {
        self.child("additionalProperties", Step::AdditionalProperties)
    }

    /// Returns the path of an item of `allOf`, `anyOf` or `oneOf`.
    pub(crate) fn branch(&self, keyword: &'static str, index: usize) -> Self {
        self.child(&format!("{keyword}[{index}]"), Step::Branch(keyword, index))
    }

    pub(crate) fn not(&self) -> Self {
        self.child("not", Step::Not)
    }

    pub(crate) fn validation(&self, index: usize) -> Self {
        self.child(&format!("x-kubernetes-validations[{index}]"), Step::Validation(index))
    }
}
