//! What came through, counted on the wire and independently of the clients' own counters.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::http::Head;

/// One request that came through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// GET, PUT and so on.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Whether it is a put-if-absent.
    pub if_absent: bool,
    /// Bytes of its body and of its answer's.
    pub bytes: (u64, u64),
    /// The moments at which it came and was answered in full, in the order of all such moments; `None` while, or if, it never was.
    began: u64,
    ended: Option<u64>,
}

/// What came through in a while.
#[derive(Debug, Clone, Default)]
pub struct Traffic {
    /// The requests, in the order in which they came.
    pub requests: Vec<Seen>,
    /// Connections that clients made.
    pub connections: u64,
}

impl Traffic {
    /// The requests for which `wanted` holds.
    pub fn count(&self, wanted: impl Fn(&Seen) -> bool) -> u64 {
        self.requests.iter().filter(|seen| wanted(seen)).count() as u64
    }

    /// Pages listed.
    pub fn lists(&self) -> u64 {
        self.count(Seen::is_list)
    }

    /// Objects or ranges read.
    pub fn gets(&self) -> u64 {
        self.count(|seen| seen.method == "GET" && !seen.is_list())
    }

    /// Requests of one method.
    pub fn of(&self, method: &str) -> u64 {
        self.count(|seen| seen.method == method)
    }

    /// The most requests of which each came after the one before was answered: of those, the ones that end first are as many as
    /// there can be.
    pub fn serial_depth(&self) -> u64 {
        let mut spans: Vec<_> = self.requests.iter().filter_map(|seen| Some((seen.ended?, seen.began))).collect();
        spans.sort_unstable();
        let mut last = 0;
        let mut depth = 0;
        for (ended, began) in spans {
            if depth == 0 || began > last {
                depth += 1;
                last = ended;
            }
        }
        depth
    }
}

impl Seen {
    /// A request without a key: of a bucket's listing.
    fn is_list(&self) -> bool {
        self.method == "GET" && self.target.contains("list-type=2")
    }
}

/// Notes requests as they come and are answered.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    traffic: Traffic,
    moments: u64,
    /// How often it was taken: what began before must not be noted after.
    taken: u64,
}

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnItsWay {
    taken: u64,
    index: usize,
}

impl Log {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn connected(&self) {
        self.noted().traffic.connections += 1;
    }

    pub(super) fn begin(&self, head: &Head) -> OnItsWay {
        let mut noted = self.noted();
        noted.moments += 1;
        let seen = Seen {
            method: head.method().to_owned(),
            target: head.target().to_owned(),
            if_absent: head.header("if-none-match") == Some("*"),
            bytes: (0, 0),
            began: noted.moments,
            ended: None,
        };
        noted.traffic.requests.push(seen);
        OnItsWay { taken: noted.taken, index: noted.traffic.requests.len() - 1 }
    }

    pub(super) fn end(&self, request: OnItsWay, bytes: (u64, u64)) {
        let mut noted = self.noted();
        noted.moments += 1;
        let moment = noted.moments;
        if noted.taken == request.taken
            && let Some(seen) = noted.traffic.requests.get_mut(request.index)
        {
            (seen.ended, seen.bytes) = (Some(moment), bytes);
        }
    }

    pub(super) fn take(&self) -> Traffic {
        let mut noted = self.noted();
        noted.taken += 1;
        std::mem::take(&mut noted.traffic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(spans: &[(u64, u64)]) -> u64 {
        let seen = |(began, ended): &(u64, u64)| Seen {
            method: "GET".to_owned(),
            target: String::new(),
            if_absent: false,
            bytes: (0, 0),
            began: *began,
            ended: Some(*ended),
        };
        Traffic { requests: spans.iter().map(seen).collect(), connections: 1 }.serial_depth()
    }

    #[test]
    fn serial_depth_is_the_longest_chain() {
        assert_eq!(depth(&[]), 0);
        assert_eq!(depth(&[(1, 2), (3, 4), (5, 6)]), 3);
        assert_eq!(depth(&[(1, 4), (2, 5), (3, 6)]), 1);
        assert_eq!(depth(&[(1, 8), (2, 3), (4, 5), (9, 10)]), 3);
        assert_eq!(depth(&[(1, 3), (2, 5), (4, 6), (7, 8)]), 3);
    }
}
