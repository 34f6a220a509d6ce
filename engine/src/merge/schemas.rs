//! The schemas of both sides, brought together before any row is: the merged schema, and how each side's tables are found in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lens::Reading;
use super::lost;
use super::origin::Origins;
use super::plan::Sides;
use super::row::Side;
use super::schema::{Base, Clash, Dropped, Identities, Question, Subject, United, unite_known};
use super::schema_answers::SchemaAnswers;
use crate::error::{Conflict, Error, SchemaClash};
use crate::graph::Core;
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::schema::{Catalog, SchemaHash, TableDef, encode_catalog};
use crate::table::TableVersion;

/// The schema of a merge's result.
#[derive(Debug)]
pub(super) struct Schemas {
    /// Which tables and properties of all sides are one.
    pub(super) ids: Identities,
    /// What both sides come from.
    base: Base,
    /// The schema.
    pub(super) catalog: Arc<Catalog>,
    /// Its name.
    pub(super) hash: SchemaHash,
    /// Its bytes, if neither side has it.
    pub(super) new: Option<Vec<u8>>,
    /// What one side dropped: whether that is a conflict depends on rows of the other.
    pub(super) dropped: Vec<Dropped>,
    /// The commits that the bases go back to, if they were looked for.
    pub(super) origins: Option<Origins>,
}

/// What one commit says of one table of the merged schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableState<'a> {
    /// The rows.
    pub(super) version: &'a TableVersion,
    /// What they mean there, and which rules they keep.
    pub(super) definition: &'a TableDef,
}

impl TableState<'_> {
    /// Whether the rows are the same.
    pub(super) fn same_rows(self, other: TableState<'_>) -> bool {
        self.definition.id == other.definition.id && self.version == other.version
    }
}

impl Schemas {
    /// The schema of one of the commits.
    pub(super) fn of_one(sides: &Sides, at: &Snapshot) -> Self {
        Self {
            ids: identities(sides),
            base: match sides.bases.as_slice() {
                [base] => Base::one(&base.catalog),
                _ => Base::gone(),
            },
            catalog: at.catalog.clone(),
            hash: at.record.schema,
            new: None,
            dropped: Vec::new(),
            origins: None,
        }
    }

    /// Merges the schemas of both sides.
    ///
    /// # Errors
    /// When rows cannot be read of which something was dropped, or an answer is of no use. What cannot be brought together is no error.
    pub(super) async fn merge(
        core: &Arc<Core>,
        sides: &Sides,
        answers: &SchemaAnswers<'_>,
    ) -> Result<Result<Self, Vec<Conflict>>, Error> {
        if sides.source.record.schema == sides.target.record.schema {
            answers.all_used()?;
            return Ok(Ok(Self::of_one(sides, &sides.target)));
        }
        let origins = Origins::find(core, &sides.bases).await?;
        let base = origins.schema();
        let first = unite_sides(sides, &base, &Question::nobody());
        let rows = lost::count(core, sides, &first.ids, &first.dropped).await?;
        let (united, clashes) = answered(sides, &base, answers, &rows);
        if !clashes.is_empty() {
            return Ok(Err(clashes.iter().map(Clash::conflict).collect()));
        }
        answers.all_used()?;
        Ok(Ok(Self { origins: Some(origins), ..Self::of_united(sides, base, united) }))
    }

    /// The same from schemas alone, as if no row was changed.
    #[cfg(test)]
    pub(super) fn of_catalogs(sides: &Sides) -> Result<Self, Vec<Conflict>> {
        let base = sides.bases.first().map_or_else(Base::gone, |base| Base::one(&base.catalog));
        let (united, clashes) = answered(sides, &base, &SchemaAnswers::none(), &BTreeMap::new());
        if clashes.is_empty() {
            Ok(Self::of_united(sides, base, united))
        } else {
            Err(clashes.iter().map(Clash::conflict).collect())
        }
    }

    fn of_united(sides: &Sides, base: Base, united: United) -> Self {
        let United { ids, catalog, dropped, .. } = united;
        let (bytes, hash) = encode_catalog(&catalog);
        let known = [&sides.target, &sides.source].into_iter().find(|side| side.record.schema == hash);
        let new = known.is_none().then_some(bytes);
        let catalog = known.map_or_else(|| Arc::new(catalog), |known| known.catalog.clone());
        Self { ids, base, catalog, hash, new, dropped, origins: None }
    }

    /// What a commit has of a table of the merged schema; nothing where it has no such table.
    pub(super) fn state<'a>(&self, at: &'a Snapshot, table: TableId) -> Option<TableState<'a>> {
        let definition = self.ids.table_in(&at.catalog, table)?;
        Some(TableState { version: at.table_version(definition.id)?, definition })
    }

    /// How a side's rows of a table are read.
    pub(super) fn reading(&self, merged: &TableDef, own: &TableDef) -> Reading {
        Reading::of(&self.ids, Some(&self.base), merged, own)
    }

    /// What both sides come from.
    pub(super) fn base(&self) -> &Base {
        &self.base
    }
}

fn identities(sides: &Sides) -> Identities {
    let all = sides.bases.iter().chain([&sides.source, &sides.target]);
    Identities::of(all.map(|at| at.catalog.as_ref()))
}

fn unite_sides(sides: &Sides, base: &Base, question: &Question<'_>) -> United {
    unite_known(identities(sides), base, &sides.source.catalog, &sides.target.catalog, question)
}

/// What the schemas come to, and what has no answer.
fn answered(
    sides: &Sides,
    base: &Base,
    answers: &SchemaAnswers<'_>,
    rows: &BTreeMap<Dropped, u64>,
) -> (United, Vec<Clash>) {
    let count = |dropped: Dropped| rows.get(&dropped).copied().unwrap_or_default();
    let told = unite_sides(sides, base, &Question { answer: &|_, _| None, rows: &count });
    // Ids that converge are one for the answers too.
    let answer = |subject: Subject, dropped: Option<Side>| answers.to(sides, &told.ids, subject, dropped);
    // What is told may be answered, though the answer to another conflict settles it.
    for clash in &told.clashes {
        answer(
            clash.subject,
            clash.reason.dropped_by_source().map(|yes| if yes { Side::Source } else { Side::Target }),
        );
    }
    let mut united = unite_sides(sides, base, &Question { answer: &answer, rows: &count });
    let mut clashes = std::mem::take(&mut united.clashes);
    clashes.extend(both_kept(sides, base, &united));
    (united, clashes)
}

/// Tables of which both sides dropped properties that stay: neither side's rows have all values.
fn both_kept(sides: &Sides, base: &Base, united: &United) -> Vec<Clash> {
    let ids = &united.ids;
    let inherits = |merged: &TableDef, at: &Snapshot| {
        ids.table_in(&at.catalog, merged.id).is_some_and(|own| Reading::of(ids, Some(base), merged, own).inherits)
    };
    let both =
        united.catalog.tables.iter().filter(|table| inherits(table, &sides.source) && inherits(table, &sides.target));
    both.map(|table| Clash {
        subject: Subject { table: table.id, property: None },
        name: (table.name.clone(), None),
        reason: SchemaClash::BothKept,
        rows: None,
        told: [None, None, None],
    })
    .collect()
}
