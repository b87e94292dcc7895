//! `runtime/METRICS.md` is the table of metrics in the code.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use opgen::metrics::TABLE;

const BEGIN: &str = "<!-- begin of the generated table -->\n";
const END: &str = "<!-- end of the generated table -->\n";

fn table() -> String {
    let mut text = "| metric | type | labels | unit | meaning |\n|---|---|---|---|---|\n".to_owned();
    for metric in TABLE {
        let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let (name, kind, unit, help) = (metric.name, metric.kind.as_str(), metric.unit, metric.help);
        let help = help.replace('<', "&lt;");
        writeln!(text, "| `{name}` | {kind} | {} | {unit} | {help} |", labels.join(", ")).unwrap();
    }
    text
}

#[test]
fn the_page_of_metrics_is_the_table_in_the_code() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../runtime/METRICS.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the begin of the table");
    let (_, after) = rest.split_once(END).expect("the end of the table");
    let expected = format!("{before}{BEGIN}{}{END}{after}", table());
    if env::var_os("OPGEN_BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(page == expected, "runtime/METRICS.md is not the table in the code; `cargo bless` writes it");
    }
}
