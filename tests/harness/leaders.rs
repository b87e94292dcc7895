//! Checks with the audit log that only the replica that holds the Lease writes, and measures the handovers between replicas.

use std::{collections::BTreeSet, fmt, time::Duration};

use k8s_openapi::jiff::Timestamp;

use crate::{Entries, Entry};

pub use spread::Spread;

mod spread;

/// What the audit log shows about the leaders of one operator.
#[derive(Clone, Debug, Default)]
pub struct LeadReport {
    /// The terms in the order of their starts.
    pub terms: Vec<Term>,
    /// The writes that were received outside a term of their replica and not refused. Two replicas may have written at once.
    pub violations: Vec<String>,
    /// The number of writes that were not refused, without those of the Lease.
    pub writes: usize,
    /// All writes of the Lease, refused ones included, if there are violations.
    pub lease_writes: Vec<String>,
}

/// Who holds the Lease, as far as the log shows.
#[derive(Default)]
struct Holding {
    /// The index of the current term.
    term: Option<usize>,
    /// The writes of the Lease with an unknown outcome since the last one that succeeded.
    uncertain: Vec<UncertainLeaseWrite>,
    /// The writes of other objects since the first uncertain write of the Lease. They are checked when the holder in that time is known.
    unchecked: Vec<Entry>,
}

/// A write of the Lease whose response is no success and no code from 400 to 499: the server may have stored it.
struct UncertainLeaseWrite {
    user: String,
    identity: String,
    received: Timestamp,
}

/// The time for which one process held the Lease.
#[derive(Clone, Debug)]
pub struct Term {
    /// The user of the replica.
    pub user: String,
    /// The identity of the process in the Lease.
    pub identity: String,
    /// When the server received the write that took the Lease.
    pub acquired: Timestamp,
    /// When the server received the last renewal or other write of the holder.
    pub last_seen: Timestamp,
    /// When the server received the last write that was not refused, other than those of the Lease.
    pub last_write: Option<Timestamp>,
    /// When the server had answered the last of these writes.
    pub last_answer: Option<Timestamp>,
    /// When the server received the release of the Lease; `None` if the holder ended without it.
    pub released: Option<Timestamp>,
}

/// The way in which a term ended and the next one began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// The holder released the Lease.
    Release,
    /// The container of the holder was restarted in its Pod, and the new process recognized the identity.
    Restart,
    /// The Lease expired.
    Expiry,
}

impl Term {
    /// Returns a term that a leader has acquired and not used yet.
    fn new(user: &str, identity: &str, acquired: Timestamp) -> Self {
        Self {
            user: user.to_owned(),
            identity: identity.to_owned(),
            acquired,
            last_seen: acquired,
            last_write: None,
            last_answer: None,
            released: None,
        }
    }

    /// Returns the part of the identity that all processes of the Pod share.
    fn pod(&self) -> &str {
        self.identity.rsplit_once('_').map_or(&self.identity, |(pod, _)| pod)
    }
}

impl LeadReport {
    /// Finds the terms (the times in which one process held the Lease) in the audit log, and checks that each write of these users was
    /// received in a term of its user.
    ///
    /// The check is strict: a term begins when the server *receives* the write that takes the Lease, and ends when the server
    /// receives the release or the write that takes it for another process. Only a response with a code from 400 to 499 shows that
    /// a write had no effect.
    ///
    /// # Panics
    /// If the log has no bodies of Leases, or no times.
    pub fn new(entries: &Entries, namespace: &str, lease: &str, users: &BTreeSet<String>) -> Self {
        let (mut report, mut holding) = (Self::default(), Holding::default());
        let entries = entries.as_received();
        for entry in entries.iter().filter(|entry| users.contains(&entry.user) && is_effective(entry)) {
            if is_of_lease(entry, namespace, lease) {
                report.on_lease_write(entry, &mut holding);
            } else {
                report.on_write(entry, &mut holding);
            }
        }
        // After an uncertain write of the Lease at the end of the log nobody is known to hold it.
        report.check_unchecked(None, &mut holding);
        if !report.violations.is_empty() {
            let is_shown = |entry: &&Entry| entry.is_write() && is_of_lease(entry, namespace, lease);
            let show = |entry: &Entry| format!("{} {entry} {:?}", entry.received, entry.holder);
            report.lease_writes = entries.iter().filter(is_shown).map(show).collect();
        }
        report
    }

