//! From the parser's expressions to ours; whatever we have no tree for is refused here by name.

use open_cypher::ast;
use unicode_normalization::UnicodeNormalization;

use super::foreign::SELECT_HELP;
use super::guard::too_deep;
use super::{Arm, BinaryOp, CompareOp, Expr, ExprKind, Finding, Labels, LabelsKind, Name, Span, UnaryOp};

/// How deep a tree may be: every later pass over it recurses.
const MAX_DEPTH: usize = 200;

/// What is read: it decides on the words of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// The condition of a `CHECK`.
    Condition,
    Statement,
}

/// Turns the parser's tree into ours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Converter<'t> {
    pub subject: Subject,
    /// The text as the user wrote it.
    pub text: &'t str,
    /// How many bytes too late the parser's spans begin.
    pub offset: usize,
}

impl Converter<'_> {
    /// Converts an expression that stands `depth` levels below the top.
    pub(super) fn expr(self, expr: &ast::Expr, depth: usize) -> Result<Expr, Finding> {
        let span = self.span(expr.span);
        if depth > MAX_DEPTH {
            return Err(too_deep(self.subject, span));
        }
        let inner = |expr: &ast::Expr| self.expr(expr, depth + 1);
        let boxed = |expr: &ast::Expr| inner(expr).map(Box::new);
        let all = |exprs: &[ast::Expr]| exprs.iter().map(inner).collect::<Result<Vec<_>, _>>();
        let kind = match &expr.kind {
            ast::ExprKind::Parenthesized(inside) => return Ok(Expr { span, ..inner(inside)? }),
            ast::ExprKind::Literal(literal) => self.literal(literal, span)?,
            ast::ExprKind::Variable(name) => ExprKind::Name(self.name(name).text),
            ast::ExprKind::Parameter(parameter) => ExprKind::Parameter(match &parameter.name {
                ast::ParameterName::Named(name) | ast::ParameterName::Positional(name) => name.nfc().collect(),
                _ => return Err(self.refused(span, "this parameter")),
            }),
            ast::ExprKind::List(items) => ExprKind::List(all(items)?),
            ast::ExprKind::Map(entries) => ExprKind::Map(
                entries
                    .iter()
                    .map(|entry| Ok((self.name(&entry.key), inner(&entry.value)?)))
                    .collect::<Result<_, Finding>>()?,
            ),
            ast::ExprKind::Property { expression, key } => {
                ExprKind::Property { of: boxed(expression)?, name: self.name(key) }
            }
            ast::ExprKind::Index { expression, index } => {
                ExprKind::Index { of: boxed(expression)?, index: boxed(index)? }
            }
            ast::ExprKind::Slice { expression, lower, upper } => ExprKind::Slice {
                of: boxed(expression)?,
                from: lower.as_deref().map(boxed).transpose()?,
                to: upper.as_deref().map(boxed).transpose()?,
            },
            ast::ExprKind::Unary { operator, operand } => {
                let operator = match operator.kind {
                    ast::UnaryOperator::Plus => UnaryOp::Plus,
                    ast::UnaryOperator::Minus => UnaryOp::Minus,
                    ast::UnaryOperator::Not => UnaryOp::Not,
                    _ => return Err(self.refused(span, "this operator")),
                };
                ExprKind::Unary(operator, boxed(operand)?)
            }
            ast::ExprKind::Binary { left, operator, right } => match comparison(operator.kind) {
                Some(_) => self.comparison(expr, depth)?,
                None => {
                    ExprKind::Binary(self.binary(operator.kind, self.span(operator.span))?, boxed(left)?, boxed(right)?)
                }
            },
            ast::ExprKind::Is { expression, negated, predicate: ast::IsPredicate::Null } => {
                ExprKind::IsNull { operand: boxed(expression)?, negated: *negated }
            }
            ast::ExprKind::Is { expression, negated, predicate: ast::IsPredicate::Label(labels) } => {
                let kind = ExprKind::HasLabels { of: boxed(expression)?, labels: self.labels(labels, depth + 1)? };
                match negated {
                    false => kind,
                    true => ExprKind::Unary(UnaryOp::Not, Box::new(Expr { kind, span })),
                }
            }
            ast::ExprKind::Function(call) => self.call(call, span, depth)?,
            ast::ExprKind::Case(case) => ExprKind::Case {
                operand: case.operand.as_deref().map(boxed).transpose()?,
                arms: case
                    .alternatives
                    .iter()
                    .map(|arm| Ok(Arm { when: all(&arm.when)?, then: inner(&arm.then)? }))
                    .collect::<Result<_, Finding>>()?,
                otherwise: case.else_expression.as_deref().map(boxed).transpose()?,
            },
            other => return Err(self.refused(span, name_of(other))),
        };
        Ok(Expr { kind, span })
    }

    fn call(self, call: &ast::FunctionInvocation, span: Span, depth: usize) -> Result<ExprKind, Finding> {
        let name_span = self.span(call.name.span);
        let name = match call.name.parts.as_slice() {
            // The parser may have been given another name; see `statement::readable`.
            [part] if !part.kind.escaped => {
                self.text.get(name_span.start..name_span.end).unwrap_or_default().to_owned()
            }
            parts => parts.iter().map(|part| part.kind.text.as_str()).collect::<Vec<_>>().join("."),
        };
        let distinct = match &call.quantifier {
            None => false,
            Some(quantifier) if quantifier.kind == ast::SetQuantifier::Distinct => true,
            Some(_) => return Err(self.refused(span, "`ALL` before the arguments of a function")),
        };
        if let [ast::Expr { kind: ast::ExprKind::Wildcard, .. }] = call.arguments.as_slice() {
            if !distinct && name.eq_ignore_ascii_case("count") {
                return Ok(ExprKind::CountAll);
            }
            return Err(Finding::new(span, format!("`*` is no argument of `{name}`")));
        }
        let arguments = call.arguments.iter().map(|argument| self.expr(argument, depth + 1));
        Ok(ExprKind::Call { name, name_span, distinct, arguments: arguments.collect::<Result<_, _>>()? })
    }

    /// Converts what labels or types are asked for.
    pub(super) fn labels(self, labels: &ast::LabelExpression, depth: usize) -> Result<Labels, Finding> {
        let span = self.span(labels.span);
        if depth > MAX_DEPTH {
            return Err(too_deep(self.subject, span));
        }
        let all = |labels: &[ast::LabelExpression]| {
            labels.iter().map(|labels| self.labels(labels, depth + 1)).collect::<Result<Vec<_>, _>>()
        };
        let kind = match &labels.kind {
            ast::LabelExpressionKind::Name(name) => LabelsKind::Name(self.name(name)),
            ast::LabelExpressionKind::Wildcard => LabelsKind::Any,
            ast::LabelExpressionKind::Not(inner) => LabelsKind::Not(Box::new(self.labels(inner, depth + 1)?)),
            ast::LabelExpressionKind::And(inner) if self.has_bar(inner) => LabelsKind::Or(all(inner)?),
            ast::LabelExpressionKind::And(inner) => LabelsKind::And(all(inner)?),
            ast::LabelExpressionKind::Or(inner) => LabelsKind::Or(all(inner)?),
            ast::LabelExpressionKind::Parenthesized(inner) => return self.labels(inner, depth + 1),
            _ => return Err(self.refused(span, "this label")),
        };
        Ok(Labels { kind, span })
    }

    /// Whether the user wrote `|` between these labels; see `statement::readable`.
    fn has_bar(self, labels: &[ast::LabelExpression]) -> bool {
        let [first, second, ..] = labels else { return false };
        let between = self.text.get(self.span(first.span).end..self.span(second.span).start);
        between.is_some_and(|between| between.contains('|'))
    }

    pub(super) fn name(self, name: &ast::Name) -> Name {
        Name { text: name.kind.text.nfc().collect(), span: self.span(name.span) }
    }

    pub(super) const fn span(self, span: open_cypher::Span) -> Span {
        Span::new(span.start.saturating_sub(self.offset), span.end.saturating_sub(self.offset))
    }

    /// The finding that `what` cannot be used here.
    pub(super) fn refused(self, span: Span, what: &str) -> Finding {
        match self.subject {
            Subject::Condition => Finding::new(span, format!("a condition cannot use {what}")),
            Subject::Statement => {
                let finding = Finding::new(span, format!("{what} is not supported yet"));
                match what {
                    "a pattern" => finding.with_help(
                        "MATCH it before; where it must not be there, OPTIONAL MATCH it and ask WITH … WHERE edge IS NULL",
                    ),
                    "`SELECT`" => finding.with_help(SELECT_HELP),
                    _ => finding,
                }
            }
        }
    }

    /// `a < b < c` comes as `(a < b) < c`; only brackets that were written keep it so.
    fn comparison(self, expr: &ast::Expr, depth: usize) -> Result<ExprKind, Finding> {
        let mut rest = Vec::new();
        let mut first = expr;
        while let ast::ExprKind::Binary { left, operator, right } = &first.kind {
            let Some(operator) = comparison(operator.kind) else { break };
            rest.push((operator, self.expr(right, depth + 1)?));
            first = left;
        }
        rest.reverse();
        Ok(ExprKind::Compare(Box::new(self.expr(first, depth + 1)?), rest))
    }

    fn binary(self, operator: ast::BinaryOperator, span: Span) -> Result<BinaryOp, Finding> {
        Ok(match operator {
            ast::BinaryOperator::Or => BinaryOp::Or,
            ast::BinaryOperator::Xor => BinaryOp::Xor,
            ast::BinaryOperator::And => BinaryOp::And,
            ast::BinaryOperator::In => BinaryOp::In,
            ast::BinaryOperator::StartsWith => BinaryOp::StartsWith,
            ast::BinaryOperator::EndsWith => BinaryOp::EndsWith,
            ast::BinaryOperator::Contains => BinaryOp::Contains,
            ast::BinaryOperator::Add => BinaryOp::Add,
            ast::BinaryOperator::Subtract => BinaryOp::Subtract,
            ast::BinaryOperator::Multiply => BinaryOp::Multiply,
            ast::BinaryOperator::Divide => BinaryOp::Divide,
            ast::BinaryOperator::Remainder => BinaryOp::Remainder,
            ast::BinaryOperator::Power => BinaryOp::Power,
            ast::BinaryOperator::RegexMatch => {
                return Err(self.refused(span, "`=~`").with_help("use STARTS WITH, ENDS WITH or CONTAINS"));
            }
            ast::BinaryOperator::Concat => {
                return Err(self.refused(span, "`||`").with_help("OR joins conditions, `+` joins strings and lists"));
            }
            _ => return Err(self.refused(span, "this operator")),
        })
    }

    fn literal(self, literal: &ast::Literal, span: Span) -> Result<ExprKind, Finding> {
        Ok(match &literal.kind {
            ast::LiteralKind::Null => ExprKind::Null,
            ast::LiteralKind::Boolean(value) => ExprKind::Bool(*value),
            ast::LiteralKind::String(string) => ExprKind::String(string.value.clone()),
            ast::LiteralKind::Integer(integer) => ExprKind::Integer(
                parse_integer(&integer.text).ok_or_else(|| Finding::new(span, "the number is too large"))?,
            ),
            ast::LiteralKind::Float(float) => {
                let text = plain_float(&float.text);
                let value =
                    text.parse().map_err(|_| Finding::new(span, format!("`{}` is not a number", float.text)))?;
                ExprKind::Float { value, text }
            }
            _ => return Err(self.refused(span, "this literal")),
        })
    }
}

