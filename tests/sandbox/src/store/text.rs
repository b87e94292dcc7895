//! The JSON text of an object: written, or rendered from a template on first use.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

/// What stands for the version.
const VERSION: &str = r#""resourceVersion":"""#;

/// What stands for the uid.
const UID: &str = "00000000-0000-4000-8000-000000000000";

/// What stands for the time of the creation; its date alone stands for the day.
const TIME: &str = "2006-01-02T15:04:05Z";
const DATE: &str = "2006-01-02";

/// The JSON of an object with at least `metadata`, without `apiVersion` and `kind`.
#[derive(Debug)]
pub(crate) enum Text {
    Written(Bytes),
    Printed(Box<Printed>),
}

/// A text that is the same in every cluster, but for what its blanks hold. Few of these are ever read.
#[derive(Debug)]
pub(crate) struct Printed {
    print: &'static str,
    version: u64,
    uid: Arc<str>,
    time: Arc<str>,
    filled: OnceLock<Bytes>,
}

impl Text {
    /// One of `print`, which has blanks for the version, the uid and the times of an object that is made at `time`.
    pub(crate) fn printed(print: &'static str, version: u64, uid: Arc<str>, time: Arc<str>) -> Self {
        Self::Printed(Box::new(Printed { print, version, uid, time, filled: OnceLock::new() }))
    }

    /// Whether some words stand in it, which no blank holds.
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
