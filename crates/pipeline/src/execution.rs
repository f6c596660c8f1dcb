//! The state of one call on its way through the stages.

use std::{cell::OnceCell, rc::Rc, sync::Arc, time::SystemTime};

use lapidary_note::ContentHash;
use lapidary_recipe::RecipeName;
use lapidary_tools::{
    AskedAddresses, AskedTools, Cancel, CatalogueEntry, OfferedTools, OpenedVaults, OutsideAction, PlannedChange,
    ProfileView, ReadOperation, ReadPayload, Reason, ReasonKind, RenderedReply, ToolSpec, VaultChoice, WalkCost,
    WireFamily, bug,
    quote::{quoted, quoted_path},
    render_refusal,
};
use lapidary_vault::{ChangeSet, ElapsedTime, LateSave, Receipt, Scope, Turn, VaultPath, View};
use serde_json::{Map, Value};

use crate::{
    CallProgress, ChangePreview, Executor, ExecutorSetup, Invocation, Operation, Outcome, OwnerReview, Principal,
    Question, Refusal, RuleDecision, ServedVault,
    call_bounds::CallBounds,
    confirmation::VerifiedToken,
    digest::digest,
    linked_places::LinkedPlaces,
    recipe_steps::{RanSteps, as_run},
    repetition::{CallFingerprint, FilesRead},
    shared_memory::MemoryAccount,
};

/// The argument with which a caller presents the handle of a pending request. It belongs to the executor.
const HANDLE: &str = "approval";

/// A call on its way through the stages: what is known so far.
pub(crate) struct Execution<'a> {
    pub(crate) executor: &'a Executor,
    pub(crate) invocation: &'a Invocation,
    pub(crate) cancel: &'a Cancel,
    /// What it holds in memory.
    pub(crate) account: Arc<MemoryAccount>,
    pub(crate) started: ElapsedTime,
    pub(crate) time: SystemTime,
    /// The operation by name: as sent, and as declared once it is found.
    pub(crate) operation_name: String,
    /// What led to it: a tool that relays, or the approvals.
    pub(crate) via: Option<&'static str>,
    pub(crate) found: Option<FoundOperation<'a>>,
    /// Identifies a caller that nothing else does.
    pub(crate) handle: Option<String>,
    /// The arguments as they were sent, and their hash.
    pub(crate) given: Map<String, Value>,
    pub(crate) given_hash: ContentHash,
    /// The same after they were checked and repaired.
    pub(crate) arguments: Map<String, Value>,
    /// What the caller says about any change, which is not for the tool.
    pub(crate) bounds: CallBounds,
    /// What was wrong with them; the answer says so.
    pub(crate) repairs: Vec<String>,
    /// The files that they name.
    pub(crate) files: Vec<String>,
    /// Whether they are valid.
    pub(crate) is_checked: bool,
    /// The wire form of the answer: that of the tool that really runs.
    pub(crate) family: WireFamily,
    /// The vault that it concerns.
    pub(crate) vault: Option<&'a ServedVault>,
    /// For an operation other than a tool.
    pub(crate) vault_choice: Option<VaultChoice>,
    /// The decision of the rules for the tool that led to this one.
    pub(crate) at_least: RuleDecision,
    /// This change has already been approved.
    pub(crate) approved: Option<ContentHash>,
    /// The call itself was approved before it was planned, by its arguments, and may ask others.
    pub(crate) is_let_out: bool,
    /// The answer that came with the call was about that, and not about its change.
    pub(crate) has_used_answer: bool,
    pub(crate) scope: Option<Arc<Scope>>,
    pub(crate) view: Option<View>,
    pub(crate) opened: Option<OpenedVaults>,
    pub(crate) plan: Option<ChangePlan<'a>>,
    /// The decision of scope and rules for the plan.
    pub(crate) decision: RuleDecision,
    pub(crate) attempts: usize,
    /// Held between two plans, so that the second is made in turn.
    pub(crate) turn: Option<Turn<'a>>,
    /// What the answer has to report about other programs.
    pub(crate) late_saves: Vec<LateSave>,
    /// The notice about blocks that lose their ids.
    pub(crate) lost_blocks: Option<String>,
    /// The notice about links that a new file takes over.
    pub(crate) taken_links: Option<String>,
    /// The notice about notes that do not fit their schemas any more.
    pub(crate) shape_notice: Option<String>,
    /// Notes that were written beside the change, as the owner wants.
    pub(crate) kept_up: Vec<VaultPath>,
    pub(crate) walked: Option<WalkCost>,
    /// The inputs of an answer.
    pub(crate) read: FilesRead,
    /// What the steps of a recipe or a script did.
    pub(crate) ran: RanSteps,
    /// What is to be said about an approval of a recipe.
    pub(crate) recipe_notice: Option<String>,
    /// Steps of a batch that failed.
    pub(crate) refused_steps: Vec<(String, ReasonKind)>,
    pub(crate) dry_run: bool,
    /// The note that is open in the app, once it was asked.
    pub(crate) open_note: OnceCell<Option<String>>,
    /// What it asked the web for.
    pub(crate) web_asked: Rc<AskedAddresses>,
    /// Which tools of other servers it asked for.
    pub(crate) servers_asked: Rc<AskedTools>,
    /// What the app or another server was told to do.
    pub(crate) acted: Option<OutsideAction>,
    /// What was changed, or would have been.
    pub(crate) receipt: Receipt,
}