const fn comparison(operator: ast::BinaryOperator) -> Option<CompareOp> {
    Some(match operator {
        ast::BinaryOperator::Equal => CompareOp::Equal,
        ast::BinaryOperator::NotEqual => CompareOp::NotEqual,
        ast::BinaryOperator::Less => CompareOp::Less,
        ast::BinaryOperator::LessEqual => CompareOp::LessEqual,
        ast::BinaryOperator::Greater => CompareOp::Greater,
        ast::BinaryOperator::GreaterEqual => CompareOp::GreaterEqual,
        _ => return None,
    })
}

/// Decimal, hexadecimal or octal digits, with underscores between them.
pub(crate) fn parse_integer(text: &str) -> Option<i128> {
    let digits = text.replace('_', "");
    let (digits, radix) = match digits.get(..2) {
        Some("0x" | "0X") => (&digits[2..], 16),
        Some("0o" | "0O") => (&digits[2..], 8),
        _ => (digits.as_str(), 10),
    };
    i128::from_str_radix(digits, radix).ok()
}

/// The spelling without underscores and without the suffix that says float or double.
pub(crate) fn plain_float(text: &str) -> String {
    let text = text.replace('_', "");
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return text;
    }
    text.trim_end_matches(['f', 'F', 'd', 'D']).to_owned()
}

