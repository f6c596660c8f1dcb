//! Who calls over MCP.

use std::sync::Arc;

use lapidary_pipeline::{Caller, CallerStanding, Grant, Principal};
use lapidary_tools::ChangeAuthor;
use rmcp::{RoleServer, service::RequestContext};

use super::{Connection, McpServer, asking};
use crate::http::KnownClient;

/// How much of a program's name is kept.
const CLIENT_NAME: usize = 40;
/// Sessions are distinguished by the start of their id; the whole of it would be a key.
const SESSION_START: usize = 8;

impl McpServer {
    /// The principal of a request, over either transport.
    pub(super) fn principal(&self, context: &RequestContext<RoleServer>) -> Principal {
        let identity = identity(&context.extensions);
        let can_be_asked = asking::can_ask(context);
        let grant = self.grant_of(identity);
        if self.shared.connection == Connection::Stdio {
            let name = || Principal::STDIO.to_owned();
            // One process serves one client, and no other has its key.
            let caller = self.shared.executor.process();
            // Its changes belong to the program that started it, which starts another process when it comes back.
            let program = client(context).map_or_else(name, |program| format!("{}:~{program}", Principal::STDIO));
            let author = ChangeAuthor::connected(program, &caller.mark(), self.began);
            let standing = CallerStanding::default();
            return Principal {
                id: name(),
                name: name(),
                grant,
                can_be_asked,
                caller,
                is_single_client: true,
                author,
                standing,
            };
        }
        // Without a session there is only the name of the program, which many may share.
        let session = session(context);
        let caller = session.map_or(Caller::Unknown, Caller::of);
        let session = session.map(|id| id.chars().take(SESSION_START).collect::<String>());
        let is_single_client = session.is_some();
        // A program chooses its name; it must not be able to choose the start of a foreign session id.
        let id = session.or_else(|| client(context).map(|name| format!("~{name}"))).unwrap_or_default();
        let name = identity.map_or_else(|| Principal::HTTP.to_owned(), |client| client.name.clone());
        let author = match (is_single_client, identity) {
            (false, _) => ChangeAuthor::shared(name.clone(), &id),
            (true, Some(_)) => ChangeAuthor::connected(name.clone(), &id, self.began),
            // Without a token the session is all that identifies a client. Its program is named behind it.
            (true, None) => {
                let program = client(context).map_or_else(String::new, |program| format!("~{program}"));
                ChangeAuthor::single(format!("{name}:{id}{program}"))
            }
        };
        let standing = identity.map(|client| client.standing.clone()).unwrap_or_default();
        Principal { id: format!("{name}:{id}"), name, grant, can_be_asked, caller, is_single_client, author, standing }
    }

    /// The grant of the token in a request, or the default one.
    pub(super) fn grant_of(&self, identity: Option<&KnownClient>) -> Arc<Grant> {
        Arc::clone(identity.map_or(self.shared.executor.grant(), |known| &known.grant))
    }
}

/// A client with a token goes by its own name.
pub(super) fn identity(extensions: &rmcp::model::Extensions) -> Option<&KnownClient> {
    extensions.get::<axum::http::request::Parts>()?.extensions.get::<KnownClient>()
}

/// The program, as it calls itself.
fn client(context: &RequestContext<RoleServer>) -> Option<String> {
    context.client_info().map(|client| client.name.chars().take(CLIENT_NAME).collect())
}

fn session(context: &RequestContext<RoleServer>) -> Option<&str> {
    let parts = context.extensions.get::<axum::http::request::Parts>()?;
    parts.headers.get("mcp-session-id")?.to_str().ok()
}
