//! In which form the answer is wanted.

/// The forms of an answer, the preferred one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accept {
    forms: Vec<Form>,
    /// Whether the first is wanted in the version before the current one, `v=v1beta1`.
    beta: bool,
    /// Whether OpenAPI version 2 in protobuf is among the wished.
    gnostic: bool,
}

/// A form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    /// `as=Table`
    Table,
    /// `as=PartialObjectMetadata`
    Metadata,
    /// `as=PartialObjectMetadataList`
    MetadataList,
    /// `as=APIGroupDiscoveryList`
    Discovery,
    Yaml,
    /// JSON in a shape that nothing has, `as=Nothing`.
    Shapeless,
    /// Protobuf, CBOR: forms that are not served.
    Foreign,
}

impl Accept {
    pub(crate) fn of(header: &str) -> Self {
        let forms: Vec<Form> = header.split(',').map(str::trim).filter(|form| !form.is_empty()).map(Form::of).collect();
        let first = header.split(',').next().unwrap_or_default();
        let beta = first.split(';').any(|part| part.trim() == "v=v1beta1");
        let gnostic = header.contains("proto-openapi.spec.v2");
        Self { forms: if forms.is_empty() { vec![Form::Json] } else { forms }, beta, gnostic }
    }

    /// The first form that can be served.
    pub(crate) fn form(&self) -> Form {
        self.forms
            .iter()
            .copied()
            .find(|form| !matches!(form, Form::Foreign | Form::Shapeless))
            .unwrap_or(Form::Foreign)
    }

    /// Whether a form is among the wished.
    pub(crate) fn has(&self, form: Form) -> bool {
        self.forms.contains(&form)
    }

    /// Whether OpenAPI version 2 may be protobuf, which nothing else is.
    pub(crate) fn is_gnostic(&self) -> bool {
        self.gnostic
    }

    /// The version of a table, and of metadata alone.
    pub(crate) fn meta_version(&self) -> &'static str {
        if self.beta { "meta.k8s.io/v1beta1" } else { "meta.k8s.io/v1" }
    }
}

impl Form {
    fn of(written: &str) -> Self {
        let mut parts = written.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let shape = parts.find_map(|part| part.strip_prefix("as="));
        match (media, shape) {
            ("application/json" | "*/*", None) => Self::Json,
            ("application/json", Some("Table")) => Self::Table,
            ("application/json", Some("PartialObjectMetadata")) => Self::Metadata,
            ("application/json", Some("PartialObjectMetadataList")) => Self::MetadataList,
            ("application/json", Some("APIGroupDiscoveryList")) => Self::Discovery,
            ("application/json", Some(_)) => Self::Shapeless,
            ("application/yaml", None) => Self::Yaml,
            _ => Self::Foreign,
        }
    }
}
