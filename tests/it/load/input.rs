//! Inputs that are refused, and how they are told.

use std::fmt::Write as _;
use std::io::{self, BufReader, Read};
use std::sync::Mutex;

use kit::graphs::{by_kit, export, graph, load};
use pleach::{ErrorKind, LoadMode};

const DDL: &str = "CREATE NODE TABLE N (k INT64 PRIMARY KEY, v INT64); CREATE REL TABLE E (FROM N TO N);";

#[tokio::test]
async fn edges_whose_ends_all_miss_are_refused_with_the_top_reason_and_three_samples() {
    let graph = graph(DDL).await;
    let text = (0..1_000).fold(String::new(), |mut text, k| {
        let _ = writeln!(text, r#"{{"table":"E","from":1,"to":{k}}}"#);
        text
    });
    load(&graph, LoadMode::Append, r#"{"table":"N","data":{"k":1}}"#).await.unwrap();
    let text = text.replace(r#""to":1}"#, r#""to":-1}"#);
    let head = graph.branch("main").await.unwrap().head.id;
    let error = load(&graph, LoadMode::Append, &text).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "input-refused"));
    assert_eq!(
        error.to_string(),
        "in.jsonl was refused, accepted 0 of 1,000 rows; dangling-edge in E.to: 1,000\n  \
         in.jsonl:1: E.to: found 0, expected the key of a N\n  \
         in.jsonl:2: E.to: found -1, expected the key of a N\n  \
         in.jsonl:3: E.to: found 2, expected the key of a N"
    );
    assert_eq!(error.violations().map(|v| v.iter().count()), Some(100));
    assert_eq!(graph.branch("main").await.unwrap().head.id, head);
}

#[tokio::test]
async fn good_lines_beside_bad_ones_are_not_written() {
    let graph = graph(DDL).await;
    let text = "{\"table\":\"N\",\"data\":{\"k\":1}}\nnonsense\n{\"table\":\"N\",\"data\":{\"k\":\"x\"}}\n";
    let error = load(&graph, LoadMode::Append, text).await.unwrap_err();
    let told: Vec<_> = error.violations().expect("violations").iter().map(ToString::to_string).collect();
    assert!(told[0].starts_with("in.jsonl:2: column 2: "), "{told:?}");
    assert!(told[1].starts_with("in.jsonl:3: N.k: found \"x\", expected "), "{told:?}");
    assert!(error.to_string().contains("accepted 1 of 3 rows"), "{error}");
    assert_eq!(export(&graph, "main").await, "");
}

/// Fails after some lines.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::other("the line went dead"));
        }
        self.0 -= 1;
        let line = b"\n";
        into[..line.len()].copy_from_slice(line);
        Ok(line.len())
    }
}

#[tokio::test]
async fn an_input_that_breaks_off_is_told_and_publishes_nothing() {
    let graph = graph(DDL).await;
    let input = BufReader::new(Failing(3));
    let error = graph.load("main", "pipe", input, LoadMode::Append, by_kit(), &|_, _| {}).await.unwrap_err();
    assert_eq!(error.code(), "input-unreadable");
    assert!(error.to_string().contains("the line went dead"), "{error}");
}

#[tokio::test]
async fn progress_ends_with_all_bytes_and_lines() {
    let graph = graph(DDL).await;
    let text = "{\"table\":\"N\",\"data\":{\"k\":1}}\n{\"table\":\"N\",\"data\":{\"k\":2}}";
    let last = Mutex::new((0, 0));
    let tell = |bytes, lines| *last.lock().unwrap() = (bytes, lines);
    graph.load("main", "in", text.as_bytes(), LoadMode::Append, by_kit(), &tell).await.unwrap();
    assert_eq!(*last.lock().unwrap(), (text.len() as u64, 2));
}
