//! A map that keeps what was used last, up to a total weight.

use std::collections::{BTreeMap, HashMap};

use object_store::path::Path;

/// Least recently used entries go first. Unlike a cache that weighs popularity, a new entry is never turned away.
#[derive(Debug)]
pub(super) struct Recent<V> {
    bound: usize,
    weight: usize,
    clock: u64,
    entries: HashMap<Path, Entry<V>>,
    by_use: BTreeMap<u64, Path>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    weight: usize,
    used: u64,
}

impl<V> Recent<V> {
    pub(super) fn new(bound: usize) -> Self {
        Self { bound, weight: 0, clock: 0, entries: HashMap::new(), by_use: BTreeMap::new() }
    }

    /// Keeps `value`, at the cost of what was used longest ago. What is heavier than the bound is not kept at all.
    pub(super) fn insert(&mut self, path: Path, value: V, weight: usize) {
        self.remove(&path);
        if weight > self.bound {
            return;
        }
        self.clock += 1;
        self.weight += weight;
        self.by_use.insert(self.clock, path.clone());
        self.entries.insert(path, Entry { value, weight, used: self.clock });
        while self.weight > self.bound {
            let Some((_, oldest)) = self.by_use.pop_first() else { break };
            if let Some(entry) = self.entries.remove(&oldest) {
                self.weight -= entry.weight;
            }
        }
    }

    pub(super) fn get(&mut self, path: &Path) -> Option<&V> {
        let entry = self.entries.get_mut(path)?;
        self.by_use.remove(&entry.used);
        self.clock += 1;
        entry.used = self.clock;
        self.by_use.insert(self.clock, path.clone());
        Some(&entry.value)
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        self.entries.contains_key(path)
    }

    pub(super) fn remove(&mut self, path: &Path) -> Option<V> {
        let entry = self.entries.remove(path)?;
        self.weight -= entry.weight;
        self.by_use.remove(&entry.used);
        Some(entry.value)
    }

    /// Lets go of all entries.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.bound);
    }

    pub(super) fn weight(&self) -> usize {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let (a, b, c, d) = (Path::from("a"), Path::from("b"), Path::from("c"), Path::from("d"));
        let mut recent = Recent::new(10);
        recent.insert(a.clone(), 1, 4);
        recent.insert(b.clone(), 2, 4);
        assert_eq!(recent.get(&a), Some(&1));
        recent.insert(c.clone(), 3, 4);
        assert!(recent.contains(&a) && !recent.contains(&b) && recent.contains(&c));
        assert_eq!(recent.weight(), 8);
        recent.insert(d.clone(), 4, 11);
        assert!(!recent.contains(&d) && recent.contains(&a), "what cannot be kept must not drive out what can");
        recent.insert(a.clone(), 5, 1);
        assert_eq!((recent.weight(), recent.get(&a)), (5, Some(&5)));
        recent.remove(&a);
        recent.remove(&c);
        assert_eq!((recent.weight(), recent.by_use.len()), (0, 0));
    }
}
