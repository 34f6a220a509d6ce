//! Branch names: what may be one, which two are the same, and the folder of a branch's log.
//!
//! Two spellings are one name when they are equal after canonical case folding, so `Foo` and `foo`, or the composed and the
//! decomposed `é`, meet in one log and cannot both win. The folder is that folded form in its composed shape, in which every byte
//! but `a`–`z`, `0`–`9`, `-` and `_` is written `=XX`. A slash is escaped too: the folders of all branches lie side by side,
//! so that a branch is never taken for an entry of another's log, and listing branches or finding a head never meets the
//! entries of a branch below.
//!
//! What may be a name is asked when one is given. A name that is stored already is taken as it is, so that a rule may become
//! stricter without making records unreadable. For the same reason no name may have characters that later versions of Unicode
//! could fold in another way: its folder would be another one.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use caseless::Caseless;
use object_store::path::Path;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_public_assigned;

use crate::error::{Classify, ErrorKind};
use crate::ids::CommitId;

/// The longest folder name: it stays one path component on every file system.
const MAX_FOLDER_BYTES: usize = 200;

/// The longest folder that can be: longer ones, no file system takes.
const MAX_STORED_BYTES: usize = 255;

/// A valid name in the spelling it was given, in composed form. Equal names may be spelled differently.
#[derive(Clone)]
pub struct BranchName {
    spelling: String,
    folder: String,
}

/// Why a text is not a branch name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be a branch name: {reason}", name.escape_debug())]
pub struct InvalidName {
    /// What was given.
    pub name: String,
    /// What is wrong with it.
    pub reason: NameFault,
}

/// What is wrong with a branch name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// Nothing was given.
    #[error("it is empty")]
    Empty,
    /// It would be taken for an option.
    #[error("it starts with `-`")]
    LeadingDash,
    /// It would be taken for a path upwards.
    #[error("it contains `..`")]
    DoubleDot,
    /// A slash stands at an end or beside another.
    #[error("a part between slashes is empty")]
    EmptyPart,
    /// The character has a meaning in references.
    #[error("`{0}` has a meaning in references")]
    Reserved(char),
    /// The character cannot be seen, or changes how others are seen.
    #[error("it contains the invisible character U+{:04X}", u32::from(*.0))]
    Invisible(char),
    /// Unicode has no such character, or leaves it to everybody's own use.
    #[error("U+{:04X} in it is not a character that everybody knows", u32::from(*.0))]
    Unassigned(char),
    /// White space stands at an end.
    #[error("it starts or ends with white space")]
    OuterSpace,
    /// It would be taken for a commit.
    #[error("it reads as a commit id")]
    CommitId,
    /// Its folder would be too long.
    #[error("it takes {0} bytes when stored, more than {MAX_FOLDER_BYTES}")]
    TooLong(usize),
}

impl Classify for InvalidName {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }

    fn code(&self) -> &'static str {
        "branch-name-invalid"
    }

    fn hint(&self) -> Option<String> {
        Some("use letters, digits, `-`, `_`, `.` and `/`, for example `team/import-2`".to_owned())
    }
}

impl BranchName {
    /// The branch that every graph has.
    pub const MAIN: &'static str = "main";

    /// Takes a text as a branch name.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let spelling: String = text.nfc().collect();
        let refuse = |reason| Err(InvalidName { name: text.to_owned(), reason });
        if let Some(reason) = fault(&spelling) {
            return refuse(reason);
        }
        let folder = escape(&folded(&spelling));
        if folder.len() > MAX_FOLDER_BYTES {
            return refuse(NameFault::TooLong(folder.len()));
        }
        Ok(Self { spelling, folder })
    }

    /// Takes a name that was stored: it is only asked whether it has a folder.
    ///
    /// # Errors
    /// An empty name, or one too long to be stored anywhere.
    pub(crate) fn stored(text: &str) -> Result<Self, InvalidName> {
        let refuse = |reason| Err(InvalidName { name: text.to_owned(), reason });
        let folder = escape(&folded(text));
        match folder.len() {
            0 => refuse(NameFault::Empty),
            1..=MAX_STORED_BYTES => Ok(Self { spelling: text.to_owned(), folder }),
            long => refuse(NameFault::TooLong(long)),
        }
    }

    /// The name that takes most room in a record: in each letter, its spelling is longer than its folder.
    pub(crate) fn longest() -> Self {
        Self { spelling: "ſ".repeat(MAX_FOLDER_BYTES), folder: "s".repeat(MAX_FOLDER_BYTES) }
    }

    /// The name whose log's folder is called `folder`, in its folded spelling; `None` for a folder that is no branch's.
    #[must_use]
    pub fn of_folder(folder: &str) -> Option<Self> {
        let name = Self::stored(&unescape(folder)?).ok()?;
        (name.folder == folder).then_some(name)
    }

    /// The branch that every graph has.
    #[must_use]
    pub fn main() -> Self {
        Self { spelling: Self::MAIN.to_owned(), folder: Self::MAIN.to_owned() }
    }

    /// Whether it is the branch that every graph has.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.folder == Self::MAIN
    }

    /// The spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.spelling
    }

    /// What equal names share.
    #[must_use]
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// The folder of the branch's log.
    #[must_use]
    pub fn log_folder(&self) -> Path {
        Path::from_iter([super::BRANCHES, self.folder.as_str()])
    }
}

