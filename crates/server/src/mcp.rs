//! Speaks MCP, in both of its eras: turns requests into calls and replies into results.

mod asking;
mod calling;
#[cfg(feature = "conformance")]
mod conformance_fixtures;
mod definition;
mod principal;
mod prompts;
mod resources;
mod skills;
mod subscriptions;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use lapidary_pipeline::{ConsentAnswer, Executor, Grant, Invocation, Operation, Outcome, Question, Refusal};
use lapidary_telemetry::Telemetry;
use lapidary_tools::{
    BlockKind, ChangeAuthor, CompletePrompt, FillPrompt, ListPrompts, OfferedTools, OwnerGuide, ProfileView,
    ReadGuides, ReadPayload, ReadResource, Reason, RenderedReply, ToolStanding, quote::quoted,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceError,
    model::{
        ArgumentInfo, CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, ContentBlock, CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
        GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, Reference, ServerCapabilities, ServerConfig,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Map, Value};
use tokio::sync::watch;

use self::{
    asking::{OpenQuestions, PendingPage},
    principal::identity,
    resources::refusal,
    subscriptions::{SubscriptionCount, Subscriptions},
};
use crate::{
    http::KnownClient,
    instructions::{LOOK_AT_GUIDES, ServerInstructions},
};

/// How long clients may cache the list of tools: it only changes when the server restarts.
const LIST_TTL_MS: u64 = 300_000;

/// One server for any number of connections; clones share everything.
#[derive(Clone)]
pub(crate) struct McpServer {
    shared: Arc<McpShared>,
    /// What the opener of this session may use. A request is judged by its own credentials; this is for the few
    /// questions of the protocol library that come without one.
    session_grant: Arc<Grant>,
    /// Of this session alone.
    subscriptions: Subscriptions,
    /// Closed when the session is gone, with everything started for it.
    alive: Arc<watch::Sender<()>>,
    /// When the session began.
    began: SystemTime,
}

struct McpShared {
    executor: Arc<Executor>,
    instructions: ServerInstructions,
    dotted_names: bool,
    connection: Connection,
    followed: SubscriptionCount,
    questions: OpenQuestions,
    telemetry: Telemetry,
    /// The origin of the console, where the owner answers what clients cannot ask.
    console: Option<String>,
}

/// What is known about callers in advance.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Connection {
    Stdio,
    Http,
}

impl McpServer {
    pub(crate) fn new(
        executor: Arc<Executor>,
        dotted_names: bool,
        connection: Connection,
        telemetry: Telemetry,
        console: Option<String>,
    ) -> Self {
        // Made once: most sessions have the rights of the configuration, and those with a token get their own in
        // `info_for`.
        let instructions = ServerInstructions::new(&executor, executor.grant());
        let session_grant = Arc::clone(executor.grant());
        let followed = SubscriptionCount::default();
        let subscriptions = Subscriptions::new(Arc::clone(&followed));
        let began = executor.now();
        let questions = OpenQuestions::default();
        let shared =
            McpShared { executor, instructions, dotted_names, connection, followed, questions, telemetry, console };
        Self { shared: Arc::new(shared), session_grant, subscriptions, alive: Arc::new(watch::Sender::new(())), began }
    }

    /// The same server for another session, opened by the sender of the current request.
    pub(crate) fn for_session(&self, client: Option<&KnownClient>) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            session_grant: self.grant_of(client),
            subscriptions: Subscriptions::new(Arc::clone(&self.shared.followed)),
            alive: Arc::new(watch::Sender::new(())),
            began: self.shared.executor.now(),
        }
    }

    /// How many files all clients follow.
    #[cfg(test)]
    pub(crate) fn followed_files(&self) -> usize {
        self.shared.followed.load(std::sync::atomic::Ordering::Acquire)
    }

    /// What this caller may use.
    fn profile(&self, context: &RequestContext<RoleServer>) -> Arc<ProfileView> {
        // Looked up per request, not kept in the session: a token may be revoked or limited while the session lives.
        Arc::clone(&self.grant_of(identity(&context.extensions)).profile)
    }

    /// An operation returned the wrong kind of answer.
    fn unexpected(&self, context: &RequestContext<RoleServer>) -> ErrorData {
        let reason = lapidary_tools::bug!("an operation answered with the payload of another");
        prompts::error(&reason, &self.profile(context))
    }

    /// How the server describes itself to this caller.
    async fn info_for(&self, context: &RequestContext<RoleServer>) -> ServerConfig {
        let guides = self.guides(context).await;
        let instructions = match identity(&context.extensions) {
            Some(known) => ServerInstructions::new(&self.shared.executor, &known.grant).with_guides(&guides),
            None => self.shared.instructions.with_guides(&guides),
        };
        self.get_info().with_instructions(instructions)
    }

    /// The owner's guides as they are now; none of those that take too long or are closed to this caller.
    async fn guides(&self, context: &RequestContext<RoleServer>) -> Vec<OwnerGuide> {
        match tokio::time::timeout(LOOK_AT_GUIDES, self.read(ReadGuides, context)).await {
            Ok(Ok(ReadPayload::Guides(guides))) => guides,
            Ok(_) => Vec::new(),
            Err(_) => {
                tracing::warn!("a client was not given the owner's guide: reading it takes too long");
                Vec::new()
            }
        }
    }
}

