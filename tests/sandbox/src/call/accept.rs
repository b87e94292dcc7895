//! In which form the answer is wanted.

/// The forms of an answer, the preferred one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accept(Vec<Form>);

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
    /// Protobuf, CBOR: forms that are not served.
    Foreign,
}

impl Accept {
    pub(crate) fn of(header: &str) -> Self {
        let forms: Vec<Form> = header.split(',').map(str::trim).filter(|form| !form.is_empty()).map(Form::of).collect();
        Self(if forms.is_empty() { vec![Form::Json] } else { forms })
    }

    /// The first form that can be served.
    pub(crate) fn form(&self) -> Form {
        self.0.iter().copied().find(|form| *form != Form::Foreign).unwrap_or(Form::Foreign)
    }
}

impl Form {
    fn of(written: &str) -> Self {
        let mut parts = written.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let shape = parts.find_map(|part| part.strip_prefix("as="));
        match (media, shape) {
            ("application/json" | "*/*" | "application/*", None) => Self::Json,
            ("application/json", Some("Table")) => Self::Table,
            ("application/json", Some("PartialObjectMetadata")) => Self::Metadata,
            ("application/json", Some("PartialObjectMetadataList")) => Self::MetadataList,
            ("application/json", Some("APIGroupDiscoveryList")) => Self::Discovery,
            ("application/yaml", None) => Self::Yaml,
            _ => Self::Foreign,
        }
    }
}
