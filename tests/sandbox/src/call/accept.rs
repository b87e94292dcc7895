//! Parses the `Accept` header into the representations that a client accepts.

/// The accepted representations, the preferred one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accept {
    representations: Vec<Representation>,
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
    UnknownShape,
    /// Protobuf, CBOR: not supported.
    Unsupported,
}

impl Accept {
    /// Parses the header in the order of its entries, without regard to `q`. An empty header accepts JSON.
    pub(crate) fn parse(header: &str) -> Self {
        let representations: Vec<Representation> = header
            .split(',')
            .map(str::trim)
            .filter(|representation| !representation.is_empty())
            .map(Representation::parse)
            .collect();
        // The first media type alone decides on the version of tables and metadata.
        let first = header.split(',').next().unwrap_or_default();
        let beta = first.split(';').any(|part| part.trim() == "v=v1beta1");
        let gnostic = header.contains("proto-openapi.spec.v2");
        Self {
            representations: if representations.is_empty() { vec![Representation::Json] } else { representations },
            beta,
            gnostic,
        }
    }

    /// Returns the first supported representation; [`Representation::Unsupported`] if there is none.
    pub(crate) fn representation(&self) -> Representation {
        self.representations
            .iter()
            .copied()
            .find(|representation| {
                !matches!(representation, Representation::Unsupported | Representation::UnknownShape)
            })
            .unwrap_or(Representation::Unsupported)
    }

    /// Returns whether a representation is accepted.
    pub(crate) fn contains(&self, representation: Representation) -> bool {
        self.representations.contains(&representation)
    }

    /// Returns whether protobuf is accepted for OpenAPI v2, the only document that the server encodes in protobuf.
    pub(crate) fn is_gnostic(&self) -> bool {
        self.gnostic
    }

    /// Returns the API version of tables and of `PartialObjectMetadata`.
    pub(crate) fn meta_version(&self) -> &'static str {
        if self.beta { "meta.k8s.io/v1beta1" } else { "meta.k8s.io/v1" }
    }
}

impl Representation {
    /// Parses one media type with its parameters.
    fn parse(media_range: &str) -> Self {
        let mut parts = media_range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let shape = parts.find_map(|part| part.strip_prefix("as="));
        match (media, shape) {
            ("application/json" | "*/*", None) => Self::Json,
            ("application/json", Some("Table")) => Self::Table,
            ("application/json", Some("PartialObjectMetadata")) => Self::Metadata,
            ("application/json", Some("PartialObjectMetadataList")) => Self::MetadataList,
            ("application/json", Some("APIGroupDiscoveryList")) => Self::Discovery,
            ("application/json", Some(_)) => Self::UnknownShape,
            ("application/yaml", None) => Self::Yaml,
            _ => Self::Unsupported,
        }
    }
}
