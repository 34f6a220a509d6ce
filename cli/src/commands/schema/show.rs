//! `pleach schema show`.

use pleach::schema::{Catalog, Multiplicity, OnMerge, TableDef, TableKind, print_ddl};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::output;

/// Print the schema of a commit as statements that `pleach init` and `pleach schema apply` read
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach schema show
  pleach schema show --at main@42 --json")]
pub(crate) struct Args {
    /// The commit to read: main, main@42, main~2, main@2024-01-31T12:00:00Z or main@COMMIT-ID
    #[arg(long, value_name = "REF", default_value = "main")]
    at: String,
}

pub(super) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let catalog = context.graph().await?.schema(&args.at).await?;
    let ddl = print_ddl(&catalog);
    if context.json() {
        let tables: Vec<Value> = catalog.tables.iter().map(|table| shape(&catalog, table)).collect();
        output::json(&json!({ "ddl": ddl, "tables": tables }))?;
    } else {
        output::text(&ddl)?;
    }
    Ok(())
}

/// A table for programs: names instead of ids, types in the spelling of the schema language.
fn shape(catalog: &Catalog, table: &TableDef) -> Value {
    let name = |id| catalog.table_by_id(id).map(|table| table.name.as_str());
    let kind = match &table.kind {
        TableKind::Node {} => json!({ "kind": "node" }),
        TableKind::Edge { from, to, multi, multiplicity, on_merge, .. } => json!({
            "kind": "edge", "from": name(*from), "to": name(*to), "multi": multi,
            "multiplicity": multiplicity_name(*multiplicity), "on_merge": on_merge.map(on_merge_name),
        }),
    };
    let properties: Vec<Value> = table
        .properties
        .iter()
        .map(|p| json!({ "name": p.name, "type": p.ty.to_string(), "not_null": p.not_null, "default": p.default }))
        .collect();
    let own = json!({
        "name": table.name,
        "key": table.key_properties().map(|property| property.name.as_str()).collect::<Vec<_>>(),
        "properties": properties,
    });
    let fields = [own, kind].into_iter().filter_map(|value| match value {
        Value::Object(fields) => Some(fields),
        _ => None,
    });
    Value::Object(fields.flatten().collect())
}

const fn multiplicity_name(multiplicity: Multiplicity) -> &'static str {
    match multiplicity {
        Multiplicity::ManyMany => "many-many",
        Multiplicity::ManyOne => "many-one",
        Multiplicity::OneMany => "one-many",
        Multiplicity::OneOne => "one-one",
    }
}

const fn on_merge_name(on_merge: OnMerge) -> &'static str {
    match on_merge {
        OnMerge::Cascade => "cascade",
        OnMerge::Keep => "keep",
    }
}
