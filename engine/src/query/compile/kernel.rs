//! What we compute by columns ourselves, since DataFusion has no such function or means something else by it.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type, UInt16Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, ListArray, StringArray, new_null_array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use arrow_select::nullif::nullif;
use arrow_select::zip::zip;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use super::keys::Identity;
use crate::query::eval::{float_of_rank, float_rank};
use crate::query::layout::TABLE;
use crate::schema::Type;
use crate::syntax::{BinaryOp, CompareOp};
use crate::value::{ColumnReader, compare};

/// A function of columns. None of them ever fails for a value, and each is null where an argument is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Kernel {
    /// A field of a struct. Of nodes and edges there is one field for each table, and all others are null in a row of a table.
    Property {
        picks: Vec<usize>,
        ty: DataType,
    },
    /// Numbers of any two kinds, exactly; NaN is neither equal to nor less than anything.
    CompareNumbers(CompareOp),
    FloatArithmetic(BinaryOp),
    /// `STARTS WITH`, `ENDS WITH`, `CONTAINS`.
    Text(BinaryOp),
    /// Whether a node or an edge is of one of these tables, by their index in its layout.
    IsOf(Vec<u16>),
    /// The name of the table, by its index in the layout; as a list of one if so wished.
    Label {
        labels: Vec<String>,
        list: bool,
    },
    /// Which node or edge it is, in bytes that are the same in all layouts.
    Identity(Identity),
    /// An integer in the order of floats, the same for what `DISTINCT` takes for one.
    FloatRank,
    /// Back again.
    FloatOfRank,
}

/// A [`Kernel`] as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Function {
    kernel: Kernel,
    signature: Signature,
}

