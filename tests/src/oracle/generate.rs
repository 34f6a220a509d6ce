//! Draws queries that are well-formed and well-typed, so that whatever is refused or differs is a fault.

use super::dice::Dice;
use super::syntax::{Aggregate, Clause, Direction, EdgePattern, Expr, Item, NodePattern, Op, Path, Projection, Query};

/// What a name of the scope stands for.
#[derive(Debug, Clone, PartialEq)]
enum Ty {
    Int,
    Float,
    Str,
    Bool,
    Ints,
    /// Exactly these labels, or any.
    Node(Vec<&'static str>),
    Edge(Vec<&'static str>),
    /// A list that is only passed on.
    Opaque,
}

/// Draws a query.
#[must_use]
pub fn statement(dice: &mut Dice) -> Query {
    let mut writer = Writer { dice, scope: Vec::new(), names: 0 };
    let mut clauses = Vec::new();
    for round in 0..=writer.dice.below(3) {
        let clause = match writer.dice.below(10) {
            0..=5 => writer.matching(round > 0),
            6 | 7 if round > 0 => writer.with(),
            _ => writer.unwind(),
        };
        clauses.push(clause);
        if writer.dice.chance(25) {
            clauses.push(writer.with());
        }
    }
    let (projection, _) = writer.projection(true);
    clauses.push(Clause::Return(projection));
    Query { clauses }
}

struct Writer<'a> {
    dice: &'a mut Dice,
    scope: Vec<(String, Ty)>,
    names: usize,
}

impl Writer<'_> {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn known(&self, wanted: impl Fn(&Ty) -> bool) -> Vec<(String, Ty)> {
        self.scope.iter().filter(|(_, ty)| wanted(ty)).cloned().collect()
    }

    fn matching(&mut self, may_be_optional: bool) -> Clause {
        let optional = may_be_optional && self.dice.chance(40);
        let before = self.scope.clone();
        let paths = (0..=usize::from(self.dice.chance(25))).map(|_| self.path(&before)).collect();
        let condition = self.dice.chance(50).then(|| self.boolean(2));
        Clause::Match { optional, paths, condition }
    }

    fn path(&mut self, before: &[(String, Ty)]) -> Path {
        let first = self.node(before);
        let steps = (0..self.dice.below(3)).map(|_| (self.edge(), self.node(before))).collect();
        Path { first, steps }
    }

    fn node(&mut self, before: &[(String, Ty)]) -> NodePattern {
        let known = self.known(|ty| matches!(ty, Ty::Node(_)));
        if !known.is_empty() && self.dice.chance(35) {
            let (name, _) = self.dice.pick(&known).clone();
            return NodePattern { name, labels: Vec::new(), inline: None };
        }
        let labels = match self.dice.below(10) {
            0..=4 => vec!["A"],
            5..=6 => vec!["B"],
            7 => vec!["A", "B"],
            _ => Vec::new(),
        };
        let inline = self.dice.chance(15).then(|| {
            // Only what the clause does not itself bring in may stand in a pattern.
            let mut inner = Writer { dice: &mut *self.dice, scope: before.to_vec(), names: 0 };
            ("n", inner.integer(1))
        });
        let name = self.name();
        self.scope.push((name.clone(), Ty::Node(labels.clone())));
        NodePattern { name, labels, inline }
    }

    fn edge(&mut self) -> EdgePattern {
        let types = match self.dice.below(10) {
            0..=2 => vec!["R"],
            3 => vec!["S"],
            4 => vec!["T"],
            5 => vec!["U"],
            6 => vec!["R", "U"],
            7 => vec!["S", "T"],
            _ => Vec::new(),
        };
        let direction = *self.dice.pick(&[Direction::Out, Direction::In, Direction::Either]);
        let name = self.name();
        self.scope.push((name.clone(), Ty::Edge(types.clone())));
        EdgePattern { name, types, direction }
    }

    fn unwind(&mut self) -> Clause {
        let list = self.integers(1);
        let name = self.name();
        self.scope.push((name.clone(), Ty::Int));
        Clause::Unwind { list, name }
    }

    fn with(&mut self) -> Clause {
        let (projection, scope) = self.projection(false);
        self.scope = scope;
        let condition = self.dice.chance(40).then(|| self.boolean(1));
        Clause::With { projection, condition }
    }

    /// A projection and what it leaves in scope.
    fn projection(&mut self, last: bool) -> (Projection, Vec<(String, Ty)>) {
        let aggregates = self.dice.chance(30);
        let mut items = Vec::new();
        let mut scope = Vec::new();
        for _ in 0..=self.dice.below(3) {
            let (item, ty) = if aggregates && self.dice.chance(60) { self.aggregate() } else { self.plain() };
            let name = self.name();
            items.push((item, name.clone()));
            scope.push((name, ty));
        }
        let scalar = scope.iter().all(|(_, ty)| matches!(ty, Ty::Int | Ty::Float | Ty::Str | Ty::Bool));
        let collects = items.iter().any(|(item, _)| matches!(item, Item::Aggregate(Aggregate::Collect, ..)));
        let mut order = Vec::new();
        let (mut skip, mut limit) = (None, None);
        // Where rows are cut off, the order must say which.
        if scalar && !collects && self.dice.chance(if last { 40 } else { 20 }) {
            for (name, _) in &scope {
                if order.is_empty() || self.dice.chance(50) {
                    order.push((name.clone(), self.dice.chance(50)));
                }
            }
            skip = self.dice.chance(30).then(|| self.dice.below(4));
            limit = self.dice.chance(50).then(|| self.dice.below(6));
        }
        (Projection { distinct: self.dice.chance(20), items, order, skip, limit }, scope)
    }

    fn plain(&mut self) -> (Item, Ty) {
        let known = self.known(|_| true);
        if !known.is_empty() && self.dice.chance(50) {
            let (name, ty) = self.dice.pick(&known).clone();
            return (Item::Plain(Expr::Name(name)), ty);
        }
        let (expr, ty) = self.any(2);
        (Item::Plain(expr), ty)
    }

    fn any(&mut self, depth: usize) -> (Expr, Ty) {
        match self.dice.below(6) {
            0..=1 => (self.integer(depth), Ty::Int),
            2 => (self.text(depth), Ty::Str),
            3 => (self.boolean(depth), Ty::Bool),
            4 => (self.float(), Ty::Float),
            _ => (self.integers(depth), Ty::Ints),
        }
    }

    fn aggregate(&mut self) -> (Item, Ty) {
        let distinct = self.dice.chance(25);
        let (function, argument, ty) = match self.dice.below(7) {
            0 => return (Item::Aggregate(Aggregate::Count, None, false), Ty::Int),
            1 => {
                let (item, _) = self.plain();
                let Item::Plain(expr) = item else { return (item, Ty::Int) };
                (Aggregate::Count, expr, Ty::Int)
            }
            2 => (Aggregate::Sum, self.integer(1), Ty::Int),
            3 => (Aggregate::Avg, self.integer(1), Ty::Float),
            4 => (Aggregate::Min, self.integer(1), Ty::Int),
            5 => (Aggregate::Max, self.text(1), Ty::Str),
            _ => {
                let (item, _) = self.plain();
                let Item::Plain(expr) = item else { return (item, Ty::Opaque) };
                (Aggregate::Collect, expr, Ty::Opaque)
            }
        };
        (Item::Aggregate(function, Some(argument), distinct), ty)
    }

    /// A name of this type, or a property of it.
    fn leaf(&mut self, ty: &Ty) -> Option<Expr> {
        let mut leaves: Vec<Expr> =
            self.scope.iter().filter(|(_, known)| known == ty).map(|(name, _)| Expr::Name(name.clone())).collect();
        for (name, known) in &self.scope {
            let properties: &[&'static str] = match (known, ty) {
                (Ty::Node(_), Ty::Int) => &["n", "id"],
                (Ty::Node(_), Ty::Str) => &["s"],
                (Ty::Node(labels), Ty::Float) if labels == &["A"] => &["f"],
                (Ty::Node(labels), Ty::Bool) if labels == &["A"] => &["b"],
                (Ty::Node(labels), Ty::Ints) if labels == &["A"] => &["l"],
                (Ty::Edge(_), Ty::Int) => &["w"],
                (Ty::Edge(types), Ty::Str) if types == &["T"] => &["k"],
                _ => &[],
            };
            leaves.extend(properties.iter().map(|property| Expr::Property(name.clone(), property)));
        }
        if leaves.is_empty() { None } else { Some(self.dice.pick(&leaves).clone()) }
    }

    fn leaf_or(&mut self, ty: &Ty, literal: impl FnOnce(&mut Dice) -> Expr) -> Expr {
        if self.dice.chance(75)
            && let Some(leaf) = self.leaf(ty)
        {
            return leaf;
        }
        literal(self.dice)
    }

    fn integer(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.dice.chance(40) {
            let literal = |dice: &mut Dice| {
                if dice.chance(8) {
                    Expr::Null
                } else {
                    Expr::Int(i64::try_from(dice.below(5)).unwrap_or_default() - 2)
                }
            };
            return self.leaf_or(&Ty::Int, literal);
        }
        let d = depth - 1;
        match self.dice.below(8) {
            0..=2 => {
                let op = *self.dice.pick(&[Op::Add, Op::Subtract, Op::Multiply]);
                binary(op, self.integer(d), self.integer(d))
            }
            3 => Expr::Size(Box::new(if self.dice.chance(50) { self.text(d) } else { self.integers(d) })),
            4 => Expr::Abs(Box::new(self.integer(d))),
            5 => Expr::Coalesce(vec![self.integer(d), self.integer(d)]),
            6 => Expr::Index(Box::new(self.integers(d)), Box::new(self.integer(0))),
            _ => {
                let otherwise = self.dice.chance(50).then(|| Box::new(self.integer(d)));
                Expr::Case(vec![(self.boolean(d), self.integer(d))], otherwise)
            }
        }
    }

    fn float(&mut self) -> Expr {
        self.leaf_or(&Ty::Float, |dice| Expr::Float(*dice.pick(&[0.5, -2.0, 1.5])))
    }

    fn text(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.dice.chance(50) {
            return self.leaf_or(&Ty::Str, |dice| Expr::Str((*dice.pick(&["", "a", "b", "ab", "é"])).to_owned()));
        }
        let d = depth - 1;
        match self.dice.below(3) {
            0 => binary(Op::Add, self.text(d), self.text(d)),
            1 => Expr::ToUpper(Box::new(self.text(d))),
            _ => Expr::Coalesce(vec![self.text(d), self.text(d)]),
        }
    }

    fn integers(&mut self, depth: usize) -> Expr {
        if self.dice.chance(50)
            && let Some(leaf) = self.leaf(&Ty::Ints)
        {
            return leaf;
        }
        let d = depth.saturating_sub(1);
        // A first element that has a type gives the list one.
        let rest = self.dice.below(3);
        Expr::List(std::iter::once(Expr::Int(1)).chain((0..rest).map(|_| self.integer(d))).collect())
    }

    fn boolean(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf_or(&Ty::Bool, |dice| Expr::Bool(dice.chance(50)));
        }
        let d = depth - 1;
        match self.dice.below(12) {
            0..=2 => {
                let op = *self.dice.pick(&[Op::And, Op::Or, Op::Xor]);
                binary(op, self.boolean(d), self.boolean(d))
            }
            3 => Expr::Not(Box::new(self.boolean(d))),
            4..=5 => {
                let op = self.comparison();
                binary(op, self.integer(d), self.integer(d))
            }
            6 => {
                let op =
                    *self.dice.pick(&[Op::Equal, Op::NotEqual, Op::Less, Op::StartsWith, Op::EndsWith, Op::Contains]);
                binary(op, self.text(d), self.text(d))
            }
            7 => {
                let op = self.comparison();
                let right = if self.dice.chance(50) { self.float() } else { self.integer(d) };
                binary(op, self.float(), right)
            }
            8 => binary(Op::In, self.integer(d), self.integers(d)),
            9 => {
                let (operand, _) = self.any(d);
                Expr::IsNull(Box::new(operand), self.dice.chance(50))
            }
            10 => {
                let rest = (0..2).map(|_| (self.comparison(), self.integer(d))).collect();
                Expr::Chain(Box::new(self.integer(d)), rest)
            }
            _ => {
                let nodes = self.known(|ty| matches!(ty, Ty::Node(_)));
                if nodes.is_empty() {
                    return self.boolean(d);
                }
                let [left, right] = [0; 2].map(|_| Expr::Name(self.dice.pick(&nodes).0.clone()));
                binary(*self.dice.pick(&[Op::Equal, Op::NotEqual]), left, right)
            }
        }
    }

    fn comparison(&mut self) -> Op {
        *self.dice.pick(&[Op::Equal, Op::NotEqual, Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual])
    }
}

fn binary(op: Op, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}
