//! How values are told to a caller: floats of 32 bits by the shortest number that stands for them, and properties that are null not at
//! all.
//!
//! A plan computes with 64 bits, where the `FLOAT` 0.1 is 0.10000000149011612. Which values are such properties is told from the statement,
//! since values do not bear their types; what is computed from one is a number of 64 bits.

use std::collections::{BTreeMap, HashMap};

use crate::ids::TableId;
use crate::query::bound::{AggregateFunction, Body, Expr, ExprNode, Function, Output, Plan, Statement, VarId};
use crate::query::kind::Kind;
use crate::query::value::CypherValue;
use crate::schema::{Catalog, TableDef, Type};
use crate::value::{Value, narrow};

/// Lists and maps are looked into this deep.
const MAX_DEPTH: usize = 6;

/// How the values of one place are told.
#[derive(Debug, Clone, PartialEq)]
enum Look {
    /// As they are.
    Plain,
    /// Floats of 32 bits.
    Single,
    List(Box<Self>),
    Map {
        entries: BTreeMap<String, Self>,
        /// Whether entries that are null are left out.
        sparse: bool,
    },
}

/// How the values of a result are told.
#[derive(Debug)]
pub(crate) struct Looks {
    columns: Vec<Look>,
    /// Those properties of nodes and edges, by table, that are not told as they are.
    tables: HashMap<String, Vec<(String, Look)>>,
}

impl Looks {
    /// For the rows of `output`, which `statement` gives.
    pub(crate) fn new(statement: &Statement, output: &Output, catalog: &Catalog) -> Self {
        let read = match &statement.body {
            Body::Update(update) => Some(&update.read),
            Body::Read(_) => None,
        };
        let mut finder = Finder { statement, catalog, read, known: HashMap::new() };
        let columns = output.columns.iter().map(|(_, var)| finder.column(&output.plan, *var)).collect();
        let looks_of = |table: &TableDef| {
            let looks: Vec<_> = properties(table).filter(|(_, look)| *look != Look::Plain).collect();
            (!looks.is_empty()).then(|| (table.name.clone(), looks))
        };
        Self { columns, tables: catalog.tables.iter().filter_map(looks_of).collect() }
    }

    /// Where everything is told as it is.
    pub(crate) fn plain() -> Self {
        Self { columns: Vec::new(), tables: HashMap::new() }
    }

    /// Makes rows of the result as they are told.
    pub(crate) fn apply(&self, rows: &mut [Vec<CypherValue>]) {
        if self.tables.is_empty() && self.columns.iter().all(|look| *look == Look::Plain) {
            return;
        }
        for row in rows {
            for (value, look) in row.iter_mut().zip(&self.columns) {
                self.tell(value, look);
            }
        }
    }

    fn tell(&self, value: &mut CypherValue, look: &Look) {
        match (value, look) {
            (CypherValue::Scalar(Value::Float(number)), Look::Single) => *number = shortest(*number),
            (CypherValue::Scalar(_), _) => {}
            (CypherValue::List(items), look) => {
                let element = if let Look::List(element) = look { element } else { &Look::Plain };
                for item in items {
                    self.tell(item, element);
                }
            }
            (CypherValue::Map(map), look) => {
                let Look::Map { entries, sparse } = look else {
                    return map.values_mut().for_each(|item| self.tell(item, &Look::Plain));
                };
                if *sparse {
                    map.retain(|_, value| !value.is_null());
                }
                for (name, item) in map {
                    self.tell(item, entries.get(name).unwrap_or(&Look::Plain));
                }
            }
            (CypherValue::Node(node), _) => self.tell_properties(&node.label, node.properties.iter_mut()),
            (CypherValue::Edge(edge), _) => self.tell_properties(&edge.label, edge.properties.iter_mut()),
        }
    }

    fn tell_properties<'v>(&self, table: &str, values: impl Iterator<Item = (&'v str, &'v mut CypherValue)>) {
        let Some(looks) = self.tables.get(table) else { return };
        for (name, value) in values {
            if let Some((_, look)) = looks.iter().find(|(known, _)| known == name) {
                self.tell(value, look);
            }
        }
    }
}

/// The number that is written with the fewest digits of all that are nearest to the same float of 32 bits; a number that is none of
/// 32 bits as it is.
fn shortest(wide: f64) -> f64 {
    let single = narrow(wide);
    let told = format!("{single:e}").parse().unwrap_or(wide);
    let same = f64::from(single).to_bits() == wide.to_bits() && narrow(told).to_bits() == single.to_bits();
    if same { told } else { wide }
}

