//! By what rows are ordered, grouped and told apart.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, BinaryArray};
use arrow_schema::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, Expr as Df, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, SortExpr, Volatility,
    binary_expr,
};

use super::kernel::{Kernel, tables_of};
use super::{Compiler, call};
use crate::ids::{EdgeId, TableId};
use crate::query::arrow::{Reader, type_of};
use crate::query::bound::{Form, SortKey};
use crate::query::eval::{EvalContext, identity_key, order_key};
use crate::query::kind::{EntityId, Kind};
use crate::query::layout::{EntityLayout, Layouts};
use crate::schema::Type;
use crate::value::{ColumnReader, Value};

impl Compiler {
    /// The columns to sort by: nulls last, and first if descending; NaN after all numbers; nodes and edges by table and key; lists by their
    /// elements.
    pub(crate) fn sort_keys(&self, keys: &[SortKey]) -> Result<Vec<SortExpr>> {
        let mut sorts = Vec::new();
        for key in keys {
            let column = self.expr(&key.expr)?;
            let columns = self.order_columns(column, &key.expr.kind);
            sorts.extend(columns.into_iter().map(|column| column.sort(!key.descending, key.descending)));
        }
        Ok(sorts)
    }

    /// Columns whose order, one after the other, is that of the values of `column`, and which are equal where `DISTINCT` takes two for one.
    pub(super) fn order_columns(&self, column: Df, kind: &Kind) -> Vec<Df> {
        match kind {
            Kind::Float => vec![call(Kernel::FloatRank, vec![column])],
            Kind::Entity(id) => self.identity(column, *id),
            kind if is_ordered_by_columns(kind) => vec![column],
            kind => vec![self.order_key_of(column, kind)],
        }
    }

    /// The same as one column.
    pub(super) fn order_column(&self, column: Df, kind: &Kind) -> Df {
        let mut columns = self.order_columns(column.clone(), kind);
        match (columns.pop(), kind) {
            (Some(only), _) if columns.is_empty() => only,
            (_, Kind::Entity(id)) => self.identity_bytes(column, *id),
            (_, kind) => self.order_key_of(column, kind),
        }
    }

    /// Whether two nodes or edges are the same; null if one is null.
    pub(super) fn same_entity(&self, left: (Df, EntityId), right: (Df, EntityId)) -> Df {
        let (lefts, rights) = if left.1 == right.1 {
            (self.identity(left.0, left.1), self.identity(right.0, right.1))
        } else {
            (vec![self.identity_bytes(left.0, left.1)], vec![self.identity_bytes(right.0, right.1)])
        };
        let equal = lefts.into_iter().zip(rights).map(|(left, right)| binary_expr(left, Operator::Eq, right));
        let all = equal.reduce(|all, equal| binary_expr(all, Operator::And, equal));
        all.unwrap_or_else(|| Df::Literal(datafusion::common::ScalarValue::Boolean(None), None))
    }

    /// Which node or edge it is: the columns of its key if all are of one table, else bytes.
    fn identity(&self, column: Df, id: EntityId) -> Vec<Df> {
        let Some(EntityLayout { tables, .. }) = self.layouts.entity(id) else { return Vec::new() };
        match tables.as_slice() {
            [table] => {
                let key = table.key().into_iter().map(|field| {
                    let picks = vec![field.field];
                    let ty = self.layouts.data_type(&field.kind);
                    call(Kernel::Property { picks, ty }, vec![column.clone()])
                });
                key.collect()
            }
            _ => vec![self.identity_bytes(column, id)],
        }
    }

    fn identity_bytes(&self, column: Df, id: EntityId) -> Df {
        let identity = self.layouts.entity(id).map(Identity::new).unwrap_or_default();
        call(Kernel::Identity(identity), vec![column])
    }

    fn order_key_of(&self, column: Df, kind: &Kind) -> Df {
        let function = OrderKey {
            of: kind.clone(),
            layouts: Untold(self.layouts.clone()),
            context: Untold(self.context.clone()),
            signature: Signature::any(1, Volatility::Immutable),
        };
        ScalarUDF::new_from_impl(function).call(vec![column])
    }
}

