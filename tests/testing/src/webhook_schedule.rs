//! `WebhookSchedule`: the faults of the calls to an operator's webhooks, and the text form of these faults.

use std::fmt;

use opgen_sandbox::fault::WebhookFault;

/// The faults of the calls to webhooks in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WebhookSchedule {
    /// The call of that number has a fault.
    Call(u64, WebhookFault),
    /// The calls from that number on have a fault for a minute.
    Outage(u64, WebhookFault),
    /// Random faults from a seed.
    Random(u64),
}

impl WebhookSchedule {
    /// Returns the faults for a word of a schedule's text form, its number and the name of a fault; `None` for another word or fault name.
    pub(crate) fn parse(word: &str, number: u64, fault: &str) -> Option<Self> {
        let fault = WebhookFault::ALL.into_iter().find(|other| fault_name(*other) == fault);
        match word {
            "webhook" => fault.map(|fault| Self::Call(number, fault)),
            "outage" => fault.map(|fault| Self::Outage(number, fault)),
            "webhooks" => Some(Self::Random(number)),
            _ => None,
        }
    }
}

/// Returns the name of a webhook fault in the text form of a schedule.
fn fault_name(fault: WebhookFault) -> String {
    serde_json::to_value(fault).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

impl fmt::Display for WebhookSchedule {
    /// Writes the word of the text form of a schedule.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(number, fault) => write!(f, "webhook:{number}={}", fault_name(*fault)),
            Self::Outage(number, fault) => write!(f, "outage:{number}={}", fault_name(*fault)),
            Self::Random(seed) => write!(f, "webhooks:{seed}"),
        }
    }
}
