//! Renders a report as one HTML file without external resources.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
};

use maud::{Markup, html};
use opgen_sandbox::page::{document, draw_timeline};

use crate::{
    check::Check,
    report::{CheckSummary, Finding, Report},
};

/// The environment variable that makes [`Trial::run`](crate::Trial::run) write a page: a path that ends in `.html`, or a folder
/// for a file named after the program. Cargo runs tests in the folder of their package.
const PAGE_VARIABLE: &str = "OPGEN_REPORT";

/// How many findings of a check the page shows in full: most have one cause.
const FULL_FINDINGS: usize = 2;

/// How many lines of a difference the page shows.
const MAX_LINES: usize = 500;

impl Report {
    /// Renders the report as one HTML file without external resources, with the timeline of each finding. It contains names,
    /// codes and reasons, and no content of Secrets.
    #[must_use]
    pub fn page(&self) -> String {
        let title = format!("trial of {}", self.program);
        document(&title, &page_body(self, &title))
    }

    /// Writes the [page](Self::page) atomically, and creates its parent folders.
    ///
    /// # Errors
    /// If a folder or the file can't be written; an existing file stays as it is.
    pub fn write_page(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let temporary = path.with_extension(format!("{}.new", std::process::id()));
        let written = fs::write(&temporary, self.page()).and_then(|()| fs::rename(&temporary, path));
        written.inspect_err(|_| drop(fs::remove_file(&temporary)))
    }
}

/// Writes the report as a page if the variable `OPGEN_REPORT` is set, and returns the report. An error of the write becomes a finding in
/// it.
pub(crate) fn write_if_requested(mut report: Report) -> Report {
    let Some(requested) = env::var_os(PAGE_VARIABLE).filter(|requested| !requested.is_empty()) else { return report };
    let path = page_path(&PathBuf::from(requested), &report.program);
    if let Err(error) = report.write_page(&path) {
        report.findings.push(Finding {
            check: Check::Convergence,
            problem: format!("failed to write the report to {}: {error}", path.display()),
            hint: format!("set {PAGE_VARIABLE} to a writable path, or unset it"),
            schedule: String::new(),
            difference: Vec::new(),
            timeline: Default::default(),
        });
    }
    report
}

/// Returns the path of the page: the requested file if it ends in `.html`, otherwise a file in that folder.
fn page_path(requested: &Path, program: &str) -> PathBuf {
    if requested.extension().is_some_and(|end| end == "html") {
        requested.to_owned()
    } else {
        requested.join(format!("{program}.html"))
    }
}

/// Renders the body of the page: the verdict, the checks, the findings and a timeline.
fn page_body(report: &Report, title: &str) -> Markup {
    let count = report.findings.len();
    let took: f64 = report.steps.iter().map(|step| step.took.as_secs_f64()).sum();
    html! {
        header {
            h1 { (title) }
            p.quiet { (count_text(report.runs(), "run")) " in " (format!("{took:.2}")) " s" }
            @if report.is_clean() {
                p { span.verdict.good { "\u{2713} no findings" } }
            } @else {
                p { span.verdict.bad { "\u{2717} " (count_text(count, "finding")) } }
            }
        }
        (checks_table(report))
        (findings_section(report))
        @if !report.timeline.entries.is_empty() {
            h2 { @if report.whole { "The schedule" } @else { "The schedule without faults" } }
            div.panel {
                p.quiet {
                    @if report.whole { "The requests and events of the replayed schedule." }
                    @else { "The requests and events of a run without faults. Every other schedule is compared with it." }
                }
                (draw_timeline("undisturbed", &report.timeline))
            }
        }
        footer.quiet {
            p { "Written by opgen-testing " (env!("CARGO_PKG_VERSION")) ". Each column is one event, in order. Times are those of the sandbox, which skips idle time." }
        }
    }
}

