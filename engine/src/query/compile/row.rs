//! The function that evaluates a sub-tree of an expression row by row.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr as Df, ScalarFunctionArgs, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};

use super::nature::is_plain;
use super::{Compiler, call_row, external};
use crate::query::arrow::{Reader, encode};
use crate::query::bound::{Expr, ExprNode, VarId};
use crate::query::eval::{EvalContext, Row, evaluate};
use crate::query::kind::Kind;
use crate::query::layout::Layouts;
use crate::query::memory::{Memory, weight};
use crate::query::value::CypherValue;
use crate::syntax::Span;

/// Bytes of values that are evaluated before they become a column.
const PART_BYTES: usize = 8 << 20;

/// Evaluates its expression for each row of its arguments.
#[derive(Debug)]
pub(super) struct RowFunction {
    /// Its columns are arguments, by their position.
    expr: Expr,
    arguments: Vec<Kind>,
    layouts: Arc<Layouts>,
    context: Arc<EvalContext>,
    memory: Option<Memory>,
    name: String,
    /// Tells functions of one statement apart: an expression is not `Eq`, since NaN is not equal to itself.
    fingerprint: String,
    signature: Signature,
}

impl Compiler {
    /// `expr` by rows. What is computed by columns and never fails is computed before and handed in.
    pub(super) fn row(&self, expr: &Expr) -> Result<Df> {
        let mut arguments = Vec::new();
        let lifted = self.lift_operands(expr, &mut arguments)?;
        let (columns, kinds) = arguments.into_iter().unzip();
        Ok(call_row(self.function(lifted, kinds), columns))
    }

    /// A column of kind `from` as one of `to`, by rows.
    pub(super) fn converted_by_rows(&self, column: Df, from: &Kind, to: &Kind, span: Span) -> Df {
        let operand = Expr { node: ExprNode::Column(VarId(0)), kind: from.clone(), span };
        let expr = Expr { node: ExprNode::Convert(Box::new(operand)), kind: to.clone(), span };
        call_row(self.function(expr, vec![from.clone()]), vec![column])
    }

    fn lift_operands(&self, expr: &Expr, arguments: &mut Vec<(Df, Kind)>) -> Result<Expr> {
        let mut lifted = expr.clone();
        for operand in lifted.operands_mut() {
            *operand = self.lift(operand, arguments)?;
        }
        Ok(lifted)
    }

    fn lift(&self, expr: &Expr, arguments: &mut Vec<(Df, Kind)>) -> Result<Expr> {
        if matches!(expr.node, ExprNode::Constant(_)) {
            return Ok(expr.clone());
        }
        let native = if is_plain(expr) { self.native(expr)? } else { None };
        let Some(native) = native else { return self.lift_operands(expr, arguments) };
        let at = arguments.iter().position(|(known, _)| *known == native).unwrap_or_else(|| {
            arguments.push((native, expr.kind.clone()));
            arguments.len() - 1
        });
        let var = VarId(u32::try_from(at).unwrap_or(u32::MAX));
        Ok(Expr { node: ExprNode::Column(var), kind: expr.kind.clone(), span: expr.span })
    }

    fn function(&self, expr: Expr, arguments: Vec<Kind>) -> RowFunction {
        let volatility = if is_plain(&expr) { Volatility::Immutable } else { Volatility::Volatile };
        let types = if arguments.is_empty() { TypeSignature::Nullary } else { TypeSignature::Any(arguments.len()) };
        RowFunction {
            name: format!("cypher[{}..{}]", expr.span.start, expr.span.end),
            fingerprint: format!("{expr:?} {arguments:?}"),
            expr,
            arguments,
            layouts: self.layouts.clone(),
            context: self.context.clone(),
            memory: self.memory.clone(),
            signature: Signature::new(types, volatility),
        }
    }
}

impl PartialEq for RowFunction {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Eq for RowFunction {}

impl Hash for RowFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}

impl ScalarUDFImpl for RowFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.layouts.data_type(&self.expr.kind))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = args.args.iter().map(|arg| arg.to_array(args.number_rows)).collect::<Result<Vec<_>>>()?;
        let readers = arrays
            .iter()
            .zip(&self.arguments)
            .map(|(array, kind)| Reader::new(array.as_ref(), kind, &self.layouts))
            .collect::<Result<Vec<_>>>()?;
        let mut account = self.memory.as_ref().map(|memory| memory.account("values of expressions"));
        let mut hold = |bytes| account.as_mut().map_or(Ok(()), |account| account.hold(bytes));
        let mut parts: Vec<ArrayRef> = Vec::new();
        let (mut values, mut bytes) = (Vec::with_capacity(args.number_rows), 0);
        for at in 0..args.number_rows {
            let value = evaluate(&self.expr, &Arguments { readers: &readers, at }, &self.context).map_err(external)?;
            bytes += weight(&value);
            values.push(value);
            if bytes >= PART_BYTES {
                // Values take several times the memory of columns.
                let part = self.column(&values)?;
                hold(part.get_array_memory_size())?;
                parts.push(part);
                values.clear();
                bytes = 0;
            }
        }
        if parts.is_empty() || !values.is_empty() {
            parts.push(self.column(&values)?);
        }
        if let [only] = parts.as_slice() {
            return Ok(ColumnarValue::Array(only.clone()));
        }
        // Once in parts, once as a whole.
        hold(parts.iter().map(Array::get_array_memory_size).sum())?;
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok(ColumnarValue::Array(concat(&parts)?))
    }
}

impl RowFunction {
    fn column(&self, values: &[CypherValue]) -> Result<ArrayRef> {
        encode(values, &self.expr.kind, &self.layouts).map_err(|unfit| external(unfit.at(self.expr.span)))
    }
}

/// One row of the arguments.
struct Arguments<'a> {
    readers: &'a [Reader<'a>],
    at: usize,
}

impl Row for Arguments<'_> {
    fn value(&self, var: VarId) -> Cow<'_, CypherValue> {
        Cow::Owned(self.readers.get(var.0 as usize).map_or(CypherValue::NULL, |reader| reader.value(self.at)))
    }
}
