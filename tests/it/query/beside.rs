//! A handle that stays open while other processes commit, delete and create beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kit::graphs::{assert_whole, by_kit};
use kit::world::World;
use pleach::{ErrorKind, Graph, Params};

const DDL: &str = "CREATE NODE TABLE N (id INT64 PRIMARY KEY, life INT64 NOT NULL);";

async fn make(graph: &Graph, branch: &str, id: u64, life: u64) {
    let params = Params::new().with("id", i64::try_from(id).unwrap()).with("life", i64::try_from(life).unwrap());
    graph.run(branch, "CREATE (:N {id: $id, life: $life})", params, by_kit()).await.unwrap();
}

async fn count(graph: &Graph, reference: &str) -> Result<u64, pleach::Error> {
    let rows = graph.query(reference, "MATCH (n:N) RETURN count(*)", Params::new()).await?.collect_rows().await?;
    Ok(rows[0][0].to_json().parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_older_than_what_was_acknowledged_before_it_was_asked() {
    let world = World::new();
    let writer = world.init(DDL).await;
    let acknowledged = Arc::new(AtomicU64::new(0));
    let reader = world.open().await;
    let done = acknowledged.clone();
    let asking = tokio::spawn(async move {
        let mut asked = 0;
        while done.load(Ordering::SeqCst) < 40 {
            let before = done.load(Ordering::SeqCst);
            let found = count(&reader, "main").await.unwrap();
            assert!(found >= before, "{found} rows, {before} acknowledged");
            asked += 1;
        }
        asked
    });
    for id in 0..40 {
        make(&writer, "main", id, 0).await;
        acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    assert!(asking.await.unwrap() > 0);
    assert_whole(&writer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_was_deleted_and_created_again_is_read_and_written_as_it_is() {
    let world = World::new();
    let other = world.init(DDL).await;
    let open = world.open().await;
    for life in 0..5 {
        other.create_branch("f", "main", by_kit()).await.unwrap();
        assert_eq!(count(&open, "f").await.unwrap(), 0, "life {life}");
        for id in 0..=life {
            make(&other, "f", id, life).await;
        }
        assert_eq!(count(&open, "f").await.unwrap(), life + 1);
        make(&open, "f", 1000, life).await;
        let lives = "MATCH (n:N) RETURN DISTINCT n.life";
        let rows = open.query("f", lives, Params::new()).await.unwrap().collect_rows().await.unwrap();
        assert_eq!(rows.iter().map(|row| row[0].to_json()).collect::<Vec<_>>(), [life.to_string()]);
        other.delete_branch("f", by_kit()).await.unwrap();
        assert_eq!(count(&open, "f").await.unwrap_err().kind(), ErrorKind::NotFound, "life {life}");
    }
    assert_whole(&open).await;
}
