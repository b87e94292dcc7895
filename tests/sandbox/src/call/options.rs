//! Parses the query parameters of a request.

use std::num::IntErrorKind;

use percent_encoding::percent_decode_str;

use crate::failure::{Cause, Failure};

/// The query parameters of all verbs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
    /// The raw value; empty differs from `0`.
    pub(crate) resource_version: String,
    pub(crate) resource_version_match: String,
    pub(crate) limit: Option<usize>,
    pub(crate) continue_token: String,
    pub(crate) watch: bool,
    pub(crate) bookmarks: bool,
    pub(crate) send_initial_events: Option<bool>,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) field_manager: Option<String>,
    pub(crate) force: Option<bool>,
    pub(crate) dry_run: DryRun,
    pub(crate) field_validation: Option<Strictness>,
    pub(crate) grace_period_seconds: Option<i64>,
    pub(crate) propagation: Option<Propagation>,
    /// All raw parameters, for those that only one path reads (`container` of a log).
    pub(crate) all: Vec<(String, String)>,
}

/// The `dryRun` parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DryRun {
    #[default]
    No,
    All,
}

/// How unknown fields are handled (`fieldValidation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    Ignore,
    Warn,
    Strict,
}

/// How a deletion treats dependents (`propagationPolicy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Orphan,
    Background,
    Foreground,
}

impl Options {
    /// Parses a query. `kind` is the kind of the options, such as `PatchOptions`, for the messages.
    ///
    /// Returns a 400 error if a number is invalid, or a 422 error if another value is not supported.
    pub(crate) fn parse(query: &str, kind: &str) -> Result<Self, Failure> {
        let mut options = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (key, value) = (percent_decoded(key), percent_decoded(value));
            options.set(kind, &key, &value)?;
            options.all.push((key, value));
        }
        Ok(options)
    }

    /// Returns the raw value of a parameter; `None` if the query does not contain it.
    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        self.all.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Sets the field of one parameter. Ignores unknown parameters, and `orphanDependents`, which is deprecated, after `propagationPolicy`.
    /// A `limit` that is not positive means no limit. `kind` is the kind of the options, for the messages.
    fn set(&mut self, kind: &str, key: &str, value: &str) -> Result<(), Failure> {
        match key {
            "labelSelector" => value.clone_into(&mut self.label_selector),
            "fieldSelector" => value.clone_into(&mut self.field_selector),
            "resourceVersion" => value.clone_into(&mut self.resource_version),
            "resourceVersionMatch" => value.clone_into(&mut self.resource_version_match),
            "continue" => value.clone_into(&mut self.continue_token),
            "limit" => self.limit = usize::try_from(parse_int(value)?).ok().filter(|limit| *limit > 0),
            "watch" => self.watch = parse_bool(value),
            "allowWatchBookmarks" => self.bookmarks = parse_bool(value),
            "sendInitialEvents" => self.send_initial_events = Some(parse_bool(value)),
            "timeoutSeconds" => self.timeout_seconds = u64::try_from(parse_int(value)?).ok(),
            "fieldManager" => self.field_manager = Some(value.to_owned()).filter(|value| !value.is_empty()),
            "force" => self.force = Some(parse_bool(value)),
            "dryRun" => self.dry_run = DryRun::parse(value, kind)?,
            "fieldValidation" => self.field_validation = Strictness::parse(value, kind)?,
            "gracePeriodSeconds" => self.grace_period_seconds = Some(parse_int(value)?),
            "propagationPolicy" => self.propagation = Some(Propagation::parse(value)?),
            "orphanDependents" if self.propagation.is_none() => {
                let orphan = parse_bool(value);
                self.propagation = Some(if orphan { Propagation::Orphan } else { Propagation::Background });
            }
            _ => {}
        }
        Ok(())
    }
}

impl DryRun {
    /// Parses `dryRun`. Returns a 422 error for an unsupported value.
    fn parse(value: &str, kind: &str) -> Result<Self, Failure> {
        match value {
            "" => Ok(Self::No),
            "All" => Ok(Self::All),
            _ => {
                let cause = Cause::unsupported("dryRun", &serde_json::json!([value]), &["All"]);
                Err(Failure::invalid_options(kind, &cause))
            }
        }
    }
}

impl Strictness {
    /// Parses `fieldValidation`; `None` if it is empty. Returns a 422 error for an unsupported value.
    fn parse(value: &str, kind: &str) -> Result<Option<Self>, Failure> {
        match value {
            "" => Ok(None),
            "Ignore" => Ok(Some(Self::Ignore)),
            "Warn" => Ok(Some(Self::Warn)),
            "Strict" => Ok(Some(Self::Strict)),
            _ => {
                let known = ["", "Ignore", "Strict", "Warn"];
                let cause = Cause::unsupported("fieldValidation", &value.into(), &known);
                Err(Failure::invalid_options(kind, &cause))
            }
        }
    }
}

impl Propagation {
    /// Parses `propagationPolicy`. Returns a 422 error for an unsupported value.
    pub(crate) fn parse(value: &str) -> Result<Self, Failure> {
        match value {
            "Orphan" => Ok(Self::Orphan),
            "Background" => Ok(Self::Background),
            "Foreground" => Ok(Self::Foreground),
            _ => {
                let policies = ["Foreground", "Background", "Orphan", "nil"];
                let cause = Cause::unsupported("propagationPolicy", &value.into(), &policies);
                Err(Failure::invalid_options("DeleteOptions", &cause))
            }
        }
    }
}

/// Parses a boolean as Go's query conversion does: only `false` and `0` are false.
fn parse_bool(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "false" | "0")
}

/// Parses an integer. Returns a 400 error with the words of Go's `strconv.ParseInt` if it is invalid.
fn parse_int(value: &str) -> Result<i64, Failure> {
    value.parse().map_err(|error: std::num::ParseIntError| {
        let why = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        Failure::bad_request(format!("strconv.ParseInt: parsing {value:?}: {why}"))
    })
}

/// Decodes a key or value of a query, in which `+` is a space.
fn percent_decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}