/// How the properties of a table are told.
fn properties(table: &TableDef) -> impl Iterator<Item = (String, Look)> {
    table.properties.iter().map(|property| (property.name.clone(), of_type(&property.ty)))
}

fn of_type(ty: &Type) -> Look {
    match ty {
        Type::Float => Look::Single,
        Type::Vector(_) => list(Look::Single),
        Type::List(element) => list(of_type(element)),
        _ => Look::Plain,
    }
}

fn list(element: Look) -> Look {
    if element == Look::Plain { element } else { bounded(Look::List(Box::new(element))) }
}

fn map(entries: BTreeMap<String, Look>, sparse: bool) -> Look {
    let plain = !sparse && entries.values().all(|look| *look == Look::Plain);
    if plain { Look::Plain } else { bounded(Look::Map { entries, sparse }) }
}

/// Keeps statements that put maps into maps from describing them at ever greater length.
fn bounded(look: Look) -> Look {
    if depth(&look) > MAX_DEPTH { Look::Plain } else { look }
}

fn depth(look: &Look) -> usize {
    match look {
        Look::Plain | Look::Single => 0,
        Look::List(element) => 1 + depth(element),
        Look::Map { entries, .. } => 1 + entries.values().map(depth).max().unwrap_or(0),
    }
}

/// What holds for values that may be of either place.
fn either(one: Look, other: Look) -> Look {
    match (one, other) {
        (Look::List(one), Look::List(other)) => list(either(*one, *other)),
        (Look::Map { entries: mut one, sparse: true }, Look::Map { entries: other, sparse: true }) => {
            for (name, look) in other {
                let look = match one.remove(&name) {
                    Some(known) => either(known, look),
                    None => look,
                };
                one.insert(name, look);
            }
            map(one, true)
        }
        (one, other) if one == other => one,
        _ => Look::Plain,
    }
}

fn element(look: Look) -> Look {
    if let Look::List(element) = look { *element } else { Look::Plain }
}

/// Finds out what the columns of a plan are.
struct Finder<'a> {
    statement: &'a Statement,
    catalog: &'a Catalog,
    /// What gives the rows that an update has worked on.
    read: Option<&'a Plan>,
    /// A variable that is passed on under its own id is the same value.
    known: HashMap<VarId, Look>,
}

