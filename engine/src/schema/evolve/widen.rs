//! Which types may take the place of which, and how a value is spelled in the new one.

use crate::schema::{JsonText, Type};
use crate::value::{Value, parse_json, rescale, write_json};

/// What becomes of a property whose type changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// All values belong to the new type, and are stored alike.
    Alike,
    /// All values belong to the new type, as the same values, but are stored in other columns.
    Wider,
    /// Some value may be lost, or be another one.
    No,
}

/// Whether `to` may take the place of `from`. A value of the old type is *the same value* in the new one, so that hashes, keys and merges
/// hold: an integer is no float, and a float no decimal.
pub(crate) fn fit(from: &Type, to: &Type) -> Fit {
    if from == to {
        return Fit::Alike;
    }
    let wider = |yes: bool| if yes { Fit::Wider } else { Fit::No };
    match (from, to) {
        (Type::Enum(old), Type::Enum(new)) if new.starts_with(old) => Fit::Alike,
        (Type::Enum(_), Type::String) => Fit::Alike,
        (Type::Float, Type::Double) => Fit::Wider,
        (Type::Decimal { precision, scale }, Type::Decimal { precision: new, scale: new_scale }) => wider(
            new_scale >= scale && i16::from(*new) - i16::from(*new_scale) >= i16::from(*precision) - i16::from(*scale),
        ),
        (Type::List(old), Type::List(new)) => fit(old, new),
        _ => match (from.integer_range(), to.integer_range()) {
            (Some((low, high)), Some((new_low, new_high))) => wider(new_low <= low && high <= new_high),
            _ => Fit::No,
        },
    }
}

/// A value of type `from`, in the spelling of `to`, which fits it; `None` if it is no value of its type.
pub(crate) fn respell(json: &JsonText, from: &Type, to: &Type) -> Option<JsonText> {
    let value = widened(parse_json(json.raw(), from).ok()?, to);
    let mut text = Vec::new();
    write_json(&value, to, &mut text);
    JsonText::new(&String::from_utf8(text).ok()?).ok()
}

/// A value as the wider type `to` has it: only decimals know their type.
pub(crate) fn widened(value: Value, to: &Type) -> Value {
    match (value, to) {
        (Value::Decimal { unscaled, scale }, Type::Decimal { scale: wanted, .. }) => {
            // Wide enough for all values of the old type.
            rescale(unscaled, scale, *wanted)
                .map_or(Value::Decimal { unscaled, scale }, |unscaled| Value::Decimal { unscaled, scale: *wanted })
        }
        (Value::List(items), Type::List(element)) => {
            Value::List(items.into_iter().map(|item| widened(item, element)).collect())
        }
        (value, _) => value,
    }
}
