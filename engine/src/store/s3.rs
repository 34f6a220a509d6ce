//! S3-compatible storage: two clients on one connection pool, of which only one repeats requests.
//!
//! The client's own retries are harmful for a put-if-absent: it repeats a PUT whose response was lost and then reports
//! "already exists" about its own object. So the commit point has a client that sends everything once, and the caller
//! reads back what became of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use url::{Host, Url};

use super::backend::{Backend, FirstKeys, StoreKind};
use super::error::{Refusal, StoreError};
use super::options::StoreOptions;

/// Makes the clients. Nothing is sent: the first request tells whether the place exists.
pub(super) fn open(uri: &str, bucket: &str, prefix: &Path, options: &StoreOptions) -> Result<Backend, StoreError> {
    let builder = configure(AmazonS3Builder::from_env().with_bucket_name(bucket), options)?;
    require_credentials(&builder, uri)?;
    let connector = SharedConnector::default();
    let failed = |e: object_store::Error| StoreError::InvalidOption { name: uri.to_owned(), reason: e.to_string() };
    let patient = builder
        .clone()
        .with_retry(retry(options.retries))
        .with_http_connector(connector.clone())
        .build()
        .map_err(failed)?;
    // The same provider, so that temporary credentials are fetched and refreshed once.
    let once = builder
        .with_credentials(patient.credentials().clone())
        .with_retry(retry(0))
        .with_http_connector(connector.reusing_last())
        .build()
        .map_err(failed)?;
    let pages = S3Pages { client: patient.clone(), root: prefix.clone() };
    let rooted = |client: AmazonS3| -> Arc<dyn ObjectStore> {
        if prefix.is_root() { Arc::new(client) } else { Arc::new(PrefixStore::new(client, prefix.clone())) }
    };
    Ok(Backend {
        kind: StoreKind::S3,
        uri: uri.to_owned(),
        objects: rooted(patient),
        commit_point: rooted(once),
        first_keys: Some(Arc::new(pages)),
        folders: None,
    })
}

fn retry(max_retries: usize) -> RetryConfig {
    RetryConfig {
        max_retries,
        retry_timeout: Duration::from_mins(1),
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(50),
            max_backoff: Duration::from_secs(3),
            ..BackoffConfig::default()
        },
    }
}

/// Lays the options over what the environment says.
fn configure(mut builder: AmazonS3Builder, options: &StoreOptions) -> Result<AmazonS3Builder, StoreError> {
    use AmazonS3ConfigKey as Key;
    for (name, value) in &options.client {
        let key: Key = name.parse().map_err(|e: object_store::Error| invalid(name, &e.to_string()))?;
        builder = builder.with_config(key, value);
    }
    for (key, value) in [
        (Key::Endpoint, &options.endpoint),
        (Key::Region, &options.region),
        (Key::AccessKeyId, &options.access_key_id),
        (Key::SecretAccessKey, &options.secret_access_key),
        (Key::Token, &options.session_token),
    ] {
        if let Some(value) = value {
            builder = builder.with_config(key, value);
        }
    }
    if options.endpoint.is_some() {
        // The environment's service-specific endpoint would win over the one that was asked for.
        builder = builder.with_config(Key::S3Endpoint, options.endpoint.clone().unwrap_or_default());
    }
    if let Some(virtual_hosted) = options.virtual_hosted {
        builder = builder.with_virtual_hosted_style_request(virtual_hosted);
    }
    for (key, given) in
        [(ClientConfigKey::Timeout, options.timeout), (ClientConfigKey::ConnectTimeout, options.connect_timeout)]
    {
        let set = builder.get_config_value(&Key::Client(key));
        // The client wants a unit; a bare number in the environment means seconds.
        let bare = set.filter(|text| text.parse::<u64>().is_ok()).map(|text| format!("{text}s"));
        if let Some(value) = given.map(|limit| format!("{}ms", limit.as_millis())).or(bare) {
            builder = builder.with_config(Key::Client(key), value);
        }
    }
    plain_http(builder, options)
}

