//! The stored form of records, fixed byte by byte.

use super::*;
use crate::error::{Classify, ErrorKind};
use crate::ids::ChangeId;
use crate::publish::{Stamp, next_record};
use crate::testing::{record, request, version};

fn sample() -> Record {
    let id = |n: u128| n.to_be_bytes();
    let main = BranchName::parse("Feature/É").unwrap();
    let parent = Parent {
        log: BranchName::main(),
        incarnation: IncarnationId::from_bytes(id(1)),
        seq: Seq(41),
        commit: CommitId::from_bytes(id(2)),
    };
    let mut requests = RequestRing::default();
    requests.push(RequestHash::of("r-1"), Seq(u64::MAX - 1), 2);
    Record {
        format: FORMAT,
        features: Vec::new(),
        graph: GraphId::from_bytes(id(9)),
        branch: main,
        incarnation: IncarnationId::from_bytes(id(3)),
        seq: Seq(u64::MAX - 1),
        commit: CommitId::from_bytes(id(4)),
        time: Timestamp(1_706_702_400_000_001),
        previous: Some(CommitId::from_bytes(id(5))),
        parents: vec![parent.clone()],
        schema: SchemaHash([0xab; 32]),
        tables: BTreeMap::from([(
            TableId::from_bytes(id(6)),
            TableVersion { version: (1 << 63) + 5, size: 900, e_tag: "e".to_owned(), rows: 12 },
        )]),
        lineage: Lineage::default().with(lineage::Entry {
            incarnation: parent.incarnation,
            seq: parent.seq,
            commit: parent.commit,
            log: parent.log,
        }),
        requests,
        changes: vec![Change {
            id: ChangeId::from_bytes(id(7)),
            kind: ChangeKind::Load,
            author: "ann".to_owned(),
            author_time: Some(Timestamp(0)),
            message: "line\n\"quoted\"".to_owned(),
            request_id: Some("r-1".to_owned()),
            parents: Vec::new(),
            tables: BTreeMap::from([(
                TableId::from_bytes(id(6)),
                TableCounts { read: 3, inserted: 2, unchanged: 1, ..TableCounts::default() },
            )]),
            deleted_keys: BTreeMap::new(),
            merged: BTreeMap::new(),
            extensions: Extensions::default(),
        }],
        spill: None,
        deleted: false,
        tombstone: None,
        extensions: Extensions::default(),
    }
}

#[test]
fn the_bytes_of_a_record_are_fixed() {
    let expected = concat!(
        r#"{"format":1,"graph":"00000000000000000000000009","branch":"Feature/É","incarnation":"00000000000000000000000003","seq":"18446744073709551614","#,
        r#""commit":"00000000000000000000000004","time":"2024-01-31T12:00:00.000001Z","#,
        r#""previous":"00000000000000000000000005","parents":[{"log":"main","incarnation":"00000000000000000000000001","#,
        r#""seq":"41","commit":"00000000000000000000000002"}],"#,
        r#""schema":"abababababababababababababababababababababababababababababababab","#,
        r#""tables":{"00000000000000000000000006":{"version":"9223372036854775813","size":900,"e_tag":"e","rows":12}},"#,
        r#""lineage":{"recent":[{"incarnation":"00000000000000000000000001","seq":"41","#,
        r#""commit":"00000000000000000000000002","log":"main"}]},"requests":"AJbQH5asDEMN5Qtlsv7//////////wEC","#,
        r#""changes":[{"id":"00000000000000000000000007","kind":"load","author":"ann","#,
        r#""author_time":"1970-01-01T00:00:00.000000Z","message":"line\n\"quoted\"","request_id":"r-1","#,
        r#""tables":{"00000000000000000000000006":{"read":3,"inserted":2,"unchanged":1}}}]}"#,
    );
    let record = sample();
    assert_eq!(String::from_utf8(record.encode().unwrap().to_vec()).unwrap(), expected);
    assert_eq!(Record::decode(expected.as_bytes(), "main@1").unwrap(), record);
}

