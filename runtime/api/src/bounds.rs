//! Limits the texts in conditions and events to the lengths and characters that the API server accepts.
//!
//! The API server refuses a whole write (422) if one text is too long. So every text passes through one of these functions before
//! it is written into a condition or an event. The annotations of the operator contain no free text, only node paths, digests,
//! owners and versions; these are identities and must not be shortened.
//!
//! # Guarantees
//! A text within its limit is not changed. A shortened text is not changed again, so an equal state gives equal bytes.

use std::borrow::Cow;

/// The maximum number of characters in the message of a condition. Source: `maxLength` of `Condition.message` in
/// `k8s.io/apimachinery`.
const MESSAGE: usize = 32_768;
/// The maximum number of bytes in the reason of a condition. Source: `maxLength` of `Condition.reason` in `k8s.io/apimachinery`.
const REASON: usize = 1_024;
/// The maximum number of characters in a text from the API server or from the status of another object: enough for a sentence and
/// a field name.
const FOREIGN: usize = 1_024;
/// The maximum number of bytes in the note of an event. Source: `pkg/apis/core/validation/events.go` of Kubernetes.
const NOTE: usize = 1_024;
/// The maximum number of bytes in the reason, the action and the reporting instance of an event. Source: as for [`NOTE`].
const EVENT_WORD: usize = 128;
/// The maximum number of characters that the name of an event takes from the name of its object. The name of an event can have
/// 253 characters, and its suffix has 17.
const EVENT_NAME: usize = 230;

/// The reason if a text has no valid characters, since the API requires a reason.
const UNSPECIFIED: &str = "Unspecified";

/// The last character of a shortened text.
const ELLIPSIS: char = '…';

/// Returns the message of a condition: trimmed, with at most 32,768 characters.
pub fn condition_message(text: &str) -> Cow<'_, str> {
    clip(text.trim(), MESSAGE, |_| 1)
}

/// Returns the reason of a condition: letters, digits, `_`, `,` and `:`, with a letter first and at most 1,024 characters. Other
/// characters are removed and separate words, and each word begins with a capital: `not ready` becomes `NotReady`.
pub fn condition_reason(text: &str) -> Cow<'_, str> {
    if is_reason(text) { Cow::Borrowed(text) } else { Cow::Owned(to_reason(text)) }
}

/// Returns a text from the API server or from the status of another object as one line: words separated by single spaces, at most 1,024
/// characters, without control characters and without marks that change the direction of writing.
pub fn foreign(text: &str) -> String {
    let separates = |c: char| c.is_whitespace() || c.is_control() || is_direction_mark(c);
    let mut line = String::new();
    for word in text.split(separates).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // A character has at most four bytes, so the line has at least `FOREIGN` characters, and further words would be cut off.
        if line.len() > 4 * FOREIGN {
            break;
        }
    }
    clip(&line, FOREIGN, |_| 1).into_owned()
}

/// Returns the note of an event: at most 1,024 bytes.
pub fn event_note(text: &str) -> Cow<'_, str> {
    clip(text, NOTE, char::len_utf8)
}

/// Returns the reason, the action or the reporting instance of an event: not empty, with at most 128 bytes.
pub fn event_word(text: &str) -> Cow<'_, str> {
    if text.is_empty() { Cow::Borrowed(UNSPECIFIED) } else { clip(text, EVENT_WORD, char::len_utf8) }
}

/// Returns the name of an event: the name of the object that the event is about, and a suffix that makes it unique. Characters that are
/// valid in the names of some kinds, such as roles, but not in those of events, become dashes.
pub fn event_name(object: &str, suffix: u64) -> String {
    let to_valid = |c: char| {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' { c } else { '-' }
    };
    let name: String = object.chars().take(EVENT_NAME).map(to_valid).collect();
    // Each part between dots begins and ends with a letter or a digit.
    let parts: Vec<_> = name.split('.').map(|part| part.trim_matches('-')).filter(|part| !part.is_empty()).collect();
    let name = if parts.is_empty() { "object".to_owned() } else { parts.join(".") };
    format!("{name}.{suffix:016x}")
}

