//! What goes wrong around an operator, and how it gets over that.

mod blind;
mod closure;
mod definition;
mod informer;
mod letter;
mod outage;
mod panic;
mod paused;
mod refused;
mod silence;
mod unlisted;

use libtest_mimic::Trial;

pub(crate) use letter::loose_definition;

pub(crate) fn cases() -> Vec<Trial> {
    [
        outage::cases(),
        blind::cases(),
        definition::cases(),
        letter::cases(),
        panic::cases(),
        paused::cases(),
        informer::cases(),
        refused::cases(),
        closure::cases(),
        unlisted::cases(),
        silence::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