impl PartialEq for BranchName {
    fn eq(&self, other: &Self) -> bool {
        self.folder == other.folder
    }
}

impl Eq for BranchName {}

impl Hash for BranchName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folder.hash(state);
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.spelling)
    }
}

impl fmt::Debug for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BranchName({:?})", self.spelling)
    }
}

impl FromStr for BranchName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        Self::parse(text)
    }
}

impl Serialize for BranchName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.spelling)
    }
}

impl<'de> Deserialize<'de> for BranchName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::stored(&text).map_err(D::Error::custom)
    }
}

fn fault(spelling: &str) -> Option<NameFault> {
    if spelling.is_empty() {
        return Some(NameFault::Empty);
    }
    if spelling.starts_with('-') {
        return Some(NameFault::LeadingDash);
    }
    for character in spelling.chars() {
        match character {
            '@' | '~' | '#' => return Some(NameFault::Reserved(character)),
            _ if character.is_control() || is_invisible(character) => return Some(NameFault::Invisible(character)),
            _ if !is_settled(character) => return Some(NameFault::Unassigned(character)),
            _ => {}
        }
    }
    if spelling.trim() != spelling {
        return Some(NameFault::OuterSpace);
    }
    if spelling.contains("..") {
        return Some(NameFault::DoubleDot);
    }
    if spelling.split('/').any(str::is_empty) {
        return Some(NameFault::EmptyPart);
    }
    spelling.parse::<CommitId>().is_ok().then_some(NameFault::CommitId)
}

/// What cannot be seen or changes how its neighbours are seen, so that two names could look alike: line and paragraph separators,
/// and the characters that Unicode says are ignored by default, among them all that reorder text.
const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a character is assigned, and known to the table that folds it: that table may be older than the one of assigned
/// characters, and would later fold capital letters which it leaves alone today.
fn is_settled(character: char) -> bool {
    // Cherokee is folded to its capital letters.
    let cherokee = matches!(character, '\u{13a0}'..='\u{13f5}');
    let left_alone = || std::iter::once(character).default_case_fold().eq([character]);
    is_public_assigned(character) && (cherokee || character.to_lowercase().eq([character]) || !left_alone())
}

/// What all spellings of a name share: canonical case folding, composed.
fn folded(spelling: &str) -> String {
    spelling.nfd().default_case_fold().nfc().collect()
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => escaped.push(char::from(byte)),
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                escaped.push('=');
                escaped.push(char::from(DIGITS[usize::from(byte >> 4)]));
                escaped.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
    escaped
}