/// How often a user is asked about one call.
const MOST_QUESTIONS: usize = 2;

/// How often is looked whether a change that waits was answered.
const LOOK_FOR_ANSWER: Duration = Duration::from_millis(300);

impl McpServer {
    /// Leads the user to the page of a change that waits; the call to make again, once it was answered there.
    async fn answered_on(
        &self,
        page: &PendingPage<'_>,
        mut again: Invocation,
        context: &RequestContext<RoleServer>,
    ) -> Option<Invocation> {
        let within = self.shared.executor.limits().answer_within;
        let signature = again.principal.author.signature();
        let (open, caller) = (&self.shared.questions, ChangeAuthor::client_of(&signature));
        if !page.open_now(open, caller, context, within).await {
            return None;
        }
        if let (Operation::Tool { arguments, .. }, Some(handle)) = (&mut again.operation, page.handle) {
            add_handle(arguments, handle);
        }
        let answered = async {
            loop {
                let (executor, id) = (Arc::clone(&self.shared.executor), page.id.to_owned());
                let waits = tokio::task::spawn_blocking(move || {
                    Some(executor.pending().ok()?.iter().any(|pending| pending.id == id))
                });
                match waits.await {
                    Ok(Some(false)) => return Some(again),
                    Ok(Some(true)) => tokio::time::sleep(LOOK_FOR_ANSWER).await,
                    // It still waits, and the client is told so.
                    _ => return None,
                }
            }
        };
        tokio::select! {
            answered = tokio::time::timeout(within, answered) => answered.ok().flatten(),
            () = context.ct.cancelled() => None,
        }
    }
}

