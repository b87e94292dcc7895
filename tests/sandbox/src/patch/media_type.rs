//! Determines the type of a patch by its media type.

use super::options;
use crate::{failure::Failure, kind::Origin, request::ResourceRequest};

/// The media type of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Media {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Json, "application/json-patch+json"),
        (Self::Merge, "application/merge-patch+json"),
        (Self::Strategic, "application/strategic-merge-patch+json"),
        (Self::Apply, "application/apply-patch+yaml"),
    ];

    /// Returns the media type of the request, and validates the parameters of the request for it.
    pub(crate) fn of(request: ResourceRequest<'_>) -> Result<Self, Failure> {
        let custom = matches!(request.kind.origin, Origin::Custom(_));
        let written = request.call.content_type.as_str();
        let found = Self::ALL.iter().find(|(media, name)| *name == written && !(custom && *media == Self::Strategic));
        let (media, _) = found.ok_or_else(|| unsupported(custom))?;
        options::check(request.call, *media == Self::Apply)?;
        Ok(*media)
    }
}

fn unsupported(custom: bool) -> Failure {
    if custom {
        let known = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
        let why = "the body of the request was in an unknown format - accepted media types include:";
        return Failure::unsupported_media(format!("{why} {known}"));
    }
    Failure::unsupported_media("415: Unsupported Media Type")
}
