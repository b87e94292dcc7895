//! `ApiCall`: an API request for objects of one kind, without its path: the method, the options of the query, and the body.

use super::failure::ApiFailure;
use http::{HeaderMap, Method, header, request::Parts};

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApiVerb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

/// The options in the query of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct CallOptions {
    pub(super) label_selector: String,
    pub(super) field_selector: String,
    pub(super) resource_version: String,
    pub(super) limit: usize,
    pub(super) continue_token: String,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) bookmarks: bool,
    /// `sendInitialEvents`, if the request has it.
    pub(super) initial_events: Option<bool>,
    /// Whether nothing is written: for every value of `dryRun` that is not empty.
    pub(super) is_dry_run: bool,
    pub(super) field_manager: Option<String>,
    /// `force` of an apply, if the request has it.
    pub(super) force: Option<bool>,
    is_watch: bool,
}

/// A request without its path.
#[derive(Clone, Debug)]
pub(super) struct ApiCall {
    method: Method,
    pub(super) options: CallOptions,
    /// Whether the response has the metadata of objects only.
    pub(super) is_metadata_only: bool,
    /// The media type of the body.
    pub(super) content_type: String,
    user_agent: String,
    pub(super) body: Vec<u8>,
}

impl ApiCall {
    /// Parses an HTTP request: the options come from its query, and the media types from its headers.
    pub(super) fn new(parts: &Parts, body: Vec<u8>) -> Self {
        let content_type = header_text(&parts.headers, header::CONTENT_TYPE);
        let content_type = content_type.split(';').next().unwrap_or_default().trim().to_owned();
        Self {
            method: parts.method.clone(),
            options: CallOptions::parse(parts.uri.query().unwrap_or_default()),
            is_metadata_only: header_text(&parts.headers, header::ACCEPT).contains("as=PartialObjectMetadata"),
            content_type,
            user_agent: header_text(&parts.headers, header::USER_AGENT).to_owned(),
            body,
        }
    }

    /// Returns the API verb for the HTTP method. `has_name` is true if the path names one object, and false if it names a collection.
    ///
    /// # Errors
    /// 405 for a method that the path doesn't have.
    pub(super) fn verb(&self, has_name: bool) -> Result<ApiVerb, ApiFailure> {
        match (self.method.as_str(), has_name) {
            ("GET", false) if self.options.is_watch => Ok(ApiVerb::Watch),
            ("GET", false) => Ok(ApiVerb::List),
            ("GET", true) => Ok(ApiVerb::Get),
            ("POST", false) => Ok(ApiVerb::Create),
            ("PUT", true) => Ok(ApiVerb::Update),
            ("PATCH", true) => Ok(ApiVerb::Patch),
            ("DELETE", true) => Ok(ApiVerb::Delete),
            ("DELETE", false) => Ok(ApiVerb::DeleteCollection),
            _ => Err(ApiFailure::method_not_allowed()),
        }
    }

    /// Returns the field manager: the option `fieldManager`, or else the program name at the start of the `User-Agent` header.
    pub(super) fn field_manager(&self) -> &str {
        let program = self.user_agent.split('/').next().unwrap_or_default();
        let program = if program.is_empty() { "unknown" } else { program };
        self.options.field_manager.as_deref().unwrap_or(program)
    }
}

/// Returns the value of a header; empty if there is none.
fn header_text(headers: &HeaderMap, name: header::HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

impl CallOptions {
    /// Parses the query of a request. Unknown options and invalid numbers are ignored.
    fn parse(query: &str) -> Self {
        let mut options = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.into_owned();
            let flag = || matches!(value.as_str(), "true" | "1");
            match &*name {
                "labelSelector" => options.label_selector = value,
                "fieldSelector" => options.field_selector = value,
                "resourceVersion" => options.resource_version = value,
                "limit" => options.limit = value.parse().unwrap_or_default(),
                "continue" => options.continue_token = value,
                "timeoutSeconds" => options.timeout_seconds = value.parse().ok(),
                "watch" => options.is_watch = flag(),
                "allowWatchBookmarks" => options.bookmarks = flag(),
                "sendInitialEvents" => options.initial_events = Some(flag()),
                // Kubernetes knows only `All`. A client that sends another value does not want a write either.
                "dryRun" => options.is_dry_run = !value.is_empty(),
                "fieldManager" => options.field_manager = Some(value),
                "force" => options.force = Some(flag()),
                _ => {}
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_decoded() {
        let query = "labelSelector=a%3Db%2Cc+in+%28d%29&limit=5&watch=true&force=false&fieldManager=web%2Fstatus";
        let options = CallOptions::parse(query);
        assert_eq!(options.label_selector, "a=b,c in (d)");
        assert_eq!((options.limit, options.is_watch, options.force), (5, true, Some(false)));
        assert_eq!(options.field_manager.as_deref(), Some("web/status"));
        assert_eq!((options.timeout_seconds, options.initial_events), (None, None));
    }
}
