//! How a store is to be reached, beyond its URI and the environment.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::error::StoreError;
use crate::clock::Clock;

/// Settings of a store. What is `None` comes from the `AWS_*` environment, else from the client's defaults.
#[derive(Clone)]
pub struct StoreOptions {
    /// Makes a local folder that does not exist; otherwise it is an error.
    pub create_folder: bool,
    /// The S3 endpoint, such as `http://localhost:9000`.
    pub endpoint: Option<String>,
    /// The S3 region.
    pub region: Option<String>,
    /// The S3 access key.
    pub access_key_id: Option<String>,
    /// The S3 secret.
    pub secret_access_key: Option<String>,
    /// The token of temporary S3 credentials.
    pub session_token: Option<String>,
    /// Puts the bucket into the host name; by default it goes into the path.
    pub virtual_hosted: Option<bool>,
    /// Allows plain HTTP; by default for endpoints on this machine only.
    pub allow_http: Option<bool>,
    /// Other settings of the S3 client, by the names of their `AWS_*` variables in lower case.
    pub client: BTreeMap<String, String>,
    /// How long one request of the S3 client may take; 30 seconds by default.
    pub timeout: Option<Duration>,
    /// How long connecting may take; 5 seconds by default.
    pub connect_timeout: Option<Duration>,
    /// How often the S3 client repeats a failed read or plain put. The PUT of a commit point is never repeated by it.
    pub retries: usize,
    /// How long the PUT of a commit point may go unanswered before its outcome is read back.
    pub commit_timeout: Duration,
    /// How long, from its first attempt, a commit point is tried again while the store turns it away or its outcome is in doubt.
    /// An attempt that was begun is waited for.
    pub commit_within: Duration,
    /// The same while no connection could be made at all: shorter, as the address may be wrong.
    pub connect_within: Duration,
    /// Bytes of staged files on their way to the store; beyond it a put waits.
    pub staged_bytes: usize,
    /// Bytes of staged files kept in memory after they are durable, when nobody released them.
    pub retained_bytes: usize,
    /// Bytes of small data files kept in memory after they were written or read whole: merges and folds read them again soon. A file of
    /// more than a sixteenth of it is not kept.
    pub reread_bytes: usize,
    /// Where waiting and chance come from.
    pub clock: Clock,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            create_folder: true,
            endpoint: None,
            region: None,
            access_key_id: None,
            secret_access_key: None,
            session_token: None,
            virtual_hosted: None,
            allow_http: None,
            client: BTreeMap::new(),
            timeout: None,
            connect_timeout: None,
            retries: 3,
            commit_timeout: Duration::from_secs(10),
            commit_within: Duration::from_secs(30),
            connect_within: Duration::from_secs(10),
            staged_bytes: 64 << 20,
            retained_bytes: 32 << 20,
            reread_bytes: 8 << 20,
            clock: Clock::system(),
        }
    }
}

impl StoreOptions {
    /// Sets one option by name, as a command line or a settings file spells it: those of this struct (durations in
    /// seconds), or any setting of the S3 client.
    ///
    /// # Errors
    /// [`StoreError::InvalidOption`] when the value does not fit the name. Names of client settings are checked on opening.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        let text = || Some(value.to_owned());
        match name {
            "create_folder" => self.create_folder = boolean(name, value)?,
            "endpoint" => self.endpoint = text(),
            "region" => self.region = text(),
            "access_key_id" => self.access_key_id = text(),
            "secret_access_key" => self.secret_access_key = text(),
            "session_token" => self.session_token = text(),
            "virtual_hosted" => self.virtual_hosted = Some(boolean(name, value)?),
            "allow_http" => self.allow_http = Some(boolean(name, value)?),
            "timeout" => self.timeout = Some(seconds(name, value)?),
            "connect_timeout" => self.connect_timeout = Some(seconds(name, value)?),
            "commit_timeout" => self.commit_timeout = seconds(name, value)?,
            "commit_within" => self.commit_within = seconds(name, value)?,
            "connect_within" => self.connect_within = seconds(name, value)?,
            "retries" => self.retries = number(name, value)?,
            "staged_bytes" => self.staged_bytes = number(name, value)?,
            "retained_bytes" => self.retained_bytes = number(name, value)?,
            "reread_bytes" => self.reread_bytes = number(name, value)?,
            other => {
                self.client.insert(other.to_owned(), value.to_owned());
            }
        }
        Ok(())
    }
}

/// Secrets are told to be set, never what they are.
impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = |secret: &Option<String>| if secret.is_some() { "set" } else { "not set" };
        f.debug_struct("StoreOptions")
            .field("create_folder", &self.create_folder)
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .field("access_key_id", &set(&self.access_key_id))
            .field("secret_access_key", &set(&self.secret_access_key))
            .field("session_token", &set(&self.session_token))
            .field("client", &self.client.keys())
            .field("timeout", &self.timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("commit_timeout", &self.commit_timeout)
            .field("commit_within", &self.commit_within)
            .field("connect_within", &self.connect_within)
            .field("retries", &self.retries)
            .field("staged_bytes", &self.staged_bytes)
            .field("retained_bytes", &self.retained_bytes)
            .field("reread_bytes", &self.reread_bytes)
            .finish_non_exhaustive()
    }
}

fn boolean(name: &str, value: &str) -> Result<bool, StoreError> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(invalid(name, "expected true or false")),
    }
}

fn seconds(name: &str, value: &str) -> Result<Duration, StoreError> {
    value
        .parse::<f64>()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| invalid(name, "expected a number of seconds above 0"))
}

fn number(name: &str, value: &str) -> Result<usize, StoreError> {
    value.parse().map_err(|_| invalid(name, "expected a whole number"))
}

fn invalid(name: &str, reason: &str) -> StoreError {
    StoreError::InvalidOption { name: name.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_set_by_name_and_refuse_what_does_not_fit() {
        let mut options = StoreOptions::default();
        options.set("timeout", "2.5").unwrap();
        options.set("allow_http", "TRUE").unwrap();
        options.set("proxy_url", "http://localhost:1").unwrap();
        assert_eq!(options.timeout, Some(Duration::from_millis(2500)));
        assert_eq!(options.allow_http, Some(true));
        assert_eq!(options.client["proxy_url"], "http://localhost:1");
        for (name, value) in
            [("timeout", "0"), ("timeout", "-1"), ("timeout", "soon"), ("retries", "1.5"), ("allow_http", "maybe")]
        {
            assert!(options.set(name, value).is_err(), "{name}={value}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let mut options = StoreOptions::default();
        options.set("secret_access_key", "hush").unwrap();
        options.set("access_key_id", "hush").unwrap();
        options.set("session_token", "hush").unwrap();
        options.set("encryption_customer_key_base64", "hush").unwrap();
        assert!(!format!("{options:?}").contains("hush"));
    }
}
