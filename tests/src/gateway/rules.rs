//! Which requests go wrong, and how.

use std::time::Duration;

use crate::http::Head;

/// What befalls a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mishap {
    /// It does not reach the server; it is answered by this status and an S3 error document of this code (without one if empty).
    Answered(u16, &'static str),
    /// It takes effect; instead of its answer the connection is reset.
    AnswerReset,
    /// It takes effect; instead of its answer the connection ends.
    AnswerCut,
    /// It takes effect; the connection ends after so many bytes of the answer's body.
    BodyCut(u64),
    /// It takes effect and is never answered.
    AnswerHung,
    /// It is never answered, and reaches the server after this time, whether or not anybody still waits.
    Late(Duration),
    /// It is never answered and never reaches the server.
    Hung,
    /// So many bytes of its body reach the server; then both connections are reset.
    UploadReset(u64),
}

/// A choice of requests: those of a method whose path contains a text, leaving out the first few, then so many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requests {
    method: Option<&'static str>,
    path: String,
    if_absent: bool,
    skip: u64,
    times: u64,
}

impl Requests {
    /// All requests.
    #[must_use]
    pub fn all() -> Self {
        Self { method: None, path: String::new(), if_absent: false, skip: 0, times: u64::MAX }
    }

    /// All of one method.
    #[must_use]
    pub fn of(method: &'static str) -> Self {
        Self { method: Some(method), ..Self::all() }
    }

    /// All put-if-absents.
    #[must_use]
    pub fn creates() -> Self {
        Self { if_absent: true, ..Self::of("PUT") }
    }

    /// Only those whose path (with the query) contains `part`.
    #[must_use]
    pub fn path(mut self, part: &str) -> Self {
        part.clone_into(&mut self.path);
        self
    }

    /// Not the first `skip`.
    #[must_use]
    pub fn skip(mut self, skip: u64) -> Self {
        self.skip = skip;
        self
    }

    /// Only so many.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = times;
        self
    }

    /// Only one.
    #[must_use]
    pub fn once(self) -> Self {
        self.times(1)
    }

    fn fits(&self, head: &Head) -> bool {
        self.method.is_none_or(|method| method == head.method())
            && head.target().contains(&self.path)
            && (!self.if_absent || head.header("if-none-match") == Some("*"))
    }
}

/// The rules of a gateway, in their order.
#[derive(Debug, Default)]
pub(super) struct Rules(Vec<(Requests, Mishap)>);

impl Rules {
    pub(super) fn add(&mut self, requests: Requests, mishap: Mishap) {
        self.0.push((requests, mishap));
    }

    /// What befalls this request, which is counted.
    pub(super) fn meet(&mut self, head: &Head) -> Option<Mishap> {
        for (requests, mishap) in self.0.iter_mut().filter(|(requests, _)| requests.times > 0 && requests.fits(head)) {
            if requests.skip > 0 {
                requests.skip -= 1;
            } else {
                requests.times = requests.times.saturating_sub(1);
                return Some(mishap.clone());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn meet(rules: &mut Rules, first: &str, header: &str) -> bool {
        let text = format!("{first} HTTP/1.1\r\n{header}\r\n");
        let head = Head::read(&mut text.as_bytes()).await.unwrap().unwrap();
        rules.meet(&head).is_some()
    }

    #[tokio::test]
    async fn rules_choose_by_method_path_condition_and_count() {
        let mut rules = Rules::default();
        rules.add(Requests::creates().path("/log/").skip(1).once(), Mishap::Hung);
        let absent = "If-None-Match: *\r\n";
        for (first, header, met) in [
            ("GET /b/log/1", "", false),
            ("PUT /b/log/1", "", false),
            ("PUT /b/data/1", absent, false),
            ("PUT /b/log/1", absent, false),
            ("PUT /b/log/1", absent, true),
            ("PUT /b/log/1", absent, false),
        ] {
            assert_eq!(meet(&mut rules, first, header).await, met, "{first} {header}");
        }
    }
}