/// The operation that runs.
#[derive(Clone, Copy)]
pub(crate) enum FoundOperation<'a> {
    Tool(&'a CatalogueEntry),
    Read(&'a dyn ReadOperation),
}

/// A planned change, and its tools.
pub(crate) struct ChangePlan<'a> {
    pub(crate) change: PlannedChange,
    /// Where it takes place, once judged.
    pub(crate) places: LinkedPlaces,
    /// The tools involved; the owner's rules for any of them apply.
    pub(crate) specs: Vec<&'a ToolSpec>,
    /// Issued for the proposal that the plan makes.
    pub(crate) token: Option<String>,
    /// Of the proposal that the plan carries out.
    pub(crate) redeemed: Option<VerifiedToken>,
    /// Hashes of texts that the owner rewrote, with those of what is written instead.
    pub(crate) rewritten: Vec<(ContentHash, ContentHash)>,
    /// What is written beside the change, on top of it. Not part of what was asked for, and so of no digest.
    pub(crate) upkeep: ChangeSet,
}

impl ChangePlan<'_> {
    /// Identifies exactly this change at these places, and what happens outside of the vault after it.
    pub(crate) fn digest(&self, places: &LinkedPlaces) -> ContentHash {
        let changes = places.digest(&self.change.changes);
        self.change.action.as_ref().map_or(changes, |action| action.digest(changes))
    }

    /// Whether it does nothing but answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.change.changes.is_empty() && self.change.action.is_none()
    }
}

/// Where a call continues.
pub(crate) enum StageFlow {
    Next,
    /// With another tool, from the start.
    Restart,
    /// With a new view, because another program changed the plan's input.
    Replan,
    End(CallConclusion),
}

