//! `Text`: the JSON text of an object, complete or rendered from a template on first use.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

/// The placeholder of the version.
const VERSION: &str = r#""resourceVersion":"""#;

/// The placeholder of the uid.
const UID: &str = "00000000-0000-4000-8000-000000000000";

/// The placeholder of the creation time; its date alone is the placeholder of the day.
const TIME: &str = "2006-01-02T15:04:05Z";
const DATE: &str = "2006-01-02";

/// The JSON of an object with at least `metadata`, without `apiVersion` and `kind`.
#[derive(Debug)]
pub(crate) enum Text {
    Written(Bytes),
    Rendered(Box<RenderedObject>),
}

/// The template of an object that is the same in every cluster except for its placeholders, and their values. Most of
/// these objects are never read.
#[derive(Debug)]
pub(crate) struct RenderedObject {
    template: &'static str,
    version: u64,
    uid: Arc<str>,
    time: Arc<str>,
    rendered: OnceLock<Bytes>,
}

impl Text {
    /// Returns a text that is rendered from `template`, with the version, the uid and the creation time of an object.
    pub(crate) fn from_template(template: &'static str, version: u64, uid: Arc<str>, time: Arc<str>) -> Self {
        Self::Rendered(Box::new(RenderedObject { template, version, uid, time, rendered: OnceLock::new() }))
    }

    /// Returns whether the text contains a substring. In a template, the placeholders are not replaced for the search.
    pub(crate) fn contains_text(&self, substring: &str) -> bool {
        match self {
            Self::Written(text) => str::from_utf8(text).is_ok_and(|text| text.contains(substring)),
            Self::Rendered(object) => object.template.contains(substring),
        }
    }
}

impl Deref for Text {
    type Target = Bytes;

    /// Returns the JSON text; renders a template on first use.
    fn deref(&self) -> &Bytes {
        match self {
            Self::Written(text) => text,
            Self::Rendered(object) => object.rendered.get_or_init(|| object.render()),
        }
    }
}

impl RenderedObject {
    /// Returns the template with its placeholders replaced by the version, uid, creation time and date of the object.
    fn render(&self) -> Bytes {
        let version = format!(r#""resourceVersion":"{}""#, self.version);
        let rendered = self.template.replacen(VERSION, &version, 1).replace(UID, &self.uid);
        let date = self.time.get(..DATE.len()).unwrap_or_default();
        Bytes::from(rendered.replace(TIME, &self.time).replace(DATE, date))
    }
}