/// Allows plain HTTP where that was asked for, and to this machine.
fn plain_http(builder: AmazonS3Builder, options: &StoreOptions) -> Result<AmazonS3Builder, StoreError> {
    let endpoint = builder
        .get_config_value(&AmazonS3ConfigKey::S3Endpoint)
        .or_else(|| builder.get_config_value(&AmazonS3ConfigKey::Endpoint));
    let Some(endpoint) = endpoint else { return Ok(builder) };
    let url = Url::parse(&endpoint)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| invalid("AWS_ENDPOINT_URL", &format!("`{endpoint}` is not an http:// or https:// address")))?;
    if url.scheme() == "https" {
        return Ok(builder);
    }
    let loopback = match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let set = builder.get_config_value(&AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
    let allowed =
        options.allow_http.unwrap_or(loopback || set.is_some_and(|set| set.eq_ignore_ascii_case("true") || set == "1"));
    if !allowed {
        return Err(invalid("AWS_ENDPOINT_URL", "plain HTTP beyond this machine needs AWS_ALLOW_HTTP=true"));
    }
    Ok(builder.with_allow_http(true))
}

/// Refuses where the client could only ask the metadata service of a cloud machine and was told not to: otherwise the first
/// request fails late and says nothing of credentials.
fn require_credentials(builder: &AmazonS3Builder, uri: &str) -> Result<(), StoreError> {
    use AmazonS3ConfigKey as Key;
    let metadata_off = std::env::var("AWS_EC2_METADATA_DISABLED").is_ok_and(|v| v.eq_ignore_ascii_case("true"));
    let set = |key: &Key| builder.get_config_value(key).is_some_and(|value| !value.is_empty());
    let unsigned = builder.get_config_value(&Key::SkipSignature).is_some_and(|value| value == "true");
    let known = [
        Key::AccessKeyId,
        Key::SecretAccessKey,
        Key::WebIdentityTokenFile,
        Key::ContainerCredentialsRelativeUri,
        Key::ContainerCredentialsFullUri,
    ];
    if metadata_off && !unsigned && !known.iter().any(set) {
        return Err(StoreError::NoCredentials { place: uri.to_owned() });
    }
    Ok(())
}

fn invalid(name: &str, reason: &str) -> StoreError {
    StoreError::InvalidOption { name: name.to_owned(), reason: reason.to_owned() }
}

/// The paged LIST of a bucket, below the graph's root.
#[derive(Debug)]
struct S3Pages {
    client: AmazonS3,
    root: Path,
}

#[async_trait]
impl FirstKeys for S3Pages {
    async fn first_keys(&self, prefix: &Path, limit: usize) -> object_store::Result<Vec<Path>> {
        let full: Path = self.root.parts().chain(prefix.parts()).collect();
        let prefix = (!full.is_root()).then(|| format!("{full}/"));
        let mut page_token = None;
        loop {
            let options = PaginatedListOptions { max_keys: Some(limit), page_token, ..PaginatedListOptions::default() };
            let page = self.client.list_paginated(prefix.as_deref(), options).await?;
            let keys: Vec<Path> = page
                .result
                .objects
                .into_iter()
                .filter_map(|object| object.location.prefix_match(&self.root).map(Iterator::collect))
                .take(limit)
                .collect();
            page_token = page.page_token;
            // A page may be empty and yet not the last.
            if !keys.is_empty() || page_token.is_none() {
                return Ok(keys);
            }
        }
    }
}

/// Hands out HTTP clients; the last one can be had again, so that two S3 clients share its connections.
#[derive(Debug, Clone, Default)]
struct SharedConnector {
    last: Arc<Mutex<Option<HttpClient>>>,
    reuse: bool,
}

