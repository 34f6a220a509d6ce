//! What single rows and properties are to come to, as files spell it: one JSON object for each.

use std::path::Path;

use pleach::{Choice, Conflict, ConflictKind, MergeSide, Resolution};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::super::files;
use crate::failure::CliError;

/// The code of what is wrong with a resolution, whoever finds out.
pub(super) const CODE: &str = "resolution-invalid";

/// One resolution. Either a choice or a value; without a property it is about the row, which takes a choice alone. Without a key it is about the
/// schema: a table, or a property.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    table: String,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    key: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    property: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<Chosen>,
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Side {
    Source,
    Target,
}

/// What may be chosen.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Chosen {
    Source,
    Target,
    Keep,
    Drop,
}

/// A null that is given is a value, not an absence.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// Reads a file of them. Its line N is the resolution with the number N, so only the end of the file may be blank.
pub(super) fn read(path: &Path) -> Result<Vec<Resolution>, CliError> {
    let text = files::read_text(path)?;
    let name = files::input_name(path);
    let lines = text.trim_end().lines().enumerate();
    lines
        .map(|(index, line)| {
            let wrong = |reason: String| CliError::ResolutionLine { place: format!("{name}:{}", index + 1), reason };
            let line: Line = serde_json::from_str(line).map_err(|error| wrong(reason(&error)))?;
            line.resolution().map_err(|problem| wrong(problem.to_owned()))
        })
        .collect()
}

/// What is wrong with a line, without the place within it: each is the first line to its own reader.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason).to_owned()
}

impl Line {
    /// The resolution that it stands for.
    pub(super) fn resolution(self) -> Result<Resolution, &'static str> {
        let choice = match (self.choice, self.value) {
            (Some(chosen), None) => chosen.into(),
            (None, Some(value)) => Choice::Value(value.get().to_owned()),
            (Some(_), Some(_)) => return Err("there are a `choice` and a `value`; give one of them"),
            (None, None) => return Err("neither a `choice` (source or target) nor a `value` is given"),
        };
        let key = self.key.map(|key| key.get().to_owned());
        if key.is_none() && matches!(choice, Choice::Value(_)) {
            return Err("a `value` needs the `key` of a row");
        }
        Ok(Resolution { table: self.table, key, property: self.property, choice })
    }

    /// How a resolution is spelled; nothing if its key or value is no JSON.
    pub(super) fn of(resolution: &Resolution) -> Option<Self> {
        let Resolution { table, key, property, choice } = resolution;
        let (choice, value) = match choice {
            Choice::Side(MergeSide::Source) => (Some(Chosen::Source), None),
            Choice::Side(MergeSide::Target) => (Some(Chosen::Target), None),
            Choice::Keep => (Some(Chosen::Keep), None),
            Choice::Drop => (Some(Chosen::Drop), None),
            Choice::Value(value) => (None, Some(RawValue::from_string(value.clone()).ok()?)),
        };
        let key = match key {
            Some(key) => Some(RawValue::from_string(key.clone()).ok()?),
            None => None,
        };
        Some(Self { table: table.clone(), key, property: property.clone(), choice, value })
    }

    /// What would settle a conflict: as the source has it, or where a row breaks a rule, as the side has it that does not have the row, else the
    /// target. What a side dropped from the schema is kept, until somebody says otherwise. Nothing where the schemas have to change.
    pub(super) fn settling(conflict: &Conflict) -> Option<Self> {
        if let Some(schema) = &conflict.schema {
            let choice = match schema.reason.choices() {
                ["keep", ..] => Chosen::Keep,
                ["source", ..] => Chosen::Source,
                _ => return None,
            };
            let (table, property) = (conflict.table.clone(), conflict.property.clone());
            return Some(Self { table, key: None, property, choice: Some(choice), value: None });
        }
        let of_property = matches!(conflict.kind, ConflictKind::BothChanged | ConflictKind::BothAdded)
            // The ends of an edge that bears an id of its own go with the row.
            && conflict.property.as_deref() != Some("from, to");
        let property = conflict.property.clone().filter(|_| of_property);
        let key = Some(RawValue::from_string(conflict.key.clone()?).ok()?);
        let of_rule = matches!(conflict.kind, ConflictKind::Unique | ConflictKind::Cardinality | ConflictKind::Check);
        let only_target_has_it = conflict.source.as_deref() == Some("null");
        let side = if of_rule && !only_target_has_it { Chosen::Target } else { Chosen::Source };
        Some(Self { table: conflict.table.clone(), key, property, choice: Some(side), value: None })
    }
}

