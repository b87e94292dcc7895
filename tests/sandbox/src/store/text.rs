//! Holds the JSON text of an object: written, or rendered from a template on first use.

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
    Printed(Box<Printed>),
}

/// A template that is the same in every cluster, except for its placeholders. Most of these objects are never read.
#[derive(Debug)]
pub(crate) struct Printed {
    print: &'static str,
    version: u64,
    uid: Arc<str>,
    time: Arc<str>,
    filled: OnceLock<Bytes>,
}

impl Text {
    /// Returns a text rendered from `print`, with the version, the uid and the creation time of an object.
    pub(crate) fn printed(print: &'static str, version: u64, uid: Arc<str>, time: Arc<str>) -> Self {
        Self::Printed(Box::new(Printed { print, version, uid, time, filled: OnceLock::new() }))
    }

    /// Whether the text contains some words; placeholders are not searched.
    pub(crate) fn mentions(&self, words: &str) -> bool {
        match self {
            Self::Written(text) => str::from_utf8(text).is_ok_and(|text| text.contains(words)),
            Self::Printed(printed) => printed.print.contains(words),
        }
    }
}

impl Deref for Text {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        match self {
            Self::Written(text) => text,
            Self::Printed(printed) => printed.filled.get_or_init(|| printed.fill()),
        }
    }
}

impl Printed {
    fn fill(&self) -> Bytes {
        let version = format!(r#""resourceVersion":"{}""#, self.version);
        let filled = self.print.replacen(VERSION, &version, 1).replace(UID, &self.uid);
        let date = self.time.get(..DATE.len()).unwrap_or_default();
        Bytes::from(filled.replace(TIME, &self.time).replace(DATE, date))
    }
}
