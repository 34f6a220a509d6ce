//! What stands in stored objects and a reader may ignore, kept as it was written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Named JSON values that nobody need understand; those that this version does not understand it hands on character by character.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Extensions(BTreeMap<String, Box<RawValue>>);

impl Extensions {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each with its name and its JSON text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.get()))
    }

    /// The value called `name`, if it is a text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// Calls a text `name`.
    pub(crate) fn set_text(&mut self, name: &str, text: &str) {
        // A text is always JSON.
        if let Ok(value) = serde_json::value::to_raw_value(text) {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// How many bytes their texts take.
    pub(crate) fn len(&self) -> usize {
        self.iter().map(|(name, value)| name.len() + value.len()).sum()
    }
}

impl PartialEq for Extensions {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Extensions {}
