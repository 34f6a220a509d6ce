//! What is made of sums when a group is over.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal256Type, Float64Type, Int64Type};
use arrow_array::{Array as _, ArrayRef, Float64Array};
use arrow_schema::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, Expr as Df, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::external;
use crate::query::arrow::encode;
use crate::query::eval::Unfit;
use crate::query::kind::Kind;
use crate::query::layout::Layouts;
use crate::query::value::CypherValue;
use crate::syntax::Span;
use crate::value::Value;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Finish {
    /// Of a sum of many digits or of floats, one of the kind, 0 for null. A fault if it does not fit.
    Sum { kind: Kind },
    /// Of a sum and a count, the mean; null of nothing.
    Average,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Function {
    finish: Finish,
    span: Span,
    signature: Signature,
}

/// The result of an aggregate function that stands at `span`.
pub(super) fn finish(finish: Finish, columns: Vec<Df>, span: Span) -> Df {
    let signature = Signature::any(columns.len(), Volatility::Volatile);
    ScalarUDF::new_from_impl(Function { finish, span, signature }).call(columns)
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &'static str {
        match self.finish {
            Finish::Sum { .. } => "whole_sum",
            Finish::Average => "mean",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match &self.finish {
            Finish::Sum { kind } => no_layouts().data_type(kind),
            Finish::Average => DataType::Float64,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = args.args.iter().map(|arg| arg.to_array(args.number_rows)).collect::<Result<Vec<_>>>()?;
        let result = match (&self.finish, arrays.as_slice()) {
            (Finish::Sum { kind }, [sums]) => self.sums(sums, kind)?,
            (Finish::Average, [sums, counts]) => averages(sums, counts)?,
            _ => return Err(unfit()),
        };
        Ok(ColumnarValue::Array(result))
    }
}

impl Function {
    fn sums(&self, sums: &ArrayRef, kind: &Kind) -> Result<ArrayRef> {
        let zero = CypherValue::Scalar(Value::Int(0));
        let mut values = Vec::with_capacity(sums.len());
        if let Some(floats) = sums.as_primitive_opt::<Float64Type>() {
            values.extend(floats.iter().map(|sum| CypherValue::Scalar(Value::Float(sum.unwrap_or(0.0)))));
        } else {
            let digits = sums.as_primitive_opt::<Decimal256Type>().ok_or_else(unfit)?;
            let scale = u8::try_from(digits.scale()).map_err(|_| unfit())?;
            for sum in digits {
                let Some(sum) = sum else {
                    values.push(zero.clone());
                    continue;
                };
                let unscaled = sum.to_i128().ok_or_else(|| self.too_large(kind))?;
                values.push(CypherValue::Scalar(match kind {
                    Kind::Decimal { .. } => Value::Decimal { unscaled, scale },
                    _ => Value::Int(unscaled),
                }));
            }
        }
        encode(&values, kind, &no_layouts()).map_err(|unfit| external(unfit.at(self.span)))
    }

    fn too_large(&self, kind: &Kind) -> DataFusionError {
        external(Unfit::sum_overflow(kind).at(self.span))
    }
}

/// The nearest float of each sum divided by its count.
fn averages(sums: &ArrayRef, counts: &ArrayRef) -> Result<ArrayRef> {
    let counts = counts.as_primitive_opt::<Int64Type>().ok_or_else(unfit)?;
    #[expect(clippy::cast_precision_loss, reason = "no table has 2^53 rows")]
    let mean = |sum: f64, count: i64| if count == 0 { None } else { Some(sum / count as f64) };
    let means: Float64Array = if let Some(floats) = sums.as_primitive_opt::<Float64Type>() {
        floats.iter().zip(counts).map(|(sum, count)| mean(sum?, count?)).collect()
    } else {
        let digits = sums.as_primitive_opt::<Decimal256Type>().ok_or_else(unfit)?;
        let scale = digits.scale();
        // Through text, since dividing by a power of ten would round twice.
        let float = |sum: arrow_buffer::i256| format!("{sum}e-{scale}").parse::<f64>().ok();
        digits.iter().zip(counts).map(|(sum, count)| mean(float(sum?)?, count?)).collect()
    };
    Ok(Arc::new(means))
}

/// Numbers are stored alike whatever the entities of a statement.
const fn no_layouts() -> Layouts {
    Layouts { entities: Vec::new() }
}

fn unfit() -> DataFusionError {
    DataFusionError::Internal("a sum is not of the expected type".to_owned())
}