/// The handle of a caller that nothing else identifies, where its call has it.
fn add_handle(arguments: &mut Map<String, Value>, handle: &str) {
    if !handle.is_empty() {
        arguments.insert("approval".to_owned(), Value::from(handle));
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder();
        #[cfg(feature = "conformance")]
        #[expect(deprecated, reason = "the suite tests what we do not use ourselves")]
        let capabilities = capabilities.enable_logging();
        let capabilities = capabilities
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(Implementation::new("lapidary", env!("CARGO_PKG_VERSION")).with_title("Lapidary"))
            .with_instructions(self.shared.instructions.with_guides(&[]))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // The library does so only in its own implementation, which this one replaces.
        context.peer.set_peer_info(request.clone());
        let mut opened = self.negotiate_initialize(&request)?;
        opened.instructions = self.info_for(&context).await.instructions;
        Ok(opened)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut info = self.info_for(&context).await;
        // Only here: the extension belongs to the protocol without sessions.
        info.capabilities.extensions = Some(skills::capability());
        let mut discovered = DiscoverResult::from_server_info(versions, info);
        discovered.ttl_ms = LIST_TTL_MS;
        // Private, because every token has its own list.
        discovered.cache_scope = CacheScope::Private;
        Ok(discovered)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let grant = self.grant_of(identity(&context.extensions));
        let listed = grant.profile.catalogue.entries().iter().filter(|entry| entry.standing == ToolStanding::Listed);
        let tools =
            listed.map(|entry| definition::tool(&entry.spec, &grant.profile.catalogue, self.shared.dotted_names));
        #[cfg(feature = "conformance")]
        let tools = tools.chain(conformance_fixtures::tools()?);
        let mut list = ListToolsResult::with_all_items(tools.collect());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        #[cfg(feature = "conformance")]
        if let Some(tool) = conformance_fixtures::tool(name) {
            return Some(tool);
        }
        let catalogue = &self.session_grant.profile.catalogue;
        let entry = catalogue.find(name).ok()?;
        Some(definition::tool(&entry.spec, catalogue, self.shared.dotted_names))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        {
            let prompts_changed = || {
                let grant = self.grant_of(identity(&context.extensions));
                grant.prompt_news.changed.send_replace(());
            };
            if let Some(answer) = conformance_fixtures::call(&params, &context, prompts_changed).await {
                return answer;
            }
        }
        let (mut arguments, mut answer, mut was_led) = (params.arguments.unwrap_or_default(), None, false);
        if let Some(state) = params.request_state {
            match asking::handle_in(&state) {
                Some(handle) => {
                    was_led = true;
                    add_handle(&mut arguments, handle);
                }
                None => {
                    let verdict = asking::verdict_of(params.input_responses.as_ref());
                    answer = Some(ConsentAnswer { state, verdict });
                }
            }
        }
        let mut invocation = Invocation::tool(params.name.to_string(), arguments, self.principal(&context));
        invocation.answer = answer;
        let mut reached = None;
        // Where the owner answers what the client cannot ask, once.
        let console = self.shared.console.as_deref().filter(|_| !was_led && asking::can_open(&context));
        // Only clients that can ask are asked, and then call again.
        // Cloned only then, as arguments may be large.
        let is_asked = invocation.principal.can_be_asked || console.is_some();
        let mut again = is_asked.then(|| Box::new(invocation.clone()));
        let mut outcome = self.execute(invocation, &context, &mut reached).await;
        if let (Outcome::Refused(Refusal { reason: Reason::ApprovalPending { id, handle }, .. }), Some(console)) =
            (&outcome, console)
            && let Some(again) = again.take()
        {
            let page = PendingPage { id, handle: handle.as_deref(), console };
            if asking::by_retry(&context) {
                return Ok(page.input_required().into());
            }
            if let Some(answered) = Box::pin(self.answered_on(&page, *again, &context)).await {
                outcome = self.execute(answered, &context, &mut reached).await;
            }
        }
        // The call itself may be asked about, and then what it would change.
        for _ in 0..MOST_QUESTIONS {
            let (Outcome::Asked(Question { message, state }), Some(again)) = (&mut outcome, &again) else { break };
            let (message, state) = (std::mem::take(message), std::mem::take(state));
            if asking::by_retry(&context) {
                return Ok(asking::input_required(message, state).into());
            }
            let within = self.shared.executor.limits().answer_within;
            // Counted by client, not by session: a client that opens many sessions could otherwise cover the screen of
            // its user with questions.
            let signature = again.principal.author.signature();
            let (open, caller) = (&self.shared.questions, ChangeAuthor::client_of(&signature));
            let verdict = Box::pin(asking::ask_now(open, caller, &context, message, within)).await;
            // The same call with the answer, not a continuation: everything is checked again on the way.
            let answer = Some(ConsentAnswer { state, verdict });
            let answered = Invocation { answer, ..Invocation::clone(again) };
            outcome = self.execute(answered, &context, &mut reached).await;
        }
        // A protocol error, as the specification asks for unknown tools; all other refusals are results, which models
        // get to see.
        if let Outcome::UnknownTool { nearest } = outcome {
            return Err(unknown_tool(&params.name, nearest, &self.profile(&context)));
        }
        let rendered = match outcome.rendered() {
            Some(rendered) => Some(rendered),
            None => calling::failed("a question was asked again after its answer", &self.profile(&context)).rendered(),
        };
        Ok(rendered.map(result).unwrap_or_default().into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let grant = self.grant_of(identity(&context.extensions));
        // Before the list is read: a change in between is then reported, perhaps once too often, but never missed.
        prompts::watch(&self.shared.executor, &grant);
        let prompts = match self.read(ListPrompts, &context).await {
            Ok(ReadPayload::Prompts(prompts)) => prompts,
            Ok(_) => return Err(self.unexpected(&context)),
            Err(reason) => return Err(prompts::error(&reason, &self.profile(&context))),
        };
        let prompts = prompts.into_iter().map(prompts::listed);
        #[cfg(feature = "conformance")]
        let prompts = prompts.chain(conformance_fixtures::prompts()?);
        let mut list = ListPromptsResult::with_all_items(prompts.collect());
        // A person may edit a note at any time.
        list.ttl_ms = Some(0);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(answer) = conformance_fixtures::prompt(&params) {
            return answer;
        }
        let operation = FillPrompt { name: params.name, arguments: params.arguments.unwrap_or_default() };
        match self.read(operation, &context).await {
            Ok(ReadPayload::FilledPrompt(filled)) => Ok(prompts::filled(filled).into()),
            Ok(_) => Err(self.unexpected(&context)),
            Err(reason) => Err(prompts::error(&reason, &self.profile(&context))),
        }
    }

    /// Clients with a handshake are notified of a new list of prompts automatically.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let grant = self.grant_of(identity(&context.extensions));
        let mut changed = grant.prompt_news.changed.subscribe();
        let mut alive = self.alive.subscribe();
        tokio::spawn(async move {
            loop {
                let is_new = tokio::select! {
                    news = changed.changed() => news.is_ok(),
                    // Nothing is ever sent there.
                    // It is closed when the last clone of this session is dropped.
                    _ = alive.changed() => false,
                };
                if !is_new {
                    tracing::debug!("no more news of prompts is sent: a session has ended");
                    return;
                }
                if let Err(error) = context.peer.notify_prompt_list_changed().await {
                    tracing::debug!(error = service_error(&error), "a client was not told of new prompts");
                    return;
                }
            }
        });
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let grant = self.grant_of(identity(&context.extensions));
        let resources = resources::list(&self.shared.executor, &grant);
        #[cfg(feature = "conformance")]
        let resources = resources.into_iter().chain(conformance_fixtures::resources()?).collect();
        let mut list = ListResourcesResult::with_all_items(resources);
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let grant = self.grant_of(identity(&context.extensions));
        let template = resources::template(&self.shared.executor, &grant);
        let templates = vec![template];
        #[cfg(feature = "conformance")]
        let templates = templates.into_iter().chain([conformance_fixtures::template()?]).collect();
        let mut list = ListResourceTemplatesResult::with_all_items(templates);
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(answer) = conformance_fixtures::resource(&params.uri) {
            return answer;
        }
        if !asking::by_retry(&context) {
            skills::refuse(&params.uri, &context, &self.profile(&context))?;
        }
        match self.read(ReadResource { uri: params.uri.clone() }, &context).await {
            Ok(ReadPayload::Contents(contents)) => Ok(resources::contents(&params.uri, contents).into()),
            Ok(_) => Err(self.unexpected(&context)),
            Err(reason) => Err(refusal(&reason, &params.uri, &context, &self.profile(&context))),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.answer_about_skills(request, &context).await
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let Reference::Prompt(prompt) = params.r#ref else { return self.complete_variable(params, &context).await };
        let ArgumentInfo { name, value, .. } = params.argument;
        #[cfg(feature = "conformance")]
        if conformance_fixtures::is_prompt(&prompt.name) {
            return Ok(CompleteResult::default());
        }
        let operation = CompletePrompt { prompt: prompt.name, argument: name, typed: value };
        match self.read(operation, &context).await {
            Ok(ReadPayload::Completed(completed)) => resources::completion(completed),
            Ok(_) => Err(self.unexpected(&context)),
            Err(reason) => Err(prompts::error(&reason, &self.profile(&context))),
        }
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        #[cfg(feature = "conformance")]
        if conformance_fixtures::is_watched(&params.uri) {
            return Ok(());
        }
        self.subscribe_to(params.uri, &context).await
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&params.uri);
        Ok(())
    }

    #[cfg(feature = "conformance")]
    #[expect(deprecated, reason = "the suite tests what we do not use ourselves")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(self.accepted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::join!(self.watch_all(&context), self.announce_prompts(&context));
        Ok(())
    }
}

