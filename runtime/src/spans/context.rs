//! `TraceContext`: the ids and flags of a span, as the headers `traceparent` and `tracestate` of W3C Trace Context carry them.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The header with the ids of the caller's span.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// The header with the state that tracing systems add.
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The context of a span: what another span needs to be its child, or to link to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceContext {
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
    /// Whether the trace is exported.
    pub(crate) is_sampled: bool,
    /// The value of `tracestate`; `None` if it is empty.
    pub(crate) state: Option<Box<str>>,
}

impl TraceContext {
    /// Returns the trace id as 32 hexadecimal digits.
    pub(crate) fn trace_id_text(&self) -> String {
        format!("{:032x}", self.trace_id)
    }

    /// Returns the span id as 16 hexadecimal digits.
    pub(crate) fn span_id_text(&self) -> String {
        format!("{:016x}", self.span_id)
    }

    /// Sets the headers of W3C Trace Context in a request, so that the server continues the trace.
    pub(crate) fn inject(&self, headers: &mut HeaderMap) {
        let flags = u8::from(self.is_sampled);
        let parent = format!("00-{:032x}-{:016x}-{flags:02x}", self.trace_id, self.span_id);
        if let Ok(parent) = HeaderValue::try_from(parent) {
            headers.insert(TRACEPARENT, parent);
        }
        match self.state.as_deref().map(HeaderValue::from_str) {
            Some(Ok(state)) => drop(headers.insert(TRACESTATE, state)),
            // A state without a matching parent must not be sent.
            _ => drop(headers.remove(TRACESTATE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_are_those_of_w3c() {
        let mut context = TraceContext { trace_id: 0xab, span_id: 0x1, is_sampled: true, state: Some("a=b".into()) };
        let mut headers = HeaderMap::new();
        context.inject(&mut headers);
        assert_eq!(headers["traceparent"], "00-000000000000000000000000000000ab-0000000000000001-01");
        assert_eq!(headers["tracestate"], "a=b");
        (context.is_sampled, context.state) = (false, None);
        context.inject(&mut headers);
        assert_eq!(headers["traceparent"], "00-000000000000000000000000000000ab-0000000000000001-00");
        assert!(!headers.contains_key("tracestate"));
    }
}
