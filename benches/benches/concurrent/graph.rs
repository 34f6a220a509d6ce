//! The graph that is merged in, and what each branch of it has to come to.

use std::collections::BTreeMap;

use kit::graphs::{by_kit, export, init_options};
use pleach::store::Store;
use pleach::{Error, Graph, Write};

/// Rows of each table before anything is merged.
const ROWS: u64 = 1_000;

/// Rows that each side of a merge changes, of each table.
pub(super) const CHANGED: u64 = 50;

/// The rows of one branch: `a` and `b` by table and key.
type Rows = BTreeMap<(usize, u64), (u64, u64)>;

/// A graph, and what is in its branches.
pub(super) struct Measured {
    pub(super) graph: Graph,
    tables: usize,
    rows: BTreeMap<String, Rows>,
}

fn line(table: usize, id: u64, a: u64, b: u64) -> String {
    format!(r#"{{"table":"T{table}","data":{{"id":{id},"a":{a},"b":{b}}}}}"#)
}

impl Measured {
    /// A graph with `tables` tables, `depth` commits on `main`, and `branches` branches beside it.
    pub(super) async fn new(store: Store, tables: usize, depth: u64, branches: usize) -> Result<Self, Error> {
        let ddl = (0..tables).map(|n| format!("CREATE NODE TABLE T{n} (id INT64 PRIMARY KEY, a INT64, b INT64);"));
        let graph = Graph::init_on(store, &ddl.collect::<Vec<_>>().join("\n"), init_options()).await?;
        let all: Rows = (0..tables).flat_map(|table| (0..ROWS).map(move |id| ((table, id), (0, 0)))).collect();
        let mut measured = Self { graph, tables, rows: BTreeMap::from([("main".to_owned(), all.clone())]) };
        measured.put("main", &all).await?;
        while measured.graph.branch("main").await?.head.seq.0 + 1 < depth {
            let id = measured.rows["main"].len() as u64;
            measured.put("main", &Rows::from([((0, id), (0, 0))])).await?;
        }
        for n in 0..branches {
            measured.branch(&format!("other-{n}"), "main").await?;
        }
        Ok(measured)
    }

    /// Makes a branch of another one.
    pub(super) async fn branch(&mut self, name: &str, from: &str) -> Result<(), Error> {
        self.graph.create_branch(name, from, by_kit()).await?;
        self.rows.insert(name.to_owned(), self.rows[from].clone());
        Ok(())
    }

    async fn put(&mut self, branch: &str, rows: &Rows) -> Result<(), Error> {
        let lines = rows.iter().map(|((table, id), (a, b))| line(*table, *id, *a, *b));
        self.graph.write(branch, lines.fold(Write::new(), Write::upsert_json), by_kit()).await?;
        self.rows.entry(branch.to_owned()).or_default().extend(rows);
        Ok(())
    }

    /// Changes rows of each table on `branch`, by one commit: those from the `part`-th fifty on, in `a` by a source, in `b` by a target.
    pub(super) async fn change(&mut self, branch: &str, part: u64, by_source: bool) -> Result<(), Error> {
        let ids = (0..CHANGED).map(|n| (part * CHANGED + n) % ROWS);
        let value = part + 1;
        let changed = |(a, b): (u64, u64)| if by_source { (value, b) } else { (a, value) };
        let rows: Rows = ids
            .flat_map(|id| (0..self.tables).map(move |table| (table, id)))
            .map(|key| (key, changed(self.rows[branch].get(&key).copied().unwrap_or((0, 0)))))
            .collect();
        self.put(branch, &rows).await
    }

    /// Notes that `source` is merged into `target`: what it changed since `main` is there too.
    pub(super) fn merged(&mut self, source: &str, target: &str) {
        let base = &self.rows["main"];
        let changed = self.rows[source].iter().filter(|(key, row)| base.get(key) != Some(row));
        let changed: Vec<_> = changed.map(|(key, row)| (*key, *row)).collect();
        let into = self.rows.entry(target.to_owned()).or_default();
        for (key, (a, _)) in changed {
            into.entry(key).or_default().0 = a;
        }
    }

    /// Whether a branch is what it has to be, row by row.
    pub(super) async fn verify(&self, branch: &str) -> Result<(), String> {
        let lines = export(&self.graph, branch).await;
        let mut found: Vec<&str> = lines.lines().collect();
        found.sort_unstable();
        let mut expected: Vec<String> =
            self.rows[branch].iter().map(|((table, id), (a, b))| line(*table, *id, *a, *b)).collect();
        expected.sort_unstable();
        if found == expected { Ok(()) } else { Err(format!("{branch} is not what was merged into it")) }
    }
}