/// How the stages end, other than with a reason.
pub(crate) enum CallConclusion {
    Answer(ReadPayload),
    Ask(Question),
    Preview(Box<ChangePreview>),
    UnknownTool { nearest: Option<&'static str> },
}

impl StageFlow {
    pub(crate) fn answer(rendered: RenderedReply) -> Self {
        Self::End(CallConclusion::Answer(ReadPayload::Tool(rendered)))
    }
}

impl<'a> Execution<'a> {
    pub(crate) fn new(executor: &'a Executor, invocation: &'a Invocation, cancel: &'a Cancel) -> Self {
        let (name, mut given) = match &invocation.operation {
            // The name goes into the log even if there is no such tool, so its length must be bounded.
            Operation::Tool { name, arguments } => (name.chars().take(100).collect(), arguments.clone()),
            Operation::Read(operation) => (operation.declaration().name.to_owned(), operation.arguments()),
        };
        // It belongs to no tool. Arguments of a resource or a prompt are not sent by callers.
        let handle = match given.get(HANDLE) {
            Some(Value::String(handle)) if matches!(invocation.operation, Operation::Tool { .. }) => {
                let handle = handle.clone();
                given.remove(HANDLE);
                Some(handle)
            }
            _ => None,
        };
        // The name of a recipe stands for the tool that runs it.
        let (name, given) = match as_run(&invocation.principal.profile().catalogue, &name, &given) {
            Some((tool, run)) if matches!(invocation.operation, Operation::Tool { .. }) => (tool.to_owned(), run),
            _ => (name, given),
        };
        let approved = match &invocation.review {
            Some(OwnerReview::Approved { digest, .. }) => Some(*digest),
            Some(OwnerReview::Preview) | None => None,
        };
        let mut execution = Self {
            executor,
            invocation,
            cancel,
            account: MemoryAccount::open(&executor.memory),
            started: ElapsedTime::start(),
            time: executor.setup.clock.now(),
            operation_name: name,
            via: approved.map(|_| "approvals"),
            found: None,
            handle,
            given_hash: digest(&given),
            given,
            arguments: Map::new(),
            bounds: CallBounds::default(),
            repairs: Vec::new(),
            files: Vec::new(),
            is_checked: false,
            // Until the tool is known. Some refusals come before that.
            family: WireFamily::Own,
            vault: None,
            vault_choice: None,
            at_least: RuleDecision::Allow,
            approved,
            is_let_out: false,
            has_used_answer: false,
            scope: None,
            view: None,
            opened: None,
            plan: None,
            decision: RuleDecision::Allow,
            attempts: 0,
            turn: None,
            late_saves: Vec::new(),
            lost_blocks: None,
            taken_links: None,
            shape_notice: None,
            kept_up: Vec::new(),
            walked: None,
            read: FilesRead::default(),
            ran: RanSteps::default(),
            recipe_notice: None,
            refused_steps: Vec::new(),
            dry_run: false,
            open_note: OnceCell::new(),
            web_asked: Rc::default(),
            servers_asked: Rc::default(),
            acted: None,
            receipt: Receipt::default(),
        };
        // Already here, not only in the first stage: a call that waits too long for its lane is refused without any
        // stage.
        if let (Operation::Tool { name, .. }, catalogue) =
            (&invocation.operation, &invocation.principal.profile().catalogue)
            && let Ok(entry) = catalogue.find(name).or_else(|_| catalogue.find(&execution.operation_name))
        {
            execution.family = entry.spec.declaration.family;
        }
        execution
    }

    pub(crate) fn setup(&self) -> &'a ExecutorSetup {
        &self.executor.setup
    }

