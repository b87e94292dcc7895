//! Parses a request: user, verb, target, options, media types and body.

use bytes::Bytes;
use http::{HeaderMap, Method, header};

use crate::{failure::Failure, user::User};

pub(crate) use accept::{Accept, Representation};
pub(crate) use options::{DryRun, Options, Propagation, Strictness};
pub(crate) use target::{ResourceTarget, Target};

mod accept;
mod label_parser;
mod options;
mod requirement;
pub(crate) mod selector;
mod target;

/// A parsed request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) user: User,
    pub(crate) verb: Verb,
    pub(crate) target: Target,
    pub(crate) options: Options,
    pub(crate) accept: Accept,
    /// The media type without parameters, in lower case; empty if there is none.
    pub(crate) content_type: String,
    pub(crate) user_agent: String,
    /// Path and query, for the audit log.
    pub(crate) uri: String,
    pub(crate) body: Bytes,
}

/// The RBAC verb of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    /// Returns the name of the verb in RBAC rules.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl Call {
    /// Parses the request of a user. Returns an error for an unsupported method or an invalid query parameter.
    pub(crate) fn new(user: User, request: http::Request<Bytes>) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let target = Target::parse(parts.uri.path());
        let mut options = Options::parse(parts.uri.query().unwrap_or_default(), kind_of_options(&parts.method))?;
        // The deprecated path `/api/v1/watch/...` is a watch without the parameter `watch`.
        options.watch |= target::is_watch(parts.uri.path());
        let verb = verb_of(&parts.method, &target, &options)?;
        let header_value = |name| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        Ok(Self {
            user,
            verb,
            target,
            options,
            accept: Accept::parse(header_value(header::ACCEPT)),
            content_type: media_type(&parts.headers),
            user_agent: header_value(header::USER_AGENT).to_owned(),
            uri: parts.uri.path_and_query().map_or_else(|| parts.uri.to_string(), ToString::to_string),
            body,
        })
    }

    /// Returns the field manager: the parameter `fieldManager`, else the program name of the user agent, as in
    /// kube-apiserver.
    pub(crate) fn field_manager(&self) -> &str {
        let program = self.user_agent.split('/').next().unwrap_or_default();
        self.options.field_manager.as_deref().unwrap_or(if program.is_empty() { "unknown" } else { program })
    }
}

/// Returns the kind of the options of a method, for error messages.
fn kind_of_options(method: &Method) -> &'static str {
    match *method {
        Method::POST => "CreateOptions",
        Method::PUT => "UpdateOptions",
        Method::PATCH => "PatchOptions",
        _ => "DeleteOptions",
    }
}

/// Returns the RBAC verb of a request by its method, its parameter `watch`, and whether its path names an object. Returns a 405 error for
/// an unsupported method.
fn verb_of(method: &Method, target: &Target, options: &Options) -> Result<Verb, Failure> {
    let has_name = match target {
        Target::Resource(target) => target.name.is_some(),
        Target::Path(_) => true,
    };
    match *method {
        Method::GET if options.watch && matches!(target, Target::Resource(_)) => Ok(Verb::Watch),
        Method::GET => Ok(if has_name { Verb::Get } else { Verb::List }),
        Method::POST => Ok(Verb::Create),
        Method::PUT => Ok(Verb::Update),
        Method::PATCH => Ok(Verb::Patch),
        Method::DELETE => Ok(if has_name { Verb::Delete } else { Verb::DeleteCollection }),
        _ => Err(Failure::method_not_allowed()),
    }
}

/// Returns the media type of the body without parameters; empty if there is none.
fn media_type(headers: &HeaderMap) -> String {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
