//! What goes wrong around an operator, and how it gets over that.

mod blind;
mod definition;
mod letter;
mod outage;
mod panic;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    [outage::cases(), blind::cases(), definition::cases(), letter::cases(), panic::cases()]
        .into_iter()
        .flatten()
        .collect()
}
