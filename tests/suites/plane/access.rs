//! Permissions of every form, used by an operator that has its generated role and nothing else.

mod call;
mod clerk;
mod role;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    [call::cases(), role::cases()].into_iter().flatten().collect()
}
