//! Tools called by hand: by a form from their schema, as the owner or as a client would.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Path, Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_auth::FormParameters;
use lapidary_console::{
    ArgumentForm, ConsoleSection, ListedGroup, ListedTool, OutcomeTone, ReplyPart, ShownText, ToolListPage, TriedCall,
    TryPage, TypedArguments,
};
use lapidary_pipeline::{Amendment, Invocation, Outcome, OwnerReview, Principal, Refusal};
use lapidary_tools::{
    CatalogueEntry, ChangeAuthor, ReadPayload, ReasonKind, RenderedReply, ToolGroup, ToolKind, ToolSpec, ToolStanding,
};
use serde_json::{Map, Value, json};

use super::{
    Console, ConsoleState,
    activity::address_of_change,
    changed_files::files,
    client_choice::{self, ChosenCaller},
    no_answer, nothing_here, page, query,
    sessions::OpenSession,
};
use crate::{commands::quoted_word, http::landing_page::first_sentence, tool_standing};

/// Longer parts of a reply are cut on the page.
const MOST_SHOWN: usize = 200_000;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/try", get(list)).route("/console/try/{tool}", get(show).post(call))
}

async fn list(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let filter = query(&request).get("q").unwrap_or_default().to_owned();
    let wanted: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let fits = |entry: &&CatalogueEntry| {
        let spec = &entry.spec;
        let text = format!("{} {} {}", spec.name(), spec.declaration.title, spec.description()).to_lowercase();
        wanted.iter().all(|word| text.contains(word))
    };
    let entries = console.0.executor.grant().profile.catalogue.entries();
    // In the order of the groups, and empty ones are left out, so that a filter shows only what fits.
    let group = |group: ToolGroup| {
        let own = entries.iter().filter(|entry| entry.spec.declaration.group == group).filter(fits);
        ListedGroup { name: group.name(), tools: own.map(listed).collect() }
    };
    let groups = ToolGroup::ALL.into_iter().map(group).filter(|group| !group.tools.is_empty()).collect();
    let frame = console.frame(ConsoleSection::TRY_IT, &session).await;
    page(StatusCode::OK, &ToolListPage { frame, filter, groups })
}

fn listed(entry: &CatalogueEntry) -> ListedTool {
    ListedTool { about: ShownText::line(&plain(&first_sentence(entry.spec.description()))), ..shown_tool(entry) }
}

fn shown_tool(entry: &CatalogueEntry) -> ListedTool {
    let spec = &entry.spec;
    let off = matches!(entry.standing, ToolStanding::Off(_)).then(|| tool_standing::in_words(entry.standing).1);
    ListedTool {
        name: spec.name(),
        title: spec.declaration.title,
        effect: spec.effect.name(),
        about: ShownText::block(&plain(spec.description())),
        off,
    }
}

/// Descriptions are Markdown, of which only code is used.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

async fn show(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    Path(tool): Path<String>,
    request: Request,
) -> Response {
    let parameters = query(&request);
    let callers = console.callers().await;
    let Some(asking) = ToolAsking::new(&callers, parameters.get("caller"), &tool) else { return nothing_here().await };
    // Examples are numbered as the tool lists them.
    let example = parameters.get("example").and_then(|number| number.parse::<usize>().ok());
    let example = example.and_then(|number| asking.entry.tool.examples().into_iter().nth(number));
    let arguments = match example.map(|example| example.input) {
        Some(Value::Object(arguments)) => arguments,
        _ => Map::new(),
    };
    asking.draw(&console, &session, asking.typed(arguments), None, None).await
}

async fn call(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    Path(tool): Path<String>,
    request: Request,
) -> Response {
    let form = match console.form(request, &session).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let callers = console.callers().await;
    let Some(asking) = ToolAsking::new(&callers, form.get("caller"), &tool) else { return nothing_here().await };
    let (typed, arguments) = asking.read(&form);
    let Some(mut arguments) = arguments else { return asking.draw(&console, &session, typed, None, None).await };
    match form.get("do") {
        Some("json") => {
            let typed = TypedArguments::Json { text: format!("{:#}", Value::Object(arguments)), problem: None };
            asking.draw(&console, &session, typed, None, None).await
        }
        Some("form") => {
            let typed = asking.typed(arguments);
            let is_json = matches!(typed, TypedArguments::Json { .. });
            let notice = is_json.then_some("The form has no fields for these arguments, so they stay as they are.");
            asking.draw(&console, &session, typed, notice, None).await
        }
        decision => {
            // The name of the argument differs by family, so the tool says it.
            let dry_run = asking.spec().dry_run.filter(|_| decision == Some("dry"));
            arguments.extend(dry_run.map(|argument| (argument.to_owned(), Value::Bool(true))));
            match asking.tried(&console, arguments).await {
                Some(tried) => asking.draw(&console, &session, typed, None, Some(tried)).await,
                None => no_answer(),
            }
        }
    }
}

