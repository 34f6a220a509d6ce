//! Answers queries the simple way: every pattern by trying every edge and node, every row by itself.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::graph::SmallGraph;
use super::syntax::{Aggregate, Clause, Direction, Expr, Item, NodePattern, Op, Path, Projection, Query};
use super::value::Val;

type Row = BTreeMap<String, Val>;

/// What a query gives.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The rows; in order, where the query has one.
    pub rows: Vec<Vec<Val>>,
}

/// Answers `query` on `graph`.
#[must_use]
pub fn evaluate(graph: &SmallGraph, query: &Query) -> Answer {
    let mut rows = vec![Row::new()];
    let mut answer = Answer::default();
    for clause in &query.clauses {
        match clause {
            Clause::Match { optional, paths, condition } => {
                rows = rows.iter().flat_map(|row| matches(graph, row, *optional, paths, condition.as_ref())).collect();
            }
            Clause::Unwind { list, name } => {
                rows = rows
                    .iter()
                    .flat_map(|row| {
                        let items = match value(graph, row, list) {
                            Val::List(items) => items,
                            _ => Vec::new(),
                        };
                        items.into_iter().map(|item| with(row, name, item)).collect::<Vec<_>>()
                    })
                    .collect();
            }
            Clause::With { projection, condition } => {
                rows = project(graph, &rows, projection);
                if let Some(condition) = condition {
                    rows.retain(|row| value(graph, row, condition) == Val::Bool(true));
                }
            }
            Clause::Return(projection) => {
                let names: Vec<&String> = projection.items.iter().map(|(_, name)| name).collect();
                let projected = project(graph, &rows, projection);
                answer.rows =
                    projected.iter().map(|row| names.iter().map(|name| row[*name].clone()).collect()).collect();
            }
        }
    }
    answer
}

fn with(row: &Row, name: &str, item: Val) -> Row {
    let mut row = row.clone();
    row.insert(name.to_owned(), item);
    row
}

/// The row with each match; with nulls, if it is optional and there is none.
fn matches(graph: &SmallGraph, row: &Row, optional: bool, paths: &[Path], condition: Option<&Expr>) -> Vec<Row> {
    let mut found = vec![(row.clone(), BTreeSet::new())];
    for path in paths {
        found = found.iter().flat_map(|(row, used)| walk(graph, row, used, path)).collect();
    }
    let mut rows: Vec<Row> = found.into_iter().map(|(row, _)| row).collect();
    if let Some(condition) = condition {
        rows.retain(|row| value(graph, row, condition) == Val::Bool(true));
    }
    if optional && rows.is_empty() {
        let mut empty = row.clone();
        for path in paths {
            let nodes = std::iter::once(&path.first).chain(path.steps.iter().map(|(_, node)| node));
            let names = nodes.map(|node| &node.name).chain(path.steps.iter().map(|(edge, _)| &edge.name));
            for name in names {
                empty.entry(name.clone()).or_insert(Val::Null);
            }
        }
        rows.push(empty);
    }
    rows
}

type Found = (Row, BTreeSet<usize>);

fn walk(graph: &SmallGraph, row: &Row, used: &BTreeSet<usize>, path: &Path) -> Vec<Found> {
    let mut found: Vec<(Found, usize)> = Vec::new();
    for node in 0..graph.nodes.len() {
        if let Some(row) = place(graph, row, &path.first, node) {
            found.push(((row, used.clone()), node));
        }
    }
    for (edge, node) in &path.steps {
        let mut next = Vec::new();
        for ((row, used), at) in found {
            for (index, candidate) in graph.edges.iter().enumerate() {
                let of_type = edge.types.is_empty() || edge.types.contains(&candidate.table);
                if !of_type || used.contains(&index) {
                    continue;
                }
                let out = candidate.from == at && edge.direction != Direction::In;
                let back = candidate.to == at && edge.direction != Direction::Out;
                let loops = candidate.from == candidate.to;
                let ends = [(out, candidate.to), (back && !(out && loops), candidate.from)];
                for (_, end) in ends.into_iter().filter(|(fits, _)| *fits) {
                    let row = with(&row, &edge.name, Val::Edge(index));
                    if let Some(row) = place(graph, &row, node, end) {
                        let mut used = used.clone();
                        used.insert(index);
                        next.push(((row, used), end));
                    }
                }
            }
        }
        found = next;
    }
    found.into_iter().map(|(found, _)| found).collect()
}