    /// Returns the users that tried to write the Lease with this name.
    pub fn candidates(entries: &Entries, namespace: &str, lease: &str) -> BTreeSet<String> {
        let entries = entries.with(|entry| entry.holder.is_some() && is_of_lease(entry, namespace, lease));
        entries.iter().map(|entry| entry.user.clone()).collect()
    }

    /// Updates the current term by a write of the Lease. A success starts, continues or ends a term. After a response that leaves open
    /// whether the server stored the write, the other writes are checked when the next success shows who held the Lease.
    fn on_lease_write(&mut self, entry: &Entry, holding: &mut Holding) {
        let identity = entry.holder.as_deref().expect("the audit policy keeps the bodies of Leases");
        let received = time(&entry.received);
        if !(200..300).contains(&entry.code) {
            // A renewal by the holder changes nothing, stored or not, unless another write may have taken the Lease from it.
            let is_by_holder = holding.term.is_some_and(|term| self.terms[term].user == entry.user);
            if !is_by_holder || identity.is_empty() || !holding.uncertain.is_empty() {
                let (user, identity) = (entry.user.clone(), identity.to_owned());
                holding.uncertain.push(UncertainLeaseWrite { user, identity, received });
            }
            return;
        }
        let holder = self.holder_before(identity, holding);
        self.check_unchecked(holder, holding);
        // A write without a holder releases the Lease.
        if identity.is_empty() {
            if let Some(term) = holding.term.take() {
                self.terms[term].released = Some(received);
            }
            return;
        }
        match self.terms.last_mut() {
            Some(term) if term.identity == identity && term.released.is_none() => term.last_seen = received,
            _ => self.terms.push(Term::new(&entry.user, identity, received)),
        }
        holding.term = self.terms.len().checked_sub(1);
    }

    /// Returns the index of the term that was current before a successful write of the Lease with the holder `identity`; `None` if nobody
    /// is known to have held the Lease. The server accepts a write only with the resourceVersion that the process knows. So a renewal by
    /// the current holder shows that no uncertain write of another process was stored. A process that succeeds after an uncertain write of
    /// its own has held the Lease since that write, which starts a term.
    fn holder_before(&mut self, identity: &str, holding: &Holding) -> Option<usize> {
        let stored = holding.uncertain.iter().find(|write| write.identity == identity && !identity.is_empty());
        match (holding.term, stored) {
            (Some(term), _) if self.terms[term].identity == identity => Some(term),
            (_, Some(write)) => {
                self.terms.push(Term::new(&write.user, identity, write.received));
                Some(self.terms.len() - 1)
            }
            (term, None) => term.filter(|_| holding.uncertain.is_empty()),
        }
    }

    /// Checks the writes since the first uncertain write of the Lease, now that `holder`, the index of the term in that time, is known.
    fn check_unchecked(&mut self, holder: Option<usize>, holding: &mut Holding) {
        holding.uncertain.clear();
        for entry in std::mem::take(&mut holding.unchecked) {
            self.check(&entry, holder);
        }
    }

    /// Counts a write of an object other than the Lease, and checks it. After an uncertain write of the Lease it is checked later, when a
    /// successful write shows who held the Lease.
    fn on_write(&mut self, entry: &Entry, holding: &mut Holding) {
        self.writes += 1;
        if holding.uncertain.is_empty() {
            self.check(entry, holding.term);
        } else {
            holding.unchecked.push(entry.clone());
        }
    }

    /// Extends the term with the index `holder` by a write of its user. Records a violation if another user sent the write, or if nobody
    /// held the Lease.
    fn check(&mut self, entry: &Entry, holder: Option<usize>) {
        let (received, answered) = (time(&entry.received), time(&entry.answered));
        let holder = holder.map(|term| &mut self.terms[term]);
        match holder {
            Some(term) if term.user == entry.user => {
                (term.last_seen, term.last_write) = (received, Some(received));
                term.last_answer = term.last_answer.max(Some(answered));
            }
            holder => {
                let holder = holder.map(|term| format!("{} held the Lease since {}", term.identity, term.acquired));
                let holder = holder.unwrap_or_else(|| "nobody held the Lease".to_owned());
                self.violations.push(format!("{} {entry}, but {holder}", entry.received));
            }
        }
    }

