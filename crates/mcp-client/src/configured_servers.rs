//! The servers that the owner configured: each is started or connected when it is first needed, and again after it failed, but
//! not at once and not without end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use lapidary_operation::{
    CallResult, FailedCall, KnownServer, OtherServers, ServerCall, ServerFacts, ServerFault, ServerToolStanding,
    ToolOffer,
};
use lapidary_vault::ElapsedTime;
use parking_lot::Mutex;
use serde_json::json;

use crate::{
    address_link::AddressLink,
    program_link::ProgramLink,
    protocol::{CallerPatience, LONGEST_LIST, LOOK, ServerLink, shake_hands},
    server_settings::{ServerPlace, ServerSettings},
    tool_list, tool_reply,
};

/// Slow servers must not take all places of other calls.
const MOST_AT_ONCE: usize = 3;
/// How long a list of tools is believed.
const LIST_KEPT: Duration = Duration::from_secs(5 * 60);
/// How many seconds a server is left alone after this many failures in a row. One is forgiven.
const RESTS: [u64; 6] = [0, 0, 2, 10, 60, 300];
/// How long programs get to end by themselves.
const LAST_MOMENT: Duration = Duration::from_millis(500);

pub struct ConfiguredServers {
    servers: Vec<ServerSlot>,
    running: AtomicUsize,
    is_stopped: AtomicBool,
}

struct ServerSlot {
    settings: ServerSettings,
    state: Mutex<ServerState>,
}

/// What is known of a server at this moment.
#[derive(Default)]
struct ServerState {
    link: Option<Arc<dyn ServerLink>>,
    failures: usize,
    failed: Option<ElapsedTime>,
    offer: Option<KeptOffer>,
    last_words: Vec<String>,
}

struct KeptOffer {
    since: ElapsedTime,
    offer: Arc<ToolOffer>,
}

impl ConfiguredServers {
    /// Starts and asks none.
    pub fn new(servers: Vec<ServerSettings>) -> Self {
        let slot = |settings| ServerSlot { settings, state: Mutex::default() };
        Self {
            servers: servers.into_iter().map(slot).collect(),
            running: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
        }
    }

    /// The last lines that a program wrote for people.
    pub fn last_words(&self, server: &str) -> Vec<String> {
        let Some(slot) = self.servers.iter().find(|slot| slot.settings.name == server) else { return Vec::new() };
        let state = slot.state.lock();
        let living = state.link.as_ref().map(|link| link.last_words()).unwrap_or_default();
        if living.is_empty() { state.last_words.clone() } else { living }
    }

    fn slot(&self, server: &str) -> Result<&ServerSlot, ServerFault> {
        // Otherwise a late call would start a program that no one ends.
        if self.is_stopped.load(Ordering::SeqCst) {
            return Err(ServerFault::Ended);
        }
        let known = || self.servers.iter().map(|slot| slot.settings.name.clone()).collect();
        self.servers
            .iter()
            .find(|slot| slot.settings.name == server)
            .ok_or_else(|| ServerFault::Unknown { known: known() })
    }
}

/// One of the few calls that are made at a time.
struct CallPlace<'r>(&'r AtomicUsize);

impl<'r> CallPlace<'r> {
    fn take(running: &'r AtomicUsize) -> Option<Self> {
        let more = |running: usize| (running < MOST_AT_ONCE).then_some(running + 1);
        running.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Self(running))
    }
}

