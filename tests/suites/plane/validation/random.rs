//! Generates specs: each rule is violated now and then, and most specs violate few rules.

use opgen::queue::{Jitter as _, Seeded};

use super::kinds::{Credentials, Limits, Mode, Pool, Ports, Range, RuledSpec, Source, Target};

/// A generator with a seed.
pub(crate) struct Random(Seeded);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Seeded::new(seed))
    }

    /// Returns a number from 0 to `end`, without `end`.
    fn below(&self, end: u64) -> u64 {
        (self.0.bits() >> 20) % end
    }

    fn number(&self, end: u8) -> i32 {
        i32::try_from(self.below(end.into())).unwrap()
    }

    /// Returns true in one of `count` cases.
    fn one_in(&self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn maybe<T>(&self, make: impl FnOnce() -> T) -> Option<T> {
        self.one_in(2).then(make)
    }

    fn word(&self) -> String {
        ["a", "b", "c'\\"][usize::try_from(self.below(3)).unwrap()].to_owned()
    }

    /// Returns a valid or an invalid spec, the edit of an old one or an unrelated one.
    pub(crate) fn spec(&self, old: Option<&RuledSpec>) -> RuledSpec {
        let mut spec = match old {
            Some(old) if !self.one_in(8) => old.clone(),
            _ => self.unrelated(),
        };
        for _ in 0..self.below(4) {
            self.edit(&mut spec);
        }
        spec
    }

    /// Returns a spec that mostly violates no rule.
    fn unrelated(&self) -> RuledSpec {
        RuledSpec {
            class: self.word(),
            zone: self.maybe(|| self.word()),
            address: self.maybe(|| self.word()),
            max_replicas: self.number(4) + 2,
            min_replicas: self.maybe(|| self.number(3)),
            high: self.maybe(|| f64::from(self.number(4)) + 1.5),
            pools: vec![self.pool()],
            credentials: Credentials { token: self.maybe(|| self.word()) },
            ..RuledSpec::default()
        }
    }

    fn pool(&self) -> Pool {
        Pool { name: self.word(), port: u16::try_from(self.below(3)).unwrap(), engine: self.word() }
    }

    /// Changes a field, or two that belong together.
    fn edit(&self, spec: &mut RuledSpec) {
        match self.below(20) {
            0 => spec.class = self.word(),
            1 => spec.zone = self.maybe(|| self.word()),
            2 => spec.address = self.maybe(|| self.word()),
            3 => spec.mode = if self.one_in(2) { Mode::Public } else { Mode::Private },
            4 => spec.host_name = self.maybe(|| self.word()),
            5 => spec.tls = self.maybe(|| self.one_in(2)),
            6 => spec.insecure_port = self.maybe(|| 80),
            7 => spec.size = self.maybe(|| self.number(5)),
            8 => spec.namespace = self.maybe(|| self.word()),
            9 => spec.min_replicas = self.maybe(|| self.number(5)),
            10 => spec.max_replicas = self.number(5),
            11 => spec.low = [0.0, 1.0, 1.5, 2.0][usize::try_from(self.below(4)).unwrap()],
            12 => spec.high = self.maybe(|| f64::from(self.number(4)) / 2.0),
            13 => spec.hosts = (0..self.below(4)).map(|_| self.word()).collect(),
            14 => self.edit_pools(&mut spec.pools),
            15 => {
                let source = || Source { git: self.maybe(|| self.word()), image: self.maybe(|| self.word()) };
                spec.source = self.maybe(source);
            }
            16 => {
                let [cpu, memory, disk] = [(), (), ()].map(|()| self.maybe(|| self.number(3)));
                spec.limits.insert(self.word().chars().take(1).collect(), Limits { cpu, memory, disk });
            }
            17 => spec.target = self.maybe(|| self.target()),
            _ if self.one_in(2) => spec.credentials.token = self.maybe(|| self.word()),
            _ => spec.ranges = (0..self.below(4)).map(|_| Range { from: self.number(3), to: self.number(3) }).collect(),
        }
    }

    fn target(&self) -> Target {
        if self.one_in(4) {
            return Target::Everything {};
        }
        Target::PortRange(Ports { first: self.number(3), last: self.number(4) })
    }

    /// Replaces or adds a pool; two pools never have one name, which the API server would refuse for the type of the list.
    fn edit_pools(&self, pools: &mut Vec<Pool>) {
        let pool = self.pool();
        pools.retain(|held| held.name != pool.name);
        if !self.one_in(4) {
            pools.push(pool);
        }
    }
}
