//! From the parser's statements to ours. What fails is noted, and the rest read on.

use open_cypher::ast;

use super::super::convert::Converter;
use super::pattern;
use super::{Clause, ClauseKind, Projection, Query, SetItem, SetKind, Sort, Statement, Union};
use crate::syntax::{Expr, Finding, Span};

/// Converts a statement; all that has no tree of ours is found at once.
pub(super) fn statement(statement: &ast::Statement, converter: Converter<'_>) -> Result<Statement, Vec<Finding>> {
    let mut reading = Reading { converter, findings: Vec::new() };
    let read = reading.statement(statement);
    match read {
        Some(read) if reading.findings.is_empty() => Ok(read),
        _ => Err(reading.findings),
    }
}

/// A conversion in progress.
pub(super) struct Reading<'t> {
    pub converter: Converter<'t>,
    pub findings: Vec<Finding>,
}

impl Reading<'_> {
    /// What was converted; a refusal is noted.
    pub(super) fn note<T>(&mut self, result: Result<T, Finding>) -> Option<T> {
        result.map_err(|finding| self.findings.push(finding)).ok()
    }

    pub(super) fn refuse(&mut self, span: open_cypher::Span, what: &str) {
        self.findings.push(self.converter.refused(self.converter.span(span), what));
    }

    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let converted = self.converter.expr(expr, 0);
        self.note(converted)
    }

    /// An expression that may be missing; one that is refused is noted, and goes missing too.
    pub(super) fn optional(&mut self, expr: Option<&ast::Expr>) -> Option<Expr> {
        expr.and_then(|expr| self.expr(expr))
    }

    /// All of them, or `None`; each is converted in any case.
    pub(super) fn all<T, U>(&mut self, items: &[T], convert: impl Fn(&mut Self, &T) -> Option<U>) -> Option<Vec<U>> {
        let converted: Vec<Option<U>> = items.iter().map(|item| convert(self, item)).collect();
        converted.into_iter().collect()
    }

    fn statement(&mut self, statement: &ast::Statement) -> Option<Statement> {
        // The grammar knows no mode; see `readable`.
        let ast::StatementKind::Query(query) = &statement.kind else { return self.unknown(statement.span) };
        let ast::QueryKind::Regular(regular) = &query.query.kind else { return self.unknown(query.query.span) };
        let head = self.query(&regular.head);
        let unions = self.all(&regular.unions, |reading, branch| {
            let all = branch.operator.kind == ast::UnionOperator::All;
            let span = reading.converter.span(branch.operator.span);
            Some(Union { all, span, query: reading.query(&branch.query)? })
        });
        Some(Statement { explain: false, head: head?, unions: unions? })
    }

    fn query(&mut self, query: &ast::SingleQuery) -> Option<Query> {
        let clauses = self.all(&query.kind.clauses, |reading, clause| {
            let span = reading.converter.span(clause.span);
            Some(Clause { kind: reading.clause(clause)?, span })
        });
        Some(Query { clauses: clauses?, span: self.converter.span(query.span) })
    }

    fn clause(&mut self, clause: &ast::Clause) -> Option<ClauseKind> {
        Some(match &clause.kind {
            ast::ClauseKind::Match(clause) => {
                if let Some(mode) = &clause.mode {
                    self.refuse(mode.span, "a path mode");
                }
                for hint in &clause.hints {
                    self.refuse(hint.span, "a planner hint");
                }
                let paths = pattern::paths(self, &clause.pattern);
                let condition = self.optional(clause.where_clause.as_ref());
                ClauseKind::Match { optional: clause.optional, paths: paths?, condition }
            }
            ast::ClauseKind::Unwind(clause) => {
                ClauseKind::Unwind { list: self.expr(&clause.expression)?, name: self.converter.name(&clause.variable) }
            }
            ast::ClauseKind::With(clause) => {
                let projection = self.projection(&clause.projection);
                let condition = self.optional(clause.where_clause.as_ref());
                ClauseKind::With { projection: projection?, condition }
            }
            ast::ClauseKind::Return(clause) => ClauseKind::Return(self.projection(&clause.projection)?),
            ast::ClauseKind::Create(clause) => ClauseKind::Create(pattern::paths(self, &clause.pattern)?),
            ast::ClauseKind::Merge(clause) => self.merge(clause)?,
            ast::ClauseKind::Set(clause) => ClauseKind::Set(self.set_items(clause)?),
            ast::ClauseKind::Remove(clause) => ClauseKind::Set(self.all(&clause.items, Self::remove_item)?),
            ast::ClauseKind::Delete(clause) => ClauseKind::Delete {
                operands: self.all(&clause.expressions, Self::expr)?,
                detach: clause.mode.kind == ast::DeleteMode::Detach,
            },
            other => {
                self.refuse(clause.span, name_of(other));
                return None;
            }
        })
    }

    fn projection(&mut self, clause: &ast::ProjectionClause) -> Option<Projection> {
        let distinct = clause.quantifier.as_ref().is_some_and(|q| q.kind == ast::SetQuantifier::Distinct);
        let all = clause.items.iter().find(|item| matches!(item.kind, ast::ProjectionItemKind::Wildcard));
        let all = all.map(|item| self.converter.span(item.span));
        let named: Vec<_> = clause
            .items
            .iter()
            .filter_map(|item| match &item.kind {
                ast::ProjectionItemKind::Expression { expression, alias } => Some((expression, alias)),
                _ => None,
            })
            .collect();
        let items = self.all(&named, |reading, (expression, alias)| {
            let alias = alias.as_ref().map(|name| reading.converter.name(name));
            Some((reading.expr(expression)?, alias))
        });
        let keys = clause.order_by.as_ref().map_or(&[][..], |order| &order.items);
        let order = self.all(keys, |reading, item| {
            if let Some(nulls) = &item.nulls {
                reading.refuse(nulls.span, "a place for nulls in ORDER BY");
            }
            let descending = item.direction.as_ref().is_some_and(|d| d.kind == ast::SortDirection::Descending);
            Some(Sort { key: reading.expr(&item.expression)?, descending })
        });
        let skip = self.optional(clause.skip.as_ref().or(clause.offset.as_ref()));
        let limit = self.optional(clause.limit.as_ref());
        Some(Projection { distinct, all, items: items?, order: order?, skip, limit })
    }

    fn merge(&mut self, clause: &ast::MergeClause) -> Option<ClauseKind> {
        let path = pattern::path(self, &clause.pattern);
        let (mut on_create, mut on_match, mut whole) = (Vec::new(), Vec::new(), true);
        for action in &clause.actions {
            let items = self.set_items(&action.set);
            whole &= items.is_some();
            match action.trigger.kind {
                ast::MergeTrigger::Create => on_create.extend(items.into_iter().flatten()),
                ast::MergeTrigger::Match => on_match.extend(items.into_iter().flatten()),
                _ => {
                    self.refuse(action.span, "this condition of MERGE");
                    whole = false;
                }
            }
        }
        let path = path?;
        whole.then_some(ClauseKind::Merge { path, on_create, on_match })
    }

    fn set_items(&mut self, clause: &ast::SetClause) -> Option<Vec<SetItem>> {
        self.all(&clause.items, Self::set_item)
    }

    fn set_item(&mut self, item: &ast::SetItem) -> Option<SetItem> {
        let span = self.converter.span(item.span);
        let properties = |reading: &mut Self, target: &ast::Name, value: &ast::Expr, replace: bool| {
            Some(SetKind::Properties { of: reading.converter.name(target), value: reading.expr(value)?, replace })
        };
        let kind = match &item.kind {
            ast::SetItemKind::Property { target, value } => {
                let value = self.expr(value);
                self.property(target, Some(value?))?
            }
            ast::SetItemKind::ReplaceProperties { target, value } => properties(self, target, value, true)?,
            ast::SetItemKind::MergeProperties { target, value } => properties(self, target, value, false)?,
            _ => return self.labels_are_fixed(span),
        };
        Some(SetItem { kind, span })
    }

    fn remove_item(&mut self, item: &ast::RemoveItem) -> Option<SetItem> {
        let span = self.converter.span(item.span);
        match &item.kind {
            ast::RemoveItemKind::Property(target) => Some(SetItem { kind: self.property(target, None)?, span }),
            _ => self.labels_are_fixed(span),
        }
    }

    /// `of.name` as something to be set.
    fn property(&mut self, target: &ast::Expr, value: Option<Expr>) -> Option<SetKind> {
        if let ast::ExprKind::Property { expression, key } = &target.kind {
            return Some(SetKind::Property { of: self.expr(expression)?, name: self.converter.name(key), value });
        }
        self.refuse(target.span, "a property whose name is computed");
        None
    }

    fn labels_are_fixed<T>(&mut self, span: Span) -> Option<T> {
        let finding = Finding::new(span, "a node keeps its label for life: it is the table that the node lives in");
        self.findings.push(finding.with_help("create another node, and delete this one"));
        None
    }

    fn unknown<T>(&mut self, span: open_cypher::Span) -> Option<T> {
        self.refuse(span, "this statement");
        None
    }
}

/// What the user would call a clause that we have no tree for.
const fn name_of(kind: &ast::ClauseKind) -> &'static str {
    match kind {
        ast::ClauseKind::Use(_) => "`USE`",
        ast::ClauseKind::Let(_) => "`LET`",
        ast::ClauseKind::Insert(_) => "`INSERT`",
        ast::ClauseKind::Foreach(_) => "`FOREACH`",
        ast::ClauseKind::LoadCsv(_) => "`LOAD CSV`",
        ast::ClauseKind::Call(_) => "`CALL`",
        ast::ClauseKind::Select(_) => "`SELECT`",
        ast::ClauseKind::Next(_) => "`NEXT`",
        ast::ClauseKind::Filter(_) => "`FILTER`",
        ast::ClauseKind::Finish => "`FINISH`",
        _ => "this clause",
    }
}
