//! Where a batch ends: at the first request that depends on one before it, or when it is large enough.

use std::collections::BTreeMap;

use super::request::Weight;
use crate::write::chunk::{MOST_PROBES, Probes};
use crate::write::footprint::Footprint;
use crate::write::input::Input;
use crate::write::shape::Shapes;

/// How much goes into one commit; a single request may be more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneLimits {
    /// Requests.
    pub(crate) requests: usize,
    /// Rows put or deleted.
    pub(crate) rows: u64,
    /// Bytes of what was given.
    pub(crate) bytes: u64,
}

impl Default for LaneLimits {
    fn default() -> Self {
        Self { requests: 256, rows: 10_000, bytes: 8 << 20 }
    }
}

impl LaneLimits {
    /// Whether something is small enough to go through a lane at all.
    pub(crate) const fn admit(&self, weight: Weight) -> bool {
        weight.rows <= self.rows && weight.bytes <= self.bytes
    }
}

/// A batch that is being put together.
pub(super) struct Room {
    limits: LaneLimits,
    requests: usize,
    taken: Weight,
    /// Keys to be looked up, by space.
    probes: BTreeMap<usize, usize>,
}

impl Room {
    pub(super) fn new(limits: LaneLimits) -> Self {
        Self { limits, requests: 0, taken: Weight::default(), probes: BTreeMap::new() }
    }

    /// Takes a request in, if there is room for it or it is the first.
    pub(super) fn take(&mut self, weight: Weight) -> bool {
        let taken = Weight { rows: self.taken.rows + weight.rows, bytes: self.taken.bytes + weight.bytes };
        if self.requests > 0 && (self.requests >= self.limits.requests || !self.limits.admit(taken)) {
            return false;
        }
        (self.requests, self.taken) = (self.requests + 1, taken);
        true
    }

    /// The same, once it is known what is to be looked up for it: no more than a filter can list.
    pub(super) fn take_input(&mut self, weight: Weight, input: &Input) -> bool {
        let read = input.read.values().sum();
        let mut probes = self.probes.clone();
        let deleted = input.deleted.iter().map(|(table, (probes, _))| (usize::MAX - table, probes));
        let all = input.probes.iter().map(|(space, probes)| (*space, probes)).chain(deleted);
        for (space, asked) in all {
            let asked = match asked {
                Probes::Few(few) => few.len(),
                Probes::Many => MOST_PROBES + 1,
            };
            *probes.entry(space).or_default() += asked;
        }
        let listed = probes.values().all(|asked| *asked <= MOST_PROBES);
        if (self.requests > 0 && !listed) || !self.take(Weight { rows: weight.rows.max(read), ..weight }) {
            return false;
        }
        self.probes = probes;
        true
    }
}

/// How many of the first `prints` are independent of those before them; at least one.
pub(super) fn independent<'a>(prints: impl IntoIterator<Item = &'a Footprint>, shapes: &Shapes) -> usize {
    let mut before = Footprint::default();
    let mut count = 0;
    for print in prints {
        if count > 0 && !before.leaves_alone(print, shapes) {
            break;
        }
        before.add(print.clone());
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_takes_what_there_is_room_for_and_one_request_whatever_it_is() {
        let limits = LaneLimits { requests: 3, rows: 10, bytes: 100 };
        let took = |weights: &[(u64, u64)]| {
            let mut room = Room::new(limits);
            weights.iter().take_while(|(rows, bytes)| room.take(Weight { rows: *rows, bytes: *bytes })).count()
        };
        assert_eq!(took(&[(1, 1); 5]), 3);
        assert_eq!(took(&[(4, 1); 5]), 2);
        assert_eq!(took(&[(1, 60); 5]), 1);
        assert_eq!(took(&[(50, 500), (1, 1)]), 1);
    }
}
