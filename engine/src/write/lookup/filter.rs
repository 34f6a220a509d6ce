//! Filters for the rows that have one of some tuples.

use std::collections::BTreeMap;

use datafusion::common::{Column as ColumnName, ScalarValue};
use datafusion::logical_expr::{Expr, lit};

use crate::table::Role;
use crate::value::{ColumnBuilder, Value};
use crate::write::WriteError;
use crate::write::chunk::{MOST_PROBES, Probes};
use crate::write::shape::TableShape;

/// The union of several sets of tuples, as far as `IN` lists can tell them.
#[derive(Default)]
pub(super) struct Filter {
    /// All rows are asked for.
    pub(super) all: bool,
    any_of: Option<Expr>,
}

impl Filter {
    /// Asks for the rows with one of the tuples of any of `probes`.
    pub(super) fn add(&mut self, shape: &TableShape, columns: &[usize], probes: &[&Probes]) -> Result<(), WriteError> {
        // In the order of digests, so that equal lookups are equal requests.
        let mut tuples = BTreeMap::new();
        for probes in probes {
            match probes {
                Probes::Few(few) => tuples.extend(few.iter().map(|(digest, tuple)| (*digest, tuple.as_slice()))),
                Probes::Many => self.all = true,
            }
        }
        if self.all || tuples.len() > MOST_PROBES {
            self.all = true;
            return Ok(());
        }
        if tuples.is_empty() {
            return Ok(());
        }
        let tuples: Vec<&[Value]> = tuples.into_values().collect();
        match tuples_filter(shape, columns, &tuples)? {
            Some(tuples) => {
                self.any_of = Some(match self.any_of.take() {
                    Some(others) => others.or(tuples),
                    None => tuples,
                });
            }
            None => self.all = true,
        }
        Ok(())
    }

    /// `None`: all rows.
    pub(super) fn finish(self) -> Option<Expr> {
        if self.all { None } else { self.any_of }
    }
}

/// True for rows that have one of `tuples` in `columns`, and perhaps for others that mix their parts. `None` if no column is of a
/// type that filters can compare.
pub(crate) fn tuples_filter(
    shape: &TableShape,
    columns: &[usize],
    tuples: &[&[Value]],
) -> Result<Option<Expr>, WriteError> {
    let mut filter: Option<Expr> = None;
    for (part, column) in columns.iter().enumerate() {
        let Some(definition) = shape.layout.columns.get(*column) else { continue };
        if !shape.type_of(*column).may_be_key() {
            continue;
        }
        let mut builder = ColumnBuilder::new(shape.type_of(*column), tuples.len());
        let mut seen: Vec<&Value> = Vec::new();
        for value in tuples.iter().filter_map(|tuple| tuple.get(part)) {
            // Parts repeat (a country before a city); a short memory keeps most of the repetition out.
            if !seen.iter().rev().take(16).any(|known| *known == value) {
                seen.push(value);
                builder.push(value);
            }
        }
        let array = builder.finish();
        let fault = |source: datafusion::error::DataFusionError| WriteError::Columns {
            table: shape.name().to_owned(),
            source: arrow_schema::ArrowError::ExternalError(Box::new(source)),
        };
        let literals = (0..array.len())
            .map(|i| ScalarValue::try_from_array(&array, i).map(lit))
            .collect::<Result<Vec<_>, _>>()
            .map_err(fault)?;
        let name = Expr::Column(ColumnName::new_unqualified(definition.name.clone()));
        let fill = match definition.role {
            Role::Property(i) => shape.properties.get(i).and_then(|property| property.fill.as_ref()),
            _ => None,
        };
        let has_fill = fill.is_some_and(|fill| seen.contains(&fill));
        let mut is_in = match <[Expr; 1]>::try_from(literals) {
            Ok([literal]) => name.clone().eq(literal),
            Err(literals) => name.clone().in_list(literals, false),
        };
        if has_fill {
            is_in = is_in.or(name.is_null());
        }
        filter = Some(match filter.take() {
            Some(others) => others.and(is_in),
            None => is_in,
        });
    }
    Ok(filter)
}