impl Finder<'_> {
    fn column(&mut self, plan: &Plan, var: VarId) -> Look {
        if let Some(known) = self.known.get(&var) {
            return known.clone();
        }
        let look = self.of_column(plan, var);
        self.known.insert(var, look.clone());
        look
    }

    fn of_column(&mut self, plan: &Plan, var: VarId) -> Look {
        let of = |items: &[(VarId, Expr)]| items.iter().find(|(id, _)| *id == var).map(|(_, expr)| expr.clone());
        match plan {
            Plan::Unit => Look::Plain,
            Plan::Rows(_) => match self.read.take() {
                Some(read) => {
                    let look = self.of_column(read, var);
                    self.read = Some(read);
                    look
                }
                None => Look::Plain,
            },
            Plan::Project { input, items } => of(items).map_or(Look::Plain, |expr| self.expr(input, &expr)),
            Plan::Aggregate { input, keys, aggregates } => {
                if let Some(expr) = of(keys) {
                    return self.expr(input, &expr);
                }
                let aggregate = aggregates.iter().find(|(id, _)| *id == var).map(|(_, aggregate)| aggregate);
                let Some((function, argument)) = aggregate.and_then(|it| Some((it.function, it.argument.as_ref()?)))
                else {
                    return Look::Plain;
                };
                match function {
                    AggregateFunction::Min | AggregateFunction::Max => self.expr(input, argument),
                    AggregateFunction::Collect => list(self.expr(input, argument)),
                    AggregateFunction::Count | AggregateFunction::Sum | AggregateFunction::Avg => Look::Plain,
                }
            }
            Plan::Unwind { input, list, var: element_var } if *element_var == var => element(self.expr(input, list)),
            Plan::Union { left, right, columns, .. } => {
                let Some(place) = columns.iter().position(|column| *column == var) else { return Look::Plain };
                let mut side = |plan: &Plan| plan.columns().get(place).map(|var| self.of_column(plan, *var));
                match (side(left), side(right)) {
                    (Some(left), Some(right)) => either(left, right),
                    _ => Look::Plain,
                }
            }
            Plan::Match { input, .. }
            | Plan::Filter { input, .. }
            | Plan::Distinct { input }
            | Plan::Sort { input, .. }
            | Plan::Slice { input, .. }
            | Plan::Unwind { input, .. } => self.column(input, var),
        }
    }

    /// How the values of an expression over the rows of `input` are told.
    fn expr(&mut self, input: &Plan, expr: &Expr) -> Look {
        match &expr.node {
            ExprNode::Column(var) => self.column(input, *var),
            ExprNode::Property { choices, .. } => {
                let catalog = self.catalog;
                let looks = choices.iter().filter_map(|(table, property)| {
                    Some(of_type(&catalog.table_by_id(*table)?.property_by_id(*property)?.ty))
                });
                looks.reduce(either).unwrap_or(Look::Plain)
            }
            ExprNode::Field { of, name } => match self.expr(input, of) {
                Look::Map { mut entries, .. } => entries.remove(name).unwrap_or(Look::Plain),
                _ => Look::Plain,
            },
            ExprNode::List(items) => list(self.any(input, items.iter())),
            ExprNode::Map(entries) => {
                let looks = entries.iter().map(|(name, value)| (name.clone(), self.expr(input, value))).collect();
                map(looks, false)
            }
            ExprNode::Index { list, .. } => element(self.expr(input, list)),
            ExprNode::SubList { list, .. } => self.expr(input, list),
            ExprNode::Case { arms, otherwise, .. } => {
                self.any(input, arms.iter().map(|(_, value)| value).chain(otherwise.as_deref()))
            }
            ExprNode::Convert(operand) => self.expr(input, operand),
            ExprNode::Call { function, arguments } => match (function, arguments.as_slice()) {
                (Function::Coalesce, arguments) => self.any(input, arguments.iter()),
                (Function::Head | Function::Last, [of]) => element(self.expr(input, of)),
                (Function::Tail | Function::Reverse, [of]) => self.expr(input, of),
                (Function::Properties, [of]) => match &of.kind {
                    Kind::Entity(id) => {
                        let tables = self.statement.entities.get(id.0 as usize).map(|entity| entity.tables.as_slice());
                        self.of_tables(tables.unwrap_or_default())
                    }
                    _ => self.expr(input, of),
                },
                _ => Look::Plain,
            },
            _ => Look::Plain,
        }
    }

    fn any<'e>(&mut self, input: &Plan, exprs: impl Iterator<Item = &'e Expr>) -> Look {
        let values = exprs.filter(|expr| expr.kind != Kind::Null && !is_null(expr));
        let looks: Vec<Look> = values.map(|expr| self.expr(input, expr)).collect();
        looks.into_iter().reduce(either).unwrap_or(Look::Plain)
    }

    /// Of a map of all properties of a node or an edge of these tables.
    fn of_tables(&self, tables: &[TableId]) -> Look {
        let tables = tables.iter().filter_map(|id| self.catalog.table_by_id(*id));
        let maps = tables.map(|table| map(properties(table).collect(), true));
        maps.reduce(either).unwrap_or(Look::Plain)
    }
}

fn is_null(expr: &Expr) -> bool {
    match &expr.node {
        ExprNode::Constant(value) => value.is_null(),
        ExprNode::Convert(operand) => is_null(operand),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_of_32_bits_is_told_by_its_shortest_number() {
        for (single, told) in [
            (0.1_f32, 0.1),
            (16_777_216.0, 16_777_216.0),
            (f32::MAX, 3.402_823_5e38),
            (f32::MIN_POSITIVE, 1.175_494_4e-38),
            (1e-45, 1e-45),
            (-0.0, -0.0),
            (f32::INFINITY, f64::INFINITY),
        ] {
            let found = shortest(f64::from(single));
            assert_eq!(found.to_bits(), f64::to_bits(told), "{single}");
            assert_eq!(narrow(found).to_bits(), single.to_bits(), "{single}");
        }
        assert!(shortest(f64::NAN).is_nan());
        assert_eq!(shortest(0.1).to_bits(), 0.1_f64.to_bits(), "no float of 32 bits");
    }

    #[test]
    fn what_is_put_into_itself_is_not_described_for_ever() {
        let mut look = Look::Single;
        for _ in 0..100 {
            look = map(["a", "b"].map(|name| (name.to_owned(), look.clone())).into(), true);
            assert!(depth(&look) <= MAX_DEPTH);
        }
    }
}
