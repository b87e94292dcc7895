//! Renders a whole HTML page with its style and script, also for one timeline alone.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::draw_timeline;
use crate::fault::Timeline;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The content security policy: the page loads nothing from the network, whatever its content.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Renders a whole page with a title. It needs no other file and no network, follows the reader's light or dark mode,
/// and can be printed.
#[must_use]
pub fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (body) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Renders a whole page with one timeline below a heading and the introduction `words`.
#[must_use]
pub fn alone(title: &str, words: &str, timeline: &Timeline) -> String {
    let body = html! {
        header {
            h1 { (title) }
            p.quiet { (words) }
        }
        div.panel { (draw_timeline("timeline", timeline)) }
        footer.quiet { p { "Columns are the entries of the timeline in their order." } }
    };
    document(title, &body)
}