impl From<Chosen> for Choice {
    fn from(chosen: Chosen) -> Self {
        match chosen {
            Chosen::Source => Self::Side(MergeSide::Source),
            Chosen::Target => Self::Side(MergeSide::Target),
            Chosen::Keep => Self::Keep,
            Chosen::Drop => Self::Drop,
        }
    }
}

impl From<Side> for MergeSide {
    fn from(side: Side) -> Self {
        match side {
            Side::Source => Self::Source,
            Side::Target => Self::Target,
        }
    }
}

impl From<MergeSide> for Side {
    fn from(side: MergeSide) -> Self {
        match side {
            MergeSide::Source => Self::Source,
            MergeSide::Target => Self::Target,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Resolution, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        std::fs::write(&path, text).unwrap();
        let all = read(&path).map_err(|error| error.to_string().replace(&path.display().to_string(), "r"))?;
        all.into_iter().next().ok_or_else(String::new)
    }

    #[test]
    fn keys_and_values_stay_as_they_are_written() {
        let found =
            parsed("{\"table\":\"T\",\"key\":[1, \"a\"],\"property\":\"p\",\"value\":12345678901234567890123}\n\n")
                .unwrap();
        assert_eq!(
            (found.key.as_deref(), found.choice),
            (Some("[1, \"a\"]"), Choice::Value("12345678901234567890123".to_owned()))
        );
        let null = parsed("{\"table\":\"T\",\"key\":1,\"property\":\"p\",\"value\":null}").unwrap();
        assert_eq!(null.choice, Choice::Value("null".to_owned()));
        let row = parsed("{\"table\":\"T\",\"key\":1,\"choice\":\"target\"}").unwrap();
        assert_eq!((row.property, row.choice), (None, Choice::Side(MergeSide::Target)));
        let schema = parsed("{\"table\":\"T\",\"property\":\"p\",\"choice\":\"drop\"}").unwrap();
        assert_eq!((schema.key, schema.choice), (None, Choice::Drop));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let good = "{\"table\":\"T\",\"key\":1,\"choice\":\"source\"}";
        for (line, word) in [
            ("{\"table\":\"T\",\"key\":1,\"choice\":\"ours\"}", "ours"),
            ("{\"table\":\"T\",\"key\":1,\"side\":\"source\"}", "side"),
            ("{\"table\":\"T\",\"property\":\"p\",\"value\":1}", "key"),
            ("{\"table\":\"T\",\"key\":1}", "neither"),
            ("{\"table\":\"T\",\"key\":1,\"choice\":\"source\",\"value\":null}", "one of them"),
            ("", "EOF"),
            ("source", "expected"),
        ] {
            let told = parsed(&format!("{good}\n{line}\n{good}\n")).unwrap_err();
            assert!(told.starts_with("r:2: ") && told.contains(word) && !told.contains("line 1"), "{line}: {told}");
        }
    }

    #[test]
    fn a_line_is_written_as_it_is_read() {
        for text in [
            "{\"table\":\"T\",\"key\":[1,2],\"property\":\"p\",\"value\":null}",
            "{\"table\":\"T\",\"key\":1,\"choice\":\"source\"}",
            "{\"table\":\"T\",\"property\":\"p\",\"choice\":\"keep\"}",
        ] {
            let line = Line::of(&parsed(text).unwrap()).unwrap();
            assert_eq!(serde_json::to_string(&line).unwrap(), text);
        }
    }
}
