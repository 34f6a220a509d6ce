//! Pleach: a branching property-graph store with concurrent merges, on object storage.
