//! How numbers, times and bytes are spelled in a record's JSON.

/// A `u64` as a decimal string, since other readers of JSON lose integers beyond 2^53.
pub(crate) mod u64_string {
    use std::borrow::Cow;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes `value` in decimal.
    ///
    /// # Errors
    /// Those of `serializer`.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// Reads what [`serialize`] wrote.
    ///
    /// # Errors
    /// Anything else than the one decimal spelling of a `u64`.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let value: u64 = text.parse().map_err(D::Error::custom)?;
        if value.to_string() == text { Ok(value) } else { Err(D::Error::custom(format!("`{text}` is not a number"))) }
    }
}

/// A [`Seq`](crate::ids::Seq) as a decimal string.
pub(crate) mod seq_text {
    use serde::{Deserializer, Serializer, de::Error};

    use super::u64_string;
    use crate::ids::Seq;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(seq: &Seq, serializer: S) -> Result<S::Ok, S::Error> {
        u64_string::serialize(&seq.0, serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seq, D::Error> {
        match u64_string::deserialize(deserializer)? {
            u64::MAX => Err(D::Error::custom("nothing could follow this position")),
            seq => Ok(Seq(seq)),
        }
    }
}

/// A moment as RFC 3339 with six decimals, so that a record can be read by eye.
pub(crate) mod time_text {
    use std::borrow::Cow;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::clock::Timestamp;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(time)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }

    /// The same for a moment that may be absent.
    pub(crate) mod optional {
        use serde::{Deserializer, Serializer};

        use crate::clock::Timestamp;

        #[expect(clippy::ref_option, reason = "serde calls it so")]
        pub(crate) fn serialize<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => super::serialize(time, serializer),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
            super::deserialize(deserializer).map(Some)
        }
    }
}

/// Thirty-two bytes in lower-case hexadecimal.
pub(crate) mod hex_bytes {
    use std::borrow::Cow;
    use std::fmt::Write;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// The text of `bytes`.
    pub(crate) fn encode(bytes: &[u8]) -> String {
        bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// The bytes of `text`; `None` unless [`encode`] writes it so.
    pub(crate) fn decode(text: &str) -> Option<[u8; 32]> {
        if text.len() != 64 || !text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c)) {
            return None;
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(bytes)
    }

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        decode(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a hash")))
    }
}

/// Base64 without padding.
pub(crate) mod base64 {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// The text of `bytes`.
    pub(crate) fn encode(bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for group in bytes.chunks(3) {
            let bits = group.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - group.len()));
            for at in 0..=group.len() {
                text.push(char::from(ALPHABET[(bits >> (18 - 6 * at)) as usize & 63]));
            }
        }
        text
    }

    /// The bytes of `text`; `None` unless [`encode`] writes it so.
    pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
        for group in text.as_bytes().chunks(4) {
            if group.len() == 1 {
                return None;
            }
            let mut bits = 0_u32;
            for character in group {
                bits = (bits << 6) | value_of(*character)?;
            }
            bits <<= 6 * (4 - group.len());
            let all = bits.to_be_bytes();
            bytes.extend_from_slice(&all[1..group.len()]);
            // Bits beyond the last byte would give one value two spellings.
            if all[group.len()..].iter().any(|rest| *rest != 0) {
                return None;
            }
        }
        Some(bytes)
    }

    fn value_of(character: u8) -> Option<u32> {
        Some(u32::from(match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{base64, hex_bytes};

    #[test]
    fn base64_agrees_with_the_standard_examples() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64::encode(bytes.as_bytes()), text);
            assert_eq!(base64::decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        for wrong in ["Z", "Zh", "Zm9v!", "Zg==", "Zm9"] {
            assert_eq!(base64::decode(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn bytes_survive_both_spellings(bytes: Vec<u8>, hash: [u8; 32]) {
            prop_assert_eq!(base64::decode(&base64::encode(&bytes)), Some(bytes));
            prop_assert_eq!(hex_bytes::decode(&hex_bytes::encode(&hash)), Some(hash));
        }
    }
}