/// Kinds whose columns DataFusion orders and groups as openCypher does.
const fn is_ordered_by_columns(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Null
            | Kind::Bool
            | Kind::Integer
            | Kind::Unsigned
            | Kind::Decimal { .. }
            | Kind::String
            | Kind::Date
            | Kind::Time
            | Kind::Timestamp
            | Kind::Uuid
            | Kind::Blob
            | Kind::Json
    )
}

/// Where the keys of an entity's rows are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    is_node: bool,
    /// By the index of a table, its id and its key.
    tables: Vec<(TableId, Vec<KeyField>)>,
}

/// A field of a key and its type; none for the hidden id of an edge.
type KeyField = (usize, Option<Type>);

impl Default for Identity {
    fn default() -> Self {
        Self { is_node: true, tables: Vec::new() }
    }
}

impl Identity {
    fn new(layout: &EntityLayout) -> Self {
        let tables = layout.tables.iter().map(|table| {
            let fields = table.key().into_iter().map(|field| {
                let hidden = table.layout.columns.get(field.column).is_none_or(|column| column.ty.is_none());
                (field.field, if hidden { None } else { type_of(&field.kind) })
            });
            (table.table, fields.collect())
        });
        Self { is_node: layout.form == Form::Node, tables: tables.collect() }
    }

    /// The identities of nodes or edges, null for null.
    pub(super) fn of(&self, entities: &ArrayRef) -> Result<ArrayRef> {
        let wrong = || DataFusionError::Internal("nodes or edges are not laid out as expected".to_owned());
        let tables = tables_of(entities)?;
        let structs = entities.as_struct_opt().ok_or_else(wrong)?;
        let mut readers = Vec::with_capacity(self.tables.len());
        for (id, fields) in &self.tables {
            let reader = |(field, ty): &KeyField| {
                let column = structs.columns().get(*field).ok_or_else(wrong)?;
                let reader = ColumnReader::new(column.as_ref(), ty.as_ref().unwrap_or(&Type::Uuid));
                Ok((reader.map_err(|_| wrong())?, ty.is_none()))
            };
            readers.push((*id, fields.iter().map(reader).collect::<Result<Vec<_>>>()?));
        }
        let form = if self.is_node { Form::Node } else { Form::Edge };
        let identity = |row: usize| {
            let (id, readers) = readers.get(usize::from(tables.is_valid(row).then(|| tables.value(row))?))?;
            let part = |(reader, hidden): &(ColumnReader<'_>, bool)| match reader.value(row) {
                Value::Uuid(bytes) if *hidden => Value::String(EdgeId::from_bytes(bytes).to_string()),
                value => value,
            };
            Some(identity_key(form, *id, &readers.iter().map(part).collect::<Vec<_>>()))
        };
        Ok(Arc::new((0..entities.len()).map(identity).collect::<BinaryArray>()))
    }
}

/// [`order_key`] of each row, null for null.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OrderKey {
    of: Kind,
    layouts: Untold<Layouts>,
    context: Untold<EvalContext>,
    signature: Signature,
}

/// What is the same for all functions of a statement, and so tells none of them apart.
#[derive(Debug)]
struct Untold<T>(Arc<T>);

impl<T> PartialEq for Untold<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Untold<T> {}

impl<T> std::hash::Hash for Untold<T> {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl ScalarUDFImpl for OrderKey {
    fn name(&self) -> &'static str {
        "order_key"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [values] = args.args.as_slice() else {
            return Err(DataFusionError::Internal("order_key takes one column".to_owned()));
        };
        let array = values.to_array(args.number_rows)?;
        let reader = Reader::new(array.as_ref(), &self.of, &self.layouts.0)?;
        let key = |row| match reader.value(row) {
            value if value.is_null() => None,
            value => Some(order_key(&value, &self.context.0)),
        };
        Ok(ColumnarValue::Array(Arc::new((0..args.number_rows).map(key).collect::<BinaryArray>())))
    }
}
