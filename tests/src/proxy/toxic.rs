//! What can be wrong with a connection, and its JSON form.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stream {
    /// From the client to the server.
    Upstream,
    /// From the server to the client.
    #[default]
    Downstream,
}

/// One thing that is wrong. Numbers that are not given are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "attributes", rename_all = "snake_case")]
pub(super) enum Kind {
    /// Everything arrives later, by `latency` ± `jitter` milliseconds.
    Latency {
        #[serde(default)]
        latency: u64,
        #[serde(default)]
        jitter: u64,
    },
    /// At most `rate` kibibytes a second.
    Bandwidth {
        #[serde(default)]
        rate: u64,
    },
    /// Nothing arrives; `timeout` milliseconds after the first byte the connection is closed, or never if that is 0.
    Timeout {
        #[serde(default)]
        timeout: u64,
    },
    /// The connection is reset `timeout` milliseconds after the first byte.
    ResetPeer {
        #[serde(default)]
        timeout: u64,
    },
    /// The connection is closed after so many bytes.
    LimitData {
        #[serde(default)]
        bytes: u64,
    },
    /// The end of the stream arrives `delay` milliseconds later.
    SlowClose {
        #[serde(default)]
        delay: u64,
    },
}

/// One thing that is wrong with one direction of some connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Toxic {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) stream: Stream,
    /// The share of the connections that have it, 0 to 1.
    #[serde(default = "all")]
    pub(super) toxicity: f64,
    #[serde(flatten)]
    pub(super) kind: Kind,
}

fn all() -> f64 {
    1.0
}

impl Toxic {
    /// From what a client sends: without a name it is named for its kind and direction.
    pub(super) fn from_json(mut json: Value) -> Result<Self, String> {
        if let Some(fields) = json.as_object_mut() {
            fields.entry("attributes").or_insert_with(|| json!({}));
        }
        let kind = json["type"].as_str().unwrap_or_default().to_owned();
        let mut toxic: Self = serde_json::from_value(json).map_err(|error| error.to_string())?;
        if toxic.name.is_empty() {
            let stream = if toxic.stream == Stream::Upstream { "upstream" } else { "downstream" };
            toxic.name = format!("{kind}_{stream}");
        }
        Ok(toxic)
    }

    /// The same with the attributes and the toxicity that `json` names.
    pub(super) fn changed(&self, json: &Value) -> Result<Self, String> {
        let mut own = self.to_json();
        if let Some(toxicity) = json.get("toxicity") {
            own["toxicity"] = toxicity.clone();
        }
        if let (Some(new), Some(old)) =
            (json["attributes"].as_object(), own["attributes"].as_object_mut() as Option<&mut Map<_, _>>)
        {
            old.extend(new.clone());
        }
        Self::from_json(own)
    }

    pub(super) fn to_json(&self) -> Value {
        json!(self)
    }
}

/// Milliseconds.
pub(super) fn millis(number: u64) -> Duration {
    Duration::from_millis(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send_is_completed() {
        let toxic = Toxic::from_json(json!({"type": "latency", "attributes": {"latency": 30}})).unwrap();
        assert_eq!(
            (toxic.name.as_str(), toxic.stream, toxic.kind),
            ("latency_downstream", Stream::Downstream, Kind::Latency { latency: 30, jitter: 0 })
        );
        assert!((toxic.toxicity - 1.0).abs() < f64::EPSILON);
        let bare = Toxic::from_json(json!({"type": "reset_peer", "stream": "upstream", "name": "x", "toxicity": 0.5}));
        assert_eq!(
            bare.unwrap().to_json(),
            json!({"name": "x", "stream": "upstream", "toxicity": 0.5, "type": "reset_peer", "attributes": {"timeout": 0}})
        );
    }

    #[test]
    fn what_no_toxic_is_is_refused() {
        for bad in [
            json!({}),
            json!({"type": "poison"}),
            json!({"type": "latency", "attributes": {"latency": -1}}),
            json!({"type": "latency", "stream": "sideways"}),
            json!([]),
        ] {
            assert!(Toxic::from_json(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name() {
        let toxic = Toxic::from_json(json!({"type": "latency", "attributes": {"latency": 30, "jitter": 5}})).unwrap();
        let changed = toxic.changed(&json!({"attributes": {"latency": 7}, "toxicity": 0.25})).unwrap();
        assert_eq!(changed.kind, Kind::Latency { latency: 7, jitter: 5 });
        assert!((changed.toxicity - 0.25).abs() < f64::EPSILON);
        assert!(toxic.changed(&json!({"attributes": {"latency": "long"}})).is_err());
    }
}
