//! The Skills extension of MCP (SEP-2640, `io.modelcontextprotocol/skills`): `skills/list` and `skills/get`. The files of a
//! skill are resources. Clients with a handshake do not have it.

use lapidary_tools::{
    FindSkill, ListSkills, ProfileView, ReadPayload, Reason, SkillEntry, SkillFile, SkillUri, clipped,
};
use rmcp::{
    ErrorData, RoleServer,
    model::{CacheScope, CustomRequest, CustomResult, ExtensionCapabilities, JsonObject},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{McpServer, asking, not_offered, prompts, resources::refusal};

const EXTENSION: &str = "io.modelcontextprotocol/skills";
const LIST: &str = "skills/list";
const GET: &str = "skills/get";

/// What the server declares. Without `directoryRead`: an entry already lists every file.
pub(super) fn capability() -> ExtensionCapabilities {
    ExtensionCapabilities::from([(EXTENSION.to_owned(), JsonObject::new())])
}

/// For clients without the extension there is no skill to read.
pub(super) fn refuse(uri: &str, context: &RequestContext<RoleServer>, profile: &ProfileView) -> Result<(), ErrorData> {
    match SkillUri::is_meant(uri) {
        true => Err(refusal(&Reason::ResourceUnknown { uri: clipped(uri) }, uri, context, profile)),
        false => Ok(()),
    }
}

impl McpServer {
    /// The requests that the protocol library does not know.
    pub(super) async fn answer_about_skills(
        &self,
        request: CustomRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if ![LIST, GET].contains(&request.method.as_str()) || !asking::by_retry(context) {
            return Err(not_offered(&request.method));
        }
        let uri = request.params.as_ref().and_then(|params| params["uri"].as_str()).map(str::to_owned);
        let is_list = request.method == LIST;
        let answered = match uri {
            _ if is_list => self.read(ListSkills, context).await,
            Some(uri) => match self.read(FindSkill { uri: uri.clone() }, context).await {
                Err(reason) => return Err(refusal(&reason, &uri, context, &self.profile(context))),
                found => found,
            },
            None => return Err(ErrorData::invalid_params("`uri` names the SKILL.md of a skill.", None)),
        };
        let skills: Vec<Value> = match answered {
            Ok(ReadPayload::Skills(skills)) => skills.into_iter().map(shown).collect(),
            Ok(_) => return Err(self.unexpected(context)),
            Err(reason) => return Err(prompts::error(&reason, &self.profile(context))),
        };
        // A person may edit a note at any time.
        let mut result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": CacheScope::Private });
        if is_list {
            result["skills"] = Value::Array(skills);
        } else {
            result["skill"] = skills.into_iter().next().ok_or_else(|| self.unexpected(context))?;
        }
        Ok(CustomResult::new(result))
    }
}

fn shown(SkillEntry { uri, frontmatter, files }: SkillEntry) -> Value {
    let file =
        |SkillFile { uri, hash, bytes }: SkillFile| json!({ "uri": uri, "digest": hash.to_string(), "size": bytes });
    json!({ "uri": uri, "frontmatter": frontmatter, "resources": files.into_iter().map(file).collect::<Vec<_>>() })
}
