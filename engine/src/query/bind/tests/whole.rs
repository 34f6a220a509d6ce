//! What later stages rely on: every column that is read is given, every table and property is there, every value has the kind it says.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::query::bound::{Assignment, Body, Creation, Effect, Entity, Plan};
use crate::query::kind::EntityId;

/// Fails if a later stage would find something missing in `statement`.
pub(super) fn assert_whole(text: &str, statement: &Statement, catalog: &Catalog) {
    let whole = Whole { text, statement, catalog };
    for (index, var) in statement.vars.iter().enumerate() {
        assert_eq!(var.id.0 as usize, index, "{text}");
    }
    match &statement.body {
        Body::Read(output) => {
            let given = whole.plan(&output.plan);
            assert!(output.columns.iter().all(|(_, var)| given.contains(var)), "{text}");
        }
        Body::Update(update) => {
            let mut given = whole.plan(&update.read);
            for effect in &update.effects {
                whole.effect(effect, &mut given);
            }
            if let Some(output) = &update.output {
                whole.rows(&output.plan, &given);
                whole.plan(&output.plan);
            }
        }
    }
}

struct Whole<'a> {
    text: &'a str,
    statement: &'a Statement,
    catalog: &'a Catalog,
}

type Given = BTreeSet<VarId>;

impl Whole<'_> {
    fn kind(&self, var: VarId) -> &Kind {
        &self.statement.vars[var.0 as usize].kind
    }

    fn entity(&self, kind: &Kind) -> &Entity {
        let Kind::Entity(EntityId(id)) = kind else { panic!("{}\n{kind:?} is no entity", self.text) };
        &self.statement.entities[*id as usize]
    }

    /// Checks a plan, and gives its columns.
    fn plan(&self, plan: &Plan) -> Given {
        match plan {
            Plan::Unit => {}
            Plan::Rows(vars) => assert!(vars.iter().all(|var| (var.0 as usize) < self.statement.vars.len())),
            Plan::Match { input, pattern, .. } => {
                let before = self.plan(input);
                let nodes = pattern.nodes.iter().map(|node| (node.var, &node.tables, node.bound));
                let edges = pattern.edges.iter().map(|edge| (edge.var, &edge.tables, edge.bound));
                for (var, tables, bound) in nodes.chain(edges) {
                    assert_eq!(bound, before.contains(&var), "{}", self.text);
                    let entity = self.entity(self.kind(var));
                    assert!(tables.iter().all(|table| entity.tables.contains(table)), "{}", self.text);
                }
                let given = plan.columns().into_iter().collect();
                pattern.conditions.iter().for_each(|condition| self.condition(condition, &given));
            }
            Plan::Filter { input, condition } => self.condition(condition, &self.plan(input)),
            Plan::Project { input, items } => {
                let given = self.plan(input);
                for (var, expr) in items {
                    self.value(*var, expr, &given);
                }
            }
            Plan::Aggregate { input, keys, aggregates } => {
                let given = self.plan(input);
                for (var, expr) in keys {
                    self.value(*var, expr, &given);
                }
                for (var, aggregate) in aggregates {
                    assert_eq!(self.kind(*var), &aggregate.kind, "{}", self.text);
                    aggregate.argument.iter().for_each(|argument| self.expr(argument, &given));
                }
            }
            Plan::Distinct { input } => {
                self.plan(input);
            }
            Plan::Sort { input, keys } => {
                let given = self.plan(input);
                for key in keys {
                    self.expr(&key.expr, &given);
                }
            }
            Plan::Slice { input, skip, limit } => {
                self.plan(input);
                skip.iter().chain(limit).for_each(|count| self.expr(count, &Given::new()));
            }
            Plan::Unwind { input, list, .. } => self.expr(list, &self.plan(input)),
            Plan::Union { left, right, columns, .. } => {
                self.plan(left);
                self.plan(right);
                for side in [left, right] {
                    let kinds: Vec<_> = side.columns().into_iter().map(|var| self.kind(var)).collect();
                    let wanted: Vec<_> = columns.iter().map(|var| self.kind(*var)).collect();
                    assert_eq!(kinds, wanted, "{}", self.text);
                }
            }
        }
        let columns = plan.columns();
        let given: Given = columns.iter().copied().collect();
        assert_eq!(given.len(), columns.len(), "{}: a column is there twice", self.text);
        given
    }

    /// The rows of an update have only columns that were read or made.
    fn rows(&self, plan: &Plan, given: &Given) {
        match plan {
            Plan::Rows(vars) => assert!(vars.iter().all(|var| given.contains(var)), "{}", self.text),
            Plan::Filter { input, .. }
            | Plan::Project { input, .. }
            | Plan::Aggregate { input, .. }
            | Plan::Distinct { input }
            | Plan::Sort { input, .. }
            | Plan::Slice { input, .. } => self.rows(input, given),
            other => panic!("{}\nan update returns {other:?}", self.text),
        }
    }

    fn value(&self, var: VarId, expr: &Expr, given: &Given) {
        assert_eq!(self.kind(var), &expr.kind, "{}", self.text);
        self.expr(expr, given);
    }

    fn condition(&self, condition: &Expr, given: &Given) {
        assert!(matches!(condition.kind, Kind::Bool | Kind::Null), "{}\n{condition:?}", self.text);
        self.expr(condition, given);
    }

    fn expr(&self, expr: &Expr, given: &Given) {
        match &expr.node {
            ExprNode::Column(var) => {
                assert!(given.contains(var), "{}\n{var:?} is not given", self.text);
                assert_eq!(self.kind(*var), &expr.kind, "{}", self.text);
            }
            ExprNode::Property { of, choices } => {
                let entity = self.entity(&of.kind);
                for (table, property) in choices {
                    let found = self.catalog.table_by_id(*table).and_then(|table| table.property_by_id(*property));
                    assert!(found.is_some(), "{}", self.text);
                    let needed = entity.needs.get(table).is_some_and(|needs| needs.contains(property));
                    assert!(entity.tables.contains(table) && needed, "{}", self.text);
                }
            }
            ExprNode::List(items) => {
                let Kind::List(element) = &expr.kind else { panic!("{}\n{expr:?}", self.text) };
                assert!(items.iter().all(|item| item.kind == **element), "{}\n{expr:?}", self.text);
            }
            ExprNode::Convert(operand) => assert_ne!(operand.kind, expr.kind, "{}", self.text),
            _ => {}
        }
        expr.operands().into_iter().for_each(|operand| self.expr(operand, given));
    }

    fn effect(&self, effect: &Effect, given: &mut Given) {
        match effect {
            Effect::Create(creations) => creations.iter().for_each(|creation| self.creation(creation, given)),
            Effect::Merge { creation, on_create, on_match } => {
                self.creation(creation, given);
                on_create.iter().chain(on_match).for_each(|item| self.assignment(item, given));
            }
            Effect::Set(items) => items.iter().for_each(|item| self.assignment(item, given)),
            Effect::Delete { operands, .. } => operands.iter().for_each(|operand| self.expr(operand, given)),
        }
    }

    fn creation(&self, creation: &Creation, given: &mut Given) {
        let table = self.catalog.table_by_id(creation.table).unwrap();
        assert_eq!(creation.ends.is_some(), !table.is_node(), "{}", self.text);
        for (property, value) in &creation.properties {
            assert!(table.property_by_id(*property).is_some(), "{}", self.text);
            self.expr(value, given);
        }
        let ends = creation.ends.into_iter().flat_map(|(from, to)| [from, to]);
        assert!(ends.into_iter().all(|end| given.contains(&end)), "{}", self.text);
        assert!(self.entity(self.kind(creation.var)).tables.contains(&creation.table), "{}", self.text);
        given.insert(creation.var);
    }

    fn assignment(&self, assignment: &Assignment, given: &Given) {
        let (Assignment::Property { var, value, .. } | Assignment::Properties { var, value, .. }) = assignment;
        assert!(given.contains(var), "{}", self.text);
        let entity = self.entity(self.kind(*var));
        for table in entity.tables.iter().filter_map(|id| self.catalog.table_by_id(*id)) {
            assert_eq!(entity.needs.get(&table.id).map_or(0, BTreeSet::len), table.properties.len(), "{}", self.text);
        }
        self.expr(value, given);
    }
}

