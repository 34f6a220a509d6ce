//! Every pair of kinds of change of a schema, and of each with changes of data, in both directions and with data on both sides: what the
//! model says, the graph does; and what the RFC's table says is what both do.

use std::collections::BTreeMap;

use kit::graphs::{assert_whole, by_kit, export, graph};
use pleach::{Choice, Graph, MergeOptions, MergeSide, Resolution, SchemaOptions, Write};
use serde_json::{Value, json};

use super::model::schema::{Change, Commit, Values};
use super::{branch, options};

/// What a pair of changes comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// Both are in the result.
    Both,
    /// They are one change.
    One,
    /// A conflict.
    Clash,
    /// A conflict if rows were changed of what was dropped, and else both.
    Rows,
}

impl Cell {
    fn word(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::One => "one",
            Self::Clash => "clash",
            Self::Rows => "rows",
        }
    }
}

/// Decided for each pair by itself: a kind that is added has to be decided against all.
#[expect(clippy::too_many_lines, reason = "it is a table, row by row")]
fn cell(one: Change, other: Change) -> Cell {
    use Cell::{Both, Clash, One, Rows};
    use Change as C;
    match one {
        C::AddProperty => match other {
            C::AddProperty => One,
            C::DroppedTable => Clash,
            C::Drop
            | C::DropAndReadd
            | C::RenameProperty
            | C::RenameTable
            | C::WidenType
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintAdded
            | C::ConstraintDropped
            | C::PolicyChanged
            | C::Data => Both,
        },
        C::Drop => match other {
            C::Drop => One,
            C::RenameProperty | C::WidenType | C::DroppedTable | C::ConstraintAdded => Clash,
            C::Data => Rows,
            C::AddProperty
            | C::DropAndReadd
            | C::RenameTable
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintDropped
            | C::PolicyChanged => Both,
        },
        C::DropAndReadd => match other {
            C::DropAndReadd => One,
            C::RenameProperty | C::WidenType | C::DroppedTable | C::ConstraintAdded => Clash,
            C::Data => Rows,
            C::AddProperty
            | C::Drop
            | C::RenameTable
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintDropped
            | C::PolicyChanged => Both,
        },
        C::RenameProperty => match other {
            C::RenameProperty | C::Drop | C::DropAndReadd | C::DroppedTable => Clash,
            C::AddProperty
            | C::RenameTable
            | C::WidenType
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintAdded
            | C::ConstraintDropped
            | C::PolicyChanged
            | C::Data => Both,
        },
        C::RenameTable => match other {
            C::RenameTable | C::DroppedTable => Clash,
            C::AddProperty
            | C::Drop
            | C::DropAndReadd
            | C::RenameProperty
            | C::WidenType
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintAdded
            | C::ConstraintDropped
            | C::PolicyChanged
            | C::Data => Both,
        },
        C::WidenType => match other {
            C::WidenType => One,
            C::Drop | C::DropAndReadd | C::DroppedTable => Clash,
            C::AddProperty
            | C::RenameProperty
            | C::RenameTable
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintAdded
            | C::ConstraintDropped
            | C::PolicyChanged
            | C::Data => Both,
        },
        C::ExtendEnum => match other {
            C::DroppedTable => Clash,
            C::AddProperty
            | C::Drop
            | C::DropAndReadd
            | C::RenameProperty
            | C::RenameTable
            | C::WidenType
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintAdded
            | C::ConstraintDropped
            | C::PolicyChanged
            | C::Data => Both,
        },
        C::NewTable => match other {
            C::NewTable => One,
            C::DroppedTable => Rows,
            C::AddProperty
            | C::Drop
            | C::DropAndReadd
            | C::RenameProperty
            | C::RenameTable
            | C::WidenType
            | C::ExtendEnum
            | C::ConstraintAdded
            | C::ConstraintDropped
            | C::PolicyChanged
            | C::Data => Both,
        },
        C::DroppedTable => match other {
            C::DroppedTable => One,
            C::NewTable | C::Data => Rows,
            C::AddProperty
            | C::Drop
            | C::DropAndReadd
            | C::RenameProperty
            | C::RenameTable
            | C::WidenType
            | C::ExtendEnum
            | C::ConstraintAdded
            | C::ConstraintDropped
            | C::PolicyChanged => Clash,
        },
        C::ConstraintAdded => match other {
            C::ConstraintAdded => One,
            C::Drop | C::DropAndReadd | C::DroppedTable => Clash,
            C::AddProperty
            | C::RenameProperty
            | C::RenameTable
            | C::WidenType
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintDropped
            | C::PolicyChanged
            | C::Data => Both,
        },
        C::ConstraintDropped => match other {
            C::ConstraintDropped => One,
            C::DroppedTable => Clash,
            C::AddProperty
            | C::Drop
            | C::DropAndReadd
            | C::RenameProperty
            | C::RenameTable
            | C::WidenType
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintAdded
            | C::PolicyChanged
            | C::Data => Both,
        },
        C::PolicyChanged => match other {
            C::PolicyChanged => One,
            C::DroppedTable => Clash,
            C::AddProperty
            | C::Drop
            | C::DropAndReadd
            | C::RenameProperty
            | C::RenameTable
            | C::WidenType
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintAdded
            | C::ConstraintDropped
            | C::Data => Both,
        },
        C::Data => match other {
            C::Drop | C::DropAndReadd | C::DroppedTable => Rows,
            C::AddProperty
            | C::RenameProperty
            | C::RenameTable
            | C::WidenType
            | C::ExtendEnum
            | C::NewTable
            | C::ConstraintAdded
            | C::ConstraintDropped
            | C::PolicyChanged
            | C::Data => Both,
        },
    }
}

