//! When an operator has nothing more to do.

use opgen_tests::{
    Entries,
    wait::{self, PATIENCE},
};

/// How many looks in a row must show the same.
const LOOKS: usize = 20;

/// Waits until an operator has asked for nothing for a while, and gives what it has `asked` for.
pub(crate) async fn settled(mut asked: impl AsyncFnMut() -> Entries) -> Entries {
    let (mut seen, mut same) = (0, 0);
    wait::until("the operator is at rest", PATIENCE, async || {
        let asked = asked().await;
        same = if asked.len() == seen { same + 1 } else { 0 };
        seen = asked.len();
        if same == LOOKS { Ok(asked) } else { Err(format!("{seen} requests")) }
    })
    .await
}