fn unescape(folder: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(folder.len());
    let mut rest = folder.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'=' {
            let (digits, after) = rest.split_first_chunk::<2>()?;
            rest = after;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_cannot_be_one_is_refused_with_its_reason() {
        let long = "é".repeat(34);
        for (text, reason) in [
            ("", NameFault::Empty),
            ("-qa", NameFault::LeadingDash),
            ("..", NameFault::DoubleDot),
            ("a/../b", NameFault::DoubleDot),
            ("a//b", NameFault::EmptyPart),
            ("/a", NameFault::EmptyPart),
            ("a/", NameFault::EmptyPart),
            ("a@1", NameFault::Reserved('@')),
            ("a~1", NameFault::Reserved('~')),
            ("a#1", NameFault::Reserved('#')),
            ("a\nb", NameFault::Invisible('\n')),
            ("a\u{0}", NameFault::Invisible('\u{0}')),
            ("a\u{202e}b", NameFault::Invisible('\u{202e}')),
            ("ma\u{200b}in", NameFault::Invisible('\u{200b}')),
            ("ma\u{ad}in", NameFault::Invisible('\u{ad}')),
            ("a\u{2066}b", NameFault::Invisible('\u{2066}')),
            ("a\u{fe0f}", NameFault::Invisible('\u{fe0f}')),
            ("a\u{378}", NameFault::Unassigned('\u{378}')),
            ("a\u{e000}", NameFault::Unassigned('\u{e000}')),
            ("a\u{10ffff}", NameFault::Unassigned('\u{10ffff}')),
            (" a", NameFault::OuterSpace),
            ("a ", NameFault::OuterSpace),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", NameFault::CommitId),
            (&"a".repeat(201), NameFault::TooLong(201)),
            (&"x".repeat(300), NameFault::TooLong(300)),
            (&long, NameFault::TooLong(34 * 6)),
        ] {
            assert_eq!(BranchName::parse(text).unwrap_err().reason, reason, "{text:?}");
        }
    }

    #[test]
    fn spellings_of_one_name_are_equal_and_keep_their_spelling() {
        for (one, other) in
            [("Foo", "foo"), ("e\u{301}", "\u{e9}"), ("STRASSE", "straße"), ("Σς", "σσ"), ("É", "e\u{301}")]
        {
            let (a, b) = (BranchName::parse(one).unwrap(), BranchName::parse(other).unwrap());
            assert_eq!(a, b, "{one} {other}");
            assert_eq!(a.folder(), b.folder());
        }
        assert_eq!(BranchName::parse("Foo").unwrap().as_str(), "Foo");
        assert_ne!(BranchName::parse("a/b").unwrap(), BranchName::parse("a").unwrap());
        assert_ne!(BranchName::parse("a_b").unwrap(), BranchName::parse("a/b").unwrap());
    }

    #[test]
    fn folders_of_branches_lie_side_by_side_and_none_looks_like_an_entry() {
        let long = "a".repeat(200);
        for (name, folder) in [
            ("main", "main"),
            ("a", "a"),
            ("a/b", "a=2Fb"),
            ("a/fffffffffffffffe.json", "a=2Ffffffffffffffffe=2Ejson"),
            ("v1.0", "v1=2E0"),
            ("a=2Fb", "a=3D2fb"),
            ("🌳", "=F0=9F=8C=B3"),
            (&long, &long),
        ] {
            let name = BranchName::parse(name).unwrap();
            assert_eq!(name.folder(), folder);
            assert_eq!(name.log_folder().parts().count(), 2, "{folder}");
            assert_eq!(name.log_folder().as_ref(), format!("branches/{folder}"), "object_store escapes nothing more");
        }
    }

    #[test]
    fn a_folder_that_no_branch_has_is_none() {
        let long = "a".repeat(256);
        for folder in ["", "A", "a.b", "a=2", "a=2f", "a=61", "=FF", "a b", &long] {
            assert_eq!(BranchName::of_folder(folder), None, "{folder}");
        }
    }

    #[test]
    fn a_stored_name_is_read_although_it_could_not_be_given_today() {
        let long = "a".repeat(255);
        for text in ["-qa", "a..b", "a//b", "a@1", "a\u{200b}", "a\u{378}", " a", "01ARZ3NDEKTSV4RRFFQ69G5FAV", &long] {
            assert!(BranchName::parse(text).is_err(), "{text:?}");
            let json = serde_json::to_string(text).unwrap();
            let name: BranchName = serde_json::from_str(&json).unwrap();
            assert_eq!((name.as_str(), serde_json::to_string(&name).unwrap()), (text, json));
            assert_eq!(BranchName::of_folder(name.folder()), Some(name), "it is listed");
        }
        for wrong in ["", &"a".repeat(256)] {
            assert!(BranchName::stored(wrong).is_err());
        }
    }

    #[test]
    fn the_longest_name_is_one() {
        let longest = BranchName::longest();
        assert_eq!(BranchName::parse(longest.as_str()).unwrap().folder(), longest.folder());
        assert_eq!(longest.as_str().len(), 2 * longest.folder().len());
    }

    #[test]
    fn letters_of_all_scripts_are_settled() {
        for text in [
            "Ünï",
            "Ωμέγα",
            "Жизнь",
            "Ա",
            "Ⴀა",
            "ᏣᎳᎩ",
            "ꮳꮃꭹ",
            "ß",
            "ẞ",
            "İı",
            "日本",
            "ไทย",
            "हिन्दी",
            "עברית",
            "𐐀𐐨",
            "ǅ",
        ] {
            assert!(text.nfc().all(is_settled), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_folder_names_its_branch(text in "\\PC{1,40}") {
            if let Ok(name) = BranchName::parse(&text) {
                let back = BranchName::of_folder(name.folder()).expect("a folder is a name");
                prop_assert_eq!(&back, &name);
                let again = BranchName::parse(name.as_str()).unwrap();
                prop_assert_eq!(again.as_str(), name.as_str());
                prop_assert!(name.folder().bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=".contains(&b)));
                let upper = BranchName::parse(&name.as_str().to_uppercase());
                prop_assert!(upper.is_err() || upper.unwrap().folder().len() <= MAX_FOLDER_BYTES);
            }
        }
    }
}