/// Formats a number and a noun, in the plural unless the number is 1.
fn count_text(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Renders the table of the checks, with links to their findings.
fn checks_table(report: &Report) -> Markup {
    html! {
        h2 { "Checks" }
        div.panel.wide {
            table.checks {
                thead { tr { th { "check" } th.number { "runs" } th.number { "time" } th { "verdict" } } }
                tbody {
                    @for CheckSummary { check, runs, took } in &report.steps {
                        @let failed = report.findings.iter().filter(|finding| finding.check == *check).count();
                        @let first = report.findings.iter().position(|finding| finding.check == *check);
                        tr {
                            td { (check.to_string()) }
                            td.number { (runs) }
                            td.number { (format!("{:.2} s", took.as_secs_f64())) }
                            td {
                                @match first {
                                    Some(first) => a.chip.bad href={ "#finding-" (first + 1) } { (count_text(failed, "finding")) },
                                    None => span.chip.good { "ok" },
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the findings: the first of each check in full, the others as a list.
fn findings_section(report: &Report) -> Markup {
    // The number of findings of each check so far.
    let mut counts = BTreeMap::<Check, usize>::new();
    let (full, others): (Vec<_>, Vec<_>) = report.findings.iter().enumerate().partition(|(_, finding)| {
        let count = counts.entry(finding.check).or_default();
        *count += 1;
        *count <= FULL_FINDINGS
    });
    html! {
        @if !full.is_empty() {
            h2 { "Findings" }
            @for (index, finding) in full {
                (full_finding(index + 1, finding))
            }
        }
        @if !others.is_empty() {
            details.panel.others {
                summary { (others.len()) " more, which often have the same cause" }
                @for (index, finding) in others {
                    div id={ "finding-" (index + 1) } {
                        p.problem { span.quiet { (finding.check.to_string()) ": " } (finding.problem) }
                        (replay_command(finding))
                    }
                }
            }
        }
    }
}

/// Renders a finding with its hint, difference and timeline.
fn full_finding(number: usize, finding: &Finding) -> Markup {
    let id = format!("finding-{number}");
    html! {
        article.panel.finding id=(id) {
            p.check { (finding.check.to_string()) }
            h3.problem { (finding.problem) }
            p.hint { b { "hint: " } (finding.hint) }
            (replay_command(finding))
            (difference_block(finding))
            @if !finding.timeline.entries.is_empty() {
                (draw_timeline(&format!("{id}-timeline"), &finding.timeline))
            }
        }
    }
}

/// Renders the command that replays the schedule of a finding, if it has one.
fn replay_command(finding: &Finding) -> Markup {
    html! {
        @if !finding.schedule.is_empty() {
            div.replay {
                code { "OPGEN_REPLAY='" (finding.schedule) "' cargo test" }
                button.copy type="button" hidden { "copy" }
            }
        }
    }
}

/// Renders the difference of a finding, up to `MAX_LINES` lines.
fn difference_block(finding: &Finding) -> Markup {
    let lines = &finding.difference;
    html! {
        @if !lines.is_empty() {
            p.quiet { "Expected (\u{2212}) and actual (+) state:" }
            div.diff tabindex="0" role="group" aria-label="the difference" {
                @for line in lines.iter().take(MAX_LINES) {
                    div class=(line_class(line)) { (line) }
                }
                @if lines.len() > MAX_LINES {
                    div.quiet { "\u{2026} and " (lines.len() - MAX_LINES) " more lines" }
                }
            }
        }
    }
}

/// Returns the CSS class of a line of a difference.
fn line_class(line: &str) -> &'static str {
    match line.as_bytes().first() {
        Some(b'-') => "expected",
        Some(b'+') => "found",
        _ => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Returns a report with a number of findings of one check, with characters that HTML must escape.
    fn report(findings: usize) -> Report {
        let finding = |number: usize| Finding {
            check: Check::Stop,
            problem: format!("wrong <{number}>"),
            hint: "mend \"it\"".to_owned(),
            schedule: format!("after:{number}"),
            difference: vec!["  ConfigMap a".to_owned(), "-   .data: \"</script>\"".to_owned(), "+ Pod b".to_owned()],
            timeline: Default::default(),
        };
        Report {
            program: "shop".to_owned(),
            steps: vec![CheckSummary { check: Check::Stop, runs: 3, took: Duration::from_millis(1500) }],
            findings: (1..=findings).map(finding).collect(),
            ..Report::default()
        }
    }

    #[test]
    fn a_page_shows_all_of_a_finding_as_text() {
        let page = report(4).page();
        for words in [
            "4 findings",
            "wrong &lt;1&gt;",
            "mend &quot;it&quot;",
            "OPGEN_REPLAY='after:4' cargo test",
            "2 more",
            "<div class=\"expected\">-   .data: &quot;&lt;/script&gt;&quot;</div>",
            "<div class=\"found\">+ Pod b</div>",
            "1.50 s",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert_eq!(page.matches("</script>").count(), 1, "nothing ends the script early");
        assert!(report(0).page().contains("no findings"));
    }

    #[test]
    fn a_page_is_written_atomically() {
        let folder = env::temp_dir().join(format!("opgen-page-{}", std::process::id()));
        let path = page_path(&folder.join("deep"), "shop");
        assert_eq!(page_path(Path::new("a/b.html"), "shop"), Path::new("a/b.html"));
        report(1).write_page(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), report(1).page());
        assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 1);
        assert!(report(1).write_page(path.join("below.html")).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_device_and_a_pipe_are_not_replaced_by_a_page() {
        let folder = env::temp_dir().join(format!("opgen-page-special-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (pipe, device) = (folder.join("pipe.html"), folder.join("device.html"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        for special in [&pipe, &device] {
            let error = report(1).write_page(special).unwrap_err();
            assert_eq!(error.to_string(), "not a regular file");
            assert!(!fs::metadata(special).unwrap().is_file(), "{}", special.display());
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing is left beside them");
        fs::remove_dir_all(folder).unwrap();
    }
}