/// Without the client's text, which may quote what it was sent.
fn service_error(error: &ServiceError) -> &'static str {
    match error {
        ServiceError::McpError(_) => "the client answered with an error",
        ServiceError::TransportSend(_) | ServiceError::TransportClosed => "the connection is closed",
        ServiceError::Cancelled { .. } => "the request was cancelled",
        ServiceError::Timeout { .. } => "the client did not answer in time",
        _ => "the client's answer does not match the request",
    }
}

fn not_offered(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {}", lapidary_tools::clipped(method)), None)
}

fn result(rendered: RenderedReply) -> CallToolResult {
    let is_error = rendered.is_error;
    let (text, blocks, facts) = rendered.into_parts();
    // Text first: clients that show only one part show the first.
    let media = blocks.into_iter().map(|block| match block.kind {
        BlockKind::Image => ContentBlock::image(block.data, block.media_type),
        BlockKind::Audio => ContentBlock::audio(block.data, block.media_type),
    });
    let content = text.into_iter().map(ContentBlock::text).chain(media).collect();
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    // JSON already: both transports insert it unchanged, so that it is not serialised again.
    result.structured_content = Some(Value::String(facts.into_json()));
    result
}

/// -32602 as in the specification; "method not found" would become a 404 over HTTP.
fn unknown_tool(name: &str, nearest: Option<&str>, profile: &ProfileView) -> ErrorData {
    let shown: String = name.chars().take(100).collect();
    let reason = lapidary_tools::Reason::ToolUnknown { name: name.to_owned(), nearest: nearest.map(str::to_owned) };
    let hint = reason.hint(&OfferedTools::of(&profile.catalogue));
    ErrorData::invalid_params(format!("Unknown tool: {}. {hint}", quoted(&shown)), None)
}
