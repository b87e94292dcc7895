//! Determines the type of a patch from the `Content-Type` of its request, and rejects types that the kind does not support.

use super::options;
use crate::{failure::Failure, kind::Origin, request::ResourceRequest};

/// The type of a patch, as its media type names it.
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

    /// Returns the type of the patch of a request, and validates the query parameters for it.
    ///
    /// # Errors
    /// Fails if the media type is not supported or a parameter is invalid.
    pub(crate) fn of(request: ResourceRequest<'_>) -> Result<Self, Failure> {
        let is_custom = matches!(request.kind.origin, Origin::Custom(_));
        let content_type = request.call.content_type.as_str();
        let found =
            Self::ALL.iter().find(|(media, name)| *name == content_type && !(is_custom && *media == Self::Strategic));
        let (media, _) = found.ok_or_else(|| unsupported_media_type(is_custom))?;
        options::check_options(request.call, *media == Self::Apply)?;
        Ok(*media)
    }
}

/// Returns the 415 error with the message of kube-apiserver, which differs between built-in and custom resources.
fn unsupported_media_type(is_custom: bool) -> Failure {
    if is_custom {
        let supported = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
        let why = "the body of the request was in an unknown format - accepted media types include:";
        return Failure::unsupported_media(format!("{why} {supported}"));
    }
    Failure::unsupported_media("415: Unsupported Media Type")
}
