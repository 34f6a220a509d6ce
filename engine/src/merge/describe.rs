//! Conflicts as people read them: complete, in the order of tables and keys, each with what both sides and their bases have.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;

use super::cases::Case;
use super::constraints::{Broken, CaseRef};
use super::detached::Detached;
use super::ends::Tables;
use super::keys::Place;
use super::row::{self, RowConflict, Seen, Side};
use super::rows::{Found, places_of, read};
use crate::error::{Conflict, ConflictKind, Error, RowName};
use crate::value::{Value, write_json};
use crate::write::row::{Row, write_cell};
use crate::write::shape::{Shapes, TableShape};

/// All that is left to people, in order.
///
/// # Errors
/// When rows cannot be read.
pub(super) async fn describe(
    shapes: &Shapes,
    tables: &Tables,
    detached: &[Detached],
    broken: &[Broken],
) -> Result<Vec<Conflict>, Error> {
    let open = tables.iter().flat_map(|(index, cases)| {
        let open = cases.all.iter().enumerate().filter(|(_, case)| !case.open.is_empty());
        open.map(|(at, _)| (*index, at))
    });
    let nodes = detached.iter().filter_map(|conflict| {
        let (index, key) = conflict.node;
        Some((index, tables.get(&index)?.place_of(key)?))
    });
    let others = detached.iter().flat_map(|conflict| conflict.edges.iter().copied());
    let concerned = broken.iter().flat_map(|broken| broken.cases.iter().copied());
    let wanted: BTreeSet<CaseRef> = open.chain(nodes).chain(others).chain(concerned).collect();
    let page = Page { shapes, tables, rows: rows_of(shapes, tables, &wanted).await? };

    let mut all: Vec<(CaseRef, Conflict)> = Vec::new();
    for (index, at) in &wanted {
        let Some(case) = page.case((*index, *at)) else { continue };
        all.extend(
            case.open.iter().filter_map(|conflict| Some(((*index, *at), page.of_row((*index, *at), conflict)?))),
        );
    }
    for conflict in detached {
        let (index, key) = conflict.node;
        let Some(at) = tables.get(&index).and_then(|cases| cases.place_of(key)) else { continue };
        if let Some(mut told) = page.of_case((index, at), conflict.kind) {
            told.with = conflict.edges.iter().filter_map(|edge| page.name(*edge)).collect();
            told.with.sort_unstable();
            all.push(((index, at), told));
        }
    }
    for broken in broken {
        let Some((first, others)) = broken.cases.split_first() else { continue };
        if let Some(mut told) = page.of_case(*first, broken.kind) {
            told.property = broken.check.clone().or_else(|| page.columns(first.0, broken.space?));
            told.with = others.iter().filter_map(|other| page.name(*other)).collect();
            told.with.extend(broken.unchanged.as_ref().and_then(|row| page.name_of(first.0, row)));
            all.push((*first, told));
        }
    }
    // Those of one row stay in the order of its properties.
    all.sort_by(|(one, _), (other, _)| page.compare(*one, *other));
    Ok(all.into_iter().map(|(_, conflict)| conflict).collect())
}

/// What is read of the rows of some cases.
struct Page<'a> {
    shapes: &'a Shapes,
    tables: &'a Tables,
    rows: BTreeMap<usize, Found>,
}

/// Reads both sides and the latest base of all cases: conflicts are few, and people want to see them.
async fn rows_of(
    shapes: &Shapes,
    tables: &Tables,
    wanted: &BTreeSet<CaseRef>,
) -> Result<BTreeMap<usize, Found>, Error> {
    let mut reading = Vec::new();
    for (index, cases) in tables {
        let Some(shape) = shapes.tables.get(*index) else { continue };
        let of_table = wanted.range((*index, 0)..=(*index, usize::MAX));
        let places: Vec<Place> = of_table
            .filter_map(|(_, at)| cases.all.get(*at))
            .flat_map(|case| [case.source, case.target, cases.versions.at(0, case.key, case.source)])
            .flatten()
            .collect();
        if !places.is_empty() {
            reading.push(async move {
                Ok::<_, Error>((*index, read(&cases.versions, shape, &shape.layout.all_columns(), places).await?))
            });
        }
    }
    Ok(try_join_all(reading).await?.into_iter().collect())
}

