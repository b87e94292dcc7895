//! An operator that is killed at random moments of its work, and started anew each time.

use std::time::Duration;

use opgen::queue::{Jitter as _, Seeded};
use opgen_tests::{Entries, wait};

use super::{example::Installed, program::Program};

pub(crate) struct Mortal<'a> {
    installed: &'a Installed,
    pub(crate) program: Program,
    random: Seeded,
}

impl<'a> Mortal<'a> {
    pub(crate) fn born(installed: &'a Installed) -> Self {
        let seed = std::env::var("OPGEN_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
        println!("the moments of the kills follow from OPGEN_SEED={seed}");
        Self { installed, program: installed.begin(), random: Seeded::new(seed) }
    }

    /// All that it has asked for, in all its lives.
    pub(crate) async fn asked(&self) -> Entries {
        self.installed.asked(&Entries::default()).await
    }

    /// Is killed and started that often, each time after up to `most` more requests, or when there is nothing to do any
    /// more.
    pub(crate) async fn dies(&mut self, times: usize, most: u64) {
        let mut moments = Vec::with_capacity(times);
        for _ in 0..times {
            let after = self.asked().await.len() + 1 + usize::try_from(self.random.bits() % most).unwrap_or_default();
            let (mut seen, mut same) = (0, 0);
            let moment = wait::until(format!("{after} requests"), Duration::from_secs(60), async || {
                let asked = self.asked().await.len();
                same = if asked == seen { same + 1 } else { 0 };
                seen = asked;
                let idle = same == 40;
                if asked >= after || idle {
                    return Ok(if idle { format!("{asked} (at rest)") } else { asked.to_string() });
                }
                Err(format!("{asked}; {}", self.program.process.log_tail(5)))
            });
            moments.push(moment.await);
            self.program.process.kill();
            self.program = self.installed.begin();
        }
        println!("killed after this many requests: {}", moments.join(", "));
    }
}