/// A number with a point as it is written: its digits, and how many of them stand after the point; `None` if they are more than 38, or
/// if it has an exponent.
pub(crate) fn exact_decimal(text: &str) -> Option<(i128, u8)> {
    let (whole, fraction) = text.split_once('.')?;
    let scale = u8::try_from(fraction.len()).ok().filter(|scale| *scale <= 38)?;
    let unscaled = format!("{whole}{fraction}").parse().ok()?;
    Some((unscaled, scale))
}

/// What the user would call an expression that we have no tree for.
const fn name_of(kind: &ast::ExprKind) -> &'static str {
    match kind {
        ast::ExprKind::Wildcard => "`*`",
        ast::ExprKind::DynamicProperty { .. } => "a property whose name is computed",
        ast::ExprKind::MapProjection(_) => "a map projection",
        ast::ExprKind::Is { .. } => "`IS` with anything but NULL or a label",
        ast::ExprKind::ListComprehension(_) => "a list comprehension",
        ast::ExprKind::PatternComprehension(_) => "a pattern comprehension",
        ast::ExprKind::Reduce(_) => "`reduce`",
        ast::ExprKind::QuantifiedPredicate(_) => "`all`, `any`, `none` or `single`",
        ast::ExprKind::Subquery(_) => "a subquery",
        ast::ExprKind::Pattern(_) => "a pattern",
        _ => "this expression",
    }
}
