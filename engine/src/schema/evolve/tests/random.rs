//! Random schemas become others: the result says what the text says, and ids are kept exactly where names or annotations say so.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::{clock, parse};
use crate::clock::Clock;
use crate::schema::ddl::parse_wanted;
use crate::schema::{Catalog, SchemaError, compare_schemas, decode_catalog, encode_catalog, plan_schema, print_ddl};

const TYPES: [(&str, &str); 11] = [
    ("INT8", "1"),
    ("INT32", "2"),
    ("INT64", "3"),
    ("FLOAT", "0.5"),
    ("DOUBLE", "0.1"),
    ("STRING", "'s'"),
    ("ENUM('a')", "'a'"),
    ("ENUM('a', 'b')", "'a'"),
    ("DECIMAL(5, 2)", "1.25"),
    ("DECIMAL(9, 3)", "1.5"),
    ("INT32[]", "[1]"),
];

/// A property: name, type, NOT NULL, DEFAULT, UNIQUE, CHECK, the name that it had.
#[derive(Debug, Clone)]
struct Property {
    name: &'static str,
    ty: usize,
    not_null: bool,
    default: bool,
    unique: bool,
    check: bool,
    renamed: Option<&'static str>,
}

#[derive(Debug, Clone)]
struct Table {
    name: &'static str,
    renamed: Option<&'static str>,
    /// For an edge table, the names of its ends.
    ends: Option<(&'static str, &'static str)>,
    multiplicity: usize,
    properties: Vec<Property>,
}

struct Dice(Clock);

impl Dice {
    fn below(&self, bound: usize) -> usize {
        usize::try_from(self.0.random_u64() % bound as u64).unwrap()
    }

