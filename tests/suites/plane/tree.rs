//! Cases about the options of nodes, and about the objects that nodes create, change and delete.

mod adopt;
mod data;
mod delete;
mod each;
mod enforced;
mod handover;
mod if_api;
mod inputs;
mod kinds;
mod list_items;
mod marks;
mod namespace;
mod once;
mod orphans;
mod plain;
mod readiness;
mod retired;
mod stripped;
mod timeout;
mod undecodable;
mod versions;
mod when;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    let suites = [
        once::cases(),
        data::cases(),
        delete::cases(),
        each::cases(),
        when::cases(),
        if_api::cases(),
        retired::cases(),
        stripped::cases(),
        handover::cases(),
        inputs::cases(),
        adopt::cases(),
        list_items::cases(),
        marks::cases(),
        namespace::cases(),
        orphans::cases(),
        enforced::cases(),
        undecodable::cases(),
        plain::cases(),
        readiness::cases(),
        timeout::cases(),
        versions::cases(),
    ];
    suites.into_iter().flatten().collect()
}