/// Expressions that give an integer, a string, a truth value or anything, over the variables that every statement below has.
#[derive(Debug, Clone)]
struct Exprs {
    integer: BoxedStrategy<String>,
    string: BoxedStrategy<String>,
    truth: BoxedStrategy<String>,
    any: BoxedStrategy<String>,
}

fn one_of(texts: &[&'static str]) -> BoxedStrategy<String> {
    prop::sample::select(texts.to_vec()).prop_map(str::to_owned).boxed()
}

/// Expressions that are nested at most so deep.
fn expressions(depth: u32) -> Exprs {
    let integer = one_of(&["n.age", "m.small", "k.since", "x.age", "1", "-2", "$n", "size(n.tags)", "$xs[0]", "m.big"]);
    let string = one_of(&["n.name", "m.id", "x.id", "'a'", "$id", "labels(n)[0]", "type(k)", "m['name']"]);
    let truth = one_of(&[
        "true",
        // The parser takes a label only between round brackets here.
        "(n:Person)",
        "(m:!City)",
        "n = m",
        "m.price > 0.5",
        "n.uid = $uid",
        "n.born < date()",
        "x IS NULL",
    ]);
    let any = one_of(&[
        "n",
        "m",
        "k",
        "x",
        "null",
        "[]",
        "$rows",
        "$props",
        "n.place",
        "properties(n)",
        "randomUUID()",
        "[n, m]",
    ]);
    if depth == 0 {
        return Exprs { integer, string, truth, any };
    }
    let Exprs { integer: i, string: s, truth: t, any: a } = expressions(depth - 1);
    Exprs {
        integer: prop_oneof![
            integer,
            (i.clone(), one_of(&["+", "-", "*", "/", "%"]), i.clone()).prop_map(|(l, o, r)| format!("({l} {o} {r})")),
            (i.clone(), i.clone()).prop_map(|(l, r)| format!("coalesce({l}, {r})")),
            (t.clone(), i.clone(), i.clone()).prop_map(|(t, l, r)| format!("CASE WHEN {t} THEN {l} ELSE {r} END")),
            (i.clone(), a.clone()).prop_map(|(i, a)| format!("{{b: {a}, a: {i}}}.a")),
            s.clone().prop_map(|s| format!("size({s})")),
        ]
        .boxed(),
        string: prop_oneof![
            string,
            (s.clone(), s.clone()).prop_map(|(l, r)| format!("({l} + {r})")),
            i.clone().prop_map(|i| format!("toString({i})")),
            (s.clone(), s.clone()).prop_map(|(l, r)| format!("head([{l}, null, {r}])")),
        ]
        .boxed(),
        truth: prop_oneof![
            truth,
            (t.clone(), one_of(&["AND", "OR", "XOR"]), t.clone()).prop_map(|(l, o, r)| format!("({l} {o} {r})")),
            (i.clone(), i.clone(), i.clone()).prop_map(|(a, b, c)| format!("{a} < {b} <= {c}")),
            (i.clone(), i.clone()).prop_map(|(l, r)| format!("{l} IN [{r}, 2.5]")),
            (s.clone(), s.clone()).prop_map(|(l, r)| format!("{l} STARTS WITH {r}")),
            a.clone().prop_map(|a| format!("({a}) IS NOT NULL")),
        ]
        .boxed(),
        any: prop_oneof![
            any,
            i,
            s,
            t,
            a.clone().prop_map(|a| format!("[{a}]")),
            a.prop_map(|a| format!("{{a: {a}, b: 1}}")),
        ]
        .boxed(),
    }
}

/// Clauses that leave the variables `n`, `m`, `k` and `x` as they are.
fn clause() -> impl Strategy<Value = String> {
    let Exprs { integer, string, truth, any } = expressions(2);
    prop_oneof![
        one_of(&[
            "WITH DISTINCT n, m, k, x",
            "WITH m AS n, n AS m, k, x",
            "WITH *",
            "OPTIONAL MATCH (m)-[k2]->(c2)",
            "MATCH (n)--(:Person {id: m.name})",
        ]),
        (any.clone(), truth.clone()).prop_map(|(a, t)| format!("WITH n, m, k, x, {a} AS y WHERE {t}")),
        any.clone().prop_map(|a| format!("WITH n, m, k, x ORDER BY {a} DESC LIMIT 2")),
        (aggregate(), truth.clone()).prop_map(|(a, _)| format!("WITH n, m, k, x, {a} AS z WHERE z IS NOT NULL")),
        truth.prop_map(|t| format!("MATCH (n)-[:LivesIn]->(c1) WHERE {t}")),
        (string, integer).prop_map(|(s, i)| format!("WITH n, m, k, {{id: {s}, age: {i}}} AS x")),
    ]
}

fn aggregate() -> impl Strategy<Value = String> {
    let Exprs { integer, any, .. } = expressions(1);
    prop_oneof![
        one_of(&["count(*)", "count(n) + 1", "avg(n.age) * count(*)", "[max(m.name)]"]),
        integer.prop_map(|i| format!("sum({i})")),
        any.clone().prop_map(|a| format!("collect({a})")),
        any.prop_map(|a| format!("count(DISTINCT {a})")),
    ]
}

/// Statements in which nothing is wrong.
fn statement() -> impl Strategy<Value = String> {
    let Exprs { integer, string, any, .. } = expressions(2);
    // Chance that is written twice is not the same, so an order cannot repeat it.
    let repeatable = any.clone().prop_map(|any| any.replace("randomUUID()", "'r'")).boxed();
    let read = prop_oneof![
        (any.clone(), any.clone(), any.clone())
            .prop_map(|(a, b, c)| format!("RETURN {a} AS a, {b} AS b ORDER BY {c}, a SKIP 1 LIMIT $n")),
        (repeatable.clone(), aggregate()).prop_map(|(a, b)| format!("RETURN {a} AS a, {b} AS b ORDER BY b, {a}")),
        repeatable.prop_map(|a| format!("RETURN DISTINCT {a} AS a ORDER BY [{a}]")),
        Just("RETURN *".to_owned()),
    ];
    let update = prop_oneof![
        (string.clone(), integer.clone(), any.clone())
            .prop_map(|(s, i, a)| format!("SET n.name = {s}, m.age = {i}, m += {{name: {s}}} RETURN {a} AS a")),
        (string, any).prop_map(|(s, a)| format!("CREATE (q:Person {{id: {s}}})-[:Knows]->(n) RETURN q, {a} AS a")),
        (integer, aggregate())
            .prop_map(|(i, a)| format!("MERGE (n)-[e:Knows]->(m) ON CREATE SET e.since = {i} RETURN e, {a} AS a")),
        Just("DETACH DELETE n, m".to_owned()),
    ];
    let head = "MATCH (n:Person)-[k:Knows]->(m) UNWIND $rows AS x";
    (prop::collection::vec(clause(), 0..4), read, update, 0..4).prop_map(move |(clauses, read, update, form)| {
        let clauses = clauses.join(" ");
        match form {
            0 => format!("{head} {clauses} {update}"),
            1 => format!("{head} {clauses} {read} UNION {head} {clauses} {read}"),
            _ => format!("{head} {clauses} {read}"),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_right_is_bound_and_whole(text in statement()) {
        bound(&text);
    }

    #[test]
    fn no_text_makes_the_binder_panic(
        text in "(MATCH|RETURN|WITH|WHERE|n|é|\\(|\\)|\\[|\\]|\\{|\\}|:|,|'|`|-|>|\\$| |\n|1|\\.|\\*|EXPLAIN){0,30}"
    ) {
        if let Err(QueryError::Refused { problems }) = prepare(&text, &catalog(), &params()) {
            prop_assert!(!problems.is_empty());
        }
    }
}