/// Shortens a text to the size `max`, where `size` returns the size of a character, at most its number of bytes. A shortened text ends
/// with an ellipsis.
fn clip(text: &str, max: usize, size: impl Fn(char) -> usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    // `end` is the last position at which the text can be cut with room for the ellipsis.
    let (mut used, mut end) = (0, 0);
    for (at, c) in text.char_indices() {
        if used + size(ELLIPSIS) <= max {
            end = at;
        }
        used += size(c);
        if used > max {
            return Cow::Owned(format!("{}{ELLIPSIS}", text[..end].trim_end()));
        }
    }
    Cow::Borrowed(text)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns whether a text matches `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$` and is not too long.
fn is_reason(text: &str) -> bool {
    text.len() <= REASON
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(is_word)
        && text.chars().all(|c| is_word(c) || matches!(c, ',' | ':'))
}

/// Converts a text to a valid reason of a condition: removes invalid characters, and capitalizes the words between them. Returns
/// `Unspecified` if nothing remains.
fn to_reason(text: &str) -> String {
    let mut reason = String::new();
    let mut begins_word = true;
    for c in text.chars() {
        // The first character must be a letter.
        let is_valid = if reason.is_empty() { c.is_ascii_alphabetic() } else { is_word(c) || matches!(c, ',' | ':') };
        if is_valid {
            reason.push(if begins_word { c.to_ascii_uppercase() } else { c });
        }
        begins_word = !is_valid;
        if reason.len() == REASON {
            break;
        }
    }
    let end = reason.trim_end_matches([',', ':']);
    if end.is_empty() { UNSPECIFIED.to_owned() } else { end.to_owned() }
}

/// Returns whether a character changes the direction of writing, and so can make a text look like another one.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns random texts with lengths around the limits, characters of one to four bytes, and control characters.
    fn texts() -> impl Iterator<Item = String> {
        const SIZES: [usize; 10] = [0, 1, 2, 127, 128, 1_023, 1_024, 1_025, 32_768, 40_000];
        const CHARACTERS: [char; 14] = ['a', 'Z', '7', '_', '-', ',', ':', '.', ' ', '\n', '\0', 'é', '…', '\u{1f600}'];
        (0..400).map(|seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            let size = SIZES[random.usize(..SIZES.len())] + random.usize(..3);
            // Each text has a random subset of the characters, so that some have only valid or only invalid ones.
            let subset = random.usize(1..=CHARACTERS.len());
            let first = random.usize(..CHARACTERS.len());
            (0..size).map(|_| CHARACTERS[(first + random.usize(..subset)) % CHARACTERS.len()]).collect()
        })
    }

    /// Returns whether a text is a DNS subdomain (RFC 1123) by the rules of the API server: at most 253 characters, and parts
    /// that begin and end with a letter or a digit.
    fn is_subdomain(name: &str) -> bool {
        let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_part = |part: &str| {
            part.starts_with(is_end) && part.ends_with(is_end) && part.chars().all(|c| is_end(c) || c == '-')
        };
        name.len() <= 253 && name.split('.').all(is_part)
    }

    /// Fails if a text that was limited twice differs from the text that was limited once.
    fn assert_unchanged(once: &str, again: &str) {
        assert!(once == again, "{} characters were shortened to {}", once.chars().count(), again.chars().count());
    }

    #[test]
    fn every_text_is_within_its_limit_and_is_not_shortened_again() {
        for text in texts() {
            let message = condition_message(&text);
            assert!(message.chars().count() <= MESSAGE && message.trim() == message);
            assert_unchanged(&message, &condition_message(&message));
            let reason = condition_reason(&text);
            assert!(is_reason(&reason), "{reason:?}");
            assert_unchanged(&reason, &condition_reason(&reason));
            let note = event_note(&text);
            assert!(note.len() <= NOTE);
            assert_unchanged(&note, &event_note(&note));
            let word = event_word(&text);
            assert!(!word.is_empty() && word.len() <= EVENT_WORD);
            let line = foreign(&text);
            assert!(line.chars().count() <= FOREIGN && !line.contains(|c: char| c.is_control()));
            assert_unchanged(&line, &foreign(&line));
            let name = event_name(&text, 7);
            assert!(is_subdomain(&name), "{name:?}");
        }
    }

    #[test]
    fn a_text_within_its_limit_is_not_changed() {
        let long = "ü".repeat(MESSAGE);
        assert_eq!(condition_message(&long), long);
        assert_eq!(condition_reason("Not_Ready,Yet:1"), "Not_Ready,Yet:1");
        assert_eq!(event_note("line one\nline two"), "line one\nline two");
        assert_eq!(event_name("web-1.shop", 255), "web-1.shop.00000000000000ff");
    }

    #[test]
    fn a_shortened_text_ends_with_an_ellipsis() {
        assert_eq!(condition_message(&format!(" {} ", "x".repeat(MESSAGE + 1))), "x".repeat(MESSAGE - 1) + "…");
        assert_eq!(event_note(&"ü".repeat(NOTE)), "ü".repeat((NOTE - 3) / 2) + "…");
    }

    #[test]
    fn a_reason_consists_of_the_words_of_a_text() {
        for (text, reason) in [
            ("not ready", "NotReady"),
            ("2 pods are missing", "PodsAreMissing"),
            ("waiting-for:", "WaitingFor"),
            ("", UNSPECIFIED),
            ("…", UNSPECIFIED),
        ] {
            assert_eq!(condition_reason(text), reason);
        }
    }

    #[test]
    fn a_foreign_text_is_one_line_without_direction_marks() {
        assert_eq!(foreign("a\r\n\tb\u{202e}c\0"), "a b c");
    }

    #[test]
    fn the_name_of_an_event_is_valid_wherever_the_name_of_its_object_is_cut() {
        let name = "a".repeat(229) + "-b";
        assert_eq!(event_name(&name, 0), "a".repeat(229) + ".0000000000000000");
        assert_eq!(event_name("system:controller:Root", 0), "system-controller-root.0000000000000000");
    }
}
