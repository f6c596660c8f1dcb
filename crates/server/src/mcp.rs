//! Speaks MCP, in both of its eras: turns requests into calls and replies into results.

mod asking;
mod definition;
mod following;
mod prompts;
mod resources;

use std::sync::Arc;

use lapidary_pipeline::{Answer, Caller, Pipeline, Question, Reply, Request, Stage};
use lapidary_tools::{Offered, Profile, Rendered, Standing};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceError,
    model::{
        ArgumentInfo, CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, ContentBlock, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
        Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, Reference, ServerCapabilities, ServerConfig,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;
use tokio::sync::mpsc;

use self::{following::Following, prompts::PromptNews, resources::refusal};
use crate::{http::Identity, instructions::instructions};

/// How often a client that asked for progress hears of an index that is being made.
const LOOK_AT_INDEX: std::time::Duration = std::time::Duration::from_millis(100);

/// How long clients may keep the list of tools: it only changes when the server is started anew.
const LIST_TTL_MS: u64 = 300_000;

/// One server for any number of connections; clones share everything.
#[derive(Clone)]
pub(crate) struct Mcp {
    shared: Arc<Shared>,
    /// Of this session alone.
    following: Following,
}

struct Shared {
    pipeline: Arc<Pipeline>,
    instructions: String,
    dotted_names: bool,
    connection: Connection,
    prompt_news: Arc<PromptNews>,
}

/// What is known about callers before they say anything.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Connection {
    Stdio,
    Http,
}

impl Mcp {
    pub(crate) fn new(pipeline: Arc<Pipeline>, dotted_names: bool, connection: Connection) -> Self {
        let prompt_news = Arc::new(PromptNews::new());
        let instructions = instructions(&pipeline, pipeline.profile());
        Self {
            shared: Arc::new(Shared { pipeline, instructions, dotted_names, connection, prompt_news }),
            following: Following::default(),
        }
    }

    /// The same server for another session.
    pub(crate) fn for_session(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), following: Following::default() }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let (id, one_client) = match self.shared.connection {
            Connection::Stdio => ("stdio".to_owned(), true),
            Connection::Http => http_caller(context),
        };
        let known_as = match (self.shared.connection, identity(context)) {
            (Connection::Stdio, _) => "stdio".to_owned(),
            (Connection::Http, None) => "http".to_owned(),
            (Connection::Http, Some(known)) => format!("http:{}", known.name),
        };
        Caller { id, known_as, one_client, can_ask: asking::can_ask(context), profile: self.profile(context) }
    }

    /// That of the token which came with the request, or that of everybody.
    fn profile(&self, context: &RequestContext<RoleServer>) -> Arc<Profile> {
        identity(context).map_or_else(|| Arc::clone(self.shared.pipeline.profile()), |known| Arc::clone(&known.profile))
    }

    /// What the server says of itself to this caller.
    fn info_for(&self, context: &RequestContext<RoleServer>) -> ServerConfig {
        let info = self.get_info();
        match identity(context) {
            Some(known) => info.with_instructions(instructions(&self.shared.pipeline, &known.profile)),
            None => info,
        }
    }

    /// Makes the call on the side, so that it ends and is logged even if the client goes away meanwhile.
    ///
    /// A call that is made twice, before and after a question, is one to the client: `reached` is how far it has come.
    async fn call(&self, request: Request, context: &RequestContext<RoleServer>, reached: &mut Option<Stage>) -> Reply {
        let pipeline = Arc::clone(&self.shared.pipeline);
        let cancel = pipeline.cancel(&request);
        let (sender, mut stages) = mpsc::unbounded_channel();
        let mut request = request;
        let token = context.meta.get_progress_token();
        if token.is_some() {
            request.progress = Some(Arc::new(move |stage| {
                // A receiver that is gone has no use for progress.
                sender.send(stage).unwrap_or_default();
            }));
        }
        let mut task = {
            let cancel = Arc::clone(&cancel);
            tokio::spawn(async move { pipeline.call(request, cancel).await })
        };
        let mut stop = std::pin::pin!(context.ct.cancelled());
        let mut stopped = false;
        let mut progress = Progress { context, token, reached, sent: 0.0 };
        let mut looks = tokio::time::interval(LOOK_AT_INDEX);
        let looking = Arc::clone(&self.shared.pipeline);
        let done = loop {
            tokio::select! {
                done = &mut task => break done,
                Some(stage) = stages.recv() => progress.report(stage).await,
                _ = looks.tick(), if progress.token.is_some() => {
                    if let Some(percent) = looking.indexing() {
                        progress.indexing(percent).await;
                    }
                }
                () = &mut stop, if !stopped => {
                    stopped = true;
                    cancel.take_back();
                }
            }
        };
        while let Ok(stage) = stages.try_recv() {
            progress.report(stage).await;
        }
        done.unwrap_or_else(|_| Reply::Done(failed(&self.profile(context))))
    }
}

