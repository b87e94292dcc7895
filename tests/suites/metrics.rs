//! The tables in `runtime/METRICS.md` are those of metrics and alerts in the code.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use opgen::metrics::{ALERTS, TABLE};

const METRICS: [&str; 2] = ["<!-- begin of the generated table -->\n", "<!-- end of the generated table -->\n"];
const ALERTING: [&str; 2] = ["<!-- begin of the table of alerts -->\n", "<!-- end of the table of alerts -->\n"];

fn metrics() -> String {
    let mut text = "| metric | type | labels | unit | meaning |\n|---|---|---|---|---|\n".to_owned();
    for metric in TABLE {
        let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let (name, kind, unit, help) = (metric.name, metric.kind.as_str(), metric.unit, metric.help);
        let help = help.replace('<', "&lt;");
        writeln!(text, "| `{name}` | {kind} | {} | {unit} | {help} |", labels.join(", ")).unwrap();
    }
    text
}

fn alerts() -> String {
    let mut text = "| alert | severity | time | meaning | what to do |\n|---|---|---|---|---|\n".to_owned();
    for alert in ALERTS {
        let time = if alert.minutes > 0 { format!("{} min", alert.minutes) } else { String::new() };
        let [summary, runbook] = [alert.summary, alert.runbook].map(|said| said.replace("$operator", "the operator"));
        writeln!(text, "| `{}` | {} | {time} | {summary} | {runbook} |", alert.name, alert.severity.as_str()).unwrap();
    }
    text
}

/// The page with this table between its two lines.
fn with_table(page: &str, [begin, end]: [&str; 2], table: &str) -> String {
    let (before, rest) = page.split_once(begin).expect("the begin of the table");
    let (_, after) = rest.split_once(end).expect("the end of the table");
    format!("{before}{begin}{table}{end}{after}")
}

#[test]
fn the_page_of_metrics_has_the_tables_in_the_code() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../runtime/METRICS.md");
    let page = fs::read_to_string(&path).unwrap();
    let expected = with_table(&with_table(&page, METRICS, &metrics()), ALERTING, &alerts());
    if env::var_os("OPGEN_BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(page == expected, "runtime/METRICS.md has other tables than the code; `cargo bless` writes them");
    }
}
