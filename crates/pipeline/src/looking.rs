//! What clients ask for besides tools: resources, completions, news of a file. It takes the same path as a call, as far
//! as there is one for somebody who only looks: narrow, answer in time, record.

use std::{sync::Arc, time::Instant};

use lapidary_tools::{
    Cancel, Completed, Contents, Context, Form, Group, Interruption, Off, Reason, Resource, ResourceUri, Spent,
    VaultState, bug, catch_panic, complete_path, read_file, read_tags, status,
};
use lapidary_vault::{Sight, View};
use serde_json::{Map, Value, json};

use crate::{
    Caller, Decision, Pipeline, Request, ServedVault,
    audit::{AuditLine, Outcome},
    clock::on_the_wall,
    door::Door,
};

/// A file that a client wants to hear of.
#[derive(Clone, Debug)]
pub struct Followed {
    vault: String,
    sight: Sight,
}

impl Pipeline {
    /// Reads a resource, for as long as the client wants it.
    pub async fn read_resource(
        self: &Arc<Self>,
        uri: &str,
        caller: Caller,
        taken_back: impl Future<Output = ()>,
    ) -> Result<Contents, Reason> {
        let arguments = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let uri = uri.to_owned();
        self.look("resources/read", arguments, caller, taken_back, move |look| {
            let contents = look.read(&uri)?;
            look.line.reply_bytes = match &contents.form {
                Form::Text(text) => text.len(),
                Form::Bytes(bytes) => bytes.len(),
            };
            Ok(contents)
        })
        .await
    }

    /// Completes the path of a file.
    pub async fn complete_path(
        self: &Arc<Self>,
        typed: String,
        vault: Option<String>,
        caller: Caller,
        taken_back: impl Future<Output = ()>,
    ) -> Result<Completed, Reason> {
        let arguments = Map::from_iter([("path".to_owned(), json!(typed)), ("vault".to_owned(), json!(vault))]);
        self.look("completion/complete", arguments, caller, taken_back, move |look| {
            look.may(Group::Vault)?;
            let view = look.view(vault.as_deref())?;
            look.with_context(|context| complete_path(context, &view, &typed))
        })
        .await
    }

    /// Begins to follow a file. It need not be there yet, but it must be one that the caller may read.
    pub async fn follow(
        self: &Arc<Self>,
        uri: &str,
        caller: Caller,
        taken_back: impl Future<Output = ()>,
    ) -> Result<Followed, Reason> {
        let arguments = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let uri = uri.to_owned();
        self.look("resources/subscribe", arguments, caller, taken_back, move |look| {
            let ResourceUri { resource: Resource::File(path), vault } = ResourceUri::parse(&uri)? else {
                return Err(Reason::ResourceUnknown { uri });
            };
            look.line.files = vec![path.to_string()];
            look.may(Group::Read)?;
            let view = look.view(vault.as_deref())?;
            view.may_read(&path).map_err(|denied| Reason::closed(path.clone(), denied))?;
            let mut sight = Sight::new(path);
            view.has_changed(&mut sight);
            Ok(Followed { vault: view.vault().to_owned(), sight })
        })
        .await
    }

    /// Whether a caller would now read something else than at the last look. Not recorded, as nothing is told but that.
    /// A vault that is away or closed has no news.
    pub fn has_news(&self, followed: &mut Followed) -> bool {
        let served = self.setup.vaults.pick(Some(&followed.vault));
        let view = served.and_then(|served| self.view(served));
        view.is_ok_and(|view| view.has_changed(&mut followed.sight))
    }

    /// On a thread where it may wait for the disk, and no longer than a call may take.
    pub(crate) async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        method: &str,
        arguments: Map<String, Value>,
        caller: Caller,
        taken_back: impl Future<Output = ()>,
        work: impl FnOnce(&mut Look<'_>) -> Result<T, Reason> + Send + 'static,
    ) -> Result<T, Reason> {
        let deadline = self.setup.limits.deadline;
        let cancel = Arc::new(Cancel::after(deadline));
        let request = Request { tool: method.to_owned(), arguments, caller, answer: None, progress: None };
        let line = self.line(&request);
        let mut taken_back = std::pin::pin!(taken_back);
        let mut too_late = std::pin::pin!(tokio::time::sleep(deadline));
        let entered = tokio::select! {
            place = self.enter_to_read() => Ok(place),
            () = &mut taken_back => Err(Interruption::TakenBack),
            () = &mut too_late => Err(Interruption::Deadline { allowed: deadline }),
        };
        let _place = match entered {
            Ok(place) => place,
            Err(interruption) => {
                let reason = Reason::Interrupted(interruption);
                self.record(AuditLine { outcome: Outcome::Refused(reason.clone()), ..line }, Instant::now(), 0);
                return Err(reason);
            }
        };
        let (this, stop) = (Arc::clone(self), Arc::clone(&cancel));
        let looking = tokio::task::spawn_blocking(move || this.look_here(&request, &stop, work));
        let interruption = tokio::select! {
            done = looking => return done.unwrap_or_else(|_| Err(bug!("the task of a request ended without an answer"))),
            () = &mut taken_back => Interruption::TakenBack,
            () = &mut too_late => Interruption::Deadline { allowed: deadline },
        };
        cancel.take_back();
        Err(Reason::Interrupted(interruption))
    }