/// The last resort: the task that made the call is gone.
fn failed(profile: &Profile) -> Rendered {
    let reason = lapidary_tools::bug!("the task of a call is gone");
    lapidary_tools::render_refusal(lapidary_tools::Family::Own, &reason, Offered::of(&profile.catalogue))
}

/// Without what the client said, which may quote what it was sent.
fn service_error(error: &ServiceError) -> &'static str {
    match error {
        ServiceError::McpError(_) => "the client answered with an error",
        ServiceError::TransportSend(_) | ServiceError::TransportClosed => "the connection is closed",
        ServiceError::Cancelled { .. } => "the request was cancelled",
        ServiceError::Timeout { .. } => "the client did not answer in time",
        _ => "the client's answer is not what was asked for",
    }
}

/// Tells a client that asked for it how far its call has come.
struct Progress<'a> {
    context: &'a RequestContext<RoleServer>,
    token: Option<ProgressToken>,
    reached: &'a mut Option<Stage>,
    /// It only ever goes up.
    sent: f64,
}

impl Progress<'_> {
    async fn report(&mut self, stage: Stage) {
        let Some(token) = &self.token else { return };
        // A plan that is made again is no progress.
        if self.reached.replace(stage) == Some(stage) {
            return;
        }
        let (progress, message) = match stage {
            Stage::Planned => (1.0, "planned"),
            Stage::Done => (2.0, "done"),
        };
        self.send(token.clone(), progress, message.to_owned()).await;
    }

    /// Before there is a plan, a large vault may have to be looked through.
    async fn indexing(&mut self, percent: u8) {
        let Some(token) = self.token.clone().filter(|_| self.reached.is_none()) else { return };
        let progress = f64::from(percent) / 101.0;
        if progress > self.sent {
            self.send(token, progress, format!("indexing the vault: {percent} %")).await;
        }
    }

    async fn send(&mut self, token: ProgressToken, progress: f64, message: String) {
        self.sent = progress;
        let mut param = ProgressNotificationParam::new(token, progress);
        param.total = Some(2.0);
        param.message = Some(message);
        if let Err(error) = self.context.peer.notify_progress(param).await {
            tracing::debug!(error = service_error(&error), "progress could not be sent");
        }
    }
}

/// Sessions are told apart by the start of their id; the whole of it would be a key. Without a session there is only
/// the name of the program, which many may share.
///
/// A client that is known by its token is called by its own name.
fn http_caller(context: &RequestContext<RoleServer>) -> (String, bool) {
    let session = parts(context)
        .and_then(|parts| parts.headers.get("mcp-session-id"))
        .and_then(|id| id.to_str().ok())
        .map(|id| id.chars().take(8).collect::<String>());
    let client = || context.client_info().map(|client| client.name.chars().take(40).collect());
    let one_client = session.is_some();
    let id = session.or_else(client).unwrap_or_default();
    match identity(context) {
        Some(known) => (format!("http:{}:{id}", known.name), one_client),
        None => (format!("http:{id}"), one_client),
    }
}

fn parts(context: &RequestContext<RoleServer>) -> Option<&axum::http::request::Parts> {
    context.extensions.get::<axum::http::request::Parts>()
}

