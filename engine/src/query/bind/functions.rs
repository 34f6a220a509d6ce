//! Calls: which function is meant, what it takes and what it gives.

use std::collections::BTreeMap;

use super::constants::constant;
use super::kinds::{element_of, is_integer, widened};
use super::{Binder, Place, aggregates};
use crate::query::CypherValue;
use crate::query::bound::{Expr, ExprNode, Form, Function};
use crate::query::kind::Kind;
use crate::schema::Type;
use crate::syntax::{self, Finding, Name, Span, suggest};
use crate::value::{Value, parse_text};

/// Name, function, the fewest and the most arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 42] = [
    ("abs", Function::Abs, 1, 1),
    ("ceil", Function::Ceil, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("round", Function::Round, 1, 2),
    ("sign", Function::Sign, 1, 1),
    ("sqrt", Function::Sqrt, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("log", Function::Log, 1, 1),
    ("log10", Function::Log10, 1, 1),
    ("size", Function::Size, 1, 1),
    ("toLower", Function::ToLower, 1, 1),
    ("lower", Function::ToLower, 1, 1),
    ("toUpper", Function::ToUpper, 1, 1),
    ("upper", Function::ToUpper, 1, 1),
    ("trim", Function::Trim, 1, 1),
    ("ltrim", Function::LTrim, 1, 1),
    ("rtrim", Function::RTrim, 1, 1),
    ("replace", Function::Replace, 3, 3),
    ("substring", Function::Substring, 2, 3),
    ("left", Function::Left, 2, 2),
    ("right", Function::Right, 2, 2),
    ("split", Function::Split, 2, 2),
    ("reverse", Function::Reverse, 1, 1),
    ("toString", Function::ToString, 1, 1),
    ("toInteger", Function::ToInteger, 1, 1),
    ("toFloat", Function::ToFloat, 1, 1),
    ("toBoolean", Function::ToBoolean, 1, 1),
    ("coalesce", Function::Coalesce, 1, usize::MAX),
    ("head", Function::Head, 1, 1),
    ("last", Function::Last, 1, 1),
    ("tail", Function::Tail, 1, 1),
    ("range", Function::Range, 2, 3),
    ("date", Function::Date, 0, 1),
    ("time", Function::Time, 0, 1),
    ("localtime", Function::Time, 0, 1),
    ("datetime", Function::DateTime, 0, 1),
    ("now", Function::DateTime, 0, 0),
    ("labels", Function::Labels, 1, 1),
    ("type", Function::Type, 1, 1),
    ("keys", Function::Keys, 1, 1),
    ("properties", Function::Properties, 1, 1),
    ("randomUUID", Function::RandomUuid, 0, 0),
];

/// Functions of openCypher that are not there yet, and what helps meanwhile.
const NOT_YET: [(&str, &str); 14] = [
    ("id", "read the properties of the key"),
    ("elementId", "read the properties of the key"),
    ("startNode", "name the node in the pattern: (a)-[e]->()"),
    ("endNode", "name the node in the pattern: ()-[e]->(b)"),
    ("exists", "write n.name IS NOT NULL"),
    ("length", "size(…) counts characters and elements"),
    ("nodes", ""),
    ("relationships", ""),
    ("shortestPath", ""),
    ("duration", ""),
    ("point", ""),
    ("stDev", ""),
    ("percentileCont", ""),
    ("percentileDisc", ""),
];

impl Binder<'_> {
    pub(super) fn call(
        &mut self,
        name: &Name,
        distinct: bool,
        arguments: &[syntax::Expr],
        span: Span,
        place: Place<'_>,
    ) -> Result<Expr, Finding> {
        if let Some(function) = aggregates::named(&name.text) {
            return self.aggregate(function, name, distinct, arguments, span, place);
        }
        let found = FUNCTIONS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(&name.text));
        let Some((known, function, fewest, most)) = found else {
            self.exprs(arguments, place);
            return Err(unknown(name));
        };
        if distinct {
            self.report(span, format!("DISTINCT is for aggregates, and `{known}` is none"));
        }
        let arguments = self.exprs(arguments, place);
        if arguments.len() < *fewest || arguments.len() > *most {
            return Err(Finding::new(name.span, format!("`{known}` takes {}", count(*fewest, *most))));
        }
        self.apply(*function, known, arguments, span)
    }

    fn apply(
        &mut self,
        function: Function,
        name: &'static str,
        mut arguments: Vec<Expr>,
        span: Span,
    ) -> Result<Expr, Finding> {
        let kind = match function {
            Function::Coalesce => {
                self.settle_uuids(&mut arguments)?;
                self.united(&mut arguments, "`coalesce` gives")?
            }
            Function::Date | Function::Time | Function::DateTime => {
                return self.moment(function, name, arguments, span);
            }
            Function::RandomUuid => Kind::Uuid,
            _ => self.signature(function, name, &arguments)?,
        };
        Ok(Expr { node: ExprNode::Call { function, arguments }, kind, span })
    }

    /// What a function gives for arguments of which there is at least one.
    fn signature(&mut self, function: Function, name: &str, arguments: &[Expr]) -> Result<Kind, Finding> {
        use Function as F;
        let [first, rest @ ..] = arguments else { return Ok(Kind::Null) };
        let what = format!("`{name}`");
        let needs = |needs: &str, fits: fn(&Kind) -> bool| self.expect(first, &what, needs, fits);
        Ok(match function {
            F::Abs => {
                self.expect_number(first, &what)?;
                widened(&first.kind)
            }
            F::Sign => {
                self.expect_number(first, &what)?;
                Kind::Integer
            }
            F::Ceil | F::Floor | F::Round | F::Sqrt | F::Exp | F::Log | F::Log10 => {
                self.expect_number(first, &what)?;
                rest.iter().try_for_each(|digits| self.expect_integer(digits, &what))?;
                Kind::Float
            }
            F::Size => {
                needs("a string or a list", |kind| *kind == Kind::String || element_of(kind).is_some())?;
                Kind::Integer
            }
            F::ToLower | F::ToUpper | F::Trim | F::LTrim | F::RTrim | F::Replace => {
                arguments.iter().try_for_each(|argument| self.expect_string(argument, &what))?;
                Kind::String
            }
            F::Split => {
                arguments.iter().try_for_each(|argument| self.expect_string(argument, &what))?;
                Kind::List(Box::new(Kind::String))
            }
            F::Substring | F::Left | F::Right => {
                self.expect_string(first, &what)?;
                rest.iter().try_for_each(|argument| self.expect_integer(argument, &what))?;
                Kind::String
            }
            F::Reverse => {
                needs("a string or a list", |kind| *kind == Kind::String || element_of(kind).is_some())?;
                widened(&first.kind)
            }
            F::ToString => {
                needs("a single value", may_be_string)?;
                Kind::String
            }
            F::ToInteger => {
                needs("a number, a string or a truth value", |kind| {
                    kind.is_number() || matches!(kind, Kind::String | Kind::Bool)
                })?;
                Kind::Integer
            }
            F::ToFloat => {
                needs("a number or a string", |kind| kind.is_number() || *kind == Kind::String)?;
                Kind::Float
            }
            F::ToBoolean => {
                needs("a string, an integer or a truth value", |kind| {
                    is_integer(kind) || matches!(kind, Kind::String | Kind::Bool)
                })?;
                Kind::Bool
            }
            F::Head | F::Last => {
                needs("a list", |kind| element_of(kind).is_some())?;
                element_of(&first.kind).unwrap_or(Kind::Null)
            }
            F::Tail => {
                needs("a list", |kind| element_of(kind).is_some())?;
                widened(&first.kind)
            }
            F::Range => {
                arguments.iter().try_for_each(|argument| self.expect_integer(argument, &what))?;
                Kind::List(Box::new(Kind::Integer))
            }
            F::Labels => {
                self.expect_form(first, &what, Form::Node)?;
                Kind::List(Box::new(Kind::String))
            }
            F::Type => {
                self.expect_form(first, &what, Form::Edge)?;
                Kind::String
            }
            F::Keys | F::Properties => {
                needs("a node, an edge or a map", |kind| matches!(kind, Kind::Entity(_) | Kind::Map(_)))?;
                let properties = self.all_properties(first)?;
                if function == F::Keys { Kind::List(Box::new(Kind::String)) } else { properties }
            }
            F::Coalesce | F::Date | F::Time | F::DateTime | F::RandomUuid => first.kind.clone(),
        })
    }

    fn expect_form(&self, expr: &Expr, what: &str, form: Form) -> Result<(), Finding> {
        let needs = if form == Form::Node { "a node" } else { "an edge" };
        self.expect(expr, what, needs, |kind| matches!(kind, Kind::Entity(id) if self.entities.form(*id) == form))
    }

    /// The kind of the map of all properties, all of which are then read.
    pub(super) fn all_properties(&mut self, of: &Expr) -> Result<Kind, Finding> {
        self.need_all(&of.kind);
        if !matches!(of.kind, Kind::Entity(_)) {
            return Ok(of.kind.clone());
        }
        let catalog = self.catalog;
        let tables: Vec<_> = self.tables_of(of).iter().filter_map(|id| catalog.table_by_id(*id)).collect();
        let mut entries: BTreeMap<String, Kind> = BTreeMap::new();
        for property in tables.iter().flat_map(|table| &table.properties) {
            let own = Kind::of(&property.ty);
            let known = entries.get(&property.name).cloned().unwrap_or(Kind::Null);
            let Some(kind) = self.unite(&known, &own) else {
                let message = format!("`{}` is {known} in one table and {own} in another", property.name);
                return Err(Finding::new(of.span, message).with_help("say which label is meant"));
            };
            entries.insert(property.name.clone(), kind);
        }
        Ok(Kind::Map(entries.into_iter().collect()))
    }

    /// `date(…)`, `time(…)` and `datetime(…)`: constants of constant texts.
    fn moment(
        &self,
        function: Function,
        name: &'static str,
        arguments: Vec<Expr>,
        span: Span,
    ) -> Result<Expr, Finding> {
        let (ty, example) = match function {
            Function::Date => (Type::Date, "date('2024-01-31')"),
            Function::Time => (Type::Time, "time('12:34:56')"),
            _ => (Type::Timestamp, "datetime('2024-01-31T12:00:00Z')"),
        };
        let kind = Kind::of(&ty);
        if let Some(argument) = arguments.first() {
            if let ExprNode::Constant(CypherValue::Scalar(Value::String(text))) = &argument.node {
                let value = parse_text(text, &ty).map_err(|_| {
                    Finding::new(argument.span, format!("'{text}' is not {kind}")).with_help(format!("write {example}"))
                })?;
                return Ok(constant(value, kind, span));
            }
            let (what, needs) = (format!("`{name}`"), format!("a string, such as {example}"));
            let fits = |from: &Kind| *from == Kind::String || *from == Kind::Timestamp || *from == kind;
            self.expect(argument, &what, &needs, fits)?;
        }
        Ok(Expr { node: ExprNode::Call { function, arguments }, kind, span })
    }
}

const fn may_be_string(kind: &Kind) -> bool {
    !matches!(kind, Kind::Blob | Kind::Vector(_) | Kind::List(_) | Kind::Map(_) | Kind::Entity(_))
}

fn count(fewest: usize, most: usize) -> String {
    match (fewest, most) {
        (0, 0) => "no argument".to_owned(),
        (1, 1) => "one argument".to_owned(),
        (0, most) => format!("at most {most} argument"),
        (fewest, usize::MAX) => format!("at least {fewest} argument"),
        (fewest, most) if fewest == most => format!("{fewest} arguments"),
        (fewest, most) => format!("{fewest} to {most} arguments"),
    }
}

fn unknown(name: &Name) -> Finding {
    if let Some((known, help)) = NOT_YET.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name.text)) {
        let finding = Finding::new(name.span, format!("the function `{known}` is not supported yet"));
        return if help.is_empty() { finding } else { finding.with_help(*help) };
    }
    let finding = Finding::new(name.span, format!("there is no function `{}`", name.text));
    let known = FUNCTIONS.iter().map(|(known, ..)| *known).chain(aggregates::NAMES.iter().map(|(known, _)| *known));
    suggest(finding, &name.text, known)
}