#[test]
fn the_bytes_of_rare_fields_are_fixed() {
    let mut record = sample();
    let change = &mut record.changes[0];
    change.kind = ChangeKind::Merge;
    change.tables.clear();
    change.deleted_keys = BTreeMap::from([(TableId::from_bytes([0; 16]), vec![EncodedKey(vec![5, 1, b'a'])])]);
    let side = SideCounts { inserted: 1, updated: 2, removed: 3 };
    let counts = MergeCounts { before: 4, added: 5, removed: 6, result: 3, source: side, ..MergeCounts::default() };
    change.merged = BTreeMap::from([(TableId::from_bytes([0; 16]), counts)]);
    change.extensions = serde_json::from_str(r#"{"x":1.50}"#).unwrap();
    record.extensions = serde_json::from_str(r#"{"y":{"b":1, "a":2}}"#).unwrap();
    record.deleted = true;
    record.spill = Some(Spill { object: ulid::Ulid::from_bytes([0; 16]), changes: 7 });
    record.tombstone = Some(Tombstone { time: Timestamp(0), commit: CommitId::from_bytes([0; 16]) });
    let expected = concat!(
        r#""request_id":"r-1","deleted_keys":{"00000000000000000000000000":["BQFh"]},"#,
        r#""merged":{"00000000000000000000000000":{"before":4,"added":5,"removed":6,"result":3,"#,
        r#""source":{"inserted":1,"updated":2,"removed":3}}},"extensions":{"x":1.50}}],"#,
        r#""spill":{"object":"00000000000000000000000000","changes":7},"deleted":true,"#,
        r#""tombstone":{"time":"1970-01-01T00:00:00.000000Z","commit":"00000000000000000000000000"},"#,
        r#""extensions":{"y":{"b":1, "a":2}}}"#,
    );
    let bytes = record.encode().unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    assert!(text.ends_with(expected), "{text}");
    assert_eq!(Record::decode(&bytes, "here").unwrap(), record);
}

#[test]
fn rare_fields_survive() {
    let mut record = sample();
    record.deleted = true;
    record.tombstone = Some(Tombstone { time: Timestamp(-1), commit: record.commit });
    record.previous = None;
    record.tables.clear();
    record.requests = RequestRing::default();
    record.changes[0].parents = record.parents.clone();
    record.changes[0].author_time = None;
    let bytes = record.encode().unwrap();
    assert_eq!(Record::decode(&bytes, "here").unwrap(), record);
}

#[test]
fn a_newer_format_is_named_even_if_nothing_else_is_known() {
    let error = Record::decode(br#"{"format":2,"novel":true}"#, "main@7").unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Data, "record-format"));
    assert_eq!(error.to_string(), "main@7 is in format 2, and this version reads format 1");
}

#[test]
fn a_feature_that_is_not_known_is_named_and_not_called_damage() {
    let text = String::from_utf8(sample().encode().unwrap().to_vec()).unwrap();
    let with =
        |features: &str| text.replacen("\"graph\"", &format!("\"features\":{features},\"novel\":1,\"graph\""), 1);
    let error = Record::decode(with("[\"novel\"]").as_bytes(), "main@7").unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Data, "record-format"));
    assert!(error.to_string().contains("newer version") && error.to_string().contains("`novel`"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("later")), "{:?}", error.hint());
    assert_eq!(Record::decode(with("[]").as_bytes(), "main@7").unwrap_err().code(), "record-unreadable");
    assert_eq!(Record::decode(with("7").as_bytes(), "main@7").unwrap_err().code(), "record-unreadable");
    let none = text.replacen("\"graph\"", "\"features\":[],\"graph\"", 1);
    assert_eq!(Record::decode(none.as_bytes(), "main@7").unwrap(), sample());
    let spilled = br#"{"format":1,"features":["novel"],"changes":{}}"#;
    assert_eq!(Record::decode_spilled(spilled, "changes/x").unwrap_err().code(), "record-format");
}

#[test]
fn a_kind_of_change_that_is_not_known_is_kept_as_it_is() {
    let text = String::from_utf8(sample().encode().unwrap().to_vec()).unwrap();
    let newer = text.replacen("\"kind\":\"load\"", "\"kind\":\"graft\"", 1);
    let record = Record::decode(newer.as_bytes(), "main@7").unwrap();
    assert_eq!(record.changes[0].kind, ChangeKind::Other("graft".into()));
    assert_eq!(record.encode().unwrap(), newer.as_bytes());
    for kind in ["create", "write", "load", "merge", "schema", "optimize", "revert", "cherry-pick", "restore", "delete"]
    {
        assert_eq!(ChangeKind::of(kind).as_str(), kind);
        assert!(!matches!(ChangeKind::of(kind), ChangeKind::Other(_)), "{kind}");
    }
}

#[test]
fn a_record_that_nothing_could_follow_is_refused() {
    let mut later = sample();
    later.seq = Seq(5);
    assert_eq!(later.encode().unwrap_err().code(), "record-unwritable", "its ring is ahead of it");
    let text = String::from_utf8(sample().encode().unwrap().to_vec()).unwrap();
    let last = "18446744073709551614";
    for wrong in [text.replacen(last, "5", 1), text.replacen(last, &u64::MAX.to_string(), 1)] {
        assert_ne!(wrong, text);
        assert_eq!(Record::decode(wrong.as_bytes(), "main@7").unwrap_err().code(), "record-unreadable", "{wrong}");
    }
    let mut end = sample();
    end.seq = Seq(u64::MAX);
    assert_eq!(end.encode().unwrap_err().code(), "record-unwritable");
}

#[test]
fn any_record_has_room_to_become_a_tombstone() {
    let mut record = sample();
    let free = super::codec::WRITER_BYTES - record.encode().unwrap().len();
    record.changes[0].message.push_str(&"m".repeat(free));
    assert_eq!(record.encode().unwrap().len(), super::codec::WRITER_BYTES);
    let mut over = record.clone();
    over.changes[0].message.push('m');
    assert!(matches!(over.encode(), Err(RecordError::TooLarge { .. })));
    record.tombstone = Some(Tombstone { time: Timestamp(i64::MAX / 1_000_000), commit: record.commit });
    assert!(record.encode().unwrap().len() <= MAX_BYTES);
}

#[test]
fn four_hundred_tables_and_five_thousand_requests_keep_publishing() {
    let ids = |number: u16| TableId::from_bytes([number.to_be_bytes(); 8].concat().try_into().unwrap());
    let mut head = record(0);
    let version = |number| TableVersion { e_tag: "e".repeat(32), ..version(number) };
    head.tables = (0..400).map(|number| (ids(number), version(u64::from(number)))).collect();
    for number in 0..4096 {
        head.requests.push(RequestHash::of(&format!("early {number}")), Seq(number), 0);
    }
    head.seq = Seq(4096);
    let (mut objects, mut fewest) = (0, usize::MAX);
    for number in 0..904_u64 {
        let name = format!("r-{number}");
        let stamp =
            Stamp { commit: CommitId::from_bytes(u128::from(number).to_be_bytes()), time: head.time.plus_micros(1) };
        let change = Change { request_id: request(&name).request_id, ..sample().changes.remove(0) };
        let mut next = next_record(&head, stamp, [(ids(1), version(number))], [change]);
        let fitted = next.fit(|| ulid::Ulid::from_bytes([9; 16])).unwrap_or_else(|error| panic!("{number}: {error}"));
        objects += usize::from(fitted.spilled.is_some());
        fewest = fewest.min(next.requests.len());
        assert_eq!(next.requests.find(RequestHash::of(&name)), Some((next.seq, 0)));
        let complete = next.requests.complete_after().unwrap();
        // Position 4096 took no request.
        assert_eq!(complete.0 + 1 + next.requests.len() as u64, next.seq.0, "none is forgotten in silence");
        if number % 100 == 0 {
            assert_eq!(Record::decode(&fitted.bytes, "here").unwrap(), next);
        }
        head = next;
    }
    assert!(objects < 10, "{objects} commits needed an object more");
    assert!(fewest > 2_000, "{fewest} requests are remembered at least");
}

#[test]
fn an_unknown_field_or_damage_is_refused() {
    let bytes = sample().encode().unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    for wrong in [
        text.replacen("\"branch\"", "\"novel\":1,\"branch\"", 1),
        text.replacen("\"seq\":\"41\"", "\"seq\":41", 1),
        text.replacen("\"seq\":\"41\"", "\"seq\":\"041\"", 1),
        text.replacen("\"read\":3", "\"red\":3", 1),
        // The id of the commit with more bits than an id has.
        text.replacen("\"commit\":\"0", "\"commit\":\"8", 1),
        text.replacen("\"rows\":12", "\"rows\":12,\"novel\":1", 1),
        text.replacen("00000000000000000000000009", "80000000000000000000000009", 1),
        text[..text.len() - 1].to_owned(),
        String::new(),
    ] {
        let error = Record::decode(wrong.as_bytes(), "main@7").unwrap_err();
        assert_eq!(error.code(), "record-unreadable", "{wrong}");
    }
}

#[test]
fn what_would_burst_a_record_moves_into_one_object() {
    let mut record = sample();
    record.changes[0].message = "m".repeat(MAX_BYTES);
    assert!(matches!(record.encode(), Err(RecordError::TooLarge { .. })));
    let changes = record.changes.clone();
    let object = record.spill(ulid::Ulid::from_bytes([9; 16])).unwrap();
    assert!(record.encode().unwrap().len() < 2_000);
    assert_eq!((record.change_count(), record.changes.len()), (1, 0));
    assert_eq!(Record::decode_spilled(&object, "changes/x").unwrap(), changes);
}

#[test]
fn a_record_follows_only_what_its_maker_saw() {
    let before = sample();
    let mut after = sample();
    after.seq = before.seq.next();
    after.previous = Some(before.commit);
    after.time = before.time.plus_micros(1);
    assert!(after.follows(&before));
    for break_it in [
        (|r: &mut Record| r.previous = None) as fn(&mut Record),
        |r| r.previous = Some(CommitId::from_bytes([8; 16])),
        |r| r.time = Timestamp(0),
        |r| r.seq = Seq(3),
    ] {
        let mut wrong = after.clone();
        break_it(&mut wrong);
        assert!(!wrong.follows(&before));
    }
}
