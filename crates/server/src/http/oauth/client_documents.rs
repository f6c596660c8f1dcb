//! Documents of clients, fetched for an owner who has signed in and kept for a while.

use std::{collections::HashMap, sync::Arc, time::Duration};

use lapidary_auth::{ClientDocumentUrl, OAuthClient};

use super::AuthorizationServer;

const DOCUMENT_BYTES: u64 = 16 * 1024;
/// Whatever a document says of itself, it is kept at least and at most for so long.
const KEPT_RANGE: [Duration; 2] = [Duration::from_secs(5 * 60), Duration::from_secs(24 * 60 * 60)];
/// How long a failure counts.
const FAILURE_KEPT: Duration = Duration::from_secs(60);
const MAX_DOCUMENTS: usize = 200;

/// `now` is the time since the start.
#[derive(Default)]
pub(super) struct KeptDocuments(HashMap<String, KeptDocument>);

/// A client, or why its document cannot be used.
type DocumentResult = Result<OAuthClient, String>;

struct KeptDocument {
    client: DocumentResult,
    until: Duration,
}

impl KeptDocuments {
    fn find(&self, url: &ClientDocumentUrl, now: Duration) -> Option<DocumentResult> {
        self.0.get(url.as_str()).filter(|kept| now < kept.until).map(|kept| kept.client.clone())
    }

    fn keep(&mut self, url: &ClientDocumentUrl, client: DocumentResult, life: Duration, now: Duration) {
        if self.0.len() >= MAX_DOCUMENTS {
            self.0.retain(|_, document| now < document.until);
        }
        // If all that are kept are still valid, a new one is simply fetched again next time.
        if self.0.len() < MAX_DOCUMENTS {
            self.0.insert(url.as_str().to_owned(), KeptDocument { client, until: now + life });
        }
    }
}

impl AuthorizationServer {
    /// The client that is described at this address, or why it cannot be known.
    pub(super) async fn described(&self, url: &ClientDocumentUrl) -> DocumentResult {
        // The lock is not held while the document is fetched.
        let kept = self.memory.lock().documents.find(url, self.started.elapsed());
        let found = match kept {
            Some(kept) => kept,
            None => self.fetched(url).await,
        };
        // Well-known clients work even if their document cannot be fetched.
        found.or_else(|reason| url.built_in().ok_or(reason))
    }

    async fn fetched(&self, url: &ClientDocumentUrl) -> DocumentResult {
        // Counted for all together: only the owner causes these, so an address says nothing.
        if self.memory.lock().rates.document(self.started.elapsed()).is_err() {
            return Err("too many documents were fetched in the last minute; try again soon".to_owned());
        }
        let (fetch, address) = (Arc::clone(&self.fetch), url.clone());
        let fetched = tokio::task::spawn_blocking(move || {
            let fetched = fetch.get(address.as_str(), DOCUMENT_BYTES).map_err(|error| error.to_string())?;
            let client = address.read(&fetched.bytes).map_err(|refusal| refusal.to_string())?;
            Ok((client, fetched.max_age.unwrap_or_default().clamp(KEPT_RANGE[0], KEPT_RANGE[1])))
        });
        let fetched: Result<_, String> = fetched.await.unwrap_or_else(|_| Err("it could not be fetched".to_owned()));
        let (client, life) = match fetched {
            Ok((client, life)) => (Ok(client), life),
            Err(reason) => {
                tracing::debug!(host = url.host(), "the document of a client cannot be used: {reason}");
                (Err(reason), FAILURE_KEPT)
            }
        };
        // Failures are kept too, so that reloading the page does not repeat a slow request.
        self.memory.lock().documents.keep(url, client.clone(), life, self.started.elapsed());
        client
    }
}
