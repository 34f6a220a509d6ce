//! How the columns of a layout lie in the files of a version: by field id, so that a version written under an older schema
//! is read under a newer one without touching it.

use std::collections::{BTreeMap, BTreeSet};

use arrow_schema::{DataType, Field as ArrowField};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column as ColumnName, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::Expr;
use lance_core::datatypes::{Field as LanceField, Schema as LanceSchema};

use super::{Layout, TableError};
use crate::ids::FieldId;

/// The name of the row address column.
pub(crate) const ROW_ADDRESS: &str = "_rowaddr";

/// The Lance schema of a layout, with our field ids.
///
/// # Errors
/// If the layout is not one Lance can store: a list without an element id, or an id that occurs twice.
pub(super) fn lance_schema(layout: &Layout) -> Result<LanceSchema, TableError> {
    let table = layout.table.id;
    let damaged = |problem: String| TableError::Damaged { table, problem };
    let mut schema = LanceSchema::try_from(layout.arrow.as_ref())
        .map_err(|error| TableError::from_lance(table, "laying out", error))?;
    let mut seen = BTreeSet::new();
    for (field, column) in schema.fields.iter_mut().zip(&layout.columns) {
        if field.children.len() != usize::from(column.item_field.is_some()) {
            return Err(damaged(format!(
                "the schema gives no id, or one too many, for the elements of {}",
                column.name
            )));
        }
        field.id = column.field.0;
        field.parent_id = -1;
        for (child, FieldId(id)) in field.children.iter_mut().zip(column.item_field) {
            child.parent_id = field.id;
            child.id = id;
        }
        for id in [Some(column.field), column.item_field].into_iter().flatten() {
            if !seen.insert(id) {
                return Err(damaged(format!("the schema uses field id {} twice", id.0)));
            }
        }
    }
    Ok(schema)
}

/// Where each column of a layout is in one version.
#[derive(Debug)]
pub(super) struct Mapping {
    /// For each column of the layout, its field in the version's manifest; none where the version is older than the column,
    /// which then reads as null.
    physical: Vec<Option<(i32, String)>>,
    /// Whether the version's schema is the layout's, so that rows can be written as they are.
    aligned: bool,
}

impl Mapping {
    /// Compares a version's schema with a layout.
    ///
    /// # Errors
    /// If a column's field id bears another type in the version.
    pub(super) fn new(layout: &Layout, stored: &LanceSchema) -> Result<Self, TableError> {
        let by_id: BTreeMap<i32, &LanceField> = stored.fields.iter().map(|field| (field.id, field)).collect();
        let mut aligned = stored.fields.len() == layout.columns.len();
        let mut physical = Vec::with_capacity(layout.columns.len());
        for (column, wanted) in layout.columns.iter().zip(layout.arrow.fields()) {
            let Some(field) = by_id.get(&column.field.0) else {
                aligned = false;
                physical.push(None);
                continue;
            };
            if !same_type(&field.data_type(), wanted.data_type()) {
                return Err(TableError::Damaged {
                    table: layout.table.id,
                    problem: format!(
                        "column {} should be {}, the version has {}",
                        column.name,
                        wanted.data_type(),
                        field.data_type()
                    ),
                });
            }
            aligned &= field.name == column.name;
            physical.push(Some((field.id, field.name.clone())));
        }
        Ok(Self { physical, aligned })
    }

    /// Whether rows of the layout can be appended to the version as it is.
    pub(super) fn is_aligned(&self) -> bool {
        self.aligned
    }

    /// The name that `column` has in the version.
    pub(super) fn stored_name(&self, column: usize) -> Option<&str> {
        self.physical.get(column)?.as_ref().map(|(_, name)| name.as_str())
    }

    /// The field ids of those of `columns` that the version has.
    pub(super) fn stored_ids(&self, columns: &[usize]) -> Vec<i32> {
        columns.iter().filter_map(|column| self.physical.get(*column)?.as_ref()).map(|(id, _)| *id).collect()
    }

    /// Rewrites a filter over the layout's columns to one over the version's: old names for new ones, typed nulls for columns
    /// that the version does not have.
    ///
    /// # Errors
    /// If it names a column that the layout does not have.
    pub(super) fn stored_filter(&self, layout: &Layout, filter: Expr) -> Result<Expr, TableError> {
        let mut unknown = None;
        let rewritten = filter.transform(|expr| {
            let Expr::Column(column) = &expr else { return Ok(Transformed::no(expr)) };
            if column.name == ROW_ADDRESS {
                return Ok(Transformed::no(expr));
            }
            let Some(index) = layout.columns.iter().position(|known| known.name == column.name) else {
                unknown = Some(column.name.clone());
                return Ok(Transformed::no(expr));
            };
            Ok(Transformed::yes(match self.stored_name(index) {
                Some(name) => Expr::Column(ColumnName::new_unqualified(name)),
                None => Expr::Literal(ScalarValue::try_from(layout.arrow.field(index).data_type())?, None),
            }))
        });
        let no_such = |column: String| TableError::NoSuchColumn { table: layout.table.id, column };
        let rewritten = rewritten.map_err(|error: DataFusionError| {
            TableError::from_lance(layout.table.id, "filtering", lance::Error::from(error))
        })?;
        match unknown {
            Some(column) => Err(no_such(column)),
            None => Ok(rewritten.data),
        }
    }
}

/// Whether two types are the same but for the nullability and name of list elements, which Lance does not keep for vectors.
fn same_type(stored: &DataType, wanted: &DataType) -> bool {
    let item = |a: &ArrowField, b: &ArrowField| same_type(a.data_type(), b.data_type());
    match (stored, wanted) {
        (DataType::List(a), DataType::List(b)) => item(a, b),
        (DataType::FixedSizeList(a, n), DataType::FixedSizeList(b, m)) => n == m && item(a, b),
        (a, b) => a == b,
    }
}