    /// Returns each change from one term (the time in which one process held the Lease) to the next one, with the earlier and the later
    /// term.
    pub fn handovers(&self) -> impl Iterator<Item = (Handover, &Term, &Term)> {
        self.terms.windows(2).map(|pair| {
            let (earlier, later) = (&pair[0], &pair[1]);
            let handover = match earlier.released {
                Some(_) => Handover::Release,
                None if earlier.pod() == later.pod() => Handover::Restart,
                None => Handover::Expiry,
            };
            (handover, earlier, later)
        })
    }

    /// Returns the times without a leader: from the last request of a holder to the start of the next term, for each handover.
    pub fn gaps(&self) -> Spread {
        self.handovers().map(|(_, earlier, later)| between(earlier.last_seen, later.acquired)).collect()
    }

    /// Returns the times without a leader for one kind of handover. After a release, the time begins with the release.
    pub fn gaps_after(&self, kind: Handover) -> Spread {
        let handovers = self.handovers().filter(|(handover, ..)| *handover == kind);
        handovers
            .map(|(_, earlier, later)| between(earlier.released.unwrap_or(earlier.last_seen), later.acquired))
            .collect()
    }

    /// Returns the times from the last write of a holder to the start of the next term, if the Lease expired. A short time is a
    /// close call.
    pub fn margins(&self) -> Spread {
        let expiries = self.handovers().filter(|(handover, ..)| *handover == Handover::Expiry);
        expiries.filter_map(|(_, earlier, later)| Some(between(earlier.last_write?, later.acquired))).collect()
    }

    /// Returns the number of terms whose last write was received in time, but answered only during the next term.
    pub fn late_answers(&self) -> usize {
        self.handovers().filter(|(_, earlier, later)| earlier.last_answer > Some(later.acquired)).count()
    }

    /// Returns the term that followed after the process of `user`, which held the Lease, had ended at the time `ended`, and the time from
    /// the end to the start of that term. Returns `None` if another user held the Lease at that time, or if no term followed.
    pub fn successor(&self, user: &str, ended: Timestamp) -> Option<(Duration, &Term)> {
        // The last term that began before the end.
        let index = self.terms.iter().rposition(|term| term.acquired <= ended)?;
        let (term, next) = (&self.terms[index], self.terms.get(index + 1)?);
        let held = term.user == user && term.released.is_none_or(|released| released >= ended);
        held.then(|| (between(ended, next.acquired), next))
    }
}

impl fmt::Display for LeadReport {
    /// Displays the figures, then each write outside a term of its user on a line of its own, and if there are any, each write of the
    /// Lease.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let replicas: BTreeSet<_> = self.terms.iter().map(|term| &term.user).collect();
        writeln!(f, "{} terms of {} replicas, {} writes", self.terms.len(), replicas.len(), self.writes)?;
        writeln!(f, "without a leader:          {}", self.gaps())?;
        writeln!(f, "  after a release:         {}", self.gaps_after(Handover::Release))?;
        writeln!(f, "  after a restart:         {}", self.gaps_after(Handover::Restart))?;
        writeln!(f, "  after an expiry:         {}", self.gaps_after(Handover::Expiry))?;
        writeln!(f, "last write before expiry:  {}", self.margins())?;
        writeln!(f, "terms with a late answer:  {}", self.late_answers())?;
        write!(f, "writes outside a term:     {}", self.violations.len())?;
        self.violations.iter().try_for_each(|violation| write!(f, "\n  {violation}"))?;
        self.lease_writes.iter().try_for_each(|write| write!(f, "\n  lease: {write}"))
    }
}

/// Whether an entry is a write that changed objects, or may have. A dry run or a refused write did not.
fn is_effective(entry: &Entry) -> bool {
    entry.is_write() && !(400..500).contains(&entry.code) && !entry.uri.contains("dryRun=All")
}

fn is_of_lease(entry: &Entry, namespace: &str, lease: &str) -> bool {
    entry.resource == "leases" && entry.namespace == namespace && entry.name == lease
}

/// Returns the time between two moments; zero if they are in the other order.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap_or_else(|error| panic!("`{text}` is no time of an audit log: {error}"))
}