#[test]
fn the_rfc_has_this_table() {
    let rfc = include_str!("../../../rfcs/0008-schema-change-and-schema-merge.md");
    let rows: BTreeMap<&str, Vec<&str>> = rfc
        .lines()
        .filter_map(|line| {
            let mut cells = line.trim().strip_prefix("| **")?.strip_suffix('|')?.split('|').map(str::trim);
            let name = cells.next()?.strip_suffix("**")?;
            Some((name, cells.collect()))
        })
        .collect();
    for one in Change::ALL {
        let expected: Vec<&str> = Change::ALL.iter().map(|other| cell(one, *other).word()).collect();
        assert_eq!(rows.get(one.name()), Some(&expected), "{}", one.name());
        for other in Change::ALL {
            assert_eq!(cell(one, other), cell(other, one), "{one:?} and {other:?} in the other direction");
        }
    }
}

/// How rows change besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Each side adds one, with what its own schema has.
    Added,
    /// None.
    Untouched,
}

/// Makes a change on a branch, in the graph and in the model.
async fn change(graph: &Graph, name: &str, change: Change, rows: Rows, commit: &mut Commit) {
    for schema in commit.schema.changed(change, name) {
        let options = SchemaOptions { allow_data_loss: true, change: by_kit() };
        graph.apply_schema(name, &schema.ddl(&commit.schema), options).await.unwrap();
        commit.schema = schema;
        commit.forget();
    }
    if commit.schema.table.is_none() || (rows == Rows::Untouched && change != Change::Data) {
        return;
    }
    let (own, old) = if name == "f" { (10, 1) } else { (20, 2) };
    let mut write = Write::new();
    if change == Change::Data {
        commit.rows.get_mut(&old).unwrap().insert("p", json!(5));
        write = write.upsert_json(commit.schema.line(old, &commit.rows[&old]));
    }
    let label = commit.schema.labels.last().unwrap();
    let mut values = Values::from([("e", json!(label)), ("n", json!(own))]);
    values.extend(commit.schema.again.as_ref().map(|_| ("again", json!("again"))));
    values.extend(commit.schema.added.then(|| ("q", json!(own))));
    write = write.upsert_json(commit.schema.line(own, &values));
    commit.rows.insert(own, values);
    if commit.schema.new_table {
        write = write.upsert_json(json!({"table": "New", "data": {"id": own, "x": own}}).to_string());
    }
    graph.write(name, write, by_kit()).await.unwrap();
}

