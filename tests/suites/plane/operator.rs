//! Operators at work: what they write and what they leave alone, how they start and how they end.

pub(crate) mod event;
pub(crate) mod example;
pub(crate) mod install;
pub(crate) mod kinds;
pub(crate) mod log;
pub(crate) mod meddler;
pub(crate) mod mirror;
pub(crate) mod mortal;
pub(crate) mod owners;
mod policies;
pub(crate) mod probe;
pub(crate) mod program;
pub(crate) mod site;
pub(crate) mod tally;

mod application;
mod backlog;
mod brake;
mod bucket;
mod certificate;
mod conditions;
mod configuration;
mod cycle;
mod deletion;
mod external;
mod fight;
pub(crate) mod fleet;
mod follow;
mod foreign;
mod gate;
mod group;
mod hooks;
mod kill;
mod manager;
mod manifest;
mod measure;
mod metrics;
mod orphan;
mod pass;
pub(crate) mod picture;
mod remote;
mod repeated;
pub(crate) mod rest;
pub(crate) mod right;
mod run;
mod runnable;
mod select;
mod status;
mod stop;
mod texts;
pub(crate) mod verbs;
mod versions;
mod wake;
mod webhooks;
pub(crate) mod why;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    let suites = [
        application::cases(),
        remote::cases(),
        external::cases(),
        bucket::cases(),
        run::cases(),
        runnable::cases(),
        manager::cases(),
        configuration::cases(),
        kill::cases(),
        stop::cases(),
        measure::cases(),
        metrics::cases(),
        pass::cases(),
        repeated::cases(),
        conditions::cases(),
        fight::cases(),
        brake::cases(),
        certificate::cases(),
        cycle::cases(),
        hooks::cases(),
        backlog::cases(),
        deletion::cases(),
        orphan::cases(),
        group::cases(),
        picture::cases(),
        foreign::cases(),
        follow::cases(),
        manifest::cases(),
        wake::cases(),
        policies::cases(),
        webhooks::cases(),
        why::cases(),
        verbs::cases(),
        versions::cases(),
        select::cases(),
        status::cases(),
        texts::cases(),
    ];
    suites.into_iter().flatten().collect()
}
