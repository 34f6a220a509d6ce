//! Bound statements as text, so that a test can say what it expects.

use crate::ids::TableId;
use crate::query::CypherValue;
use crate::query::bound::{
    Aggregate, Assignment, Body, Creation, Direction, Effect, Expr, ExprNode, Output, Pattern, Plan, Statement, VarId,
};
use crate::schema::Catalog;
use crate::syntax::{BinaryOp, UnaryOp};
use crate::value::Value;

struct Show<'a> {
    statement: &'a Statement,
    catalog: &'a Catalog,
}

pub(super) fn statement(statement: &Statement, catalog: &Catalog) -> String {
    let show = Show { statement, catalog };
    match &statement.body {
        Body::Read(output) => show.output(output),
        Body::Update(update) => {
            let effects: Vec<_> = update.effects.iter().map(|effect| show.effect(effect)).collect();
            let output = update.output.as_ref().map(|output| format!("\n{}", show.output(output)));
            format!("{}\n{}{}", show.plan(&update.read), effects.join("\n"), output.unwrap_or_default())
        }
    }
}

/// The properties that are read of each entity.
pub(super) fn needs(statement: &Statement, catalog: &Catalog) -> Vec<String> {
    let entity = |entity: &crate::query::bound::Entity| {
        let tables = entity.tables.iter().map(|id| {
            let table = catalog.table_by_id(*id).unwrap();
            let needs = entity.needs.get(id).into_iter().flatten();
            let mut names: Vec<_> = needs.map(|id| table.property_by_id(*id).unwrap().name.as_str()).collect();
            names.sort_unstable();
            format!("{}({})", table.name, names.join(","))
        });
        tables.collect::<Vec<_>>().join("|")
    };
    statement.entities.iter().map(entity).collect()
}

