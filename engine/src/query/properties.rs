//! The properties of a node or an edge as a query returns them.

use std::ops::Index;

use super::value::CypherValue;

/// Properties by name, in the order of the schema; those that are null are left out. They are equal in any order.
#[derive(Debug, Clone, Default)]
pub struct Properties(Vec<(String, CypherValue)>);

impl Properties {
    /// The value of a property; `None` if it is null, or if there is no such property.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CypherValue> {
        // There are few, so that a search is as fast as a map.
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The names and values, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &CypherValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all are null.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a property out.
    pub(crate) fn take(&mut self, name: &str) -> Option<CypherValue> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(place).1)
    }

    /// The names and values, which may be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut CypherValue)> {
        self.0.iter_mut().map(|(name, value)| (name.as_str(), value))
    }
}

/// No name may come twice.
impl FromIterator<(String, CypherValue)> for Properties {
    fn from_iter<I: IntoIterator<Item = (String, CypherValue)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl IntoIterator for Properties {
    type Item = (String, CypherValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl PartialEq for Properties {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

/// A null property is null.
impl Index<&str> for Properties {
    type Output = CypherValue;

    fn index(&self, name: &str) -> &CypherValue {
        self.get(name).unwrap_or(&CypherValue::NULL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_keep_their_order_and_are_equal_in_any() {
        let of =
            |names: &[&str]| -> Properties { names.iter().map(|name| ((*name).to_owned(), (*name).into())).collect() };
        let mut ours = of(&["z", "a", "m"]);
        assert_eq!(ours.names().collect::<Vec<_>>(), ["z", "a", "m"]);
        assert!(ours == of(&["a", "m", "z"]) && ours != of(&["a", "m"]) && ours != of(&["a", "m", "y"]));
        assert_eq!((ours.get("a"), &ours["nothing"]), (Some(&"a".into()), &CypherValue::NULL));
        assert_eq!(ours.take("a"), Some("a".into()));
        assert_eq!(ours.names().collect::<Vec<_>>(), ["z", "m"]);
    }
}
