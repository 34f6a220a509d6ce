//! A schema of one table in the model, with its rows: what kinds of change make of it, and what two of them come to.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A kind of change, of a schema or of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    AddProperty,
    Drop,
    DropAndReadd,
    RenameProperty,
    RenameTable,
    WidenType,
    ExtendEnum,
    NewTable,
    DroppedTable,
    ConstraintAdded,
    ConstraintDropped,
    PolicyChanged,
    Data,
}

impl Change {
    pub(crate) const ALL: [Self; 13] = [
        Self::AddProperty,
        Self::Drop,
        Self::DropAndReadd,
        Self::RenameProperty,
        Self::RenameTable,
        Self::WidenType,
        Self::ExtendEnum,
        Self::NewTable,
        Self::DroppedTable,
        Self::ConstraintAdded,
        Self::ConstraintDropped,
        Self::PolicyChanged,
        Self::Data,
    ];

    /// As the RFC's table has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AddProperty => "add property",
            Self::Drop => "drop",
            Self::DropAndReadd => "drop and re-add",
            Self::RenameProperty => "rename property",
            Self::RenameTable => "rename table",
            Self::WidenType => "widen type",
            Self::ExtendEnum => "extend enum",
            Self::NewTable => "new table",
            Self::DroppedTable => "dropped table",
            Self::ConstraintAdded => "constraint added",
            Self::ConstraintDropped => "constraint dropped",
            Self::PolicyChanged => "policy changed",
            Self::Data => "data",
        }
    }
}

/// A property by what it is: `p`, and the one that takes its name after it was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) ty: &'static str,
}

/// What a schema says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    /// The name of the table; none: it was dropped.
    pub(crate) table: Option<String>,
    pub(crate) p: Option<Property>,
    pub(crate) again: Option<Property>,
    pub(crate) added: bool,
    pub(crate) labels: Vec<String>,
    pub(crate) sums: bool,
    /// `CHECK (p >= 0)`.
    pub(crate) low: bool,
    /// `CHECK (n < 100)`.
    pub(crate) high: bool,
    pub(crate) new_table: bool,
}

/// Values by what they belong to: `p`, `again`, `q`, `e`, `n`.
pub(crate) type Values = BTreeMap<&'static str, Value>;

/// A commit: a schema, and the rows of its table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Commit {
    pub(crate) schema: Schema,
    pub(crate) rows: BTreeMap<i64, Values>,
}

impl Commit {
    /// Two rows.
    pub(crate) fn first() -> Self {
        let p = Property { name: "p".to_owned(), ty: "INT32" };
        let schema = Schema {
            table: Some("T".to_owned()),
            p: Some(p),
            again: None,
            added: false,
            labels: vec!["a".to_owned(), "b".to_owned()],
            sums: false,
            low: false,
            high: true,
            new_table: false,
        };
        let row = |p: i64| Values::from([("p", json!(p)), ("e", json!("a")), ("n", json!(1))]);
        Self { schema, rows: BTreeMap::from([(1, row(1)), (2, row(2))]) }
    }
}

impl Schema {
    /// Changes it, on the side of this name; one change may take two steps.
    pub(crate) fn changed(&self, change: Change, side: &str) -> Vec<Self> {
        let mut then = self.clone();
        match change {
            Change::AddProperty => then.added = true,
            Change::Drop => (then.p, then.low) = (None, false),
            Change::DropAndReadd => {
                (then.p, then.low) = (None, false);
                let dropped = then.clone();
                then.again = Some(Property { name: "p".to_owned(), ty: "STRING" });
                return vec![dropped, then];
            }
            Change::RenameProperty => {
                if let Some(p) = &mut then.p {
                    p.name = format!("p_{side}");
                }
            }
            Change::RenameTable => then.table = Some(format!("T_{side}")),
            Change::WidenType => {
                if let Some(p) = &mut then.p {
                    p.ty = "INT64";
                }
            }
            Change::ExtendEnum => then.labels.push(format!("from_{side}")),
            Change::NewTable => then.new_table = true,
            Change::DroppedTable => then.table = None,
            Change::ConstraintAdded => then.low = true,
            Change::ConstraintDropped => then.high = false,
            Change::PolicyChanged => then.sums = true,
            Change::Data => return Vec::new(),
        }
        vec![then]
    }