impl SharedConnector {
    /// A connector that answers with the client handed out last: the builder asks for the one of S3 after those of
    /// credential services.
    fn reusing_last(&self) -> Self {
        Self { last: self.last.clone(), reuse: true }
    }
}

impl HttpConnector for SharedConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(client) if self.reuse => Ok(client.clone()),
            _ => {
                let client = HttpClient::new(TellingRefusals(ReqwestConnector::default().connect(options)?));
                *last = Some(client.clone());
                Ok(client)
            }
        }
    }
}

/// Tells refusals that the S3 client would blur: a missing bucket from a missing object (both "404"), and what is refused for
/// good, without an effect, from what failed. A "404" to a GET is taken for an absence only where the store says so: a gateway
/// or a proxy that has lost its way answers "404" as well, and absence is what proves a head.
#[derive(Debug)]
struct TellingRefusals(HttpClient);

#[async_trait]
impl HttpService for TellingRefusals {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let method = request.method().clone();
        let response = self.0.execute(request).await?;
        let status = response.status().as_u16();
        if !matches!(status, 300..=303 | 305..=399 | 400 | 401 | 403 | 404 | 405 | 411 | 413 | 501) {
            return Ok(response);
        }
        let (parts, body) = response.into_parts();
        let body = body.bytes().await?;
        match refusal(method.as_str(), status, error_code(&body)) {
            None => Ok(HttpResponse::from_parts(parts, body.into())),
            // Of this kind a read is sent again.
            Some(doubt @ Refusal::NoProof { .. }) => Err(HttpError::new(HttpErrorKind::Interrupted, doubt)),
            // Of this kind nothing is.
            Some(refusal) => Err(HttpError::new(HttpErrorKind::Decode, refusal)),
        }
    }
}

/// What a status and the code beside it refuse, if they do.
fn refusal(method: &str, status: u16, code: Option<&str>) -> Option<Refusal> {
    let told = || code.map_or_else(|| format!("status {status}"), |code| format!("{code} (status {status})"));
    Some(match (status, code) {
        (404, Some("NoSuchBucket")) => Refusal::NoSuchBucket,
        (404, code) if method == "GET" && code != Some("NoSuchKey") => Refusal::NoProof { code: told() },
        // A 404 that proves absence, or a request that did not come through whole, which another may.
        (404, _) | (400, Some("RequestTimeout" | "IncompleteBody" | "BadDigest" | "XAmzContentSHA256Mismatch")) => {
            return None;
        }
        (403, Some("RequestTimeTooSkewed")) => Refusal::ClockSkew { code: told() },
        (501, _) => Refusal::Unsupported { code: told() },
        _ => Refusal::Denied { code: told() },
    })
}

