//! Resources and the completion of their names, as protocol types.

use base64::{Engine, prelude::BASE64_STANDARD};
use lapidary_pipeline::{Executor, Grant};
use lapidary_tools::{
    CompletePath, CompletedValues, ContentForm, FIXED_RESOURCES, FileTemplate, FixedResource, JSON, OfferedTools,
    ProfileView, ReadPayload, Reason, ReasonKind, ResourceBody, refusal_data,
};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CompleteRequestParams, CompleteResult, CompletionInfo, ErrorCode, MetaObject, ReadResourceResult, Reference,
        Resource, ResourceContents, ResourceTemplate,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{McpServer, asking};

/// All that can be listed, except notes: a vault has thousands, and there are tools to find one.
pub(super) fn list(executor: &Executor, grant: &Grant) -> Vec<Resource> {
    let vaults = executor.vaults().names(grant);
    let described = |fixed: &FixedResource, uri: String, name: String| {
        Resource::new(uri, name).with_title(fixed.title).with_description(fixed.description).with_mime_type(JSON)
    };
    let mut list = Vec::new();
    for fixed in FIXED_RESOURCES {
        // With one vault, the URI needs no name in it.
        if fixed.of_a_vault && vaults.len() > 1 {
            let name = |vault: &String| format!("{}-{vault}", fixed.name);
            list.extend(vaults.iter().map(|vault| described(fixed, fixed.in_vault(vault), name(vault))));
        } else {
            list.push(described(fixed, fixed.uri.to_owned(), fixed.name.to_owned()));
        }
    }
    list
}

pub(super) fn template(executor: &Executor, grant: &Grant) -> ResourceTemplate {
    ResourceTemplate::new(FileTemplate::uri(executor.vaults().names(grant).len() > 1), FileTemplate::NAME)
        .with_title(FileTemplate::TITLE)
        .with_description(FileTemplate::DESCRIPTION)
}

pub(super) fn contents(uri: &str, contents: ResourceBody) -> ReadResourceResult {
    let ResourceBody { media_type, form, hash, eol, bom } = contents;
    let mut meta = MetaObject::new();
    let facts = [
        ("contentHash", hash.map(|hash| json!(hash.to_string()))),
        ("eol", eol.map(Value::from)),
        ("bom", bom.then_some(Value::Bool(true))),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            meta.insert(name.to_owned(), value);
        }
    }
    let contents = match form {
        ContentForm::Text(text) => ResourceContents::text(text, uri),
        ContentForm::Bytes(bytes) => ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri),
    };
    let contents = contents.with_mime_type(media_type);
    ReadResourceResult::new(vec![if meta.is_empty() { contents } else { contents.with_meta(meta) }])
}

impl McpServer {
    /// Completes a variable of the template.
    pub(super) async fn complete_variable(
        &self,
        params: CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let unknown = || ErrorData::invalid_params("There is nothing to complete for this reference.", None);
        let uri = match params.r#ref {
            Reference::Resource(template) => template.uri,
            _ => return Err(unknown()),
        };
        // A client may still have the template from before a vault was added.
        if ![false, true].iter().any(|several| FileTemplate::uri(*several) == uri) {
            return Err(unknown());
        }
        let typed = params.argument.value;
        let completed = match &*params.argument.name {
            FileTemplate::PATH => {
                let vault = params.context.and_then(|context| context.get_argument(FileTemplate::VAULT).cloned());
                match self.read(CompletePath { typed, vault }, context).await {
                    Ok(ReadPayload::Completed(completed)) => completed,
                    Ok(_) => return Err(self.unexpected(context)),
                    Err(reason) => return Err(refusal(&reason, &uri, context, &self.profile(context))),
                }
            }
            FileTemplate::VAULT => vaults(&self.shared.executor, &self.principal(context).grant, &typed),
            _ => return Err(ErrorData::invalid_params("The template has no such variable.", None)),
        };
        completion(completed)
    }
}

/// The best values, and the total number.
pub(super) fn completion(completed: CompletedValues) -> Result<CompleteResult, ErrorData> {
    let CompletedValues { values, total } = completed;
    let more = total > values.len();
    let info = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), more);
    info.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}

/// The names of vaults that start with the typed text.
fn vaults(executor: &Executor, grant: &Grant, typed: &str) -> CompletedValues {
    let typed = typed.to_lowercase();
    let mut values = executor.vaults().names(grant);
    values.retain(|name| name.to_lowercase().starts_with(&typed));
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    CompletedValues { values, total }
}

/// A refusal as a protocol error, with the same code and data as in the answer of a tool; only a missing resource has a
/// different code since the era without sessions.
pub(super) fn refusal(
    reason: &Reason,
    uri: &str,
    context: &RequestContext<RoleServer>,
    profile: &ProfileView,
) -> ErrorData {
    let missing = reason.kind() == ReasonKind::NoteMissing && asking::by_retry(context);
    let code = if missing { ErrorCode::INVALID_PARAMS } else { ErrorCode(reason.kind().wire_code().number) };
    let mut data = refusal_data(reason, OfferedTools::of(&profile.catalogue));
    // Clipped, as it comes from the client.
    data.insert("uri".to_owned(), json!(lapidary_tools::clipped(uri)));
    ErrorData::new(code, reason.to_string(), Some(Value::Object(data)))
}
