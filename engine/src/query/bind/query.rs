//! Clauses one after the other, and `UNION`.

use super::places::HEAVY;
use super::projection::Clause;
use super::scope::Scope;
use super::{Binder, Place};
use crate::query::bound::{Body, Effect, Expr, ExprNode, Output, Plan, Statement, Update, VarId};
use crate::query::kind::Kind;
use crate::syntax::{self, ClauseKind, Finding, Name, Query, Span, Union};

/// What the clauses so far have come to.
pub(super) struct Progress {
    pub plan: Plan,
    pub scope: Scope,
    pub effects: Vec<Effect>,
    output: Option<Output>,
}

impl Binder<'_> {
    pub(super) fn bind(mut self, statement: &syntax::Statement) -> Result<Statement, Vec<Finding>> {
        let progress = self.query(&statement.head);
        let body = match (progress, statement.unions.as_slice()) {
            (progress, []) => body(progress),
            (progress, unions) => self.union(progress, unions, statement.head.span).map(Body::Read),
        };
        match body {
            Some(body) if self.findings.is_empty() => Ok(self.resolved(body, statement.explain)),
            Some(_) => Err(self.findings),
            None => {
                if self.findings.is_empty() {
                    let finding =
                        Finding::new(end_of(statement.head.span), "the statement neither returns nor changes anything");
                    self.findings.push(finding.with_help("end it with RETURN"));
                }
                Err(self.findings)
            }
        }
    }

    fn query(&mut self, query: &Query) -> Progress {
        let mut progress = Progress { plan: Plan::Unit, scope: Scope::default(), effects: Vec::new(), output: None };
        for clause in &query.clauses {
            self.count_part(1, clause.span);
            if progress.output.is_some() {
                self.report(clause.span, "nothing can follow RETURN");
                break;
            }
            if !progress.effects.is_empty()
                && let Some(word) = reads(&clause.kind)
            {
                let finding = Finding::new(clause.span, format!("`{word}` after an update is not supported yet"));
                self.findings.push(finding.with_help("read first, then update; or make it two statements"));
                break;
            }
            self.clause(clause, &mut progress);
        }
        let reads_on = query.clauses.last().filter(|_| progress.output.is_none() && progress.effects.is_empty());
        if let Some(last) = reads_on
            && self.findings.is_empty()
        {
            let finding = Finding::new(end_of(last.span), "the statement neither returns nor changes anything");
            self.findings.push(finding.with_help("end it with RETURN"));
        }
        progress
    }

    fn clause(&mut self, clause: &syntax::Clause, progress: &mut Progress) {
        match &clause.kind {
            ClauseKind::Match { optional, paths, condition } => {
                let input = std::mem::replace(&mut progress.plan, Plan::Unit);
                progress.plan = self.match_clause(input, &mut progress.scope, *optional, paths, condition.as_ref());
            }
            ClauseKind::Unwind { list, name } => self.unwind(list, name, progress),
            ClauseKind::With { projection, condition } => {
                let input = std::mem::replace(&mut progress.plan, Plan::Unit);
                let condition = condition.as_ref();
                progress.plan = self.projection(input, &mut progress.scope, projection, condition, Clause::With);
            }
            ClauseKind::Return(projection) => {
                let mut scope = progress.scope.clone();
                let input = if progress.effects.is_empty() {
                    std::mem::replace(&mut progress.plan, Plan::Unit)
                } else {
                    Plan::Rows(scope.vars())
                };
                let plan = self.projection(input, &mut scope, projection, None, Clause::Return);
                let columns: Vec<(String, VarId)> = scope.iter().map(|(name, var)| (name.to_owned(), var)).collect();
                for (_, var) in &columns {
                    self.need_all(&self.kind_of(*var));
                }
                progress.output = Some(Output { plan, columns });
            }
            ClauseKind::Create(_) | ClauseKind::Merge { .. } | ClauseKind::Set(_) | ClauseKind::Delete { .. } => {
                self.update(clause, progress);
            }
        }
    }

    fn unwind(&mut self, list: &syntax::Expr, name: &Name, progress: &mut Progress) {
        let list = self.expr(list, Place::of_rows(&progress.scope, "UNWIND"));
        let element = super::kinds::element_of(&list.kind);
        if element.is_none() {
            let finding = self.unfit("`UNWIND`", "a list", &list);
            self.findings.push(finding);
        }
        if progress.scope.get(&name.text).is_some() {
            self.report(name.span, format!("there is a variable `{}` already", name.text));
        }
        let var = self.var(name.text.clone(), element.unwrap_or(Kind::Null));
        progress.scope.set(&name.text, var);
        let input = Box::new(std::mem::replace(&mut progress.plan, Plan::Unit));
        progress.plan = Plan::Unwind { input, list, var };
    }

    fn union(&mut self, head: Progress, unions: &[Union], span: Span) -> Option<Output> {
        let mut left = self.branch(head, span);
        for union in unions {
            self.count_part(HEAVY, union.query.span);
            let right = self.query(&union.query);
            let right = self.branch(right, union.query.span);
            if unions.first().is_some_and(|first| first.all != union.all) {
                let finding = Finding::new(union.span, "UNION and UNION ALL cannot be mixed");
                self.findings.push(finding.with_help("write the same one throughout"));
            }
            left = match (left, right) {
                (Some(left), Some(right)) => self.joined_rows(left, right, union),
                _ => None,
            };
        }
        left
    }

    /// One side of a `UNION`, which must return and cannot update.
    fn branch(&mut self, progress: Progress, span: Span) -> Option<Output> {
        if !progress.effects.is_empty() {
            self.report(span, "an update in a UNION is not supported yet");
        }
        progress.output
    }

    fn joined_rows(&mut self, left: Output, right: Output, union: &Union) -> Option<Output> {
        let names = |output: &Output| output.columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let in_order = |mut names: Vec<String>| {
            names.sort();
            names
        };
        if in_order(names(&left)) != in_order(names(&right)) {
            let message = format!(
                "both sides of UNION need the same columns: `{}` and `{}`",
                names(&left).join("`, `"),
                names(&right).join("`, `")
            );
            self.report(union.span, message);
            return None;
        }
        let (mut lefts, mut rights, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for (name, left_var) in &left.columns {
            let right_var = right.columns.iter().find(|(known, _)| known == name).map(|(_, var)| *var)?;
            let mut both = [self.column(*left_var, union.span), self.column(right_var, union.span)];
            let what = format!("`{name}` gives");
            let kind = match self.united(&mut both, &what) {
                Ok(kind) => kind,
                Err(finding) => {
                    self.findings.push(finding);
                    Kind::Null
                }
            };
            let [one, other] = both;
            let var = self.var(name.clone(), kind);
            lefts.push((*left_var, one));
            rights.push((right_var, other));
            columns.push((name.clone(), var));
        }
        let plan = Plan::Union {
            left: Box::new(self.arranged(left.plan, lefts)),
            right: Box::new(self.arranged(right.plan, rights)),
            columns: columns.iter().map(|(_, var)| *var).collect(),
            distinct: !union.all,
        };
        Some(Output { plan, columns })
    }

    /// The columns in a wanted order and of wanted kinds.
    fn arranged(&mut self, plan: Plan, items: Vec<(VarId, Expr)>) -> Plan {
        let as_they_are = |(var, expr): &(VarId, Expr)| expr.node == ExprNode::Column(*var);
        if items.iter().all(as_they_are) && items.iter().map(|(var, _)| *var).eq(plan.columns()) {
            return plan;
        }
        let items = items
            .into_iter()
            .map(|(var, expr)| {
                if expr.node == ExprNode::Column(var) {
                    (var, expr)
                } else {
                    (self.derived(&expr, String::new()), expr)
                }
            })
            .collect();
        Plan::Project { input: Box::new(plan), items }
    }
}

fn body(progress: Progress) -> Option<Body> {
    if progress.effects.is_empty() {
        return progress.output.map(Body::Read);
    }
    Some(Body::Update(Update { read: progress.plan, effects: progress.effects, output: progress.output }))
}

/// What a clause is called that can only stand before updates.
const fn reads(kind: &ClauseKind) -> Option<&'static str> {
    match kind {
        ClauseKind::Match { .. } => Some("MATCH"),
        ClauseKind::Unwind { .. } => Some("UNWIND"),
        ClauseKind::With { .. } => Some("WITH"),
        _ => None,
    }
}

/// Just behind a clause.
const fn end_of(span: Span) -> Span {
    Span::new(span.end.saturating_sub(1), span.end)
}
