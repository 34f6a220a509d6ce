//! How an edge of a pattern may lie: of which table, which of its ends on the left.

use super::order::Place;
use crate::ids::TableId;
use crate::query::bound::{Direction, EdgePattern};
use crate::query::exec::keys::Part;
use crate::query::layout::{EntityLayout, TableField, TableFields};
use crate::schema::{Catalog, TableKind};

/// One way an edge may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub table: TableId,
    left: TableId,
    right: TableId,
    left_starts: bool,
    /// Whether the same edges were looked at the other way round already: then an edge from a node to itself is left out.
    pub again: bool,
}

impl Way {
    /// The table of the node at a place.
    pub(super) const fn node(&self, place: Place) -> TableId {
        match place {
            Place::Left => self.left,
            Place::Right => self.right,
        }
    }

    /// Whether the edge starts at the place.
    pub(super) fn is_start(&self, place: Place) -> bool {
        (place == Place::Left) == self.left_starts
    }
}

/// All ways between nodes of given tables.
pub(super) fn ways_of(catalog: &Catalog, edge: &EdgePattern, left: &[TableId], right: &[TableId]) -> Vec<Way> {
    let mut ways: Vec<Way> = Vec::new();
    for table in &edge.tables {
        let Some(TableKind::Edge { from, to, .. }) = catalog.table_by_id(*table).map(|table| &table.kind) else {
            continue;
        };
        for left_starts in [true, false] {
            let admitted = match edge.direction {
                Direction::Out => left_starts,
                Direction::In => !left_starts,
                Direction::Either => true,
            };
            let (at_left, at_right) = if left_starts { (*from, *to) } else { (*to, *from) };
            if admitted && left.contains(&at_left) && right.contains(&at_right) {
                // Only where both ends are of one table may an edge lie both ways.
                let again = ways.iter().any(|way| way.table == *table && way.left == at_left);
                ways.push(Way { table: *table, left: at_left, right: at_right, left_starts, again });
            }
        }
    }
    ways
}

/// The key of a node in a plan's column, if it is of a table.
pub(super) fn key_parts(column: &str, entity: &EntityLayout, table: TableId) -> Vec<Part> {
    parts(column, entity, table, TableFields::key)
}

/// The key of a node at an end of an edge in a plan's column, if that is of a table.
pub(super) fn end_parts(column: &str, entity: &EntityLayout, table: TableId, start: bool) -> Vec<Part> {
    parts(column, entity, table, |fields| fields.end(start))
}

fn parts(
    column: &str,
    entity: &EntityLayout,
    table: TableId,
    fields: impl Fn(&TableFields) -> Vec<&TableField>,
) -> Vec<Part> {
    let Some((index, described)) = entity.of_table(table) else { return Vec::new() };
    fields(described)
        .into_iter()
        .map(|field| Part { column: column.to_owned(), within: Some((index, field.field)) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, Timestamp};
    use crate::query::bound::VarId;
    use crate::schema::parse_ddl;

    fn catalog() -> Catalog {
        let ddl = "CREATE NODE TABLE P (id INT64 PRIMARY KEY); CREATE NODE TABLE C (id INT64 PRIMARY KEY);
            CREATE REL TABLE Knows (FROM P TO P); CREATE REL TABLE In (FROM P TO C);";
        parse_ddl(ddl, &Clock::manual(Timestamp(0), 1)).unwrap()
    }

    /// The ways between all tables: the edge's table, and whether it starts on the left and was looked at before.
    fn ways(direction: Direction, table: &str) -> Vec<(bool, bool)> {
        let catalog = catalog();
        let id = |name: &str| catalog.table(name).unwrap().id;
        let (nodes, tables) = (vec![id("P"), id("C")], vec![id(table)]);
        let edge = EdgePattern { var: VarId(0), tables, bound: false, left: 0, right: 1, direction };
        let ways = ways_of(&catalog, &edge, &nodes, &nodes);
        ways.iter().map(|way| (way.is_start(Place::Left), way.again)).collect()
    }

    #[test]
    fn an_edge_lies_as_its_direction_says() {
        assert_eq!(ways(Direction::Out, "Knows"), [(true, false)]);
        assert_eq!(ways(Direction::In, "Knows"), [(false, false)]);
    }

    #[test]
    fn only_edges_within_one_table_lie_both_ways_between_the_same_nodes() {
        assert_eq!(ways(Direction::Either, "Knows"), [(true, false), (false, true)]);
        assert_eq!(ways(Direction::Either, "In"), [(true, false), (false, false)]);
    }

    #[test]
    fn what_the_nodes_do_not_admit_is_no_way() {
        let catalog = catalog();
        let id = |name: &str| catalog.table(name).unwrap().id;
        let tables = vec![id("Knows"), id("In")];
        let edge = EdgePattern { var: VarId(0), tables, bound: false, left: 0, right: 1, direction: Direction::Either };
        let ways = ways_of(&catalog, &edge, &[id("C")], &[id("P")]);
        assert_eq!(
            ways.iter().map(|way| (way.table, way.is_start(Place::Left))).collect::<Vec<_>>(),
            [(id("In"), false)]
        );
    }
}