/// A tool to call, and the caller in whose place.
struct ToolAsking<'c> {
    callers: &'c [ChosenCaller],
    caller: &'c ChosenCaller,
    entry: &'c CatalogueEntry,
}

impl<'c> ToolAsking<'c> {
    fn new(callers: &'c [ChosenCaller], key: Option<&str>, tool: &str) -> Option<Self> {
        let caller = client_choice::chosen(callers, key)?;
        // In the catalogue of the chosen caller: what it has no right to cannot be tried in its place.
        let entry = caller.grant.profile.catalogue.find(tool).ok()?;
        Some(Self { callers, caller, entry })
    }

    fn spec(&self) -> &'c ToolSpec {
        &self.entry.spec
    }

    fn form(&self) -> ArgumentForm {
        let spec = self.spec();
        // Only arguments at the top have fields of their own.
        let paths = spec.declaration.paths.iter().filter_map(|path| path.pointer.strip_prefix('/'));
        // Paths and hashes have one line, whatever the schema says.
        let lines: Vec<&str> = paths.chain(spec.expected_hash).collect();
        ArgumentForm::new(spec.input(), &lines)
    }

    /// Arguments in the fields of the form, or as JSON if it has none for them.
    fn typed(&self, arguments: Map<String, Value>) -> TypedArguments {
        let form = self.form();
        if form.fits(&arguments) {
            TypedArguments::Form(form.filled(&arguments))
        } else {
            TypedArguments::Json { text: format!("{:#}", Value::Object(arguments)), problem: None }
        }
    }

    /// What was typed, and the arguments that it means.
    fn read(&self, sent: &FormParameters) -> (TypedArguments, Option<Map<String, Value>>) {
        if sent.get("typed") != Some("json") {
            let mut form = self.form();
            // Arguments are prefixed, so that none can be mistaken for a field of the page.
            let arguments = form.read(|name| sent.get(&format!("argument-{name}")));
            return (TypedArguments::Form(form), arguments);
        }
        let text = sent.get("json").unwrap_or("{}").replace("\r\n", "\n");
        match serde_json::from_str(&text) {
            Ok(arguments) => (TypedArguments::Json { text, problem: None }, Some(arguments)),
            Err(error) => {
                let problem = Some(ShownText::line(&format!("This is not a JSON object: {error}.")));
                (TypedArguments::Json { text, problem }, None)
            }
        }
    }

    async fn draw(
        &self,
        console: &Console,
        session: &OpenSession,
        arguments: TypedArguments,
        notice: Option<&'static str>,
        tried: Option<TriedCall>,
    ) -> Response {
        let spec = self.spec();
        let examples = self.entry.tool.examples();
        let is_wrong = match &arguments {
            TypedArguments::Form(form) => form.fields.iter().any(|field| field.problem.is_some()),
            TypedArguments::Json { problem, .. } => problem.is_some(),
        };
        // The page is drawn in any case; the status is for programs that read it.
        let status = if is_wrong { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        let drawn = TryPage {
            frame: console.frame(ConsoleSection::TRY_IT, session).await,
            tool: shown_tool(self.entry),
            callers: client_choice::choices(self.callers, &self.caller.key),
            arguments,
            examples: examples.iter().map(|example| ShownText::line(&plain(example.says))).collect(),
            has_dry_run: spec.dry_run.is_some(),
            writes: may_write(spec),
            notice,
            tried,
        };
        page(status, &drawn)
    }

    /// Makes the call. In the place of a client nothing is changed: what it would change is shown.
    async fn tried(&self, console: &Console, arguments: Map<String, Value>) -> Option<TriedCall> {
        let (spec, executor) = (self.spec(), &console.0.executor);
        let mut principal = Principal { grant: Arc::clone(&self.caller.grant), ..console.principal() };
        if !self.caller.is_owner() {
            // What `undo` takes back is the client's own, as in a session that it opens now.
            let name = self.caller.name.clone().unwrap_or_else(|| self.caller.key.clone());
            principal.author = ChangeAuthor::connected(name, Principal::CONSOLE, console.0.clock.now());
        }
        let mut invocation = Invocation::tool(spec.name(), arguments.clone(), principal);
        let is_preview = !self.caller.is_owner() && may_write(spec);
        // Only for others: the owner's own call is real, as on the command line.
        invocation.review = is_preview.then_some(OwnerReview::Preview);
        let cancel = executor.cancel(&invocation);
        let outcome = executor.execute(invocation, cancel).await;
        // Links need the vault even if the call did not name it.
        let vault = console.vault(arguments.get("vault").and_then(Value::as_str));
        let sent = json!({ "method": "tools/call", "params": { "name": spec.name(), "arguments": arguments } });
        let words = format!("call {} {}", spec.name(), quoted_word(&Value::Object(arguments).to_string()));
        let tried = TriedCall {
            heading: "Answer",
            tone: OutcomeTone::Plain,
            notice: None,
            link: None,
            request: ShownText::block(&format!("{sent:#}")),
            // The same call for a terminal, with the options that this server was started with.
            command: console.0.owner.hint.command(&words),
            text: None,
            structured: None,
            files: Vec::new(),
            is_split: false,
        };
        Some(match outcome {
            Outcome::Previewed(preview) => TriedCall {
                heading: "It would change this",
                tone: OutcomeTone::Waiting,
                notice: Some(ShownText::line("Nothing was changed: in the place of a client, changes are only shown.")),
                files: files(vault.as_deref().unwrap_or_default(), &preview, &preview, &Amendment::default()),
                ..tried
            },
            Outcome::Answered(ReadPayload::Tool(reply)) => {
                let checkpoint = reply.facts().get("checkpoint").and_then(Value::as_str).map(str::to_owned);
                let link = checkpoint.map(|id| {
                    let address = address_of_change(&id, vault.as_deref().unwrap_or_default());
                    (address, "See the change, or take it back")
                });
                let (heading, tone) = match &link {
                    Some(_) => ("Changed", OutcomeTone::Changed),
                    None => ("Answer", OutcomeTone::Plain),
                };
                with_reply(TriedCall { heading, tone, link, ..tried }, &reply)
            }
            Outcome::Refused(Refusal { reason, rendered }) => {
                let waits = reason.kind() == ReasonKind::ApprovalPending;
                let (heading, tone) = if waits {
                    ("Waits for approval", OutcomeTone::Waiting)
                } else {
                    ("Refused", OutcomeTone::Refused)
                };
                let link = waits.then(|| ("/console/".to_owned(), "Approve or reject it"));
                with_reply(TriedCall { heading, tone, link, ..tried }, &rendered?)
            }
            Outcome::Answered(_) | Outcome::Asked(_) | Outcome::UnknownTool { .. } => return None,
        })
    }
}

/// Whether a call may change something, by itself or by another tool that it runs.
fn may_write(spec: &ToolSpec) -> bool {
    spec.kind.writes() || matches!(spec.kind, ToolKind::Relay | ToolKind::Action | ToolKind::Forward)
}

fn with_reply(tried: TriedCall, reply: &RenderedReply) -> TriedCall {
    let structured = serde_json::from_str::<Value>(reply.structured());
    // What cannot be laid out is shown as it is sent.
    let laid_out = structured.map_or_else(|_| reply.structured().to_owned(), |value| format!("{value:#}"));
    let text = reply.text().join("\n");
    TriedCall {
        text: Some(reply_part(&text, text.len())),
        // The size is that of the wire, not of the laid out text.
        structured: Some(reply_part(&laid_out, reply.structured().len())),
        ..tried
    }
}

fn reply_part(text: &str, bytes: usize) -> ReplyPart {
    let shown = &text[..text.floor_char_boundary(MOST_SHOWN)];
    ReplyPart { shown: ShownText::block(shown), bytes, is_cut: shown.len() < text.len() }
}
