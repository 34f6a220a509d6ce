//! `collect`, which DataFusion's `array_agg` is not: it leaves nulls out, is never null, and tells values apart as openCypher does.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, BooleanArray, ListArray, new_empty_array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, FieldRef};
use arrow_select::concat::concat;
use arrow_select::filter::filter;
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};

/// `collect(value)` and, with a second argument that is the same for the same values, `collect(DISTINCT value)`: a list of all values that are
/// not null, empty over nothing.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Collect {
    signature: Signature,
}

impl Collect {
    pub(super) fn new(arguments: usize) -> Self {
        Self { signature: Signature::any(arguments, Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for Collect {
    fn name(&self) -> &'static str {
        "collect"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(item(arg_types.first().ok_or_else(unfit)?)))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = |(at, field): (usize, &FieldRef)| {
            let list = DataType::List(item(field.data_type()));
            Arc::new(Field::new(format!("{}[{at}]", args.name), list, true))
        };
        Ok(args.input_fields.iter().enumerate().map(list).collect())
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let types = args.expr_fields.iter().map(|field| field.data_type().clone()).collect::<Vec<_>>();
        let seen = (types.len() > 1).then(HashSet::new);
        Ok(Box::new(Collected { columns: vec![Vec::new(); types.len()], types, seen }))
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        let DataType::List(item) = data_type else { return Err(unfit()) };
        Ok(list(new_empty_array(item.data_type())))
    }
}

/// The values of one group.
#[derive(Debug)]
struct Collected {
    /// The types of the arguments: the value and, of `DISTINCT`, its key.
    types: Vec<DataType>,
    /// By argument, the values of each batch; of `DISTINCT`, the first ones only.
    columns: Vec<Vec<ArrayRef>>,
    /// The keys so far.
    seen: Option<HashSet<ScalarValue>>,
}

impl Collected {
    fn take(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        let values = arguments.first().ok_or_else(unfit)?;
        let mut wanted: Vec<bool> = (0..values.len()).map(|row| values.is_valid(row)).collect();
        if let (Some(seen), Some(keys)) = (&mut self.seen, arguments.get(1)) {
            for (row, wanted) in wanted.iter_mut().enumerate().filter(|(_, wanted)| **wanted) {
                *wanted = seen.insert(ScalarValue::try_from_array(keys, row)?.compacted());
            }
        }
        let wanted = BooleanArray::from(wanted);
        for (column, argument) in self.columns.iter_mut().zip(arguments) {
            column.push(filter(argument, &wanted)?);
        }
        Ok(())
    }

    fn column(&self, at: usize) -> Result<ArrayRef> {
        let (Some(arrays), Some(ty)) = (self.columns.get(at), self.types.get(at)) else { return Err(unfit()) };
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        Ok(if arrays.is_empty() { new_empty_array(ty) } else { concat(&arrays)? })
    }
}

impl Accumulator for Collected {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.take(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states.iter().map(|state| state.as_list_opt::<i32>().ok_or_else(unfit));
        let lists = lists.collect::<Result<Vec<_>>>()?;
        for row in 0..lists.first().map_or(0, Array::len) {
            let arguments: Vec<ArrayRef> = lists.iter().map(|list| list.value(row)).collect();
            self.take(&arguments)?;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(list(self.column(0)?))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        (0..self.types.len()).map(|at| self.column(at).map(list)).collect()
    }

    fn size(&self) -> usize {
        let arrays = self.columns.iter().flatten().map(Array::get_array_memory_size).sum::<usize>();
        let seen = self.seen.iter().flatten().map(ScalarValue::size).sum::<usize>();
        size_of_val(self) + arrays + seen
    }
}

fn item(ty: &DataType) -> FieldRef {
    Arc::new(Field::new("item", ty.clone(), true))
}

/// A list of all elements, as one value.
fn list(elements: ArrayRef) -> ScalarValue {
    let offsets = OffsetBuffer::from_lengths([elements.len()]);
    ScalarValue::List(Arc::new(ListArray::new(item(elements.data_type()), offsets, elements, None)))
}

fn unfit() -> DataFusionError {
    DataFusionError::Internal("an aggregate function was not given its arguments".to_owned())
}
