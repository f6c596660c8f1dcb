//! Consent pages that are open: each can be answered once, by the session that it was shown to, for the request that
//! it showed.

use std::{collections::VecDeque, time::Duration};

use lapidary_auth::{AuthorizationRequest, SecretText};
use lapidary_note::ContentHash;

/// How long a page can be answered.
const TICKET_LIFE: Duration = Duration::from_secs(10 * 60);
/// One owner looks at few of them at a time.
const MAX_OPEN_TICKETS: usize = 50;

/// `now` is the time since the start.
#[derive(Default)]
pub(super) struct ConsentTickets(VecDeque<OpenTicket>);

struct OpenTicket {
    ticket: ContentHash,
    session: ContentHash,
    request: AuthorizationRequest,
    until: Duration,
}

impl ConsentTickets {
    pub(super) fn issue(
        &mut self,
        ticket: &SecretText,
        session: &SecretText,
        request: AuthorizationRequest,
        now: Duration,
    ) {
        self.0.retain(|ticket| now < ticket.until);
        if self.0.len() >= MAX_OPEN_TICKETS {
            // The oldest page is given up; its form says that it is no longer valid.
            self.0.pop_front();
        }
        let (ticket, session) = (ticket.digest(), session.digest());
        self.0.push_back(OpenTicket { ticket, session, request, until: now + TICKET_LIFE });
    }

    /// The request that a page showed, if this session may answer it and has not done so yet.
    pub(super) fn take(&mut self, ticket: &str, session: &SecretText, now: Duration) -> Option<AuthorizationRequest> {
        let (ticket, session) = (ContentHash::of(ticket.as_bytes()), session.digest());
        // Both have to fit, so a ticket that leaks is useless in another browser.
        let at = self.0.iter().position(|known| known.ticket == ticket && known.session == session)?;
        // Removed even if it has expired: no ticket is looked at twice.
        self.0.remove(at).filter(|known| now < known.until).map(|known| known.request)
    }
}
