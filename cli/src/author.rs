//! Who makes a change.

use std::process::{Command, Stdio};

/// `named` (an argument or the environment), else what Git is told in this folder, else the system user.
pub(crate) fn author(named: Option<&str>) -> String {
    let named = named.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
    named
        .or_else(|| signature(git("user.name"), git("user.email")))
        .or_else(|| ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(variable))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// `Name <email>`, or what there is of it.
fn signature(name: Option<String>, email: Option<String>) -> Option<String> {
    match (name, email) {
        (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
        (Some(only), None) | (None, Some(only)) => Some(only),
        (None, None) => None,
    }
}

/// A setting of Git; `None` where Git or the setting is missing.
fn git(setting: &str) -> Option<String> {
    let answer = Command::new("git")
        .args(["config", "--get", setting])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(answer.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| answer.status.success() && !text.is_empty())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_author_wins() {
        assert_eq!(author(Some(" Ada <ada@example.org> ")), "Ada <ada@example.org>");
    }

    #[test]
    fn an_author_is_never_empty() {
        assert!(!author(None).is_empty());
        assert!(!author(Some(" ")).is_empty());
    }

    #[test]
    fn a_signature_takes_what_there_is() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(signature(text("Ada"), text("ada@example.org")), text("Ada <ada@example.org>"));
        assert_eq!(signature(text("Ada"), None), text("Ada"));
        assert_eq!(signature(None, None), None);
    }
}