    /// As text that makes it of `before`.
    pub(crate) fn ddl(&self, before: &Self) -> String {
        let mut text = "CREATE NODE TABLE Other (id INT64 PRIMARY KEY);\n".to_owned();
        if self.new_table {
            text += "CREATE NODE TABLE New (id INT64 PRIMARY KEY, x INT64);\n";
        }
        let Some(name) = &self.table else { return text };
        let renamed = |was: Option<&String>, is: &String| match was {
            Some(was) if was != is => format!(" RENAMED FROM {was}"),
            _ => String::new(),
        };
        let mut items = vec!["id INT64 PRIMARY KEY".to_owned()];
        if let Some(p) = &self.p {
            let was = before.p.as_ref().map(|p| &p.name);
            items.push(format!("{} {}{}", p.name, p.ty, renamed(was, &p.name)));
        }
        items.extend(self.again.as_ref().map(|p| format!("{} {}", p.name, p.ty)));
        items.push(format!("e ENUM('{}')", self.labels.join("', '")));
        items.push(format!("n INT64{}", if self.sums { " MERGE sum" } else { "" }));
        items.extend(self.added.then(|| "q INT64 DEFAULT 7".to_owned()));
        items.extend(self.p.iter().filter(|_| self.low).map(|p| format!("CHECK ({} >= 0)", p.name)));
        items.extend(self.high.then(|| "CHECK (n < 100)".to_owned()));
        let was = renamed(before.table.as_ref(), name);
        text + &format!("CREATE NODE TABLE {name}{was} ({});\n", items.join(", "))
    }

    /// The name of a property.
    fn name(&self, what: &str) -> Option<String> {
        match what {
            "p" => self.p.as_ref().map(|p| p.name.clone()),
            "again" => self.again.as_ref().map(|p| p.name.clone()),
            "q" => self.added.then(|| "q".to_owned()),
            other => Some(other.to_owned()),
        }
    }

    /// A row as readers see it: without what is gone, with what older rows have of what was added.
    fn seen(&self, values: &Values) -> Values {
        let known = values.iter().filter(|(what, _)| self.name(what).is_some());
        let mut seen: Values = known.map(|(what, value)| (*what, value.clone())).collect();
        if self.added {
            seen.entry("q").or_insert(json!(7));
        }
        seen
    }

    /// A row as a line of a load; what the schema lacks is left out.
    pub(crate) fn line(&self, id: i64, values: &Values) -> String {
        let named = values.iter().filter_map(|(what, value)| Some((self.name(what)?, value.clone())));
        let mut data: serde_json::Map<String, Value> = named.collect();
        data.insert("id".to_owned(), json!(id));
        json!({"table": self.table, "data": data}).to_string()
    }

