//! What expressions give.

use super::*;
use crate::value::Value;

fn list(element: Kind) -> Kind {
    Kind::List(Box::new(element))
}

#[test]
fn every_expression_has_one_kind() {
    let decimal = |precision, scale| Kind::Decimal { precision, scale };
    let cases = [
        ("p.age", Kind::Integer),
        ("p.small", Kind::Integer),
        ("p.big", Kind::Unsigned),
        ("p.big + 1", Kind::Integer),
        ("-p.big", Kind::Integer),
        ("[p.big]", list(Kind::Integer)),
        ("p.price", decimal(10, 2)),
        ("p.price + p.price", decimal(10, 2)),
        ("p.price * p.price", decimal(38, 4)),
        ("p.price + p.age", decimal(22, 2)),
        ("p.price + 1.5", decimal(10, 2)),
        ("p.price + 1.505", decimal(11, 3)),
        ("p.price / 2", Kind::Float),
        ("p.price + p.score", Kind::Float),
        ("p.age / 2", Kind::Integer),
        ("p.age / 2.0", Kind::Float),
        ("p.age ^ 2", Kind::Float),
        ("p.age + null", Kind::Null),
        ("p.name + 'x'", Kind::String),
        ("p.tags + 'x'", list(Kind::String)),
        ("'x' + p.tags", list(Kind::String)),
        ("p.place", Kind::Vector(3)),
        ("p.place[0]", Kind::Float),
        ("p.place[0..1]", list(Kind::Float)),
        ("[p.place]", list(list(Kind::Float))),
        ("p.tags[0]", Kind::String),
        ("p.sort", Kind::String),
        ("p.name = 'x'", Kind::Bool),
        ("p:Person", Kind::Bool),
        ("[1, 2.5]", list(Kind::Float)),
        ("[1, null]", list(Kind::Integer)),
        ("[]", list(Kind::Null)),
        ("[] + [1]", list(Kind::Integer)),
        ("$mixed", list(Kind::Float)),
        (
            "$rows",
            list(Kind::Map(vec![
                ("age".to_owned(), Kind::Integer),
                ("extra".to_owned(), Kind::Float),
                ("id".to_owned(), Kind::String),
            ])),
        ),
        ("{b: 1, a: 'x'}.b", Kind::Integer),
        ("{b: 1, a: 'x'}['a']", Kind::String),
        ("p['name']", Kind::String),
        ("{b: 1}.c", Kind::Null),
        ("CASE WHEN p.active THEN 1 ELSE 2.5 END", Kind::Float),
        ("CASE p.age WHEN 1 THEN 'a' END", Kind::String),
        ("coalesce(p.age, p.price)", decimal(22, 2)),
        ("count(p)", Kind::Integer),
        ("sum(p.score)", Kind::Float),
        ("sum(p.price)", decimal(38, 2)),
        ("sum(p.big)", Kind::Integer),
        ("avg(p.age)", Kind::Float),
        ("min(p.big)", Kind::Unsigned),
        ("max(p.born)", Kind::Date),
        ("collect(p.place)", list(list(Kind::Float))),
        ("labels(p)", list(Kind::String)),
        ("type(k)", Kind::String),
        ("keys(p)", list(Kind::String)),
        ("properties(k)", Kind::Map(vec![("since".to_owned(), Kind::Integer)])),
        ("range(1, 3)", list(Kind::Integer)),
        ("tail(p.place)", list(Kind::Float)),
        ("head(p.tags)", Kind::String),
        ("split(p.name, ' ')", list(Kind::String)),
        ("toString(p.age)", Kind::String),
        ("toInteger('1')", Kind::Integer),
        ("round(p.age)", Kind::Float),
        ("abs(p.price)", decimal(10, 2)),
        ("sign(p.score)", Kind::Integer),
        ("date($day)", Kind::Date),
        ("date(p.name)", Kind::Date),
        ("datetime()", Kind::Timestamp),
        ("randomUUID()", Kind::Uuid),
        ("9223372036854775808", Kind::Unsigned),
        ("-9223372036854775808", Kind::Integer),
    ];
    all_equal(cases.map(|(expression, expected)| (expression.to_owned(), kind(expression), expected)));
}

#[test]
fn literals_are_taken_for_what_they_meet() {
    let condition = |condition: &str| {
        let shown = shown(&format!("MATCH (p:Person) WHERE {condition} RETURN 1 AS x"));
        shown.split(" if ").nth(1).unwrap().split(" | ").next().unwrap().to_owned()
    };
    let cases = [
        // Beside a decimal, a number with a point is exactly what is written.
        ("p.price = 0.1", "(p0.<Person.price> = 1e-1)"),
        ("p.price > -0.1", "(p0.<Person.price> > -1e-1)"),
        ("p.price IN [0.1, 0.25]", "(p0.<Person.price> in [10e-2, 25e-2])"),
        ("p.score = 0.1", "(p0.<Person.score> = 0.1)"),
        ("p.score = 1", "(p0.<Person.score> = 1)"),
        ("p.born = date('2024-01-31')", "(p0.<Person.born> = Date(19753))"),
        ("p.uid IN [p.name]", "(p0.<Person.uid> in [convert(p0.<Person.name>)])"),
        ("1 < p.age <= 3", "(1 < p0.<Person.age> <= 3)"),
    ];
    all_equal(cases.map(|(text, expected)| (text.to_owned(), condition(text), expected.to_owned())));
    let uuid = condition("p.uid = $uid");
    assert!(uuid.starts_with("(p0.<Person.uid> = Uuid(["), "{uuid}");
}

#[test]
fn parameters_keep_their_values() {
    let statement = bound("RETURN $n AS x");
    let Body::Read(output) = &statement.body else { panic!("a read") };
    let crate::query::bound::Plan::Project { items, .. } = &output.plan else { panic!("{:?}", output.plan) };
    assert_eq!(items[0].1.node, ExprNode::Constant(CypherValue::Scalar(Value::Int(3))));
}