/// The rows of the changed table, and the others.
async fn told(graph: &Graph, at: &str, table: Option<&str>) -> (Vec<Value>, Vec<Value>) {
    let text = export(graph, at).await;
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let without_nulls = |mut line: Value| {
        line["data"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
        line
    };
    lines.into_iter().map(without_nulls).partition(|line| line["table"].as_str() == table)
}

struct Pair {
    name: String,
    graph: Graph,
    base: Commit,
    source: Commit,
    target: Commit,
}

async fn pair(one: Change, other: Change, rows: Rows) -> Pair {
    let base = Commit::first();
    let graph = graph(&base.schema.ddl(&base.schema)).await;
    let write = base.rows.iter().fold(Write::new(), |write, (id, row)| write.insert_json(base.schema.line(*id, row)));
    graph.write("main", write, by_kit()).await.unwrap();
    branch(&graph, "f", "main").await;
    let (mut source, mut target) = (base.clone(), base.clone());
    change(&graph, "f", one, rows, &mut source).await;
    change(&graph, "main", other, rows, &mut target).await;
    Pair { name: format!("{} into {}", one.name(), other.name()), graph, base, source, target }
}

impl Pair {
    /// Merges, and compares all with the model.
    async fn merges(&self, expected: &Commit) {
        self.graph.merge("f", "main", options()).await.unwrap();
        let (found, others) = told(&self.graph, "main", expected.schema.table.as_deref()).await;
        assert_eq!(found, expected.told(), "{}", self.name);
        let new: Vec<i64> = others.iter().map(|line| line["data"]["id"].as_i64().unwrap()).collect();
        let wrote = [(10, &self.source), (20, &self.target)];
        let wrote = wrote.iter().filter(|(own, side)| side.schema.new_table && side.rows.contains_key(own));
        assert_eq!(new, wrote.map(|(own, _)| *own).collect::<Vec<_>>(), "rows of the new table, {}", self.name);
        let plan = self.graph.plan_schema("main", &expected.schema.ddl(&expected.schema)).await.unwrap();
        let steps: Vec<String> = plan.steps.iter().map(ToString::to_string).collect();
        let differs = steps.iter().any(|step| !step.contains("change the order"));
        assert!(!differs, "the merged schema of {} is not as expected: {steps:?}", self.name);
        // Back again: the other branch takes it all, and nothing is left.
        self.graph.merge("main", "f", options()).await.unwrap();
        assert_eq!(told(&self.graph, "f", expected.schema.table.as_deref()).await.0, expected.told());
        assert_whole(&self.graph).await;
    }

    /// Is refused, and goes either way.
    async fn clashes(&self) {
        let before = export(&self.graph, "main").await;
        let error = self.graph.merge("f", "main", options()).await.unwrap_err();
        assert_eq!(error.code(), "merge-conflicts", "{}: {error}", self.name);
        assert!(error.conflicts().iter().all(|conflict| conflict.schema.is_some()), "{error}");
        assert_eq!(export(&self.graph, "main").await, before, "nothing is written");
        let plan = self.graph.plan_merge("f", "main", options()).await.unwrap();
        assert_eq!(plan.conflicts, error.conflicts());
        for first in [true, false] {
            let into = if first { "first" } else { "second" };
            branch(&self.graph, into, "main").await;
            let resolutions = plan.conflicts.iter().map(|conflict| Resolution {
                table: conflict.table.clone(),
                key: None,
                property: conflict.property.clone(),
                choice: match (conflict.schema.unwrap().reason.choices(), first) {
                    (["keep", "drop"], true) => Choice::Keep,
                    (["keep", "drop"], false) => Choice::Drop,
                    (["source", "target"], true) => Choice::Side(MergeSide::Source),
                    (["source", "target"], false) => Choice::Side(MergeSide::Target),
                    (other, _) => panic!("{other:?}"),
                },
            });
            let resolved = MergeOptions { resolutions: resolutions.collect(), ..options() };
            self.graph.merge("f", into, resolved).await.unwrap();
        }
        assert_whole(&self.graph).await;
    }
}

async fn every_pair(of: &[Change]) {
    for one in of {
        for other in Change::ALL {
            let cell = cell(*one, other);
            let all = pair(*one, other, Rows::Added).await;
            let expected = Commit::merged(&all.base, &all.source, &all.target);
            match cell {
                Cell::Both | Cell::One => all.merges(&expected.expect("the model merges it")).await,
                Cell::Clash | Cell::Rows => {
                    assert_eq!(expected, None, "the model merges it");
                    all.clashes().await;
                }
            }
            if cell == Cell::Rows && *one != Change::Data && other != Change::Data {
                let all = pair(*one, other, Rows::Untouched).await;
                let expected = Commit::merged(&all.base, &all.source, &all.target);
                all.merges(&expected.expect("the model merges it")).await;
            }
        }
    }
}

macro_rules! every_pair {
    ($($name:ident: $($change:ident),*;)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            every_pair(&[$(Change::$change),*]).await;
        }
    )*};
}

every_pair! {
    an_added_or_dropped_property_meets_every_change: AddProperty, Drop, DropAndReadd;
    a_renaming_meets_every_change: RenameProperty, RenameTable;
    a_wider_type_or_enum_meets_every_change: WidenType, ExtendEnum;
    a_new_or_dropped_table_meets_every_change: NewTable, DroppedTable;
    a_constraint_a_policy_or_data_meets_every_change: ConstraintAdded, ConstraintDropped, PolicyChanged, Data;
}
