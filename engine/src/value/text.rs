//! Values that JSON writes as strings: text itself, labels, UUIDs and bytes.

use std::borrow::Cow;

use arrow_cast::base64::{BASE64_STANDARD, Engine as _};
use uuid::Uuid;

use super::json::Refusal;
use super::shorten;

/// Longer texts are not searched for the label that was meant: the search takes time by the square of the length.
const LONGEST_TYPO: usize = 64;

/// The text of a JSON string, quotes included in `raw`.
pub(super) fn unquote(raw: &str) -> Result<Cow<'_, str>, Refusal> {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    if inner.contains('\\') {
        // The raw text is JSON already, in which only half a surrogate pair is no text.
        serde_json::from_str(raw).map(Cow::Owned).map_err(|_| "its escapes hold half of a surrogate pair".into())
    } else {
        Ok(Cow::Borrowed(inner))
    }
}

/// Finds a label of an `ENUM`; a refusal suggests the label that was likely meant.
pub(super) fn parse_label(text: &str, labels: &[String]) -> Result<String, Refusal> {
    if labels.iter().any(|label| label == text) {
        return Ok(text.to_owned());
    }
    Err(nearest(text, labels)
        .map_or_else(Refusal::default, |label| Refusal::new(format!("did you mean \"{}\"?", shorten(label)))))
}

fn nearest<'a>(text: &str, labels: &'a [String]) -> Option<&'a str> {
    if text.len() > LONGEST_TYPO {
        return None;
    }
    let folded = text.to_lowercase();
    let near = labels.iter().filter(|label| label.len() <= LONGEST_TYPO).map(|label| {
        let lower = label.to_lowercase();
        (strsim::osa_distance(&folded, &lower), lower.chars().count(), label)
    });
    let (distance, length, label) = near.min_by_key(|(distance, ..)| *distance)?;
    // A third of the letters wrong is a typo, more is another word.
    (distance <= length / 3).then_some(label.as_str())
}

/// Reads a UUID with its hyphens, in letters of either case.
pub(super) fn parse_uuid(text: &str) -> Result<[u8; 16], Refusal> {
    /// Of the spellings that the parser knows, only the hyphenated one has this length.
    const HYPHENATED: usize = 36;
    if text.len() != HYPHENATED {
        return Err(Refusal::default());
    }
    Uuid::try_parse(text).map(Uuid::into_bytes).map_err(|_| Refusal::default())
}

/// Writes a UUID with hyphens, in lower case.
pub(super) fn write_uuid(bytes: [u8; 16], out: &mut Vec<u8>) {
    let mut buffer = Uuid::encode_buffer();
    let text = Uuid::from_bytes(bytes).as_hyphenated().encode_lower(&mut buffer);
    out.extend_from_slice(text.as_bytes());
}

/// Reads Base64 of RFC 4648 with its padding and with no bits left over, so that bytes have one spelling.
pub(super) fn parse_blob(text: &str) -> Result<Vec<u8>, Refusal> {
    BASE64_STANDARD.decode(text).map_err(|_| Refusal::default())
}

/// Writes Base64 with padding.
pub(super) fn write_blob(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(BASE64_STANDARD.encode(bytes).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Vec<String> {
        ["open", "in progress", "closed", "Öl"].map(str::to_owned).into()
    }

    #[test]
    fn labels_are_found_exactly() {
        assert_eq!(parse_label("open", &labels()), Ok("open".to_owned()));
        assert_eq!(parse_label("Öl", &labels()), Ok("Öl".to_owned()));
    }

    #[test]
    fn near_labels_are_suggested() {
        let suggestion = |text| parse_label(text, &labels()).unwrap_err().detail().map(str::to_owned);
        assert_eq!(suggestion("OPEN").as_deref(), Some("did you mean \"open\"?"));
        assert_eq!(suggestion("colsed").as_deref(), Some("did you mean \"closed\"?"));
        assert_eq!(suggestion("in-progress").as_deref(), Some("did you mean \"in progress\"?"));
        assert_eq!(suggestion("pending"), None);
        assert_eq!(suggestion(""), None);
        assert_eq!(suggestion(&"open".repeat(100)), None);
    }

    #[test]
    fn uuids_need_their_hyphens() {
        let bytes = [0x01, 0x90, 0x16, 0x3d, 0x86, 0x94, 0x73, 0x9b, 0xae, 0xa5, 0x96, 0x6c, 0x26, 0xf8, 0xad, 0x91];
        let text = "0190163d-8694-739b-aea5-966c26f8ad91";
        assert_eq!(parse_uuid(text), Ok(bytes));
        assert_eq!(parse_uuid(&text.to_uppercase()), Ok(bytes));
        let mut out = Vec::new();
        write_uuid(bytes, &mut out);
        assert_eq!(out, text.as_bytes());
        let braced = format!("{{{text}}}");
        let urn = format!("urn:uuid:{text}");
        let bare = text.replace('-', "");
        let moved = "0190163d8-694-739b-aea5-966c26f8ad91";
        for text in [braced.as_str(), &urn, &bare, moved, "", "0190163d-8694-739b-aea5-966c26f8ad9g", &"é".repeat(18)]
        {
            assert!(parse_uuid(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bytes_have_one_spelling() {
        for (text, bytes) in [("", &b""[..]), ("AA==", b"\0"), ("AAE=", b"\0\x01"), ("+/8A", b"\xfb\xff\0")] {
            assert_eq!(parse_blob(text).as_deref(), Ok(bytes));
            let mut out = Vec::new();
            write_blob(bytes, &mut out);
            assert_eq!(out, text.as_bytes());
        }
        for text in ["AA", "AA=", "AB==", "-_8A", "AA==\n", " AA==", "A", "===="] {
            assert!(parse_blob(text).is_err(), "{text}");
        }
    }

    #[test]
    fn strings_lose_their_escapes() {
        assert_eq!(unquote(r#""a\u00e9\ud83d\ude00\n""#).as_deref(), Ok("aé😀\n"));
        assert_eq!(unquote(r#""""#).as_deref(), Ok(""));
        for raw in [r#""\ud800""#, r#""\ud83dx""#, r#""\ude00""#, r#""\ud83d\ud83d""#] {
            assert_eq!(unquote(raw), Err("its escapes hold half of a surrogate pair".into()), "{raw}");
        }
    }
}