    fn look_here<T>(
        &self,
        request: &Request,
        cancel: &Cancel,
        work: impl FnOnce(&mut Look<'_>) -> Result<T, Reason>,
    ) -> Result<T, Reason> {
        let started = Instant::now();
        let mut look = Look { pipeline: self, cancel, caller: &request.caller, line: self.line(request) };
        let looked = || look.authorize().and_then(|()| work(&mut look));
        // A panic is our bug; it must cost one answer, not the server.
        let done = catch_panic(looked).unwrap_or_else(|bug| Err(Reason::Internal(bug)));
        let Look { mut line, .. } = look;
        if let Err(reason) = &done {
            line.outcome = Outcome::Refused(reason.clone());
        }
        let bytes = line.reply_bytes;
        self.record(line, started, bytes);
        done
    }

    /// A look that nobody asked for.
    pub(crate) fn unrecorded<T>(&self, method: &str, work: impl FnOnce(&mut Look<'_>) -> T) -> T {
        let profile = Arc::clone(&self.setup.profile);
        let caller = Caller { id: String::new(), known_as: String::new(), one_client: false, can_ask: false, profile };
        let request = Request { tool: method.to_owned(), arguments: Map::new(), caller, answer: None, progress: None };
        let cancel = Cancel::after(self.setup.limits.deadline);
        work(&mut Look { pipeline: self, cancel: &cancel, caller: &request.caller, line: self.line(&request) })
    }
}

/// A look on its way, and what the log will say of it.
pub(crate) struct Look<'a> {
    pub(crate) pipeline: &'a Pipeline,
    cancel: &'a Cancel,
    caller: &'a Caller,
    pub(crate) line: AuditLine,
}

impl Look<'_> {
    /// What is no tool needs the right to look all the same.
    fn authorize(&self) -> Result<(), Reason> {
        let profile = &self.caller.profile;
        if profile.has(Group::Read) || profile.has(Group::Vault) {
            return Ok(());
        }
        Err(Reason::ToolOff { tool: self.line.tool.clone(), off: Off::Profile })
    }

    /// Whether the owner lets it see what this group of tools is for. Nobody can be asked here.
    pub(crate) fn may(&self, group: Group) -> Result<(), Reason> {
        // The text of notes is more than what there is.
        if group == Group::Read && !self.caller.profile.has(Group::Read) {
            return Err(Reason::ToolOff { tool: self.line.tool.clone(), off: Off::Profile });
        }
        match self.pipeline.setup.rules.on_looking(group) {
            Decision::Allow => Ok(()),
            Decision::Ask => Err(Reason::NobodyToAsk),
            Decision::Deny => Err(Reason::DeniedByRule),
        }
    }

    fn read(&mut self, uri: &str) -> Result<Contents, Reason> {
        let ResourceUri { resource, vault } = ResourceUri::parse(uri)?;
        let contents = match &resource {
            Resource::Status => return status(&self.states()),
            Resource::Tags => {
                self.may(Group::Vault)?;
                let view = self.view(vault.as_deref())?;
                self.with_context(|context| read_tags(context, &view))?
            }
            Resource::File(path) => {
                self.line.files = vec![path.to_string()];
                self.may(Group::Read)?;
                let view = self.view(vault.as_deref())?;
                self.with_context(|context| read_file(context, &view, path))?
            }
        };
        // What has no text is for people; of that, the size of files is the limit.
        if let Form::Text(text) = &contents.form {
            self.fits(text.len())?;
        }
        Ok(contents)
    }

    pub(crate) fn fits(&self, bytes: usize) -> Result<(), Reason> {
        let (bytes, limit) = (bytes as u64, self.pipeline.setup.limits.max_reply_bytes);
        if bytes > limit { Err(Reason::ReplyTooLarge { bytes, limit }) } else { Ok(()) }
    }

    pub(crate) fn view(&mut self, vault: Option<&str>) -> Result<View, Reason> {
        let served = self.pipeline.setup.vaults.pick(vault)?;
        self.line.vault = Some(served.vault.name().to_owned());
        self.pipeline.view(served)
    }

    pub(crate) fn with_context<T>(&self, work: impl FnOnce(&Context<'_>) -> Result<T, Reason>) -> Result<T, Reason> {
        let setup = &self.pipeline.setup;
        let (gate, spent) = (Door::new(self.pipeline, self.caller, None, false), Spent::default());
        work(&Context {
            cancel: self.cancel,
            catalogue: &self.caller.profile.catalogue,
            vaults: &setup.vaults.names(),
            scan: setup.limits.scan,
            skills: setup.skills.as_ref(),
            now: on_the_wall(setup.clock.now()),
            gate: &gate,
            spent: &spent,
        })
    }

    fn states(&self) -> Vec<VaultState> {
        let state = |served: &ServedVault| VaultState {
            name: served.vault.name().to_owned(),
            problem: self.pipeline.scope(served).err().map(|reason| reason.kind()),
        };
        self.pipeline.setup.vaults.iter().map(state).collect()
    }
}