    fn one_in(&self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// A schema, made after `like` if there is one, so that most of it may be kept.
fn model(dice: &Dice, like: Option<&[Table]>) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let names = ["A", "B", "C", "D", "K", "L"];
    for (i, name) in names.into_iter().enumerate() {
        let before = like.and_then(|like| like.iter().find(|table| table.name == name));
        if dice.one_in(3) {
            continue;
        }
        let nodes: Vec<&'static str> = tables.iter().filter(|table| table.ends.is_none()).map(|t| t.name).collect();
        let mut ends = None;
        if i >= 4 {
            if nodes.is_empty() {
                continue;
            }
            let kept = before.and_then(|before| before.ends).filter(|_| !dice.one_in(5));
            let pick = || nodes[dice.below(nodes.len())];
            ends = Some(
                kept.filter(|(from, to)| nodes.contains(from) && nodes.contains(to))
                    .unwrap_or_else(|| (pick(), pick())),
            );
        }
        // What is not there any more may be what this was.
        let gone = like.into_iter().flatten().filter(|old| old.name != name && old.ends.is_some() == ends.is_some());
        let gone: Vec<&Table> = gone.filter(|_| before.is_none() && like.is_some()).collect();
        let was = (!gone.is_empty() && dice.one_in(2)).then(|| gone[dice.below(gone.len())]);
        let properties = properties(dice, before.or(was), like.is_some());
        tables.push(Table { name, renamed: was.map(|was| was.name), ends, multiplicity: dice.below(4), properties });
    }
    tables
}

fn properties(dice: &Dice, before: Option<&Table>, has_past: bool) -> Vec<Property> {
    let mut properties: Vec<Property> = Vec::new();
    for name in ["p", "q", "r", "s"] {
        if dice.one_in(3) {
            continue;
        }
        let old = before.and_then(|before| before.properties.iter().find(|old| old.name == name));
        let gone: Vec<&Property> =
            before.into_iter().flat_map(|before| &before.properties).filter(|old| old.name != name).collect();
        let was =
            (has_past && old.is_none() && !gone.is_empty() && dice.one_in(2)).then(|| gone[dice.below(gone.len())]);
        let kept = old.or(was).map(|old| old.ty).filter(|_| !dice.one_in(6));
        properties.push(Property {
            name,
            ty: kept.unwrap_or_else(|| dice.below(TYPES.len())),
            not_null: dice.one_in(3),
            default: dice.one_in(3),
            unique: dice.one_in(4),
            check: dice.one_in(4),
            renamed: was.map(|was| was.name),
        });
    }
    properties
}

fn text(tables: &[Table]) -> String {
    let mut out = String::new();
    for table in tables {
        let renamed = |name: Option<&str>| name.map(|name| format!(" RENAMED FROM {name}")).unwrap_or_default();
        let kind = if table.ends.is_some() { "REL" } else { "NODE" };
        let mut items = vec![match table.ends {
            Some((from, to)) => format!("FROM {from} TO {to}"),
            None => "id STRING PRIMARY KEY".to_owned(),
        }];
        for property in &table.properties {
            let (ty, default) = TYPES[property.ty];
            let mut item = format!("{} {ty}", property.name);
            item.push_str(if property.not_null { " NOT NULL" } else { "" });
            if property.default {
                let _ = write!(item, " DEFAULT {default}");
            }
            items.push(item + &renamed(property.renamed));
        }
        let comparable = |property: &&Property| !matches!(TYPES[property.ty].0, "FLOAT" | "DOUBLE" | "INT32[]");
        let unique = table.properties.iter().filter(|property| property.unique).filter(comparable);
        items.extend(unique.map(|property| format!("UNIQUE ({})", property.name)));
        let checked = table.properties.iter().filter(|property| property.check);
        items.extend(checked.map(|property| format!("CHECK ({} IS NOT NULL)", property.name)));
        if table.ends.is_some() {
            items.push(["MANY_MANY", "MANY_ONE", "ONE_MANY", "ONE_ONE"][table.multiplicity].to_owned());
        }
        let _ = writeln!(out, "CREATE {kind} TABLE {}{} ({});", table.name, renamed(table.renamed), items.join(", "));
    }
    out
}

/// The text of a schema, tables in the order of their names.
fn printed(mut catalog: Catalog) -> String {
    catalog.tables.sort_by(|a, b| a.name.cmp(&b.name));
    print_ddl(&catalog)
}

fn ids(catalog: &Catalog) -> BTreeSet<String> {
    let properties = catalog.tables.iter().flat_map(|table| &table.properties);
    let columns = properties.clone().flat_map(|property| [Some(property.field), property.item_field]).flatten();
    let tables = catalog.tables.iter().map(|table| table.id.to_string());
    let ids = tables.chain(properties.map(|property| property.id.to_string()));
    ids.chain(columns.map(|field| field.0.to_string())).collect()
}

/// Whether every id of the later schema is that of what bears its former name, or new.
fn identities_hold(current: &Catalog, later: &Catalog, wanted: &[Table]) {
    let old_ids = ids(current);
    for table in wanted {
        let new = later.table(table.name).unwrap();
        let Some(old) = current.table(table.renamed.unwrap_or(table.name)) else {
            assert!(!old_ids.contains(&new.id.to_string()));
            continue;
        };
        // The name of a table that another one was renamed from is new.
        if table.renamed.is_none() && wanted.iter().any(|other| other.renamed == Some(table.name)) {
            assert_ne!(new.id, old.id);
            continue;
        }
        assert_eq!(new.id, old.id, "{}", table.name);
        for property in &table.properties {
            let is = new.property(property.name).unwrap();
            let taken = table.properties.iter().any(|other| other.renamed == Some(property.name));
            match old.property(property.renamed.unwrap_or(property.name)) {
                Some(was) if property.renamed.is_some() || !taken => {
                    assert_eq!(is.id, was.id, "{}.{}", table.name, property.name);
                    let alike =
                        is.ty == was.ty || is.ty.to_string().contains("ENUM") || was.ty.to_string().contains("ENUM");
                    assert_eq!(is.field == was.field, alike, "{}.{}", table.name, property.name);
                }
                _ => assert!(!old_ids.contains(&is.id.to_string()) && !old_ids.contains(&is.field.0.to_string())),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_schema_becomes_what_a_text_asks_for(seed in any::<u64>(), has_rows in any::<bool>()) {
        let dice = Dice(clock(seed));
        let rows = |_| u64::from(has_rows);
        let before = model(&dice, None);
        let current = parse(&text(&before));
        prop_assert!(compare_schemas(&current, &current).is_empty());
        let same = plan_schema(&current, &print_ddl(&current), rows, &clock(1)).unwrap();
        prop_assert!(same.steps.is_empty() && same.schema == current);

        let wanted = model(&dice, Some(&before));
        let wanted_text = text(&wanted);
        let plan = match plan_schema(&current, &wanted_text, rows, &clock(2)) {
            Ok(plan) => plan,
            Err(SchemaError::Change { problems }) => {
                prop_assert!(problems.iter().all(|problem| problem.help.is_some() || problem.message.contains("there is no")));
                return Ok(());
            }
            Err(other) => panic!("{wanted_text}\n{other}"),
        };
        let later = &plan.schema;
        // Only what a fill value is left of is NOT NULL without being called so.
        let mut asked = parse_wanted(&wanted_text, BTreeSet::new().into_iter().collect(), &clock(3)).unwrap().catalog;
        for table in &mut asked.tables {
            for property in &mut table.properties {
                let is = later.table(&table.name).unwrap().property(&property.name).unwrap();
                prop_assert!(has_rows || is.fill.is_none());
                property.not_null |= is.fill.is_some();
            }
        }
        prop_assert_eq!(printed(later.clone()), printed(asked));
        identities_hold(&current, later, &wanted);
        prop_assert_eq!(&decode_catalog(&encode_catalog(later).0).unwrap(), later);
        prop_assert_eq!(plan.steps.is_empty(), later == &current);
        // Both its own text and the one it was made from say what is there now.
        for text in [print_ddl(later), wanted_text] {
            let again = plan_schema(later, &text, rows, &clock(4)).unwrap();
            prop_assert!(again.steps.is_empty(), "{}\n{:?}", text, again.steps);
        }
    }
}

#[test]
fn most_random_changes_can_be_made() {
    let accepted = (0..300).filter(|seed| {
        let dice = Dice(clock(*seed));
        let before = model(&dice, None);
        let wanted = text(&model(&dice, Some(&before)));
        plan_schema(&parse(&text(&before)), &wanted, |_| 1, &clock(2)).is_ok()
    });
    assert!(accepted.count() > 60);
}
