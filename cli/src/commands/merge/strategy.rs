//! Which side wins, as the command line spells it.

use pleach::{MergeSide, Strategy};

/// Reads `SIDE`, `TABLE=SIDE` or `TABLE.PROPERTY=SIDE`. A name with a point or an equals sign in it stands between backquotes.
pub(super) fn parse(text: &str) -> Result<Strategy, String> {
    let Some((place, side)) = text.rsplit_once('=') else {
        return Ok(Strategy { table: None, property: None, side: side(text)? });
    };
    let side = side_of(text, side)?;
    let (table, rest) = name(place)?;
    let property = match rest.strip_prefix('.') {
        None if rest.is_empty() => None,
        None => return Err(format!("`{place}` is neither TABLE nor TABLE.PROPERTY")),
        Some(rest) => match name(rest)? {
            (property, "") => Some(property),
            _ => return Err(format!("`{place}` is neither TABLE nor TABLE.PROPERTY")),
        },
    };
    Ok(Strategy { table: Some(table), property, side })
}

fn side(text: &str) -> Result<MergeSide, String> {
    match text {
        "source" => Ok(MergeSide::Source),
        "target" => Ok(MergeSide::Target),
        _ => Err("a side is `source` or `target`".to_owned()),
    }
}

fn side_of(whole: &str, text: &str) -> Result<MergeSide, String> {
    side(text).map_err(|error| format!("{error}, and `{whole}` ends otherwise"))
}

/// The name that a text begins with, and what follows it.
fn name(text: &str) -> Result<(String, &str), String> {
    let (name, rest) = match text.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`').ok_or_else(|| format!("a backquote is not closed in `{text}`"))?,
        None => text.split_at(text.find(['.', '=']).unwrap_or(text.len())),
    };
    if name.is_empty() {
        Err("a name is missing: TABLE=SIDE or TABLE.PROPERTY=SIDE".to_owned())
    } else {
        Ok((name.to_owned(), rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_understood() {
        for (text, table, property, side) in [
            ("source", None, None, MergeSide::Source),
            ("Person=target", Some("Person"), None, MergeSide::Target),
            ("Person.name=source", Some("Person"), Some("name"), MergeSide::Source),
            ("`a.b=c`.`d e`=source", Some("a.b=c"), Some("d e"), MergeSide::Source),
            ("`a.b`.c=target", Some("a.b"), Some("c"), MergeSide::Target),
        ] {
            let expected = Strategy { table: table.map(str::to_owned), property: property.map(str::to_owned), side };
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "ours",
            "Person",
            "Person=",
            "=source",
            "Person.=source",
            ".name=source",
            "a.b.c=source",
            "`a=source",
            "`a`b=target",
            "a=b=source",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