    /// What it comes to with another one, over the one that both come from; none if that is for people to say. `rows`: whether either side
    /// changed rows of what the other dropped.
    pub(crate) fn merged(base: &Self, source: &Self, target: &Self) -> Option<Self> {
        fn one<T: PartialEq + Clone>(base: &T, source: &T, target: &T) -> Option<T> {
            match (source == base, target == base) {
                (true, _) => Some(target.clone()),
                (_, true) => Some(source.clone()),
                _ => (source == target).then(|| source.clone()),
            }
        }
        let p = match (&base.p, &source.p, &target.p) {
            (Some(base), Some(source), Some(target)) => Some(Property {
                name: one(&base.name, &source.name, &target.name)?,
                ty: one(&base.ty, &source.ty, &target.ty)?,
            }),
            (base, source, target) => one(base, source, target)?,
        };
        if p.is_none() && !base.low && (source.low || target.low) {
            return None;
        }
        // A table besides says nothing of this one.
        let same = |side: &Self| Self { new_table: false, ..side.clone() } == *base;
        let table = match (&source.table, &target.table) {
            (None, Some(_)) if !same(target) => return None,
            (Some(_), None) if !same(source) => return None,
            _ => one(&base.table, &source.table, &target.table)?,
        };
        let mut labels = target.labels.clone();
        labels.extend(source.labels.iter().filter(|label| !target.labels.contains(label)).cloned());
        Some(Self {
            table,
            p,
            again: source.again.clone().or(target.again.clone()),
            added: source.added || target.added,
            labels,
            sums: one(&base.sums, &source.sums, &target.sums)?,
            low: one(&base.low, &source.low, &target.low)?,
            high: one(&base.high, &source.high, &target.high)?,
            new_table: source.new_table || target.new_table,
        })
    }
}

impl Commit {
    /// What two commits come to; none if that is for people to say.
    pub(crate) fn merged(base: &Self, source: &Self, target: &Self) -> Option<Self> {
        let schema = Schema::merged(&base.schema, &source.schema, &target.schema)?;
        // A row that is gone has lost nothing by a drop.
        let changed = |other: &Self, what: Option<&str>| {
            other.rows.iter().any(|(id, row)| match (what, base.rows.get(id)) {
                (None, before) => before != Some(row),
                (Some(what), before) => before.and_then(|before| before.get(what)) != row.get(what),
            })
        };
        let lost = |by: &Self, other: &Self| {
            (by.schema.table.is_none() && other.schema.table.is_some() && changed(other, None))
                || (by.schema.p.is_none() && other.schema.p.is_some() && changed(other, Some("p")))
        };
        if lost(source, target) || lost(target, source) {
            return None;
        }
        let mut rows = BTreeMap::new();
        if schema.table.is_some() {
            for id in source.rows.keys().chain(target.rows.keys()) {
                let of = |commit: &Self| Some(schema.seen(commit.rows.get(id)?));
                let row = match (of(base), of(source), of(target)) {
                    (Some(base), Some(source), Some(target)) => Some(cells(schema.sums, &base, &source, &target)?),
                    (None, row @ Some(_), None) | (None, None, row @ Some(_)) => row,
                    (Some(base), Some(row), None) | (Some(base), None, Some(row)) if base == row => None,
                    _ => return None,
                };
                rows.extend(row.map(|row| (*id, row)));
            }
        }
        Some(Self { schema, rows })
    }

    /// Takes out values of what is gone.
    pub(crate) fn forget(&mut self) {
        let schema = self.schema.clone();
        for values in self.rows.values_mut() {
            values.retain(|what, _| schema.name(what).is_some());
        }
        if schema.table.is_none() {
            self.rows.clear();
        }
    }

    /// The rows as an export tells them, each by its values' names.
    pub(crate) fn told(&self) -> Vec<Value> {
        let lines = self.rows.iter().map(|(id, values)| self.schema.line(*id, &self.schema.seen(values)));
        lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
    }
}

/// A row that both sides have, value by value; `sums`: what both changed of `n` is added up.
fn cells(sums: bool, base: &Values, source: &Values, target: &Values) -> Option<Values> {
    let all = base.keys().chain(source.keys()).chain(target.keys());
    let mut merged = Values::new();
    for what in all {
        let (b, s, t) = (base.get(what), source.get(what), target.get(what));
        let int = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or_default();
        let value = match (s == b, t == b) {
            (true, _) => t.cloned(),
            (_, true) => s.cloned(),
            _ if sums && *what == "n" => Some(json!(int(s) + int(t) - int(b))),
            _ if s == t => t.cloned(),
            _ => return None,
        };
        merged.extend(value.map(|value| (*what, value)));
    }
    Some(merged)
}
