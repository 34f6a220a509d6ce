//! What to do when somebody else published first: a pure decision over what was captured and what arrived.

use std::collections::BTreeSet;

use crate::ids::{IncarnationId, TableId};
use crate::record::Record;

/// What to do on the new head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// The branch is another one of the same name than the request was evaluated against.
    Recreated,
    /// The staged versions hold for the new head as they are.
    Repoint,
    /// The outcome may differ on the new head, or will be that the branch is deleted.
    Evaluate,
}

/// What a request depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stake<'a> {
    /// The head it was evaluated against.
    pub(super) captured: &'a Record,
    /// The life of the branch that the request is tied to: the first it found alive after it had arrived. While there is none it
    /// may begin anew on another.
    pub(super) life: Option<IncarnationId>,
    /// The tables it read by rule, or wrote.
    pub(super) tables: &'a BTreeSet<TableId>,
    /// Whether it depends on what the head contains, as a merge does.
    pub(super) reads_lineage: bool,
}

/// Decides what becomes of a request when `head` is found in place of what it was evaluated against.
///
/// Only the new head is looked at: a table that has the version it had is unchanged, whatever it was in between.
pub(super) fn decide(stake: &Stake<'_>, head: &Record) -> Decision {
    if head.deleted {
        return Decision::Evaluate;
    }
    if stake.life.is_some_and(|life| life != head.incarnation) {
        return Decision::Recreated;
    }
    if head.incarnation != stake.captured.incarnation {
        return Decision::Evaluate;
    }
    let same = |table| head.tables.get(table) == stake.captured.tables.get(table);
    if stake.reads_lineage && head.lineage != stake.captured.lineage {
        return Decision::Evaluate;
    }
    if head.schema == stake.captured.schema && stake.tables.iter().all(same) {
        return Decision::Repoint;
    }
    Decision::Evaluate
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::SchemaHash;
    use crate::testing::{record, table, version};

    fn decided(confirmed: bool, touched: &[TableId], arrive: impl FnOnce(&mut Record)) -> Decision {
        let mut captured = record(7);
        captured.tables = [(table(1), version(1)), (table(2), version(2))].into();
        let mut head = captured.clone();
        head.seq = captured.seq.next();
        arrive(&mut head);
        let tables = touched.iter().copied().collect();
        let life = confirmed.then_some(captured.incarnation);
        decide(&Stake { captured: &captured, life, tables: &tables, reads_lineage: false }, &head)
    }

    #[test]
    fn a_merge_depends_on_what_the_head_contains() {
        let captured = record(7);
        let mut head = captured.clone();
        head.seq = captured.seq.next();
        let tables = BTreeSet::new();
        let decided = |head: &Record, reads_lineage| {
            decide(
                &Stake { captured: &captured, life: Some(captured.incarnation), tables: &tables, reads_lineage },
                head,
            )
        };
        assert_eq!(decided(&head, true), Decision::Repoint, "commits of its own are told by its position");
        head.lineage = captured.contained();
        assert_eq!(decided(&head, true), Decision::Evaluate);
        assert_eq!(decided(&head, false), Decision::Repoint);
    }

    #[test]
    fn what_did_not_change_what_a_request_depends_on_lets_it_stand() {
        let other = |head: &mut Record| drop(head.tables.insert(table(2), version(9)));
        assert_eq!(decided(true, &[table(1)], other), Decision::Repoint);
        assert_eq!(decided(true, &[table(1), table(2)], other), Decision::Evaluate);
        assert_eq!(
            decided(true, &[table(3)], |head| drop(head.tables.insert(table(3), version(9)))),
            Decision::Evaluate
        );
        assert_eq!(decided(true, &[table(2)], |head| drop(head.tables.remove(&table(2)))), Decision::Evaluate);
        assert_eq!(decided(true, &[], |head| head.schema = SchemaHash([9; 32])), Decision::Evaluate);
    }

    #[test]
    fn a_branch_that_was_created_again_takes_only_requests_that_never_saw_the_old_one() {
        let again = |head: &mut Record| head.incarnation = IncarnationId::from_bytes([9; 16]);
        assert_eq!(decided(true, &[], again), Decision::Recreated);
        assert_eq!(decided(false, &[], again), Decision::Evaluate);
        assert_eq!(decided(true, &[], |head| head.deleted = true), Decision::Evaluate);
    }
}
