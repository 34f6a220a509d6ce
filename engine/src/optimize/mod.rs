//! Optimizing: tables of a branch are rewritten into few large files without changing what they say, and published like any write.
//!
//! Invariants
//! 1. The rows of a table are the same before and after, with their hashes, their changes and their hidden ids; only where they lie
//!    differs. So it is no change for a merge, whichever side did it.
//! 2. A table that somebody else wrote to meanwhile is compacted again from what they left: what was staged for another version is never
//!    published. Where only other tables moved, what was staged stands.
//! 3. What all tables hold in memory together is bounded, however many there are and however large.
//!
//! Order of effects: open the tables · decide by their manifests · stage one version for each that gains by it, side by side · publish
//! all of them as one commit.
//!
//! What a crash leaves behind: what a publish does.

mod report;
mod work;

pub use report::{OptimizeOptions, OptimizeReport, OptimizedTable};
