//! A small data-versioning program: proposals for a product catalogue are made on branches, looked at, and merged.
//!
//! `cargo run --example embed` works in memory; `cargo run --example embed -- ./catalogue` keeps the graph in a folder.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::io::Cursor;

use pleach::{ChangeOptions, Error, Graph, InitOptions, LoadMode, MergeOptions, Params};

const SCHEMA: &str = "
    CREATE NODE TABLE Product (sku STRING PRIMARY KEY, name STRING NOT NULL, cents INT64 CHECK (cents > 0));
    CREATE NODE TABLE Shelf (name STRING PRIMARY KEY);
    CREATE REL TABLE StandsOn (FROM Product TO Shelf, MANY_ONE);
";

const STOCK: &str = r#"{"table":"Product","data":{"sku":"P-1","name":"Pot","cents":1200}}
{"table":"Product","data":{"sku":"P-2","name":"Pan","cents":2400}}
{"table":"Shelf","data":{"name":"kitchen"}}
{"table":"StandsOn","from":"P-1","to":"kitchen"}
{"table":"StandsOn","from":"P-2","to":"kitchen"}"#;

fn by(author: &str, message: &str) -> ChangeOptions {
    ChangeOptions { author: author.into(), message: message.into(), ..ChangeOptions::default() }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let uri = std::env::args().nth(1).unwrap_or_else(|| "memory://catalogue".into());
    let graph = Graph::init(&uri, SCHEMA, InitOptions { author: "shop".into(), ..InitOptions::default() }).await?;
    graph.load("main", "stock", Cursor::new(STOCK), LoadMode::Append, by("shop", "the stock"), &|_, _| ()).await?;

    // A proposal is a branch: it copies nothing, and main does not see it.
    graph.create_branch("sale", "main", by("ada", "cheaper pots")).await?;
    let cheaper = "MATCH (p:Product)-[:StandsOn]->(:Shelf {name: $shelf}) WHERE p.cents > $above
                   SET p.cents = p.cents * 9 / 10";
    let params = Params::new().with("shelf", "kitchen").with("above", 1000);
    let report = graph.run("sale", cheaper, params, by("ada", "ten percent off")).await?;
    println!("changed on sale: {:?}", report.tables["Product"].updated);

    // Meanwhile, main moves on.
    graph.run("main", "CREATE (:Shelf {name: 'garden'})", Params::new(), by("shop", "a new shelf")).await?;

    // What would the proposal change? Both commits can be read at any time.
    let prices = "MATCH (p:Product) RETURN p.name, p.cents ORDER BY p.sku";
    for reference in ["main", "sale"] {
        let rows = graph.query(reference, prices, Params::new()).await?.collect_rows().await?;
        let shown: Vec<String> = rows.iter().map(|row| format!("{} {}", row[0].to_json(), row[1].to_json())).collect();
        println!("{reference}: {}", shown.join(", "));
    }

    // It is accepted: both sides' changes are in the result.
    let merged =
        graph.merge("sale", "main", MergeOptions { change: by("shop", "the sale"), ..MergeOptions::default() }).await?;
    println!("merge: {:?}", merged.outcome);
    for commit in graph.log("main", 10).await? {
        println!("{} {}", commit.reference(), commit.changes.first().map_or("", |change| &change.message));
    }
    graph.delete_branch("sale", by("shop", "done")).await?;
    graph.export("main", &[], std::io::stdout()).await?;
    Ok(())
}