/// The `Code` element of an S3 error document.
fn error_code(body: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, rest) = text.split_once("<Code>")?;
    rest.split_once("</Code>").map(|(code, _)| code.trim())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use object_store::{ObjectStoreExt, PutMode, PutOptions};

    use super::*;
    use crate::store::error::Cause;
    use crate::store::request::RequestKind;

    fn options(pairs: &[(&str, &str)]) -> StoreOptions {
        let mut options = StoreOptions::default();
        for (name, value) in [("access_key_id", "k"), ("secret_access_key", "s")].iter().chain(pairs) {
            options.set(name, value).unwrap();
        }
        options
    }

    fn configured(pairs: &[(&str, &str)]) -> Result<AmazonS3Builder, StoreError> {
        configure(AmazonS3Builder::new().with_bucket_name("b"), &options(pairs))
    }

    #[test]
    fn plain_http_goes_to_this_machine_alone_unless_allowed() {
        let allow = AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp);
        for endpoint in ["http://localhost:9000", "http://127.0.0.1:1", "http://[::1]:1"] {
            assert_eq!(
                configured(&[("endpoint", endpoint)]).unwrap().get_config_value(&allow).unwrap(),
                "true",
                "{endpoint}"
            );
        }
        for endpoint in ["http://10.0.0.1:9000", "http://minio", "localhost:9000", "ftp://x"] {
            assert!(
                matches!(configured(&[("endpoint", endpoint)]), Err(StoreError::InvalidOption { .. })),
                "{endpoint}"
            );
        }
        assert!(configured(&[("endpoint", "http://minio"), ("allow_http", "true")]).is_ok());
        assert!(configured(&[("endpoint", "http://localhost"), ("allow_http", "false")]).is_err());
        assert!(configured(&[("endpoint", "https://s3.example.com")]).is_ok());
    }

    #[test]
    fn timeouts_are_seconds_with_or_without_a_unit() {
        let timeout = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
        let environment = AmazonS3Builder::new().with_bucket_name("b").with_config(timeout, "7");
        assert_eq!(configure(environment, &options(&[])).unwrap().get_config_value(&timeout).unwrap(), "7s");
        assert_eq!(configured(&[("timeout", "1.5")]).unwrap().get_config_value(&timeout).unwrap(), "1500ms");
        assert_eq!(configured(&[]).unwrap().get_config_value(&timeout).unwrap(), "30s");
    }

    #[test]
    fn unknown_client_settings_are_refused() {
        assert!(matches!(configured(&[("colour", "blue")]), Err(StoreError::InvalidOption { .. })));
    }

    #[test]
    fn the_code_of_an_error_document_is_found() {
        assert_eq!(error_code(b"<?xml?><Error><Code>NoSuchBucket</Code><Message/></Error>"), Some("NoSuchBucket"));
        assert_eq!(error_code(b"<Error><Code>NoSuchKey</Code></Error>"), Some("NoSuchKey"));
        assert_eq!(error_code(b""), None);
    }

    #[test]
    fn both_clients_are_made_without_a_request() {
        let options = options(&[("endpoint", "http://127.0.0.1:1"), ("region", "us-east-1")]);
        let backend = open("s3://b/p", "b", &Path::from("p"), &options).unwrap();
        assert_eq!(backend.kind, StoreKind::S3);
        assert!(backend.first_keys.is_some());
    }

    /// A server that gives one answer to everything and counts how often it was asked.
    #[derive(Debug)]
    struct Canned {
        status: u16,
        body: &'static str,
        asked: Arc<AtomicUsize>,
    }

    #[async_trait]
    impl HttpService for Canned {
        async fn call(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let mut response = HttpResponse::new(self.body.to_owned().into());
            *response.status_mut() = self.status.try_into().unwrap();
            Ok(response)
        }
    }

    /// A client of a server that answers everything by `status` and an error document with `code`.
    fn answered(status: u16, code: &'static str, retries: usize) -> (AmazonS3, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let body = if code.is_empty() {
            ""
        } else {
            Box::leak(format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>").into_boxed_str())
        };
        let canned = HttpClient::new(Canned { status, body, asked: asked.clone() });
        let connector = SharedConnector::default();
        *connector.last.lock().unwrap() = Some(HttpClient::new(TellingRefusals(canned)));
        let client = configured(&[("endpoint", "http://127.0.0.1:1"), ("region", "us-east-1")])
            .unwrap()
            .with_retry(RetryConfig {
                max_retries: retries,
                backoff: BackoffConfig {
                    init_backoff: Duration::from_millis(1),
                    max_backoff: Duration::from_millis(1),
                    base: 1.1,
                },
                ..retry(retries)
            })
            .with_http_connector(connector.reusing_last())
            .build()
            .unwrap();
        (client, asked)
    }

    async fn put_refused(status: u16, code: &'static str) -> (Cause, StoreError) {
        let (client, asked) = answered(status, code, 3);
        let options = PutOptions::from(PutMode::Create);
        let error = client.put_opts(&Path::from("k"), "x".into(), options).await.unwrap_err();
        let cause = Cause::of(&error);
        if matches!(cause, Cause::Denied | Cause::ClockSkew | Cause::Unsupported | Cause::NoBucket) {
            assert_eq!(asked.load(Ordering::SeqCst), 1, "{status} {code} is not asked again");
        }
        (cause, StoreError::of("s3://b", RequestKind::Create, &Path::from("k"), error))
    }

    fn whole(error: &StoreError) -> String {
        let mut text = error.to_string();
        let mut link = std::error::Error::source(error);
        while let Some(cause) = link {
            text = format!("{text}: {cause}");
            link = cause.source();
        }
        text
    }

    #[tokio::test]
    async fn what_is_refused_for_good_had_no_effect_and_names_the_code() {
        for (status, code, cause) in [
            (400, "ExpiredToken", Cause::Denied),
            (400, "AuthorizationHeaderMalformed", Cause::Denied),
            (400, "InvalidArgument", Cause::Denied),
            (401, "Unauthorized", Cause::Denied),
            (403, "SignatureDoesNotMatch", Cause::Denied),
            (403, "RequestTimeTooSkewed", Cause::ClockSkew),
            (405, "MethodNotAllowed", Cause::Denied),
            (411, "MissingContentLength", Cause::Denied),
            (413, "EntityTooLarge", Cause::Denied),
            (301, "PermanentRedirect", Cause::Denied),
            (307, "TemporaryRedirect", Cause::Denied),
            (501, "NotImplemented", Cause::Unsupported),
            (404, "NoSuchBucket", Cause::NoBucket),
        ] {
            let (found, error) = put_refused(status, code).await;
            assert_eq!(found, cause, "{status} {code}");
            assert!(whole(&error).contains(code), "{}", whole(&error));
        }
        let (found, error) = put_refused(301, "").await;
        assert_eq!(found, Cause::Denied, "a redirect that leads nowhere");
        assert!(whole(&error).contains("301"), "{}", whole(&error));
        assert!(matches!(put_refused(501, "NotImplemented").await.1, StoreError::NoConditionalPut { .. }));
    }

    #[tokio::test]
    async fn what_may_have_had_an_effect_or_may_do_better_is_not_called_a_refusal() {
        for (status, code) in [
            (408, "RequestTimeout"),
            (400, "RequestTimeout"),
            (400, "IncompleteBody"),
            (429, "SlowDown"),
            (500, "InternalError"),
            (503, "SlowDown"),
            (504, ""),
        ] {
            assert_eq!(put_refused(status, code).await.0, Cause::Other, "{status} {code}");
        }
        for (status, code) in [(409, "ConditionalRequestConflict"), (412, "PreconditionFailed")] {
            assert_eq!(put_refused(status, code).await.0, Cause::Exists, "{status} {code}");
        }
    }

    #[tokio::test]
    async fn only_the_stores_own_word_is_proof_of_an_absence() {
        let key = Path::from("k");
        let (client, asked) = answered(404, "NoSuchKey", 3);
        assert!(matches!(client.get(&key).await, Err(object_store::Error::NotFound { .. })));
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        for code in ["", "NoSuchWebsiteConfiguration", "NotFound"] {
            let (client, asked) = answered(404, code, 3);
            let error = client.get(&key).await.unwrap_err();
            assert!(!matches!(error, object_store::Error::NotFound { .. }), "{code}: {error}");
            assert_eq!(Cause::of(&error), Cause::Other);
            assert_eq!(asked.load(Ordering::SeqCst), 4, "a read is sent again");
            let listed = client.list_with_delimiter(None).await.unwrap_err();
            assert!(!matches!(listed, object_store::Error::NotFound { .. }), "{code}: {listed}");
        }
        let (client, _) = answered(404, "", 0);
        assert!(matches!(client.head(&key).await, Err(object_store::Error::NotFound { .. })), "a HEAD has no body");
        let (client, _) = answered(404, "NoSuchBucket", 3);
        assert_eq!(Cause::of(&client.get(&key).await.unwrap_err()), Cause::NoBucket);
    }
}
