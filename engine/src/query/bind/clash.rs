//! Where two kinds that do not go together differ: somewhere within maps and lists.

use super::kinds::{element_of, numbers};
use crate::query::kind::{EntityId, Kind};

/// The place where two kinds differ, and what each is there.
#[derive(Debug, PartialEq)]
pub(super) struct Clash {
    /// As `a.b[].c`; empty for the kinds themselves.
    path: String,
    pub one: Kind,
    pub other: Kind,
}

impl Clash {
    /// What differs, and how; `None` if it is the kinds themselves.
    pub(super) fn within(&self, says: impl Fn(&Kind) -> String) -> Option<String> {
        let part = match self.path.trim_start_matches('.') {
            "" => return None,
            "[]" => "an element is".to_owned(),
            path => format!("`{path}` is"),
        };
        Some(format!("{part} {} in the one and {} in the other", says(&self.one), says(&self.other)))
    }
}

/// The first place where values of two kinds cannot be of one. `alike` tells whether two entities can.
pub(super) fn clash(one: &Kind, other: &Kind, alike: &impl Fn(EntityId, EntityId) -> bool) -> Option<Clash> {
    let within = |part: &str, clash: Clash| Clash { path: format!("{part}{}", clash.path), ..clash };
    match (one, other) {
        (Kind::Null, _) | (_, Kind::Null) => return None,
        (Kind::Entity(one), Kind::Entity(other)) if alike(*one, *other) => return None,
        (Kind::List(_) | Kind::Vector(_), Kind::List(_) | Kind::Vector(_)) => {
            let (one, other) = (element_of(one)?, element_of(other)?);
            return clash(&one, &other, alike).map(|clash| within("[]", clash));
        }
        (Kind::Map(one), Kind::Map(other)) => {
            return one.iter().find_map(|(name, kind)| {
                let (_, met) = other.iter().find(|(known, _)| known == name)?;
                clash(kind, met, alike).map(|clash| within(&format!(".{name}"), clash))
            });
        }
        (one, other) if one == other || numbers(one, other).is_some() => return None,
        _ => {}
    }
    Some(Clash { path: String::new(), one: one.clone(), other: other.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_that_differs_is_named() {
        let map = |entries: &[(&str, Kind)]| {
            Kind::Map(entries.iter().map(|(name, kind)| ((*name).to_owned(), kind.clone())).collect())
        };
        let list = |kind: Kind| Kind::List(Box::new(kind));
        let told = |one: &Kind, other: &Kind| {
            clash(one, other, &|_, _| false).and_then(|clash| clash.within(ToString::to_string))
        };
        let one = map(&[("a", Kind::Integer), ("b", list(map(&[("c", Kind::String)])))]);
        let other = map(&[("a", Kind::Float), ("b", list(map(&[("c", Kind::Bool)])))]);
        let differs = "`b[].c` is a string in the one and a truth value in the other";
        assert_eq!(told(&one, &other).as_deref(), Some(differs));
        let elements = "an element is an integer in the one and a string in the other";
        assert_eq!(told(&list(Kind::Integer), &list(Kind::String)).as_deref(), Some(elements));
        assert_eq!(told(&Kind::Integer, &Kind::String), None);
        assert_eq!(clash(&one, &one, &|_, _| false), None);
    }
}