impl Page<'_> {
    fn shape(&self, index: usize) -> Option<&TableShape> {
        self.shapes.tables.get(index)
    }

    fn case(&self, (index, at): CaseRef) -> Option<&Case> {
        self.tables.get(&index)?.all.get(at)
    }

    fn row(&self, at: CaseRef, place: Option<Place>) -> Option<&Row> {
        self.rows.get(&at.0)?.at(place)
    }

    /// A row of the case, for its key.
    fn any(&self, at: CaseRef) -> Option<&Row> {
        let case = self.case(at)?;
        self.row(at, case.target).or_else(|| self.row(at, case.source)).or_else(|| self.row(at, self.base(at)))
    }

    fn base(&self, at: CaseRef) -> Option<Place> {
        let case = self.case(at)?;
        self.tables.get(&at.0)?.versions.at(0, case.key, case.source)
    }

    fn name(&self, at: CaseRef) -> Option<RowName> {
        self.name_of(at.0, self.any(at)?)
    }

    fn name_of(&self, index: usize, row: &Row) -> Option<RowName> {
        let shape = self.shape(index)?;
        Some(RowName { table: shape.name().to_owned(), key: row.text(self.shapes, shape, shape.key) })
    }

    fn columns(&self, index: usize, space: usize) -> Option<String> {
        let shape = self.shape(index)?;
        let names = self.shapes.columns_of(space).iter().map(|column| shape.property_at(*column));
        let names: Option<Vec<&str>> = names.collect();
        Some(names.map_or_else(
            || {
                if shape.ends.is_some_and(|ends| ends.from.space == space) {
                    "from".to_owned()
                } else {
                    "to".to_owned()
                }
            },
            |names| names.join(", "),
        ))
    }

    /// A conflict about a row as a whole.
    fn of_case(&self, at: CaseRef, kind: ConflictKind) -> Option<Conflict> {
        let RowName { table, key } = self.name(at)?;
        let shape = self.shape(at.0)?;
        let case = self.case(at)?;
        let told = |place: Option<Place>| Some(row_json(shape, &places_of(shape, self.row(at, place)?)));
        let state = |place: Option<Place>| told(place).unwrap_or_else(|| "null".to_owned());
        Some(Conflict {
            key: Some(key),
            base: Some(state(self.base(at))),
            source: Some(state(case.on(Side::Source))),
            target: Some(state(case.on(Side::Target))),
            ..Conflict::of_table(kind, table)
        })
    }

    fn of_row(&self, at: CaseRef, conflict: &RowConflict) -> Option<Conflict> {
        let RowName { table, key } = self.name(at)?;
        let shape = self.shape(at.0)?;
        let property = match conflict.place {
            None => None,
            Some(row::Place::Ends) => Some("from, to".to_owned()),
            Some(row::Place::Property(id)) => {
                let found = shape.properties.iter().find(|property| property.def.id == id);
                Some(found.map_or_else(|| id.to_string(), |property| property.def.name.clone()))
            }
        };
        let told = |seen: &Seen| match seen {
            Seen::Unknown => None,
            Seen::Absent => Some("null".to_owned()),
            Seen::Value(value) => Some(value_json(shape, conflict.place, value)),
            Seen::Row(row) => Some(row_json(shape, row)),
        };
        Some(Conflict {
            key: Some(key),
            property,
            base: told(&conflict.base),
            source: told(&conflict.source),
            target: told(&conflict.target),
            ..Conflict::of_table(conflict.kind, table)
        })
    }

    /// The order of tables, then of keys.
    fn compare(&self, one: CaseRef, other: CaseRef) -> Ordering {
        one.0.cmp(&other.0).then_with(|| {
            let key = |at: CaseRef| {
                let (shape, row) = (self.shape(at.0)?, self.any(at)?);
                Some(row.tuple(self.shapes, shape, shape.key))
            };
            let (one, other) = (key(one).unwrap_or_default(), key(other).unwrap_or_default());
            let parts = one.iter().zip(&other).map(|(one, other)| one.cmp_same_type(other));
            parts.fold(Ordering::Equal, Ordering::then)
        })
    }
}

/// The properties of a row outside its key, as an object; null where there is none.
fn row_json(shape: &TableShape, row: &row::Row) -> String {
    let mut out = vec![b'{'];
    let separate = |out: &mut Vec<u8>| {
        if out.len() > 1 {
            out.push(b',');
        }
    };
    if let Some(ends) = row.0.get(&row::Place::Ends) {
        out.extend_from_slice(b"\"from, to\":");
        out.extend_from_slice(value_json(shape, Some(row::Place::Ends), ends).as_bytes());
    }
    for property in &shape.properties {
        let Some(value) = row.0.get(&row::Place::Property(property.def.id)) else { continue };
        separate(&mut out);
        write_json(&Value::String(property.def.name.clone()), &crate::schema::Type::String, &mut out);
        out.push(b':');
        write_json(value, &property.def.ty, &mut out);
    }
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}

fn value_json(shape: &TableShape, place: Option<row::Place>, value: &Value) -> String {
    let mut out = Vec::new();
    match (place, value) {
        (Some(row::Place::Property(id)), _) => {
            let found = shape.properties.iter().find(|property| property.def.id == id);
            let ty = found.map_or(&crate::schema::Type::String, |property| &property.def.ty);
            write_json(value, ty, &mut out);
        }
        (_, Value::List(ends)) => {
            let is_end = |column: &usize| {
                use crate::table::Role::{From, To};
                matches!(shape.layout.columns.get(*column).map(|column| column.role), Some(From(_) | To(_)))
            };
            let columns = (0..shape.layout.columns.len()).filter(is_end);
            out.push(b'[');
            for (number, (end, column)) in ends.iter().zip(columns).enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                write_cell(end, shape, column, &mut out);
            }
            out.push(b']');
        }
        (_, _) => out.extend_from_slice(b"null"),
    }
    String::from_utf8_lossy(&out).into_owned()
}
