//! Parses the `Accept` header.

/// The accepted representations, the preferred one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accept {
    forms: Vec<Representation>,
    /// Whether the first one is requested as `v=v1beta1`.
    beta: bool,
    /// Whether OpenAPI v2 in protobuf is accepted.
    gnostic: bool,
}

/// A representation of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Representation {
    Json,
    /// A table: `as=Table`.
    Table,
    /// The metadata of an object: `as=PartialObjectMetadata`.
    Metadata,
    /// The metadata of a list: `as=PartialObjectMetadataList`.
    MetadataList,
    /// Aggregated discovery: `as=APIGroupDiscoveryList`.
    Discovery,
    Yaml,
    /// JSON in an unknown shape, `as=Nothing`.
    Shapeless,
    /// Protobuf, CBOR: not supported.
    Foreign,
}

impl Accept {
    pub(crate) fn of(header: &str) -> Self {
        let forms: Vec<Representation> =
            header.split(',').map(str::trim).filter(|form| !form.is_empty()).map(Representation::of).collect();
        let first = header.split(',').next().unwrap_or_default();
        let beta = first.split(';').any(|part| part.trim() == "v=v1beta1");
        let gnostic = header.contains("proto-openapi.spec.v2");
        Self { forms: if forms.is_empty() { vec![Representation::Json] } else { forms }, beta, gnostic }
    }

    /// Returns the first supported representation.
    pub(crate) fn form(&self) -> Representation {
        self.forms
            .iter()
            .copied()
            .find(|form| !matches!(form, Representation::Foreign | Representation::Shapeless))
            .unwrap_or(Representation::Foreign)
    }

    /// Whether a representation is accepted.
    pub(crate) fn has(&self, form: Representation) -> bool {
        self.forms.contains(&form)
    }

    /// Whether protobuf is accepted for OpenAPI v2, the only document that the server encodes so.
    pub(crate) fn is_gnostic(&self) -> bool {
        self.gnostic
    }

    /// Returns the API version of tables and of `PartialObjectMetadata`.
    pub(crate) fn meta_version(&self) -> &'static str {
        if self.beta { "meta.k8s.io/v1beta1" } else { "meta.k8s.io/v1" }
    }
}

impl Representation {
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
