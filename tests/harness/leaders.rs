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
    /// The writes of the Lease since the last one that succeeded whose outcome is unknown.
    claims: Vec<Claim>,
    /// The writes of other objects since the first of them.
    undecided: Vec<Entry>,
}

/// A write of the Lease whose outcome is unknown.
struct Claim {
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
    /// Checks all writes of these users against the writes of the Lease with this name.
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
                report.on_lease(entry, &mut holding);
            } else {
                report.on_write(entry, &mut holding);
            }
        }
        report.decide(None, &mut holding);
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

    /// Follows the holder of the Lease.
    fn on_lease(&mut self, entry: &Entry, holding: &mut Holding) {
        let identity = entry.holder.as_deref().expect("the audit policy keeps the bodies of Leases");
        let received = time(&entry.received);
        if !(200..300).contains(&entry.code) {
            // It may have been stored, so nobody is known to hold the Lease until the next write.
            let is_own = holding.term.is_some_and(|term| self.terms[term].user == entry.user);
            if !is_own || identity.is_empty() || !holding.claims.is_empty() {
                holding.claims.push(Claim { user: entry.user.clone(), identity: identity.to_owned(), received });
            }
            return;
        }
        let holder = self.holder_before(identity, holding);
        self.decide(holder, holding);
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

    /// Returns the term that was the current one before a successful write of the Lease by this process. The server accepts only a
    /// write of the version that the process knows: so if the holder writes, no claim of another process was stored before, and if
    /// another process writes as the holder, its claim was.
    fn holder_before(&mut self, identity: &str, holding: &Holding) -> Option<usize> {
        let claim = holding.claims.iter().find(|claim| claim.identity == identity && !identity.is_empty());
        match (holding.term, claim) {
            (Some(term), _) if self.terms[term].identity == identity => Some(term),
            (_, Some(claim)) => {
                self.terms.push(Term::new(&claim.user, identity, claim.received));
                Some(self.terms.len() - 1)
            }
            (term, None) => term.filter(|_| holding.claims.is_empty()),
        }
    }

    /// Checks the writes since the first claim, now that the holder in that time is known.
    fn decide(&mut self, holder: Option<usize>, holding: &mut Holding) {
        holding.claims.clear();
        for entry in std::mem::take(&mut holding.undecided) {
            self.check(&entry, holder);
        }
    }

    /// Checks a write of a replica, at once if it is known who holds the Lease.
    fn on_write(&mut self, entry: &Entry, holding: &mut Holding) {
        self.writes += 1;
        if holding.claims.is_empty() {
            self.check(entry, holding.term);
        } else {
            holding.undecided.push(entry.clone());
        }
    }

    /// Checks that a write of a replica is part of its term.
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

    /// Returns the handovers with the terms before and after them.
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

    /// Returns these times for one kind of handover. A release counts from the release itself.
    pub fn gaps_after(&self, kind: Handover) -> Spread {
        let handovers = self.handovers().filter(|(handover, ..)| *handover == kind);
        handovers.map(|(_, one, other)| between(one.released.unwrap_or(one.last_seen), other.acquired)).collect()
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

    /// Returns the term that followed when the holder ended at a time, with the time that passed until then; `None` if this user
    /// did not hold the Lease then.
    pub fn successor(&self, user: &str, ended: Timestamp) -> Option<(Duration, &Term)> {
        let index = self.terms.iter().rposition(|term| term.acquired <= ended)?;
        let (term, next) = (&self.terms[index], self.terms.get(index + 1)?);
        let held = term.user == user && term.released.is_none_or(|released| released >= ended);
        held.then(|| (between(ended, next.acquired), next))
    }
}

/// Displays the figures, and each violation on a line of its own.
impl fmt::Display for LeadReport {
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