impl Function {
    pub(super) fn new(kernel: Kernel, arguments: usize) -> Self {
        Self { kernel, signature: Signature::any(arguments, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        match &self.kernel {
            Kernel::Property { .. } => "property",
            Kernel::CompareNumbers(operator) => operator.as_str(),
            Kernel::FloatArithmetic(operator) | Kernel::Text(operator) => operator.as_str(),
            Kernel::IsOf(_) => "is_of",
            Kernel::Label { .. } => "label",
            Kernel::Identity(_) => "identity",
            Kernel::FloatRank => "float_rank",
            Kernel::FloatOfRank => "float_of_rank",
        }
    }

    /// Two properties of one variable are two columns, and must have two names.
    fn schema_name(&self, args: &[datafusion::logical_expr::Expr]) -> Result<String> {
        let names: Vec<String> = args.iter().map(|arg| arg.schema_name().to_string()).collect();
        let which = match &self.kernel {
            Kernel::Property { picks, .. } => {
                let fields: Vec<String> = picks.iter().map(ToString::to_string).collect();
                format!("[{}]", fields.join("|"))
            }
            Kernel::IsOf(tables) => format!("{tables:?}"),
            _ => String::new(),
        };
        Ok(format!("{}{which}({})", self.name(), names.join(",")))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match &self.kernel {
            Kernel::Property { ty, .. } => ty.clone(),
            Kernel::CompareNumbers(_) | Kernel::Text(_) | Kernel::IsOf(_) => DataType::Boolean,
            Kernel::FloatArithmetic(_) | Kernel::FloatOfRank => DataType::Float64,
            Kernel::Label { list: false, .. } => DataType::Utf8,
            Kernel::Label { list: true, .. } => DataType::List(label_field()),
            Kernel::Identity(_) => DataType::Binary,
            Kernel::FloatRank => DataType::Int64,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = args.args.iter().map(|arg| arg.to_array(args.number_rows)).collect::<Result<Vec<_>>>()?;
        let result = match (&self.kernel, arrays.as_slice()) {
            (Kernel::Property { picks, ty }, [structs]) => property(structs, picks, ty)?,
            (Kernel::CompareNumbers(operator), [left, right]) => compare_numbers(*operator, left, right)?,
            (Kernel::FloatArithmetic(operator), [left, right]) => float_arithmetic(*operator, left, right)?,
            (Kernel::Text(operator), [left, right]) => text(*operator, left, right)?,
            (Kernel::IsOf(tables), [entities]) => is_of(entities, tables)?,
            (Kernel::Label { labels, list }, [entities]) => label(entities, labels, *list)?,
            (Kernel::Identity(identity), [entities]) => identity.of(entities)?,
            (Kernel::FloatRank, [floats]) => {
                let floats = floats.as_primitive_opt::<Float64Type>().ok_or_else(|| unfit("floats"))?;
                Arc::new(floats.unary::<_, Int64Type>(float_rank))
            }
            (Kernel::FloatOfRank, [ranks]) => {
                let ranks = ranks.as_primitive_opt::<Int64Type>().ok_or_else(|| unfit("ranks"))?;
                Arc::new(ranks.unary::<_, Float64Type>(float_of_rank))
            }
            _ => return Err(unfit("as many arguments")),
        };
        Ok(ColumnarValue::Array(result))
    }
}

fn unfit(what: &str) -> DataFusionError {
    DataFusionError::Internal(format!("a kernel was not given {what}"))
}

/// The table of each row, null for a null node or edge.
pub(super) fn tables_of(entities: &ArrayRef) -> Result<arrow_array::UInt16Array> {
    let structs = entities.as_struct_opt().ok_or_else(|| unfit("nodes or edges"))?;
    let tables = structs.column_by_name(TABLE).and_then(|column| column.as_primitive_opt::<UInt16Type>());
    let tables = tables.ok_or_else(|| unfit("nodes or edges with their table"))?;
    let nulls = NullBuffer::union(structs.nulls(), tables.nulls());
    Ok(arrow_array::UInt16Array::new(tables.values().clone(), nulls))
}

fn property(array: &ArrayRef, picks: &[usize], ty: &DataType) -> Result<ArrayRef> {
    let structs = array.as_struct_opt().ok_or_else(|| unfit("a struct"))?;
    let mut result: Option<ArrayRef> = None;
    for pick in picks {
        let field = structs.columns().get(*pick).ok_or_else(|| unfit("a struct with such a field"))?;
        // Integers of one table among floats of another.
        let field = if field.data_type() == ty { field.clone() } else { arrow_cast::cast(field, ty)? };
        result = Some(match result {
            Some(former) => zip(&present(&field), &field, &former)?,
            None => field,
        });
    }
    let Some(result) = result else { return Ok(new_null_array(ty, array.len())) };
    match structs.nulls() {
        Some(nulls) if nulls.null_count() > 0 => Ok(nullif(&result, &BooleanArray::new(!nulls.inner(), None))?),
        _ => Ok(result),
    }
}

fn present(array: &ArrayRef) -> BooleanArray {
    match array.nulls() {
        Some(nulls) => BooleanArray::new(nulls.inner().clone(), None),
        None => BooleanArray::from(vec![true; array.len()]),
    }
}

fn compare_numbers(operator: CompareOp, left: &ArrayRef, right: &ArrayRef) -> Result<ArrayRef> {
    if let (Some(left), Some(right)) = (left.as_primitive_opt::<Float64Type>(), right.as_primitive_opt::<Float64Type>())
    {
        #[expect(clippy::float_cmp, reason = "openCypher's equality of floats is that of IEEE 754")]
        let compared = |a: f64, b: f64| match operator {
            CompareOp::Equal => a == b,
            CompareOp::NotEqual => a != b,
            CompareOp::Less => a < b,
            CompareOp::LessEqual => a <= b,
            CompareOp::Greater => a > b,
            CompareOp::GreaterEqual => a >= b,
        };
        return Ok(Arc::new(BooleanArray::from_binary(left, right, compared)));
    }
    let reader = |array| {
        let ty = number_type(Array::data_type(array)).ok_or_else(|| unfit("numbers"))?;
        ColumnReader::new(array, &ty).map_err(|_| unfit("numbers"))
    };
    let (left_values, right_values) = (reader(left.as_ref())?, reader(right.as_ref())?);
    let compared = |row| compare(operator, &left_values.value(row), &right_values.value(row));
    Ok(Arc::new((0..left.len()).map(compared).collect::<BooleanArray>()))
}

fn number_type(ty: &DataType) -> Option<Type> {
    Some(match ty {
        DataType::Int64 => Type::Int64,
        DataType::UInt64 => Type::UInt64,
        DataType::Float64 => Type::Double,
        DataType::Decimal128(precision, scale) => {
            Type::Decimal { precision: *precision, scale: u8::try_from(*scale).ok()? }
        }
        _ => return None,
    })
}

fn float_arithmetic(operator: BinaryOp, left: &ArrayRef, right: &ArrayRef) -> Result<ArrayRef> {
    let float = |array: &ArrayRef| array.as_primitive_opt::<Float64Type>().cloned().ok_or_else(|| unfit("floats"));
    let (left, right) = (float(left)?, float(right)?);
    let compute = |left: f64, right: f64| match operator {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left / right,
        BinaryOp::Remainder => left % right,
        _ => left.powf(right),
    };
    let values: Vec<f64> =
        left.values().iter().zip(right.values()).map(|(left, right)| compute(*left, *right)).collect();
    Ok(Arc::new(Float64Array::new(values.into(), NullBuffer::union(left.nulls(), right.nulls()))))
}

fn text(operator: BinaryOp, left: &ArrayRef, right: &ArrayRef) -> Result<ArrayRef> {
    let string = |array: &ArrayRef| array.as_string_opt::<i32>().cloned().ok_or_else(|| unfit("strings"));
    let (left, right) = (string(left)?, string(right)?);
    let holds = |(left, right): (Option<&str>, Option<&str>)| {
        let (left, right) = (left?, right?);
        Some(match operator {
            BinaryOp::StartsWith => left.starts_with(right),
            BinaryOp::EndsWith => left.ends_with(right),
            _ => left.contains(right),
        })
    };
    Ok(Arc::new(left.iter().zip(right.iter()).map(holds).collect::<BooleanArray>()))
}

fn is_of(entities: &ArrayRef, wanted: &[u16]) -> Result<ArrayRef> {
    let tables = tables_of(entities)?;
    Ok(Arc::new(tables.iter().map(|table| table.map(|table| wanted.contains(&table))).collect::<BooleanArray>()))
}

fn label(entities: &ArrayRef, labels: &[String], list: bool) -> Result<ArrayRef> {
    let tables = tables_of(entities)?;
    let labels = tables.iter().map(|table| labels.get(usize::from(table?)).map(String::as_str));
    let labels: StringArray = labels.collect();
    if !list {
        return Ok(Arc::new(labels));
    }
    let nulls = labels.nulls().cloned();
    let offsets = OffsetBuffer::new((0..=i32::try_from(labels.len()).map_err(|_| unfit("so few rows"))?).collect());
    Ok(Arc::new(ListArray::new(label_field(), offsets, Arc::new(labels), nulls)))
}

fn label_field() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Utf8, true))
}
