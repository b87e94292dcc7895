//! Checks that an idle operator neither writes nor polls more than once a second.

use std::collections::BTreeMap;

use opgen_sandbox::fault::{CallSeen, Happening};
use tokio::time::{Instant, sleep};

use crate::life::{Trouble, World};

/// How often a program may read one path at rest: a poll, and no loop.
const READS_PER_SECOND: u64 = 1;

impl World<'_> {
    /// Lets time go by, then replaces the process: neither is a reason to write. Reads are those of a program that polls.
    pub(crate) async fn idle(&mut self) -> Result<(), Trouble> {
        let (before, began) = (self.faults.calls(), Instant::now());
        sleep(self.prepared.pause * 3).await;
        let written = self.asked_since(before, CallSeen::is_write);
        if !written.is_empty() {
            return Err(Trouble::Busy(written));
        }
        let reads = self.asked_since(before, |call| !call.is_watch());
        // One that tells of its passes and had none does not poll.
        if !reads.is_empty() && self.tells_passes() && !self.had_passes_since(before) {
            return Err(Trouble::Busy(reads));
        }
        let hot = self.hot_reads(before, began.elapsed().as_secs() + 1);
        if !hot.is_empty() {
            return Err(Trouble::Polling(hot));
        }
        self.kill().await;
        self.rest("a new process takes over").await?;
        let written = self.asked_since(before, CallSeen::is_write);
        if written.is_empty() { Ok(()) } else { Err(Trouble::Busy(written)) }
    }

    fn asked_since(&self, number: u64, which: impl Fn(&CallSeen) -> bool) -> Vec<String> {
        let timeline = self.faults.timeline();
        timeline.calls().filter(|call| call.number > number && which(call)).map(ToString::to_string).collect()
    }

    fn tells_passes(&self) -> bool {
        self.faults.timeline().moments.iter().any(|moment| matches!(moment.what, Happening::Pass(_)))
    }

    fn had_passes_since(&self, number: u64) -> bool {
        let timeline = self.faults.timeline();
        let since = timeline.moments.iter().rev();
        let mut since =
            since.take_while(|moment| !matches!(&moment.what, Happening::Call(call) if call.number <= number));
        since.any(|moment| matches!(moment.what, Happening::Pass(_)))
    }

    /// The reads that are made more often than a poll is, each with how often.
    fn hot_reads(&self, number: u64, seconds: u64) -> Vec<String> {
        let mut counts = BTreeMap::<String, u64>::new();
        for call in self.faults.timeline().calls().filter(|call| call.number > number && !call.is_watch()) {
            *counts.entry(format!("{} {}", call.method, call.uri)).or_default() += 1;
        }
        let most = seconds.max(1) * READS_PER_SECOND;
        let hot = counts.into_iter().filter(|(_, count)| *count > most);
        hot.map(|(call, count)| format!("{call}, {count} times in {seconds} s")).collect()
    }
}