    pub(crate) fn principal(&self) -> &'a Principal {
        &self.invocation.principal
    }

    pub(crate) fn profile(&self) -> &'a ProfileView {
        self.principal().profile()
    }

    /// The call's fingerprint, to detect repetition.
    pub(crate) fn fingerprint(&self) -> CallFingerprint {
        match self.found {
            Some(FoundOperation::Tool(entry)) if self.is_checked => {
                CallFingerprint::of(&entry.spec, self.vault.map(|served| served.vault.name()), &self.arguments)
            }
            // Arguments that were refused need not fit the schema, so its defaults cannot be applied to them.
            _ => CallFingerprint::raw(&self.operation_name, &self.given),
        }
    }

    /// Whether it is logged. The other operations are requested by the server itself, every second.
    pub(crate) fn is_recorded(&self) -> bool {
        match &self.invocation.operation {
            // The owner's preview is not a call of the caller.
            Operation::Tool { .. } => !self.is_preview(),
            Operation::Read(operation) => operation.declaration().recorded,
        }
    }

    /// Whether the owner only looks at what the call would do.
    pub(crate) fn is_preview(&self) -> bool {
        self.invocation.review == Some(OwnerReview::Preview)
    }

    /// The name of the principal.
    pub(crate) fn name(&self) -> &'a str {
        &self.principal().name
    }

    /// The name of the operation, unless it is unknown.
    pub(crate) fn known_name(&self) -> &str {
        match &self.invocation.operation {
            Operation::Tool { name, .. } => {
                let found = self.profile().catalogue.find(name);
                // The name of a recipe is one of the vault, so the log of the program has that of the tool.
                let found = found.or_else(|_| self.profile().catalogue.find(&self.operation_name));
                found.map_or("unknown", |entry| entry.spec.name())
            }
            Operation::Read(operation) => operation.declaration().name,
        }
    }

    /// The name of what runs, for the owner: that of the recipe, or of the tool.
    pub(crate) fn shown_name(&self) -> &str {
        self.ran.recipe.as_ref().map_or(&self.operation_name, RecipeName::as_str)
    }

    pub(crate) fn found(&self) -> Result<FoundOperation<'a>, Reason> {
        self.found.ok_or_else(|| bug!("a stage ran before the operation was found"))
    }

    pub(crate) fn entry(&self) -> Result<&'a CatalogueEntry, Reason> {
        match self.found()? {
            FoundOperation::Tool(entry) => Ok(entry),
            FoundOperation::Read(_) => Err(bug!("an operation that only looks planned a change")),
        }
    }

    /// The vault that it concerns, or the one in whose log it is recorded if there is none.
    pub(crate) fn concerned_vault(&self) -> &'a ServedVault {
        self.vault.unwrap_or_else(|| self.setup().vaults.first_granted(&self.principal().grant))
    }

    /// Whether the vault was changed, or may have been.
    pub(crate) fn has_changed(&self) -> bool {
        !self.receipt.changed.is_empty() && !self.dry_run
    }

    pub(crate) fn report(&self, progress: CallProgress) {
        self.invocation.progress.iter().for_each(|report| report(progress));
    }

    /// The notices of the answer.
    pub(crate) fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if !self.repairs.is_empty() {
            notices.push(format!("Arguments repaired: {}.", self.repairs.join("; ")));
        }
        notices.extend(self.lost_blocks.clone());
        notices.extend(self.taken_links.clone());
        notices.extend(self.shape_notice.clone());
        notices.extend(self.recipe_notice.clone());
        if !self.kept_up.is_empty() {
            let kept: Vec<String> = self.kept_up.iter().map(|path| quoted_path(path).to_string()).collect();
            notices.push(format!("Kept up: {}.", kept.join(", ")));
        }
        if let Some(OwnerReview::Approved { amendment, .. }) = &self.invocation.review {
            notices.extend(amendment.notice());
        }
        notices.extend(self.late_saves.iter().map(|LateSave { path, checkpoint }| {
            format!(
                "Another program saved {} at the moment in which it was changed here; what it saved is in \
                 checkpoint {} (`checkpoint_read`) and not in the file. Tell the user.",
                quoted_path(path),
                quoted(checkpoint)
            )
        }));
        notices
    }

    /// Drops everything that is only needed to get to the end.
    pub(crate) fn release(&mut self) {
        self.plan = None;
        self.turn = None;
        self.view = None;
        self.opened = None;
    }

    /// The tools the caller has; hints name no others.
    pub(crate) fn offered(&self) -> OfferedTools<'a> {
        let offered = OfferedTools::of(&self.invocation.principal.profile().catalogue);
        match &self.invocation.operation {
            // After a relay, this is the tool that runs.
            Operation::Tool { .. } => offered.called(&self.operation_name),
            Operation::Read(_) => offered,
        }
    }

    /// A refusal in the form of the caller's request.
    pub(crate) fn refusal(&self, reason: Reason) -> Outcome {
        let rendered = match &self.invocation.operation {
            Operation::Tool { .. } => Some(render_refusal(self.family, &reason, self.offered())),
            Operation::Read(_) => None,
        };
        Outcome::Refused(Refusal { reason, rendered })
    }
}
