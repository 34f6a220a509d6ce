//! `+` between texts, by columns. It may fail, and so is no kernel: what is made has a largest size.

use std::sync::Arc;

use arrow_array::StringArray;
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray as _;
use arrow_schema::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, Expr as Df, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::external;
use crate::query::eval::{Unfit, within_bounds};
use crate::query::kind::Kind;
use crate::syntax::Span;

#[derive(Debug, PartialEq, Eq, Hash)]
struct Join {
    span: Span,
    signature: Signature,
}

/// `left + right`, both texts; null where one of them is.
pub(super) fn join(left: Df, right: Df, span: Span) -> Df {
    let signature = Signature::any(2, Volatility::Volatile);
    ScalarUDF::new_from_impl(Join { span, signature }).call(vec![left, right])
}

impl ScalarUDFImpl for Join {
    fn name(&self) -> &'static str {
        "joined"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = args.args.iter().map(|arg| arg.to_array(args.number_rows)).collect::<Result<Vec<_>>>()?;
        let texts: Option<Vec<&StringArray>> = arrays.iter().map(|array| array.as_string_opt::<i32>()).collect();
        let Some([left, right]) = texts.as_deref() else {
            return Err(DataFusionError::Internal("two texts are joined".to_owned()));
        };
        let mut out = StringBuilder::new();
        let (mut joined, mut bytes) = (String::new(), 0_usize);
        for pair in left.iter().zip(right.iter()) {
            let (Some(left), Some(right)) = pair else {
                out.append_null();
                continue;
            };
            let length = left.len() + right.len();
            within_bounds(length, "a text of too many bytes", self.span).map_err(external)?;
            bytes += length;
            if i32::try_from(bytes).is_err() {
                return Err(external(Unfit::too_much(&Kind::String).at(self.span)));
            }
            joined.clear();
            joined.extend([left, right]);
            out.append_value(&joined);
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}