impl Show<'_> {
    fn output(&self, output: &Output) -> String {
        let columns: Vec<_> = output.columns.iter().map(|(name, var)| format!("{name}={}", self.var(*var))).collect();
        format!("{} -> {}", self.plan(&output.plan), columns.join(", "))
    }

    fn var(&self, var: VarId) -> String {
        format!("{}{}", self.statement.vars[var.0 as usize].name.replace(|c: char| !c.is_alphanumeric(), "_"), var.0)
    }

    fn vars(&self, vars: &[VarId]) -> String {
        vars.iter().map(|var| self.var(*var)).collect::<Vec<_>>().join(", ")
    }

    fn tables(&self, tables: &[TableId]) -> String {
        let name = |id: &TableId| self.catalog.table_by_id(*id).unwrap().name.clone();
        if tables.is_empty() { "!".to_owned() } else { tables.iter().map(name).collect::<Vec<_>>().join("|") }
    }

    fn plan(&self, plan: &Plan) -> String {
        let items = |items: &[(VarId, Expr)]| {
            items
                .iter()
                .map(|(var, expr)| format!("{}={}", self.var(*var), self.expr(expr)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        match plan {
            Plan::Unit => "unit".to_owned(),
            Plan::Rows(vars) => format!("rows {}", self.vars(vars)),
            Plan::Match { input, pattern, optional } => {
                let word = if *optional { "optional" } else { "match" };
                format!("{} | {word} {}", self.plan(input), self.pattern(pattern))
            }
            Plan::Filter { input, condition } => format!("{} | where {}", self.plan(input), self.expr(condition)),
            Plan::Project { input, items: projected } => format!("{} | {}", self.plan(input), items(projected)),
            Plan::Aggregate { input, keys, aggregates } => {
                let computed: Vec<_> = aggregates
                    .iter()
                    .map(|(var, aggregate)| format!("{}={}", self.var(*var), self.aggregate(aggregate)))
                    .collect();
                format!("{} | group [{}] {}", self.plan(input), items(keys), computed.join(", "))
            }
            Plan::Distinct { input } => format!("{} | distinct", self.plan(input)),
            Plan::Sort { input, keys } => {
                let key = |key: &crate::query::bound::SortKey| {
                    format!("{}{}", self.expr(&key.expr), if key.descending { " desc" } else { "" })
                };
                format!("{} | sort {}", self.plan(input), keys.iter().map(key).collect::<Vec<_>>().join(", "))
            }
            Plan::Slice { input, skip, limit } => {
                let bound = |bound: &Option<Expr>| bound.as_ref().map_or(String::new(), |expr| self.expr(expr));
                format!("{} | slice {}..{}", self.plan(input), bound(skip), bound(limit))
            }
            Plan::Unwind { input, list, var } => {
                format!("{} | unwind {} as {}", self.plan(input), self.expr(list), self.var(*var))
            }
            Plan::Union { left, right, columns, distinct } => {
                let word = if *distinct { "union" } else { "union all" };
                format!("({}) {word} ({}) as {}", self.plan(left), self.plan(right), self.vars(columns))
            }
        }
    }

    fn aggregate(&self, aggregate: &Aggregate) -> String {
        let argument = aggregate.argument.as_ref().map_or("*".to_owned(), |argument| self.expr(argument));
        let distinct = if aggregate.distinct { "distinct " } else { "" };
        format!("{:?}({distinct}{argument})", aggregate.function)
    }

    fn pattern(&self, pattern: &Pattern) -> String {
        let mut parts: Vec<String> = Vec::new();
        for node in &pattern.nodes {
            let mark = if node.bound { "*" } else { "" };
            parts.push(format!("({mark}{}:{})", self.var(node.var), self.tables(&node.tables)));
        }
        for edge in &pattern.edges {
            let mark = if edge.bound { "*" } else { "" };
            let (left, right) = match edge.direction {
                Direction::Out => ("-", "->"),
                Direction::In => ("<-", "-"),
                Direction::Either => ("-", "-"),
            };
            parts.push(format!(
                "{}{left}[{mark}{}:{}]{right}{}",
                self.var(pattern.nodes[edge.left].var),
                self.var(edge.var),
                self.tables(&edge.tables),
                self.var(pattern.nodes[edge.right].var)
            ));
        }
        let conditions: Vec<_> = pattern.conditions.iter().map(|condition| self.expr(condition)).collect();
        let conditions =
            if conditions.is_empty() { String::new() } else { format!(" if {}", conditions.join(" and ")) };
        format!("{}{conditions}", parts.join(" "))
    }

    fn property(&self, (table, property): &(TableId, crate::ids::PropertyId)) -> String {
        let table = self.catalog.table_by_id(*table).unwrap();
        format!("{}.{}", table.name, table.property_by_id(*property).unwrap().name)
    }

    fn expr(&self, expr: &Expr) -> String {
        let all = |exprs: &[Expr]| exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ");
        match &expr.node {
            ExprNode::Constant(value) => value_text(value),
            ExprNode::Column(var) => self.var(*var),
            ExprNode::Property { of, choices } => {
                let choices: Vec<_> = choices.iter().map(|choice| self.property(choice)).collect();
                format!("{}.<{}>", self.expr(of), choices.join("|"))
            }
            ExprNode::Field { of, name } => format!("{}.{name}", self.expr(of)),
            ExprNode::List(items) => format!("[{}]", all(items)),
            ExprNode::Map(entries) => {
                let entries: Vec<_> =
                    entries.iter().map(|(name, value)| format!("{name}: {}", self.expr(value))).collect();
                format!("{{{}}}", entries.join(", "))
            }
            ExprNode::Unary(operator, operand) => {
                let sign = match operator {
                    UnaryOp::Plus => "+",
                    UnaryOp::Minus => "-",
                    UnaryOp::Not => "not ",
                };
                format!("{sign}{}", self.expr(operand))
            }
            ExprNode::Binary(operator, left, right) => {
                let operator = if *operator == BinaryOp::In { "in" } else { operator.as_str() };
                format!("({} {operator} {})", self.expr(left), self.expr(right))
            }
            ExprNode::Compare(first, rest) => {
                let rest: Vec<_> = rest
                    .iter()
                    .map(|(operator, operand)| format!(" {} {}", operator.as_str(), self.expr(operand)))
                    .collect();
                format!("({}{})", self.expr(first), rest.concat())
            }
            ExprNode::IsNull { operand, negated } => {
                format!("{} is {}null", self.expr(operand), if *negated { "not " } else { "" })
            }
            ExprNode::IsOf { operand, tables } => format!("{}:{}", self.expr(operand), self.tables(tables)),
            ExprNode::Index { list, index } => format!("{}[{}]", self.expr(list), self.expr(index)),
            ExprNode::SubList { list, from, to } => {
                let bound = |bound: &Option<Box<Expr>>| bound.as_ref().map_or(String::new(), |expr| self.expr(expr));
                format!("{}[{}..{}]", self.expr(list), bound(from), bound(to))
            }
            ExprNode::Case { operand, arms, otherwise } => {
                let operand = operand.as_ref().map_or(String::new(), |operand| format!(" {}", self.expr(operand)));
                let arms: Vec<_> =
                    arms.iter().map(|(whens, then)| format!(" {}: {}", all(whens), self.expr(then))).collect();
                let otherwise =
                    otherwise.as_ref().map_or(String::new(), |otherwise| format!(" else {}", self.expr(otherwise)));
                format!("case{operand}{}{otherwise}", arms.join(","))
            }
            ExprNode::Call { function, arguments } => format!("{function:?}({})", all(arguments)),
            ExprNode::Convert(operand) => format!("convert({})", self.expr(operand)),
        }
    }

    fn effect(&self, effect: &Effect) -> String {
        let assignments =
            |items: &[Assignment]| items.iter().map(|item| self.assignment(item)).collect::<Vec<_>>().join(", ");
        match effect {
            Effect::Create(creations) => {
                let creations: Vec<_> = creations.iter().map(|creation| self.creation(creation)).collect();
                format!("create {}", creations.join(", "))
            }
            Effect::Merge { creation, on_create, on_match } => {
                let mut out = format!("merge {}", self.creation(creation));
                for (word, items) in [(" on create ", on_create), (" on match ", on_match)] {
                    if !items.is_empty() {
                        out += word;
                        out += &assignments(items);
                    }
                }
                out
            }
            Effect::Set(items) => format!("set {}", assignments(items)),
            Effect::Delete { operands, detach } => {
                let operands: Vec<_> = operands.iter().map(|operand| self.expr(operand)).collect();
                format!("{}delete {}", if *detach { "detach " } else { "" }, operands.join(", "))
            }
        }
    }

    fn creation(&self, creation: &Creation) -> String {
        let table = self.catalog.table_by_id(creation.table).unwrap();
        let properties: Vec<_> = creation
            .properties
            .iter()
            .map(|(id, value)| format!("{}: {}", table.property_by_id(*id).unwrap().name, self.expr(value)))
            .collect();
        let ends = creation.ends.map_or(String::new(), |(from, to)| format!(" {}->{}", self.var(from), self.var(to)));
        format!("({}:{}{ends} {{{}}})", self.var(creation.var), table.name, properties.join(", "))
    }

    fn assignment(&self, assignment: &Assignment) -> String {
        match assignment {
            Assignment::Property { var, choices, value, .. } => {
                let choices: Vec<_> = choices.iter().map(|choice| self.property(choice)).collect();
                format!("{}.<{}> = {}", self.var(*var), choices.join("|"), self.expr(value))
            }
            Assignment::Properties { var, value, replace, .. } => {
                format!("{} {} {}", self.var(*var), if *replace { "=" } else { "+=" }, self.expr(value))
            }
        }
    }
}

fn value_text(value: &CypherValue) -> String {
    match value {
        CypherValue::Scalar(value) => match value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Decimal { unscaled, scale } => format!("{unscaled}e-{scale}"),
            Value::String(text) => format!("'{text}'"),
            other => format!("{other:?}"),
        },
        CypherValue::List(items) => format!("[{}]", items.iter().map(value_text).collect::<Vec<_>>().join(", ")),
        CypherValue::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(name, value)| format!("{name}: {}", value_text(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => format!("{other:?}"),
    }
}
