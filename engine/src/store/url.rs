//! Reads the address of a graph: which kind of place it is, and where in it.

use std::path::PathBuf;

use object_store::path::Path;
use url::Url;

use super::error::StoreError;

/// The schemes that [`parse`] accepts, for people.
pub(crate) const KNOWN_SCHEMES: &str = "memory://NAME, file:///FOLDER, s3://BUCKET/PREFIX";

/// Where a graph lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// `memory://NAME[/PREFIX]`
    Memory { name: String, prefix: Path },
    /// A path, relative or absolute, or `file://`.
    Local { folder: PathBuf },
    /// `s3://BUCKET[/PREFIX]`
    S3 { bucket: String, prefix: Path },
}

/// Reads `uri`; whatever bears no scheme is the path of a folder.
pub(crate) fn parse(uri: &str) -> Result<Place, StoreError> {
    if uri.is_empty() {
        return Err(invalid(uri, "it is empty"));
    }
    let Some((scheme, rest)) = split_scheme(uri) else {
        return Ok(Place::Local { folder: PathBuf::from(uri) });
    };
    match scheme.to_ascii_lowercase().as_str() {
        "memory" => {
            let (name, prefix) = split_prefix(uri, rest)?;
            if name.is_empty() {
                return Err(invalid(uri, "an in-memory store needs a name: memory://NAME"));
            }
            Ok(Place::Memory { name: name.to_owned(), prefix })
        }
        "s3" | "s3a" => {
            let (bucket, prefix) = split_prefix(uri, rest)?;
            let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
            if bucket.is_empty() || !bucket.chars().all(usual) {
                return Err(invalid(uri, "expected s3://BUCKET/PREFIX; the endpoint goes to AWS_ENDPOINT_URL"));
            }
            Ok(Place::S3 { bucket: bucket.to_owned(), prefix })
        }
        "file" => {
            let url = Url::parse(uri).map_err(|e| invalid(uri, &e.to_string()))?;
            if url.query().is_some() || url.fragment().is_some() {
                return Err(invalid(uri, "write `?` and `#` in a file URL as %3F and %23"));
            }
            let folder = url.to_file_path().map_err(|()| invalid(uri, "a file URL has no host: file:///FOLDER"))?;
            Ok(Place::Local { folder })
        }
        _ => Err(StoreError::UnknownScheme { uri: uri.to_owned() }),
    }
}

/// The scheme and what follows `://`; `None` for a path. `file:/folder` counts as well.
fn split_scheme(uri: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = uri.split_once(':')?;
    let well_formed = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    match rest.strip_prefix("//") {
        Some(rest) if well_formed => Some((scheme, rest)),
        None if scheme.eq_ignore_ascii_case("file") && rest.starts_with('/') => Some((scheme, rest)),
        _ => None,
    }
}

/// Splits `NAME/PREFIX`. The prefix is taken as it is written, since keys of object stores know no escapes.
fn split_prefix<'a>(uri: &str, rest: &'a str) -> Result<(&'a str, Path), StoreError> {
    let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if prefix.starts_with('/') {
        return Err(invalid(uri, "a prefix has no empty parts"));
    }
    let prefix = Path::parse(prefix).map_err(|e| invalid(uri, &e.to_string()))?;
    Ok((name, prefix))
}

fn invalid(uri: &str, reason: &str) -> StoreError {
    StoreError::InvalidUri { uri: uri.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(folder: &str) -> Place {
        Place::Local { folder: PathBuf::from(folder) }
    }

    #[test]
    fn the_three_kinds_of_places_are_told_apart() {
        let s3 = |bucket: &str, prefix: &str| Place::S3 { bucket: bucket.into(), prefix: Path::parse(prefix).unwrap() };
        let memory =
            |name: &str, prefix: &str| Place::Memory { name: name.into(), prefix: Path::parse(prefix).unwrap() };
        for (uri, expected) in [
            ("graph", local("graph")),
            ("./a b/c", local("./a b/c")),
            ("/abs/x:y", local("/abs/x:y")),
            ("file:///abs/a%20b", local("/abs/a b")),
            ("file:/abs", local("/abs")),
            ("memory://one", memory("one", "")),
            ("memory://One/deep/er/", memory("One", "deep/er")),
            ("s3://bucket", s3("bucket", "")),
            ("s3://bucket/a/b%20c", s3("bucket", "a/b%20c")),
            ("S3://bucket/", s3("bucket", "")),
        ] {
            assert_eq!(parse(uri).unwrap(), expected, "{uri}");
        }
    }

    #[test]
    fn unknown_schemes_and_unusable_addresses_are_refused() {
        for uri in ["gs://bucket/x", "http://localhost/x", "azure://x"] {
            assert!(matches!(parse(uri), Err(StoreError::UnknownScheme { .. })), "{uri}");
        }
        for uri in [
            "",
            "memory://",
            "s3://",
            "s3://localhost:9000/b",
            "s3://b//c",
            "s3://b/../c",
            "file://host/x",
            "file:///x?y",
        ] {
            assert!(matches!(parse(uri), Err(StoreError::InvalidUri { .. })), "{uri}");
        }
    }
}
