//! What a page must show, at two widths.

use libtest_mimic::{Failed, Trial};
use opgen_testing::{Check, Report};

use crate::{
    browser::{self, REQUIRE, Seen},
    careless::{CONTENT, Careless},
};

/// Wide as a desk, and narrow as half of it.
const WIDTHS: [u32; 2] = [1600, 800];

pub(crate) fn cases() -> Vec<Trial> {
    let mut cases = vec![Trial::test("nothing_of_a_secret_is_on_the_page", nothing_of_a_secret)];
    cases.push(case("a_broken_page_is_seen_to_be_broken", a_broken_page));
    for width in WIDTHS {
        cases.push(case(&format!("findings_are_drawn_and_nothing_overlaps_at_{width}"), move || findings(width)));
        cases.push(case(&format!("a_clean_report_shows_states_over_time_at_{width}"), move || states(width)));
    }
    cases
}

/// A case with a browser: ignored where there is none, and it shows why where libtest shows a kind.
fn case(name: &str, body: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    match browser::program() {
        Ok(_) => Trial::test(name, body),
        Err(why) => {
            let required = std::env::var_os(REQUIRE).is_some_and(|value| value != "0");
            let kind = why.clone();
            Trial::test(name, move || Err(why.into())).with_kind(kind).with_ignored_flag(!required)
        }
    }
}

/// With findings whose lanes have stops.
fn careless() -> Report {
    opgen_testing::trial_of(Careless).only([Check::Convergence, Check::Stop]).run()
}

fn nothing_of_a_secret() -> Result<(), Failed> {
    let report = careless();
    let page = report.page();
    assert!(page.contains("Secret"), "{page}");
    let encoded = "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ==";
    for part in [CONTENT, "battery", encoded, &encoded[..12]] {
        assert!(!page.contains(part), "{part} is on the page");
    }
    Ok(())
}

fn findings(width: u32) -> Result<(), Failed> {
    let report = careless();
    assert!(!report.is_clean(), "the careless program is caught: {report}");
    let seen = browser::open(&report.page(), width);
    is_in_order(&seen);
    let of = |check: &Check| report.findings.iter().filter(|finding| finding.check == *check).count();
    assert_eq!(seen.findings, Check::ALL.iter().map(|check| of(check).min(2)).sum::<usize>());
    assert!(seen.marks > 20 && seen.lanes > 4 && seen.stops == 2 && seen.hits > 0, "{seen:?}");
    let [first, second, other, last] = seen.told.as_slice() else { panic!("{seen:?}") };
    assert!(first.contains("call 1:") && [second, other].iter().all(|one| *one != first), "{seen:?}");
    assert!(last.contains(" s: ") && last != second, "{seen:?}");
    let [before, wider, all] = seen.steps.as_slice() else { panic!("{seen:?}") };
    assert!(wider > before && all < wider, "{seen:?}");
    assert_eq!(seen.none, (0, 0), "{seen:?}");
    assert!(seen.sifted.0 == 1 && seen.sifted.1 > 0 && seen.sifted.1 < seen.marks, "{seen:?}");
    Ok(())
}

fn states(width: u32) -> Result<(), Failed> {
    let report = opgen_testing::trial(webapp_controller::operator).only([Check::Convergence]).run();
    assert!(report.is_clean(), "{report}");
    let seen = browser::open(&report.page(), width);
    is_in_order(&seen);
    assert_eq!(seen.findings, 0);
    assert!(seen.phases > 3, "conditions are drawn: {seen:?}");
    assert!(seen.passes > 3 && seen.flat == 0, "passes are drawn: {seen:?}");
    assert!(seen.stops == 0 && seen.ends == 1, "the end is no crash: {seen:?}");
    Ok(())
}

/// What is asserted of pages is seen where it is wrong.
fn a_broken_page() -> Result<(), Failed> {
    let breaks = ".m { left: 0 !important } .checks { min-width: 3000px } .panel.wide { overflow: visible } .rule.stop { height: 9px } .chip { width: 3px; white-space: nowrap }";
    let page = careless().page();
    let page = page.replace("</style>", &format!("{breaks}</style>"));
    let page = page.replace("<header>", "<header><img src=\"http://127.0.0.1:9/picture\"><script>nothing()</script>");
    let seen = browser::open(&page, 1600);
    assert!(seen.sticks_out > 1000 && !seen.overlaps.is_empty() && !seen.cut.is_empty(), "{seen:?}");
    assert!(!seen.console.is_empty(), "{seen:?}");
    assert!(
        seen.wrong.iter().any(|one| one.contains("nothing")) && seen.wrong.iter().any(|one| one.contains("picture")),
        "{seen:?}"
    );
    Ok(())
}

fn is_in_order(seen: &Seen) {
    assert!(seen.console.is_empty(), "the console: {:?}", seen.console);
    assert!(seen.wrong.is_empty(), "errors: {:?}", seen.wrong);
    assert!(seen.fetched.is_empty(), "fetched: {:?}", seen.fetched);
    assert!(seen.sticks_out <= 0, "the page is {} px too wide", seen.sticks_out);
    assert!(seen.cut.is_empty(), "texts leave their box: {:#?}", seen.cut);
    assert!(seen.overlaps.is_empty(), "texts overlap: {:#?}", seen.overlaps);
    assert!(seen.texts > 100 && seen.short == 0, "{seen:?}");
}