/// The row with `node` at this place of the pattern, if it fits.
fn place(graph: &SmallGraph, row: &Row, pattern: &NodePattern, node: usize) -> Option<Row> {
    let labelled = pattern.labels.is_empty() || pattern.labels.contains(&graph.nodes[node].table);
    let free = row.get(&pattern.name).is_none_or(|bound| *bound == Val::Node(node));
    if !labelled || !free {
        return None;
    }
    let row = with(row, &pattern.name, Val::Node(node));
    if let Some((name, expr)) = &pattern.inline {
        let wanted = value(graph, &row, expr);
        if graph.nodes[node].property(name).equals(&wanted) != Some(true) {
            return None;
        }
    }
    Some(row)
}

fn project(graph: &SmallGraph, rows: &[Row], projection: &Projection) -> Vec<Row> {
    let is_aggregate = |item: &Item| matches!(item, Item::Aggregate(..));
    let mut out: Vec<Row> = if projection.items.iter().any(|(item, _)| is_aggregate(item)) {
        grouped(graph, rows, projection)
    } else {
        let plain = |row: &Row| {
            let items = projection.items.iter();
            items.map(|(item, name)| (name.clone(), of_item(graph, &[row], item))).collect::<Row>()
        };
        rows.iter().map(plain).collect()
    };
    if projection.distinct {
        let mut seen = BTreeSet::new();
        out.retain(|row| seen.insert(row.values().map(Val::identity).collect::<Vec<_>>()));
    }
    if !projection.order.is_empty() {
        out.sort_by(|a, b| {
            let told = projection.order.iter().map(|(name, descending)| {
                let order = a[name].order(&b[name]);
                if *descending { order.reverse() } else { order }
            });
            let rest = projection.items.iter().map(|(_, name)| a[name].order(&b[name]));
            told.chain(rest).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
    }
    let skipped = out.into_iter().skip(projection.skip.unwrap_or(0));
    skipped.take(projection.limit.unwrap_or(usize::MAX)).collect()
}

fn grouped(graph: &SmallGraph, rows: &[Row], projection: &Projection) -> Vec<Row> {
    let mut groups: BTreeMap<Vec<String>, Vec<&Row>> = BTreeMap::new();
    let keys: Vec<&Item> =
        projection.items.iter().map(|(item, _)| item).filter(|item| matches!(item, Item::Plain(_))).collect();
    if keys.is_empty() {
        groups.insert(Vec::new(), Vec::new());
    }
    for row in rows {
        let key = keys.iter().map(|item| of_item(graph, &[row], item).identity()).collect();
        groups.entry(key).or_default().push(row);
    }
    let group = |rows: &Vec<&Row>| {
        let items = projection.items.iter();
        items.map(|(item, name)| (name.clone(), of_item(graph, rows, item))).collect::<Row>()
    };
    groups.values().map(group).collect()
}

/// The value of an item for a group of rows.
fn of_item(graph: &SmallGraph, rows: &[&Row], item: &Item) -> Val {
    let (function, argument, distinct) = match item {
        Item::Plain(expr) => return rows.first().map_or(Val::Null, |row| value(graph, row, expr)),
        Item::Aggregate(_, None, _) => return count(rows.len()),
        Item::Aggregate(function, Some(argument), distinct) => (*function, argument, *distinct),
    };
    let mut values: Vec<Val> =
        rows.iter().map(|row| value(graph, row, argument)).filter(|value| !value.is_null()).collect();
    if distinct {
        let mut seen = BTreeSet::new();
        values.retain(|value| seen.insert(value.identity()));
    }
    let integers = || values.iter().filter_map(|value| if let Val::Int(n) = value { Some(*n) } else { None });
    match function {
        Aggregate::Count => count(values.len()),
        Aggregate::Sum => Val::Int(integers().sum()),
        Aggregate::Avg if values.is_empty() => Val::Null,
        #[expect(clippy::cast_precision_loss, reason = "the integers of small graphs are small")]
        Aggregate::Avg => Val::Float(integers().sum::<i64>() as f64 / values.len() as f64),
        Aggregate::Min => values.into_iter().min_by(Val::order).unwrap_or(Val::Null),
        Aggregate::Max => values.into_iter().max_by(Val::order).unwrap_or(Val::Null),
        Aggregate::Collect => Val::List(values),
    }
}

fn count(n: usize) -> Val {
    Val::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn truth(value: Option<bool>) -> Val {
    value.map_or(Val::Null, Val::Bool)
}

fn value(graph: &SmallGraph, row: &Row, expr: &Expr) -> Val {
    let of = |expr: &Expr| value(graph, row, expr);
    match expr {
        Expr::Null => Val::Null,
        Expr::Bool(b) => Val::Bool(*b),
        Expr::Int(n) => Val::Int(*n),
        Expr::Float(x) => Val::Float(*x),
        Expr::Str(s) => Val::Str(s.clone()),
        Expr::List(items) => Val::List(items.iter().map(of).collect()),
        Expr::Name(name) => row.get(name).cloned().unwrap_or(Val::Null),
        Expr::Property(name, property) => match row.get(name) {
            Some(Val::Node(i)) => graph.nodes[*i].property(property).clone(),
            Some(Val::Edge(i)) => graph.edges[*i].property(property).clone(),
            _ => Val::Null,
        },
        Expr::Not(operand) => match of(operand) {
            Val::Bool(b) => Val::Bool(!b),
            _ => Val::Null,
        },
        Expr::Binary(op, left, right) => binary(*op, &of(left), &of(right)),
        Expr::Chain(first, rest) => {
            let mut left = of(first);
            let mut all = Val::Bool(true);
            for (op, right) in rest {
                let right = of(right);
                all = binary(Op::And, &all, &binary(*op, &left, &right));
                left = right;
            }
            all
        }
        Expr::IsNull(operand, negated) => Val::Bool(of(operand).is_null() != *negated),
        Expr::Case(arms, otherwise) => {
            let arm = arms.iter().find(|(when, _)| of(when) == Val::Bool(true)).map(|(_, then)| then);
            arm.or(otherwise.as_deref()).map_or(Val::Null, of)
        }
        Expr::Coalesce(items) => items.iter().map(of).find(|value| !value.is_null()).unwrap_or(Val::Null),
        Expr::Size(operand) => match of(operand) {
            Val::Str(s) => count(s.chars().count()),
            Val::List(items) => count(items.len()),
            _ => Val::Null,
        },
        Expr::Abs(operand) => match of(operand) {
            Val::Int(n) => Val::Int(n.abs()),
            _ => Val::Null,
        },
        Expr::ToUpper(operand) => match of(operand) {
            Val::Str(s) => Val::Str(s.to_uppercase()),
            _ => Val::Null,
        },
        Expr::Index(list, index) => match (of(list), of(index)) {
            (Val::List(items), Val::Int(n)) => {
                let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let at = if n < 0 { length + n } else { n };
                usize::try_from(at).ok().and_then(|at| items.get(at).cloned()).unwrap_or(Val::Null)
            }
            _ => Val::Null,
        },
    }
}

fn binary(op: Op, left: &Val, right: &Val) -> Val {
    match op {
        Op::And | Op::Or | Op::Xor => logic(op, left, right),
        Op::Equal => truth(left.equals(right)),
        Op::NotEqual => truth(left.equals(right).map(|equal| !equal)),
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => ordered(op, left, right),
        Op::In => member(left, right),
        Op::StartsWith | Op::EndsWith | Op::Contains => match (left, right) {
            (Val::Str(a), Val::Str(b)) => Val::Bool(match op {
                Op::StartsWith => a.starts_with(b.as_str()),
                Op::EndsWith => a.ends_with(b.as_str()),
                _ => a.contains(b.as_str()),
            }),
            _ => Val::Null,
        },
        Op::Add | Op::Subtract | Op::Multiply => match (left, right) {
            (Val::Int(a), Val::Int(b)) => Val::Int(match op {
                Op::Add => a + b,
                Op::Subtract => a - b,
                _ => a * b,
            }),
            (Val::Str(a), Val::Str(b)) => Val::Str(format!("{a}{b}")),
            _ => Val::Null,
        },
    }
}

fn logic(op: Op, left: &Val, right: &Val) -> Val {
    let of = |value: &Val| if let Val::Bool(b) = value { Some(*b) } else { None };
    truth(match (op, of(left), of(right)) {
        (Op::And, Some(false), _) | (Op::And, _, Some(false)) | (Op::Or, Some(false), Some(false)) => Some(false),
        (Op::Or, Some(true), _) | (Op::Or, _, Some(true)) | (Op::And, Some(true), Some(true)) => Some(true),
        (Op::Xor, Some(a), Some(b)) => Some(a != b),
        _ => None,
    })
}

fn ordered(op: Op, left: &Val, right: &Val) -> Val {
    if left.is_null() || right.is_null() {
        return Val::Null;
    }
    // NaN is neither smaller nor larger than anything.
    let order = left.compare(right);
    Val::Bool(order.is_some_and(|order| match op {
        Op::Less => order.is_lt(),
        Op::LessEqual => order.is_le(),
        Op::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}

fn member(element: &Val, list: &Val) -> Val {
    let Val::List(items) = list else { return Val::Null };
    let mut unknown = false;
    for item in items {
        match element.equals(item) {
            Some(true) => return Val::Bool(true),
            None => unknown = true,
            Some(false) => {}
        }
    }
    if unknown { Val::Null } else { Val::Bool(false) }
}