fn identity(context: &RequestContext<RoleServer>) -> Option<&Identity> {
    parts(context)?.extensions.get::<Identity>()
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
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
            .with_instructions(self.shared.instructions.clone())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut opened = self.negotiate_initialize(&request)?;
        opened.instructions = self.info_for(&context).instructions;
        Ok(opened)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut discovered = DiscoverResult::from_server_info(versions, self.info_for(&context));
        discovered.ttl_ms = LIST_TTL_MS;
        discovered.cache_scope = CacheScope::Private;
        Ok(discovered)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let profile = self.profile(&context);
        let listed = profile.catalogue.entries().iter().filter(|entry| entry.standing == Standing::Listed);
        let tools = listed.map(|entry| definition::tool(&entry.spec, self.shared.dotted_names)).collect();
        let mut list = ListToolsResult::with_all_items(tools);
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let entry = self.shared.pipeline.profile().catalogue.find(name).ok()?;
        Some(definition::tool(&entry.spec, self.shared.dotted_names))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let request = Request {
            tool: params.name.to_string(),
            arguments: params.arguments.unwrap_or_default(),
            caller: self.caller(&context),
            answer: params
                .request_state
                .map(|state| Answer { state, verdict: asking::verdict_of(params.input_responses.as_ref()) }),
            progress: None,
        };
        let mut reached = None;
        let mut reply = self.call(request.clone(), &context, &mut reached).await;
        if let Reply::Ask(Question { message, state }) = reply {
            if asking::by_retry(&context) {
                return Ok(asking::input_required(message, state).into());
            }
            let verdict = asking::ask_now(&context, message, self.shared.pipeline.limits().answer_within).await;
            reply =
                self.call(Request { answer: Some(Answer { state, verdict }), ..request }, &context, &mut reached).await;
        }
        match reply {
            Reply::Done(rendered) => Ok(result(rendered).into()),
            // Asked again after an answer: the pipeline never does that.
            Reply::Ask(_) => Ok(result(failed(&self.profile(&context))).into()),
            Reply::NoSuchTool { nearest } => Err(unknown_tool(&params.name, nearest, &self.profile(&context))),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let Shared { pipeline, prompt_news, .. } = &*self.shared;
        prompt_news.watch(pipeline);
        let found = pipeline.prompts(self.caller(&context), context.ct.cancelled()).await;
        let found = found.map_err(|reason| prompts::error(&reason, &self.profile(&context)))?;
        let mut list = ListPromptsResult::with_all_items(found.into_iter().map(prompts::listed).collect());
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
        let (caller, stop) = (self.caller(&context), context.ct.cancelled());
        let arguments = params.arguments.unwrap_or_default();
        let filled = self.shared.pipeline.prompt(params.name, arguments, caller, stop).await;
        filled
            .map(|filled| prompts::filled(filled).into())
            .map_err(|reason| prompts::error(&reason, &self.profile(&context)))
    }

    /// Clients with a handshake hear of a new list of prompts by themselves.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changed = self.shared.prompt_news.subscribe();
        tokio::spawn(async move {
            while changed.changed().await.is_ok() {
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
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = ListResourcesResult::with_all_items(resources::list(&self.shared.pipeline));
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = resources::template(&self.shared.pipeline);
        let mut list = ListResourceTemplatesResult::with_all_items(vec![template]);
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (caller, stop) = (self.caller(&context), context.ct.cancelled());
        match self.shared.pipeline.read_resource(&params.uri, caller, stop).await {
            Ok(contents) => Ok(resources::contents(&params.uri, contents).into()),
            Err(reason) => Err(refusal(&reason, &params.uri, &context, &self.profile(&context))),
        }
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let Reference::Prompt(prompt) = params.r#ref else { return self.complete_variable(params, &context).await };
        let (caller, stop) = (self.caller(&context), context.ct.cancelled());
        let ArgumentInfo { name, value, .. } = params.argument;
        let completed = self.shared.pipeline.complete_prompt(prompt.name, name, value, caller, stop).await;
        completed.map_err(|reason| prompts::error(&reason, &self.profile(&context))).and_then(resources::completion)
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.follow(params.uri, &context).await
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.following.remove(&params.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(self.followable(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::join!(self.follow_all(&context), self.tell_of_prompts(&context));
        Ok(())
    }
}

fn not_offered(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {method}"), None)
}

fn result(rendered: Rendered) -> CallToolResult {
    let text = rendered.text.into_iter().map(ContentBlock::text).collect();
    let mut result = if rendered.is_error { CallToolResult::error(text) } else { CallToolResult::success(text) };
    result.structured_content = Some(Value::Object(rendered.structured));
    result
}

/// -32602 as in the specification; "method not found" would become a 404 over HTTP.
fn unknown_tool(name: &str, nearest: Option<&str>, profile: &Profile) -> ErrorData {
    let shown: String = name.chars().take(100).collect();
    let reason = lapidary_tools::Reason::ToolUnknown { name: name.to_owned(), nearest: nearest.map(str::to_owned) };
    let hint = reason.hint(&Offered::of(&profile.catalogue));
    ErrorData::invalid_params(format!("Unknown tool: {shown}. {hint}"), None)
}