impl Drop for CallPlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl ServerSlot {
    /// The state, once the caller that starts the server is done.
    fn locked(&self, patience: &CallerPatience<'_>) -> Result<parking_lot::MutexGuard<'_, ServerState>, ServerFault> {
        loop {
            let look = patience.next_look()?;
            if let Some(state) = self.state.try_lock_for(look) {
                return Ok(state);
            }
        }
    }

    /// A connection that works, as far as is known.
    fn connected(
        &self,
        state: &mut ServerState,
        patience: &CallerPatience<'_>,
    ) -> Result<Arc<dyn ServerLink>, ServerFault> {
        if let Some(link) = &state.link {
            match link.ended() {
                None => return Ok(Arc::clone(link)),
                Some(_) => state.fail(),
            }
        }
        // Longer after each failure, so that a broken program is not started with every call.
        let rest = Duration::from_secs(RESTS[state.failures.min(RESTS.len() - 1)]);
        let left = state.failed.map_or(Duration::ZERO, |failed| rest.saturating_sub(failed.elapsed()));
        if !left.is_zero() {
            return Err(ServerFault::Resting { seconds: left.as_secs() + 1 });
        }
        let began = self.connect().and_then(|link| {
            let shaken = shake_hands(&*link, patience);
            // Its words say more to the owner than the fault.
            state.last_words = link.last_words();
            shaken.map(|()| link)
        });
        match began {
            Ok(link) => {
                tracing::info!("the server `{}` is connected", self.settings.name);
                state.link = Some(Arc::clone(&link));
                Ok(link)
            }
            Err(fault) => {
                tracing::warn!("the server `{}` does not answer: {fault:?}", self.settings.name);
                // No one to blame if the caller went away.
                if fault != ServerFault::TakenBack {
                    state.fail();
                }
                Err(fault)
            }
        }
    }

    fn connect(&self) -> Result<Arc<dyn ServerLink>, ServerFault> {
        let ServerSettings { name, place, max_reply_bytes, .. } = &self.settings;
        // The link does not know what a message is; a reply is measured again by its own limit.
        let longest = (*max_reply_bytes).max(LONGEST_LIST);
        Ok(match place {
            ServerPlace::Program { command, args, variables } => {
                Arc::new(ProgramLink::start(name, command, args, variables, longest)?)
            }
            ServerPlace::Address { url, headers, agent } => Arc::new(AddressLink::new(agent, url, headers, longest)),
        })
    }

    fn offer(&self, patience: &CallerPatience<'_>) -> Result<Arc<ToolOffer>, ServerFault> {
        let mut state = self.locked(patience)?;
        if state.link.as_ref().is_some_and(|link| link.takes_list_change()) {
            // Even if the new list cannot be had now: it is said only once.
            state.offer = None;
        }
        if let Some(kept) = state.offer.as_ref().filter(|kept| kept.since.elapsed() < LIST_KEPT) {
            return Ok(Arc::clone(&kept.offer));
        }
        let link = self.connected(&mut state, patience)?;
        let offer = Arc::new(tool_list::fetch(&*link, &self.settings, patience)?);
        (state.failures, state.failed) = (0, None);
        state.offer = Some(KeptOffer { since: ElapsedTime::start(), offer: Arc::clone(&offer) });
        Ok(offer)
    }
}

impl ServerState {
    fn fail(&mut self) {
        if let Some(link) = self.link.take() {
            self.last_words = link.last_words();
        }
        self.failures += 1;
        self.failed = Some(ElapsedTime::start());
    }
}

impl ServerFacts for ConfiguredServers {
    fn servers(&self) -> Vec<KnownServer> {
        let known = |slot: &ServerSlot| KnownServer {
            name: slot.settings.name.clone(),
            about: slot.settings.about.clone(),
            // Not waited for: a server that is being started has no list yet.
            offer: slot.state.try_lock().and_then(|state| Some(Arc::clone(&state.offer.as_ref()?.offer))),
        };
        self.servers.iter().map(known).collect()
    }

    fn standing(&self, server: &str, tool: &str) -> Option<ServerToolStanding> {
        let slot = self.servers.iter().find(|slot| slot.settings.name == server)?;
        Some(slot.settings.standing(tool))
    }

    fn tools(&self, server: &str, within: Duration) -> Result<Arc<ToolOffer>, ServerFault> {
        let slot = self.slot(server)?;
        let is_wanted = || !self.is_stopped.load(Ordering::SeqCst);
        let within = within.min(slot.settings.timeout);
        slot.offer(&CallerPatience { began: ElapsedTime::start(), within, is_wanted: &is_wanted })
    }
}

impl OtherServers for ConfiguredServers {
    fn call(&self, call: &ServerCall, within: Duration, is_wanted: &dyn Fn() -> bool) -> CallResult {
        let slot = self.slot(&call.server).map_err(FailedCall::unsent)?;
        // Before the server is started: a call that is refused must not start a program.
        let _place = CallPlace::take(&self.running).ok_or(FailedCall::unsent(ServerFault::Busy))?;
        let is_wanted = || is_wanted() && !self.is_stopped.load(Ordering::SeqCst);
        let within = within.min(slot.settings.timeout);
        let patience = CallerPatience { began: ElapsedTime::start(), within, is_wanted: &is_wanted };
        // The state is released again before the call, so that calls of one server run side by side.
        let link = {
            let mut state = slot.locked(&patience).map_err(FailedCall::unsent)?;
            slot.connected(&mut state, &patience).map_err(FailedCall::unsent)?
        };
        let params = json!({ "name": call.tool, "arguments": call.arguments });
        let message = link.request("tools/call", params, &patience)?;
        // It answers, so the next failure is the first again.
        if let Some(mut state) = slot.state.try_lock() {
            (state.failures, state.failed) = (0, None);
        }
        if message.len() > slot.settings.max_reply_bytes {
            let fault = ServerFault::TooMuch { limit: slot.settings.max_reply_bytes };
            return Err(FailedCall { fault, is_sent: true });
        }
        tool_reply::read(&message).map_err(|fault| FailedCall { fault, is_sent: true })
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        // With a limit: a server that is being started holds its state.
        let link = |slot: &ServerSlot| slot.state.try_lock_for(LAST_MOMENT).and_then(|mut state| state.link.take());
        let links: Vec<Arc<dyn ServerLink>> = self.servers.iter().filter_map(link).collect();
        // All are asked first, so that they end at the same time and share the last moment.
        links.iter().for_each(|link| link.close());
        let began = ElapsedTime::start();
        while began.elapsed() < LAST_MOMENT && links.iter().any(|link| link.ended().is_none()) {
            std::thread::sleep(LOOK);
        }
        links.iter().for_each(|link| link.kill());
    }
}

impl Drop for ConfiguredServers {
    fn drop(&mut self) {
        self.stop();
    }
}
