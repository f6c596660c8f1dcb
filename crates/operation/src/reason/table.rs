//! The table of reasons, one row each. A new reason is a row here and the place that makes it; its kind, wire codes and
//! row in docs/errors.md follow. In a row:
//!
//! - `kinds` are the ones it declares: the id and number of the `obsidian_*` family, the code of the file tools, and
//!   when it is returned. Reasons that look the same to a caller share a kind, which only one of them declares.
//! - `message` says what is wrong, `data` is what a program needs to go on (nulls are left out), and `hint` names the
//!   next step. Hints may name tools and arguments only after checking `offered`, unless the called tool is the only
//!   one that gives this reason.

use lapidary_note::{ContentHash, EditError, ExpectedHash, PatchError, PatchMismatch, counted};
use lapidary_recipe::RecipeName;
use lapidary_vault::{JoinError, PathError, VaultPath, store::RemoteFault};
use serde_json::{Map, Value, json};

use super::{
    ArchiveProblem, ArgumentProblem, DiskFault, FilePart, Interruption, NameWanted, NearText, OfferedTools,
    PartCandidates, PathRefusal, TaskCandidate, WireCode,
    advice::{self, list},
    app, clipped, remote, server, web,
    words::{self, strings},
};
use crate::{
    DecodeFault,
    app_bridge::{AppFault, AppNeed},
    bug::Bug,
    catalogue::OffReason,
    other_servers::ServerFault,
    quote::{InWords, Prose, quoted},
    uri::{of_file, of_path},
    vault_shape::ShapeProblem,
    web_access::WebFault,
};

reasons! { |offered|
    InvalidArguments { tool: String, problems: Vec<ArgumentProblem> } => {
        kinds: [InvalidArguments("invalid_arguments", -32602, "INVALID_ARGS", "The arguments do not fit the tool's schema.")],
        kind: ReasonKind::InvalidArguments,
        message: words::summary(&problems),
        data: json!({ "problems": problems.iter().map(words::problem).collect::<Vec<_>>() }),
        hint: advice::arguments(tool, &problems, offered),
    }
    /// The same for a list cursor, with the cursor that was sent.
    CursorInvalid { cursor: String } => {
        kinds: [],
        kind: ReasonKind::InvalidArguments,
        message: "Invalid arguments: `cursor` must be the `nextCursor` of an earlier answer.",
        data: json!({ "cursor": cursor }),
        hint: "Send `nextCursor` unchanged, or leave it out for the first page.",
    }
    ToolUnknown { name: String, nearest: Option<String> } => {
        kinds: [ToolUnknown("tool_unknown", -32602, "INVALID_ARGS", "`call_tool` names a tool that does not exist.")],
        kind: ReasonKind::ToolUnknown,
        message: format!("There is no tool {name}."),
        data: json!({ "tool": name, "nearest": nearest }),
        hint: advice::unknown_tool(name, nearest, offered),
    }
    ToolOff { tool: String, off: OffReason } => {
        kinds: [ToolDisabled("tool_disabled", -32005, "PERMISSION_DENIED", "The owner has switched the tool off, or the server is read-only.")],
        kind: ReasonKind::ToolDisabled,
        message: format!("{tool} is switched off{}.", words::why_off(off)),
        data: json!({ "tool": tool }),
        hint: advice::tool_off(off),
    }
    /// In the words of the original: the missing scope is not named.
    InsufficientScope { tool: String } => {
        kinds: [InsufficientScope("insufficient_scope", -32005, "PERMISSION_DENIED", "The scopes of the caller's token do not cover the tool.")],
        kind: ReasonKind::InsufficientScope,
        message: "Insufficient permissions.",
        data: json!({ "tool": tool }),
        hint: "Use another tool, or ask the user for a token with more scopes.",
    }
    TokenRevoked => {
        kinds: [TokenRevoked("token_revoked", -32006, "PERMISSION_DENIED", "The caller's token was revoked or expired during the call. Nothing was changed.")],
        kind: ReasonKind::TokenRevoked,
        message: "The token of this client was revoked or has expired, so nothing was changed.",
        data: json!({}),
        hint: "Ask the user for a new token.",
    }
    VaultUnknown { given: String, names: Vec<String> } => {
        kinds: [VaultUnknown("vault_unknown", -32007, "INVALID_ARGS", "`vault` names a vault that is not served.")],
        kind: ReasonKind::VaultUnknown,
        message: format!("There is no vault {given}."),
        data: json!({ "vault": given, "vaults": names }),
        hint: format!("Set `vault` to one of: {}.", list(&names)),
    }
    VaultRequired { names: Vec<String> } => {
        kinds: [VaultRequired("vault_required", -32007, "INVALID_ARGS", "Several vaults are served and `vault` is missing.")],
        kind: ReasonKind::VaultRequired,
        message: "Several vaults are served, so `vault` must name one.",
        data: json!({ "vaults": names }),
        hint: format!("Set `vault` to one of: {}.", list(&names)),
    }
    VaultClosed { file: &'static str } => {
        kinds: [VaultClosed("vault_closed", -32005, "PERMISSION_DENIED", "A rule file of the vault cannot be read, so it is unknown which paths are open. The owner must fix it.")],
        kind: ReasonKind::VaultClosed,
        message: format!("The vault is closed: its rule file {file} cannot be read."),
        data: json!({ "ruleFile": file }),
        hint: format!("Nothing was read or changed. The owner must fix `{file}` in the vault's folder."),
    }
    ResourceUnknown { uri: String } => {
        kinds: [ResourceUnknown("resource_unknown", -32602, "NOT_FOUND", "The URI is not a resource of this server.")],
        kind: ReasonKind::ResourceUnknown,
        message: format!("There is no resource {uri}."),
        data: json!({ "uri": uri }),
        hint: "Files are `obsidian://vault/` and the path, for example `obsidian://vault/Projects/Plan.md`.",
    }
    PathInvalid { given: String, problem: PathError } => {
        kinds: [PathTraversal("path_traversal", -32007, "INVALID_ARGS", "The path is empty, leaves the vault, or is not a path.")],
        kind: ReasonKind::PathTraversal,
        message: format!("{given} is not a path inside the vault: {problem}."),
        data: json!({ "path": given }),
        hint: "Give a path relative to the vault, for example `Projects/Plan.md`.",
    }
    PathForbidden { path: VaultPath, writing: bool, denied: PathRefusal } => {
        kinds: [PathForbidden("path_forbidden", -32005, "PERMISSION_DENIED", "This server may not read or change the path. Decided by the path alone.")],
        kind: ReasonKind::PathForbidden,
        message: format!("Path {path} is not {}: {}.", if *writing { "writable" } else { "readable" }, words::why_closed(denied)),
        data: {
            let (subreason, active) = words::forbidden(denied);
            json!({ "path": path.as_str(), "op": if *writing { "write" } else { "read" }, "subreason": subreason, "activeScope": active })
        },
        hint: advice::forbidden(denied),
    }
    SourceFixed { path: VaultPath } => {
        kinds: [SourceFixed("source_fixed", -32005, "PERMISSION_DENIED", "The note is a source: it may be created and read, and then stays as it is.")],
        kind: ReasonKind::SourceFixed,
        message: format!("{path} is a source, which stays as it is."),
        data: json!({ "path": path.as_str() }),
        hint: "Write what you have to say into another note and link to the source. Only its owner may change it.",
    }
    SchemaMismatch { path: VaultPath, problems: Vec<ShapeProblem> } => {
        kinds: [SchemaMismatch("schema_mismatch", -32002, "INVALID_ARGS", "The note would not fit the schema of its note type. Nothing was changed.")],
        kind: ReasonKind::SchemaMismatch,
        message: format!("{path} would not fit the schema of its note type: {}. Nothing was changed.", words::shape_problems(&problems)),
        data: json!({ "path": path.as_str(), "problems": problems.iter().map(|problem| problem.data()).collect::<Vec<_>>() }),
        hint: match offered.has("bulk_apply") {
            true => "Send the change with what is expected in it; `bulk_apply` makes several edits one change.",
            false => "Send the change with what is expected in it.",
        },
    }
    SchemaInvalid { path: VaultPath, problem: Prose } => {
        kinds: [SchemaInvalid("schema_invalid", -32002, "INVALID_ARGS", "The note is in the folder of schemas, and its `schema` cannot be read as one. Nothing was changed.")],
        kind: ReasonKind::SchemaInvalid,
        message: format!("{path} would not be a schema: {problem}. Nothing was changed."),
        data: json!({ "path": path.as_str(), "problem": problem.to_string() }),
        hint: match offered.has("schema_infer") {
            true => "Correct its property `schema`. `schema_infer` shows one in the right form.",
            false => "Correct its property `schema`.",
        },
    }
    RecipeMissing { name: String, nearest: Option<String> } => {
        kinds: [RecipeMissing("recipe_missing", -32001, "NOT_FOUND", "There is no recipe of that name that the caller may read.")],
        kind: ReasonKind::RecipeMissing,
        message: format!("There is no recipe {name}."),
        data: json!({ "recipe": name, "nearest": nearest }),
        hint: advice::unknown_recipe(nearest, offered),
    }
    /// A definition that cannot be kept, or is in the folder and cannot be used.
    /// `name` is that of the recipe; a script has none.
    RecipeInvalid { name: Option<String>, problems: Vec<ArgumentProblem> } => {
        kinds: [RecipeInvalid("recipe_invalid", -32002, "INVALID_ARGS", "The definition of the recipe, or a script, cannot be used. Nothing was changed.")],
        kind: ReasonKind::RecipeInvalid,
        message: words::recipe_problems(name, &problems),
        data: json!({ "recipe": name, "problems": problems.iter().map(words::problem).collect::<Vec<_>>() }),
        hint: match (
            name,
            ["recipe_create", "recipe_update"].iter().any(|tool| offered.calls(tool)),
            offered.has("recipe_update"),
        ) {
            (None, ..) => "Correct the script and send it again.",
            (Some(_), true, _) => "Correct the definition and send it again.",
            (Some(_), false, true) => "Correct it with `recipe_update`.",
            (Some(_), false, false) => "Tell the user.",
        },
    }
    /// Arguments that do not fit the parameters of a recipe.
    RecipeArguments { recipe: String, problems: Vec<ArgumentProblem> } => {
        kinds: [],
        kind: ReasonKind::InvalidArguments,
        message: words::summary(&problems),
        data: json!({ "recipe": recipe, "problems": problems.iter().map(words::problem).collect::<Vec<_>>() }),
        hint: advice::recipe_arguments(recipe, &problems, offered),
    }
    /// Arguments that do not fit the schema of a tool of another server.
    ServerArguments { server: String, tool: String, problems: Vec<ArgumentProblem> } => {
        kinds: [],
        kind: ReasonKind::InvalidArguments,
        message: words::summary(&problems),
        data: json!({
            "server": server,
            "tool": tool,
            "problems": problems.iter().map(words::problem).collect::<Vec<_>>(),
        }),
        hint: advice::server_arguments(server, tool, &problems, offered),
    }
    /// It is there, and the owner has not approved it as it is.
    RecipeDisabled { name: RecipeName } => {
        kinds: [RecipeDisabled("recipe_disabled", -32005, "PERMISSION_DENIED", "The owner has not approved the recipe as it is now: it came from elsewhere, or was changed. Nothing was changed.")],
        kind: ReasonKind::RecipeDisabled,
        message: format!("{name} is disabled: the owner has not approved it as it is now."),
        data: json!({ "recipe": name.as_str() }),
        // The name of a recipe has letters, digits and `_` only.
        hint: format!("Ask the user to review it with `lapidary recipes approve {}`.", name.raw()),
    }
    /// A recipe or a script that cannot go on, by no fault of a tool.
    RecipeStopped { recipe: Option<String>, step: Option<usize>, problem: Prose } => {
        kinds: [RecipeFailed("recipe_failed", -32002, "INVALID_ARGS", "An expression of a recipe or script failed, a list was too long, or a value would have left the folder that the recipe names. Nothing was changed.")],
        kind: ReasonKind::RecipeFailed,
        message: match step {
            Some(step) => format!("steps[{step}]: {problem}. Nothing was changed."),
            None => format!("The answer cannot be made: {problem}. Nothing was changed."),
        },
        data: json!({ "recipe": recipe, "index": step, "problem": problem.to_string() }),
        hint: match recipe {
            None => "Correct the script and send it again.",
            Some(_) if offered.has("recipe_show") => "Send other arguments; `recipe_show` shows the steps of the recipe.",
            Some(_) => "Send other arguments, or tell the user.",
        },
    }
    NoteMissing { path: VaultPath, suggestions: Vec<VaultPath> } => {
        kinds: [NoteMissing("note_missing", -32001, "NOT_FOUND", "Nothing is at the path.")],
        kind: ReasonKind::NoteMissing,
        message: format!("Not found: {path}"),
        data: json!({ "path": path.as_str(), "suggestions": (!suggestions.is_empty()).then(|| strings(suggestions)) }),
        hint: match &suggestions[..] {
            [] => "Check the path, including folder and extension (usually `.md`).".to_owned(),
            suggestions => format!("Did you mean {}?", list(suggestions)),
        },
    }
    AmbiguousPath { path: VaultPath, matches: Vec<VaultPath> } => {
        kinds: [AmbiguousPath("ambiguous_path", -32002, "DUPLICATE_TARGET", "Nothing is at the exact path, and several files have that name or alias.")],
        kind: ReasonKind::AmbiguousPath,
        message: format!("{path} can mean several files."),
        data: json!({ "path": path.as_str(), "matches": strings(matches) }),
        hint: format!("Send the path of one of: {}.", list(&matches)),
    }
    /// A new path that other systems would treat as an existing one.
    NameTaken { path: VaultPath, existing: VaultPath, twin: VaultPath, is_folder: bool } => {
        kinds: [],
        kind: ReasonKind::FileExists,
        message: format!("{path} was not created: {} {twin} differs from it only in case or Unicode form, and many systems treat the two as the same.", if *is_folder { "the folder" } else { "the file" }),
        data: json!({ "path": path.as_str(), "existing": twin.as_str() }),
        hint: match is_folder {
            true => format!("Send {existing}, or choose another name."),
            false => format!("If you mean {twin}, send that path; otherwise choose another name."),
        },
    }
    /// The same as a missing note, for a caller that could create it by opening a link.
    NothingToOpen { path: VaultPath, suggestions: Vec<VaultPath> } => {
        kinds: [],
        kind: ReasonKind::NoteMissing,
        message: format!("Cannot open {path}: there is no such file."),
        data: json!({ "path": path.as_str(), "suggestions": (!suggestions.is_empty()).then(|| strings(suggestions)) }),
        hint: advice::nothing_to_open(&suggestions, offered),
    }
    PathIsDirectory { path: VaultPath } => {
        kinds: [PathIsDirectory("path_is_directory", -32007, "INVALID_ARGS", "A folder is at the path.")],
        kind: ReasonKind::PathIsDirectory,
        message: format!("{path} is a directory, not a note."),
        data: json!({ "path": path.as_str() }),
        hint: "Name a file inside it, for example a note ending in `.md`.",
    }
    PathIsFile { path: VaultPath } => {
        kinds: [PathIsFile("path_is_file", -32007, "INVALID_ARGS", "A file is at the path, but a folder was requested.")],
        kind: ReasonKind::PathIsFile,
        message: format!("{path} is a file, not a directory."),
        data: json!({ "path": path.as_str() }),
        hint: advice::not_a_folder(offered),
    }
    DirectoryMissing { path: VaultPath, nearest: Option<VaultPath> } => {
        kinds: [DirectoryMissing("directory_missing", -32001, "NOT_FOUND", "There is no such folder.")],
        kind: ReasonKind::DirectoryMissing,
        message: format!("Directory not found: {path}"),
        data: json!({ "path": path.as_str(), "nearest": nearest.as_ref().map(VaultPath::as_str) }),
        hint: match nearest {
            Some(nearest) => format!("Did you mean {nearest}?"),
            None => "List its parent folder to see what exists.".to_owned(),
        },
    }
    NotAFile { path: VaultPath } => {
        kinds: [NotAFile("not_a_file", -32007, "INVALID_ARGS", "A pipe, socket or device is at the path, or a file is where a folder is needed.")],
        kind: ReasonKind::NotAFile,
        message: format!("{path} is not an ordinary file."),
        data: json!({ "path": path.as_str() }),
        hint: "Choose the path of an ordinary file in an ordinary folder.",
    }
    NotText { path: VaultPath, valid_up_to: Option<usize> } => {
        kinds: [NotText("not_text", -32007, "PARSE_ERROR", "The file is binary, or an edit was requested for a file that is not UTF-8.")],
        kind: ReasonKind::NotText,
        message: format!("{path} is not text{}.", valid_up_to.map_or(String::new(), |at| format!(": byte {at} is not UTF-8"))),
        data: json!({ "path": path.as_str(), "validUpTo": valid_up_to, "resource": of_file(path) }),
        hint: advice::not_text(path.raw(), offered),
    }
    AttachmentUnsupported { path: VaultPath, supported: &'static str } => {
        kinds: [AttachmentUnsupported("attachment_unsupported", -32007, "PARSE_ERROR", "The file is of a kind that cannot be shown.")],
        kind: ReasonKind::AttachmentUnsupported,
        message: format!("{path} is of a kind that cannot be shown."),
        data: json!({ "path": path.as_str(), "supported": supported, "resource": of_file(path) }),
        hint: advice::unsupported(path.raw(), supported, offered),
    }
    AttachmentUnreadable { path: VaultPath, fault: DecodeFault } => {
        kinds: [AttachmentUnreadable("attachment_unreadable", -32007, "PARSE_ERROR", "The file cannot be decoded, or not within the limits; `fault` says which.")],
        kind: ReasonKind::AttachmentUnreadable,
        message: format!("{path} cannot be shown: {}.", fault.words()),
        data: json!({ "path": path.as_str(), "fault": fault.name(), "resource": of_file(path) }),
        hint: format!("Trying again gives the same result. The client can show the file to the user as the resource `{}`.", of_path(path.raw())),
    }
    TemplateRefused { path: VaultPath, fault: DecodeFault } => {
        kinds: [TemplateRefused("template_refused", -32007, "PARSE_ERROR", "The template of a document is damaged, has macros or parts that are loaded from elsewhere, or exceeds a limit; `fault` says which.")],
        kind: ReasonKind::TemplateRefused,
        message: format!("{path} cannot be the template of a document: {}.", fault.words()),
        data: json!({ "path": path.as_str(), "fault": fault.name(), "resource": of_file(path) }),
        hint: "Nothing was written. Choose another template, or make the document without one. A file with macros can be one after it was saved without them, one with linked parts after these were embedded.",
    }
    CanvasInvalid { path: VaultPath } => {
        kinds: [CanvasInvalid("canvas_invalid", -32007, "PARSE_ERROR", "The file is not a JSON Canvas.")],
        kind: ReasonKind::CanvasInvalid,
        message: format!("{path} is not a canvas: it is not an object in JSON, or its `nodes` and `edges` are not lists of objects with ids."),
        data: json!({ "path": path.as_str() }),
        hint: "Nothing was changed. Look at the file as text, and repair it there.",
    }
    ArchiveRefused { path: VaultPath, entry: Option<String>, problem: ArchiveProblem } => {
        kinds: [ArchiveRefused("archive_refused", -32007, "INVALID_ARGS", "The archive is damaged, exceeds a limit, or has an entry that may not be extracted.")],
        kind: ReasonKind::ArchiveRefused,
        message: match entry {
            Some(entry) => format!("{path} was not extracted: {entry} {}.", problem.words()),
            None => format!("{path} was not extracted: it {}.", problem.words()),
        },
        data: json!({ "path": path.as_str(), "entry": entry, "problem": problem.name() }),
        hint: "Nothing was changed. Tell the user, who can extract the archive with another program.",
    }
    ImportUnavailable { given: String, is_configured: bool } => {
        kinds: [ImportUnavailable("import_unavailable", -32001, "NOT_FOUND", "`source` names no file in the folder that the owner opened for imports, or there is no such folder.")],
        kind: ReasonKind::ImportUnavailable,
        message: match is_configured {
            true => format!("The folder for imports has no file {given}."),
            false => "The owner has named no folder from which files may be added.".to_owned(),
        },
        data: json!({ "source": given, "configured": is_configured }),
        hint: match is_configured {
            true => "Check the path, which is relative to that folder, or send the bytes as `data`.",
            false => "Send the bytes as `data`, or ask the owner to set LAPIDARY_IMPORT_FOLDER.",
        },
    }
    FileTooLarge { path: VaultPath, bytes: u64, limit: u64 } => {
        kinds: [FileTooLarge("file_too_large", -32007, "BUDGET_EXCEEDED", "The file is larger than LAPIDARY_MAX_FILE_BYTES.")],
        kind: ReasonKind::FileTooLarge,
        message: format!("{path} has {bytes} bytes; the limit is {limit}."),
        data: json!({ "path": path.as_str(), "submitted": bytes, "limit": limit }),
        hint: "Leave it alone, or ask the owner to raise LAPIDARY_MAX_FILE_BYTES.",
    }
    ResultTooLarge { path: VaultPath, bytes: u64, limit: u64 } => {
        kinds: [],
        kind: ReasonKind::FileTooLarge,
        message: format!("{path} would have {bytes} bytes or more; the limit is {limit}."),
        data: json!({ "path": path.as_str(), "submitted": bytes, "limit": limit }),
        hint: "Nothing was changed. Write less, or split it into several files; the owner can raise LAPIDARY_MAX_FILE_BYTES.",
    }
    ChangeTooLarge { bytes: u64, limit: u64 } => {
        kinds: [],
        kind: ReasonKind::BudgetExceeded,
        message: format!("The files of this change have at least {bytes} bytes, before and after; the limit is {limit}."),
        data: json!({ "submitted": bytes, "limit": limit }),
        hint: "Nothing was changed. Change fewer files at once, or ask the owner to raise LAPIDARY_MAX_CHANGE_BYTES.",
    }
    MemoryExceeded { bytes: u64, limit: u64 } => {
        kinds: [],
        kind: ReasonKind::BudgetExceeded,
        message: format!("This call needs about {bytes} bytes of memory; the limit is {limit}."),
        data: json!({ "submitted": bytes, "limit": limit }),
        hint: "Nothing was changed. Use smaller notes or fewer of them at once, or ask the owner to raise LAPIDARY_MEMORY_BYTES.",
    }
    ReplyTooLarge { bytes: u64, limit: u64 } => {
        kinds: [ReplyTooLarge("reply_too_large", -32007, "BUDGET_EXCEEDED", "The answer would be larger than LAPIDARY_MAX_REPLY_BYTES.")],
        kind: ReasonKind::ReplyTooLarge,
        message: format!("The answer would have {bytes} bytes; the limit is {limit}."),
        data: json!({ "submitted": bytes, "limit": limit }),
        hint: advice::reply_too_large(offered),
    }
    NoActiveFile => {
        kinds: [NoActiveFile("no_active_file", -32001, "NOT_FOUND", "The note open in Obsidian was requested, and none is open that the caller may use.")],
        kind: ReasonKind::NoActiveFile,
        message: "No note is open in Obsidian.",
        data: json!({}),
        hint: "Ask the user which note they mean and give its path.",
    }
    /// There are no vectors yet, and the call is about nothing else.
    MeaningNotReady { done: usize } => {
        kinds: [MeaningNotReady("meaning_not_ready", -32000, "BUSY_TRY_AGAIN", "The search by meaning is still being prepared; nothing was searched.")],
        kind: ReasonKind::MeaningNotReady,
        message: format!("The index of meanings is being made: {done} % are done. Nothing was searched."),
        data: json!({ "done_percent": done }),
        hint: "Ask again in a moment, or search by words.",
    }
    MeaningOff => {
        kinds: [MeaningOff("meaning_off", -32005, "PERMISSION_DENIED", "The owner has switched the search by meaning off.")],
        kind: ReasonKind::MeaningOff,
        message: "The owner has switched the search by meaning off.",
        data: json!({}),
        hint: "Search by words.",
    }
    AppUnavailable { fault: AppFault, need: AppNeed } => {
        kinds: [
            ObsidianUnreachable("obsidian_unreachable", -32000, "IO_ERROR", "The call needs the Obsidian app, and its plugin Local REST API does not answer."),
            CertificateRejected("certificate_rejected", -32000, "IO_ERROR", "What answers in place of Obsidian's plugin has another certificate than the plugin of this vault."),
            ApiKeyRejected("api_key_rejected", -32006, "PERMISSION_DENIED", "Obsidian's plugin Local REST API does not accept the key."),
            ObsidianTimeout("obsidian_timeout", -32004, "DEADLINE_EXCEEDED", "Obsidian did not answer in time."),
            ObsidianFailed("obsidian_failed", -32000, "IO_ERROR", "Obsidian's plugin answered with an error, or cannot do this."),
            OmnisearchUnreachable("omnisearch_unreachable", -32000, "IO_ERROR", "The search engine of the plugin Omnisearch was requested, and it does not answer."),
        ],
        kind: app::kind(*fault, *need),
        message: app::message(*fault, *need),
        data: app::data(*fault),
        hint: app::hint(*fault, *need, offered),
    }
    WebFailed { fault: WebFault } => {
        kinds: [
            WebNotAllowed("web_not_allowed", -32005, "PERMISSION_DENIED", "The owner has not opened this host, or there is no public host of this name."),
            WebUnreachable("web_unreachable", -32000, "IO_ERROR", "The page could not be fetched."),
            WebTimeout("web_timeout", -32004, "DEADLINE_EXCEEDED", "The page was not sent in time."),
            WebUnsupported("web_unsupported", -32007, "INVALID_ARGS", "What is at the address is not a text, or too large."),
        ],
        kind: web::kind(fault),
        message: web::message(fault),
        data: web::data(fault),
        hint: web::hint(fault, offered),
    }
    ServerFailed { server: String, fault: ServerFault, may_have_acted: bool } => {
        kinds: [
            ServerUnknown("server_unknown", -32001, "NOT_FOUND", "The owner has configured no other server of this name."),
            ServerToolUnknown("server_tool_unknown", -32001, "NOT_FOUND", "The other server has no such tool, or the owner does not allow it."),
            ServerUnavailable("server_unavailable", -32000, "IO_ERROR", "The other server cannot be started or reached, or has ended. `mayHaveActed` says whether the call may have had its effect."),
            ServerTimeout("server_timeout", -32004, "DEADLINE_EXCEEDED", "The other server did not answer in time. `mayHaveActed` says whether the call may have had its effect."),
            ServerFaulty("server_faulty", -32000, "IO_ERROR", "The other server answered with an error of the protocol, with too much, or with something else than MCP."),
        ],
        kind: server::kind(fault),
        message: server::message(server, fault),
        data: server::data(server, fault, *may_have_acted),
        hint: server::hint(server, fault, *may_have_acted, offered),
    }
    CommandUnknown { command: String, nearest: Vec<String> } => {
        kinds: [CommandUnknown("command_unknown", -32001, "NOT_FOUND", "Obsidian has no command with this id.")],
        kind: ReasonKind::CommandUnknown,
        message: format!("Obsidian has no command {command}."),
        data: json!({ "commandId": command, "nearest": (!nearest.is_empty()).then_some(nearest) }),
        hint: app::nearest_commands(&nearest, offered),
    }
    PeriodicNotFound { period: &'static str, date: Option<String>, path: Option<VaultPath> } => {
        kinds: [PeriodicNotFound("periodic_not_found", -32001, "NOT_FOUND", "There is no note for this day, week, month, quarter or year. `path` is where it would be, if that is known.")],
        kind: ReasonKind::PeriodicNotFound,
        message: format!("No {period} note found{}.", date.map_or(String::new(), |date| format!(" for {date}"))),
        data: json!({ "period": period, "date": date, "path": path.as_ref().map(VaultPath::as_str) }),
        hint: path.map_or_else(|| "Ask the user where such notes are, and give the path.".to_owned(), |path| advice::make_note(path, offered)),
    }
    PeriodicDisabled { period: &'static str, unreadable: Option<&'static str> } => {
        kinds: [PeriodicDisabled("periodic_disabled", -32007, "INVALID_ARGS", "Notes of this period are not enabled in the vault, or its settings cannot be read.")],
        kind: ReasonKind::PeriodicDisabled,
        message: words::periodic_disabled(period, unreadable.copied()),
        data: json!({ "period": period }),
        hint: "Give the note's path. The owner can enable the core plugin Daily notes or the plugin Periodic Notes.",
    }
    FileExists { path: VaultPath, current: ContentHash } => {
        kinds: [FileExists("file_exists", -32002, "DESTINATION_EXISTS", "A file is already at the path, and the call does not replace one.")],
        kind: ReasonKind::FileExists,
        message: format!("{path} already exists."),
        data: json!({ "path": path.as_str() }),
        hint: advice::file_exists(current, offered),
    }
    /// The same for a tool whose caller needs another tool to replace the existing file.
    DestinationExists { path: VaultPath, current: ContentHash, wanted: NameWanted } => {
        kinds: [],
        kind: ReasonKind::FileExists,
        message: format!("{path} already exists."),
        data: json!({ "path": path.as_str() }),
        hint: match wanted {
            NameWanted::New => advice::destination_exists(current, offered),
            NameWanted::Recipe => advice::recipe_exists(offered).to_owned(),
            NameWanted::Whole => advice::whole_file_exists(current, offered),
            NameWanted::Unpacked => "Nothing was changed. Choose another folder.".to_owned(),
            NameWanted::Moved => advice::on_conflict(offered).to_owned(),
            NameWanted::Back => format!("Nothing was changed. Another file has this name now; move {path} away first."),
        },
    }
    Stale { path: VaultPath, argument: &'static str, expected: ExpectedHash, current: Option<ContentHash> } => {
        kinds: [StalePrecondition("stale_precondition", -32002, "STALE_PRECONDITION", "The file does not have the expected hash.")],
        kind: ReasonKind::StalePrecondition,
        message: format!("{argument} mismatch: {path} is not what was expected."),
        data: json!({
            "path": path.as_str(),
            "expected": expected.to_string(),
            "actual": current.map(|hash| hash.to_string()),
        }),
        hint: match current {
            Some(current) => advice::stale(argument, current, offered),
            None => advice::nothing_to_expect("It no longer exists.", argument, "create it", offered),
        },
    }
    /// The same where the whole file was to be replaced: another program's changes would be lost.
    Overtaken {
        path: VaultPath,
        /// The argument that named the expected hash; `None` if the caller has read the file and sent no hash.
        argument: Option<&'static str>,
        expected: ExpectedHash,
        current: ContentHash,
        /// Lines removed and added since, if the version that the caller read is kept.
        changed: Vec<String>,
        /// Lines that would be lost, if it is not.
        lost: Vec<String>,
    } => {
        kinds: [],
        kind: ReasonKind::StalePrecondition,
        message: match argument {
            Some(argument) => format!("{argument} mismatch: {path} is not what was expected."),
            None => format!("{path} changed since you read it."),
        },
        data: json!({
            "path": path.as_str(),
            "expected": expected.to_string(),
            "actual": current.to_string(),
            "changed": (!changed.is_empty()).then_some(changed),
            "lost": (!lost.is_empty()).then_some(lost),
        }),
        hint: advice::overtaken(&changed, &lost),
    }
    StalePart {
        path: VaultPath,
        part: FilePart,
        expected: ExpectedHash,
        /// Of the part; `None` if it no longer exists.
        found: Option<ContentHash>,
        /// Of the whole file.
        current: ContentHash,
    } => {
        kinds: [],
        kind: ReasonKind::StalePrecondition,
        message: format!("{} mismatch: the {} in {path} is not what was expected.", part.argument(), part.name()),
        data: json!({
            "path": path.as_str(),
            "expected": expected.to_string(),
            "actual": found.map(|hash| hash.to_string()),
        }),
        hint: match found {
            Some(found) => advice::stale(part.argument(), found, offered),
            None => advice::nothing_to_expect("It no longer exists.", part.argument(), "create it", offered),
        },
    }
    CheckpointMissing { given: String } => {
        kinds: [CheckpointMissing("checkpoint_missing", -32001, "NOT_FOUND", "There is no such checkpoint, or not for this file.")],
        kind: ReasonKind::CheckpointMissing,
        message: words::no_checkpoint(given),
        data: json!({ "id": given }),
        hint: match offered.has("checkpoint_list") {
            true => "Call `checkpoint_list` to see the available checkpoints.",
            false => "Send the id from the answer to the change.",
        },
    }
    CheckpointAmbiguous { given: String, ids: Vec<String> } => {
        kinds: [CheckpointAmbiguous("checkpoint_ambiguous", -32002, "DUPLICATE_TARGET", "Several checkpoints start with the given characters.")],
        kind: ReasonKind::CheckpointAmbiguous,
        message: format!("Several checkpoints start with {given}."),
        data: json!({ "id": given, "matches": ids }),
        hint: format!("Send more of its id: {}.", list(&ids)),
    }
    NothingToUndo => {
        kinds: [NothingToUndo("nothing_to_undo", -32001, "NOT_FOUND", "The caller has no changes left to undo.")],
        kind: ReasonKind::NothingToUndo,
        message: "You have no changes to undo.",
        data: json!({}),
        hint: match offered.has("checkpoint_list") {
            true => "`checkpoint_list` shows all changes, including those of other clients.",
            false => "There is nothing to do.",
        },
    }
    ChangeOfOther { id: String } => {
        kinds: [ChangeOfOther("change_of_other", -32005, "PERMISSION_DENIED", "The change to undo was made by another client.")],
        kind: ReasonKind::ChangeOfOther,
        message: format!("The change {id} is not one of yours."),
        data: json!({ "id": id }),
        hint: match offered.has("checkpoint_restore") {
            true => format!("Ask the user; `checkpoint_restore` with `id` {id} undoes it."),
            false => "Ask the user whether to undo it.".to_owned(),
        },
    }
    ChangeUnnamed => {
        kinds: [ChangeUnnamed("change_unnamed", -32602, "INVALID_ARGS", "The caller has no session, so its last change cannot be told from others'.")],
        kind: ReasonKind::ChangeUnnamed,
        message: "Without a session nothing tells which change was your last.",
        data: json!({}),
        hint: match offered.has("checkpoint_list") {
            true => "Send `id`: the `checkpoint` in the answer to your change, or one that `checkpoint_list` shows.",
            false => "Send `id`: the `checkpoint` in the answer to your change.",
        },
    }
    ChangedSince { path: VaultPath, id: String } => {
        kinds: [ChangedSince("changed_since", -32002, "STALE_PRECONDITION", "A file was changed again after the change to undo.")],
        kind: ReasonKind::ChangedSince,
        message: format!("{path} was changed again after {id}, so undoing {id} would also revert later changes."),
        data: json!({ "path": path.as_str(), "id": id }),
        hint: match (offered.has("checkpoint_diff"), offered.has("checkpoint_restore")) {
            (true, true) => format!("`checkpoint_diff` with `id` {id} shows what would be lost; `checkpoint_restore` undoes it anyway."),
            (_, true) => format!("`checkpoint_restore` with `id` {id} undoes it anyway."),
            _ => "Read the file and edit it instead.".to_owned(),
        },
    }
    NotInCheckpoint { path: VaultPath, checkpoint: String, files: Vec<VaultPath> } => {
        kinds: [],
        kind: ReasonKind::CheckpointMissing,
        message: format!("Checkpoint {checkpoint} has no file {path}."),
        data: json!({ "path": path.as_str(), "id": checkpoint, "files": strings(files) }),
        hint: format!("It has {}.", list(&files)),
    }
    VersionMissing { path: VaultPath, wanted: String } => {
        kinds: [VersionMissing("version_missing", -32001, "NOT_FOUND", "That version of the file was not kept, or never existed.")],
        kind: ReasonKind::VersionMissing,
        message: format!("This version of {path} was not kept: {wanted}."),
        data: json!({ "path": path.as_str(), "version": wanted }),
        hint: advice::version_missing(offered),
    }
    KeepsChanging { path: VaultPath } => {
        kinds: [KeepsChanging("keeps_changing", -32002, "STALE_PRECONDITION", "Another program changed the file each time the change was planned.")],
        kind: ReasonKind::KeepsChanging,
        message: format!("Another program keeps changing {path}."),
        data: json!({ "path": path.as_str() }),
        hint: "Wait a moment and try again.",
    }
    SectionRequired => {
        kinds: [SectionRequired("section_required", -32007, "INVALID_ARGS", "Format `section` was requested without naming one.")],
        kind: ReasonKind::SectionRequired,
        message: "Format `section` needs `section`: a heading, block or property.",
        data: json!({ "format": "section" }),
        hint: "Add `section: {\"type\": \"heading\", \"target\": \"…\"}`.",
    }
    SectionMissing { path: VaultPath, section_type: &'static str, target: String, available: Vec<String> } => {
        kinds: [SectionMissing("section_missing", -32001, "NOT_FOUND", "The note has no such heading, block or property.")],
        kind: ReasonKind::SectionMissing,
        message: words::section_missing(section_type, target, path),
        data: words::section_data(section_type, target, path, available),
        hint: advice::available_sections(section_type, target, &available, offered),
    }
    Ambiguous { path: VaultPath, target: String, candidates: PartCandidates } => {
        kinds: [TargetAmbiguous("target_ambiguous", -32002, "DUPLICATE_TARGET", "Several headings or blocks have the given name.")],
        kind: ReasonKind::TargetAmbiguous,
        message: format!("{target} is not unique in {path}: {} match.", candidates.len()),
        data: json!({ "path": path.as_str(), "occurrences": candidates.len(), "matches": candidates.json() }),
        hint: format!("Repeat with one of: {}.", candidates.choices()),
    }
    LineOutOfRange { path: VaultPath, argument: &'static str, line: usize, lines: usize } => {
        kinds: [LineOutOfRange("line_out_of_range", -32007, "INVALID_ARGS", "The requested line is beyond the end of the file.")],
        kind: ReasonKind::LineOutOfRange,
        message: format!("{argument} {line} is out of range: {path} has {}.", counted(*lines, "line")),
        data: json!({ "path": path.as_str(), "line": line, "totalLines": lines }),
        hint: match (*argument, *lines) {
            ("from", 0) => advice::empty_file(offered),
            ("from", lines) => format!("Lines are numbered 1 to {lines}; read the file again if you expect more."),
            (_, lines) => format!("Send a line from 1 to {}; the last of these appends at the end.", lines + 1),
        },
    }
    PatchInvalid(error: PatchError) => {
        kinds: [PatchInvalid("patch_invalid", -32007, "INVALID_ARGS", "The patch is not a unified diff of one file, or the counts in a hunk header do not match its lines.")],
        kind: ReasonKind::PatchInvalid,
        message: format!("Not a patch for one file: {error}."),
        data: json!({ "hunk": error.hunk(), "patchLine": error.line() }),
        hint: advice::patch(error),
    }
    PatchMismatch { path: VaultPath, mismatch: Box<PatchMismatch>, current: ContentHash } => {
        kinds: [PatchMismatch("patch_mismatch", -32002, "STALE_PRECONDITION", "The lines of the patch do not match the file at the line that the patch names.")],
        kind: ReasonKind::PatchMismatch,
        message: format!("{mismatch}: the patch was made for another version of {path}."),
        data: json!({
            "path": path.as_str(),
            "hunk": mismatch.hunk,
            "line": mismatch.line,
            "expected": clipped(&mismatch.expected),
            "actual": mismatch.actual.as_deref().map(clipped),
            "foundAtLine": mismatch.found_at,
        }),
        hint: advice::patch_mismatch(mismatch.found_at, offered),
    }
    EditRefused { path: VaultPath, error: EditError } => {
        kinds: [EditRefused("edit_refused", -32007, "INVALID_ARGS", "The change cannot be made without changing something else, or the result would not be parsed as intended.")],
        kind: ReasonKind::EditRefused,
        message: format!("{path} was not changed: {error}."),
        data: json!({ "path": path.as_str() }),
        hint: advice::edit(error, offered),
    }
    /// A new name that links could not follow.
    LinkWouldBeLost { path: VaultPath, source: VaultPath, place: String } => {
        kinds: [],
        kind: ReasonKind::EditRefused,
        message: format!("{path} was not changed: no link could replace {place} in {source}, because another part of the note has the new name, or a link cannot express it."),
        data: json!({ "path": path.as_str(), "source": source.as_str(), "link": place }),
        hint: advice::leave_links("Choose another name", offered),
    }
    /// One of several steps of a call was refused, so none was carried out.
    InStep { list: &'static str, index: usize, reason: Box<Reason> } => {
        kinds: [],
        kind: reason.kind(),
        message: format!("{list}[{index}] failed: {reason}"),
        data: {
            let mut data = reason.data();
            data.insert("index".to_owned(), json!(index));
            Value::Object(data)
        },
        hint: format!("None of them was carried out. {}", reason.hint(offered)),
    }
    SectionTargetMissing { path: VaultPath, section_type: &'static str, target: String, available: Vec<String> } => {
        kinds: [SectionTargetMissing("section_target_missing", -32007, "NOT_FOUND", "The note has no such heading, block or property to change.")],
        kind: ReasonKind::SectionTargetMissing,
        message: words::section_missing(section_type, target, path),
        data: words::section_data(section_type, target, path, available),
        hint: advice::available_sections(section_type, target, &available, offered),
    }
    AmbiguousSection { path: VaultPath, target: String, candidates: Vec<String> } => {
        kinds: [AmbiguousSection("ambiguous_section", -32002, "DUPLICATE_TARGET", "Several headings match.")],
        kind: ReasonKind::AmbiguousSection,
        message: format!("{target} matches several headings of {path}."),
        data: json!({ "path": path.as_str(), "target": target, "candidates": candidates }),
        hint: advice::candidate_sections(&candidates, offered),
    }
    ContentPreexists { path: VaultPath, target: String } => {
        kinds: [ContentPreexists("content_preexists", -32007, "INVALID_ARGS", "The content to add is already there, and `applyIfContentPreexists` is not set.")],
        kind: ReasonKind::ContentPreexists,
        message: format!("{target} in {path} already contains this content."),
        data: json!({ "path": path.as_str(), "target": target }),
        hint: advice::content_preexists(offered),
    }
    HeadingOutsideSection { path: VaultPath, target: String, heading: String } => {
        kinds: [HeadingOutsideSection("heading_outside_section", -32007, "INVALID_ARGS", "The content has a heading that would end the section instead of being part of it.")],
        kind: ReasonKind::HeadingOutsideSection,
        message: format!("The heading {heading} in the content would end the section {target} of {path}."),
        data: json!({ "path": path.as_str(), "target": target, "heading": heading }),
        hint: "Use more `#` for the headings in the content than the section's own heading has, or target the parent section.",
    }
    PatchRejected { path: VaultPath, problem: Prose, remedy: Option<&'static str> } => {
        kinds: [PatchRejected("patch_rejected", -32007, "INVALID_ARGS", "The content does not fit the part, or the rest of the note would be parsed differently afterwards.")],
        kind: ReasonKind::PatchRejected,
        message: format!("{path} cannot be changed this way: {problem}."),
        data: json!({ "path": path.as_str(), "problem": problem.to_string() }),
        hint: remedy.map_or_else(|| advice::patch_rejected(offered), |remedy| (*remedy).to_owned()),
    }
    ValueRequired { key: String } => {
        kinds: [ValueRequired("value_required", -32007, "INVALID_ARGS", "A property is set without a value.")],
        kind: ReasonKind::ValueRequired,
        message: format!("`set` needs a `value` for {key}."),
        data: json!({ "key": key }),
        hint: "Add `value`; any JSON is allowed, including `null`. To remove the property, use `delete`.",
    }
    TagsRequired { operation: &'static str } => {
        kinds: [TagsRequired("tags_required", -32007, "INVALID_ARGS", "Tags are to be added or removed, but none are given.")],
        kind: ReasonKind::TagsRequired,
        message: format!("`{operation}` needs `tags`."),
        data: json!({ "operation": operation }),
        hint: "Add `tags`, for example `[\"project/garden\"]`.",
    }
    FrontmatterInvalid { path: VaultPath, problem: Prose } => {
        kinds: [FrontmatterInvalid("frontmatter_invalid", -32007, "PARSE_ERROR", "The properties are not valid YAML.")],
        kind: ReasonKind::FrontmatterInvalid,
        message: format!("The properties of {path} are not valid YAML: {problem}."),
        data: json!({ "path": path.as_str(), "problem": problem.to_string() }),
        hint: advice::invalid_properties(offered),
    }
    FrontmatterWouldBreak { path: VaultPath, problem: Prose } => {
        kinds: [],
        kind: ReasonKind::FrontmatterInvalid,
        message: format!("The properties of {path} would no longer be valid YAML: {problem}."),
        data: json!({ "path": path.as_str(), "problem": problem.to_string() }),
        hint: advice::would_break(offered),
    }
    TextMissing { path: VaultPath, preview: String, near: Option<NearText> } => {
        kinds: [TextMissing("text_missing", -32001, "NOT_FOUND", "The text to find is not in the file.")],
        kind: ReasonKind::TextMissing,
        message: format!("The text to find is not in {path}."),
        data: json!({
            "path": path.as_str(),
            "findPreview": preview,
            "nearest": near.as_ref().map(|near| json!({ "line": near.line, "text": near.text })),
        }),
        hint: match near {
            Some(near) => format!("Line {} differs in {}: {}. Send it exactly as it is in the file.", near.line, near.differs, quoted(&near.text)),
            None => "Read the file again and copy the text exactly, including spaces and line breaks.".to_owned(),
        },
    }
    TextNotUnique { path: VaultPath, occurrences: usize, lines: Vec<usize> } => {
        kinds: [TextNotUnique("text_not_unique", -32002, "DUPLICATE_TARGET", "The text to find occurs several times.")],
        kind: ReasonKind::TextNotUnique,
        message: format!("The text to find occurs {occurrences} times in {path}; it must be unique."),
        data: json!({ "path": path.as_str(), "occurrences": occurrences, "lines": lines }),
        hint: format!("It occurs on {}. Add more of the surrounding text to `find`, or set `occurrence` to `all` or a number from 1 to {occurrences}.", words::lines(&lines, *occurrences)),
    }
    OccurrenceOutOfRange { path: VaultPath, occurrences: usize, wanted: usize } => {
        kinds: [OccurrenceOutOfRange("occurrence_out_of_range", -32007, "INVALID_ARGS", "There are fewer occurrences than the requested number.")],
        kind: ReasonKind::OccurrenceOutOfRange,
        message: format!("occurrence {wanted} is out of range: {occurrences} match in {path}."),
        data: json!({ "path": path.as_str(), "occurrences": occurrences, "wanted": wanted }),
        hint: format!("Set `occurrence` to a number from 1 to {occurrences}."),
    }
    UnexpectedChange { least: Option<usize>, most: usize, count: usize, paths: Vec<VaultPath> } => {
        kinds: [UnexpectedChange("unexpected_change", -32002, "STALE_PRECONDITION", "The change concerns other files than `expect` says. Nothing was changed.")],
        kind: ReasonKind::UnexpectedChange,
        message: match least {
            Some(_) => format!("The change concerns {}, not {most}{}. Nothing was changed.", counted(*count, "file"), words::first_paths(&paths, *count)),
            None => format!("The change concerns {}, more than {most}{}. Nothing was changed.", counted(*count, "file"), words::first_paths(&paths, *count)),
        },
        data: json!({ "notes": count, "paths": strings(paths), "left_out": Some(count - paths.len().min(*count)).filter(|left| *left > 0) }),
        hint: "Narrow the call, or send it with an `expect` that fits.",
    }
    KeyReused { key: String } => {
        kinds: [KeyReused("key_reused", -32002, "STALE_PRECONDITION", "The key belongs to an earlier call with other arguments.")],
        kind: ReasonKind::KeyReused,
        message: format!("{key} is the key of an earlier call with other arguments."),
        data: json!({ "key": key }),
        hint: "Use a new `idempotency_key` for each change, and the same one only to send a call again.",
    }
    AlreadyMade { checkpoint: Option<String>, undone: bool } => {
        kinds: [AlreadyMade("already_made", -32002, "STALE_PRECONDITION", "The call with this key was made before, and its answer is not known any more or its change was undone since.")],
        kind: ReasonKind::AlreadyMade,
        message: match undone {
            true => "This call was made before, and its change was undone since; it is not repeated.",
            false => "This call was made before; it is not repeated.",
        },
        data: json!({ "checkpoint": checkpoint, "undone": undone.then_some(true) }),
        hint: match undone {
            true => "To make the change again, send another `idempotency_key`.",
            false => "Read the files again to see the result.",
        },
    }
    TaskMissing { path: VaultPath, wanted: String, tasks: Vec<TaskCandidate>, total: usize } => {
        kinds: [TaskMissing("task_missing", -32001, "NOT_FOUND", "The note has no task with this line, id or text.")],
        kind: ReasonKind::TaskMissing,
        message: format!("{path} has no task {wanted}."),
        data: json!({ "path": path.as_str(), "task": wanted, "nearest": words::tasks(tasks) }),
        hint: match tasks.first() {
            Some(nearest) => format!("The nearest is on line {}: {}. Send its `line`.", nearest.line, quoted(&nearest.text)),
            None if *total == 0 => "The note has no tasks.".to_owned(),
            None => "Send the `line` of the task.".to_owned(),
        },
    }
    TaskAmbiguous { path: VaultPath, wanted: String, tasks: Vec<TaskCandidate>, total: usize } => {
        kinds: [TaskAmbiguous("task_ambiguous", -32002, "DUPLICATE_TARGET", "Several tasks of the note have the given id or text.")],
        kind: ReasonKind::TaskAmbiguous,
        message: format!("{total} tasks of {path} match {wanted}."),
        data: json!({ "path": path.as_str(), "task": wanted, "total": total, "matches": words::tasks(tasks) }),
        hint: "Send the `line` of one of them.",
    }
    RecurrenceUnsupported { path: VaultPath, line: usize, rule: String } => {
        kinds: [RecurrenceUnsupported("recurrence_unsupported", -32007, "INVALID_ARGS", "The next occurrence of the task cannot be computed from its rule.")],
        kind: ReasonKind::RecurrenceUnsupported,
        message: format!("The rule {rule} of the task on line {line} of {path} is not supported."),
        data: json!({ "path": path.as_str(), "line": line, "rule": rule }),
        hint: "Send `next: false` to change the task without its next occurrence, and tell the user.",
    }
    RegexInvalid { argument: &'static str, pattern: String, problem: Prose } => {
        kinds: [RegexInvalid("regex_invalid", -32007, "INVALID_ARGS", "The regular expression cannot be parsed.")],
        kind: ReasonKind::RegexInvalid,
        message: format!("Invalid {argument}: {problem}"),
        data: json!({ *argument: pattern }),
        hint: "Fix the expression; write `\\.` for a dot and `\\(` for a parenthesis.",
    }
    RegexUnsafe { argument: &'static str, pattern: String, problem: Prose } => {
        kinds: [RegexUnsafe("regex_unsafe", -32007, "INVALID_ARGS", "The regular expression is too long, nests repetitions with lookaround or backreferences, or took too many steps.")],
        kind: ReasonKind::RegexUnsafe,
        message: format!("Unsafe {argument}: {problem}"),
        data: json!({ *argument: pattern }),
        hint: "Use a shorter expression, or one without lookaround, backreferences and nested repetitions.",
    }
    PathPrefixInvalidMode { mode: &'static str } => {
        kinds: [PathPrefixInvalidMode("path_prefix_invalid_mode", -32007, "INVALID_ARGS", "`pathPrefix` was given in a mode other than `text`.")],
        kind: ReasonKind::PathPrefixInvalidMode,
        message: format!("`pathPrefix` works only in mode `text`, not in `{mode}`."),
        data: json!({ "mode": mode }),
        hint: "Leave out `pathPrefix`; in `logic` write {\"glob\": [\"Folder/*\", {\"var\": \"path\"}]}, in an `omnisearch` query `path:Folder`.",
    }
    QueryRequired { mode: &'static str } => {
        kinds: [QueryRequired("query_required", -32007, "INVALID_ARGS", "The mode needs a `query`.")],
        kind: ReasonKind::QueryRequired,
        message: format!("Mode `{mode}` needs a `query`."),
        data: json!({ "mode": mode }),
        hint: "Set `query` to the words to find.",
    }
    LogicRequired { mode: &'static str } => {
        kinds: [LogicRequired("logic_required", -32007, "INVALID_ARGS", "The mode needs `logic`.")],
        kind: ReasonKind::LogicRequired,
        message: format!("Mode `{mode}` needs `logic`."),
        data: json!({ "mode": mode }),
        hint: "Set `logic`, for example {\"==\": [{\"var\": \"frontmatter.status\"}, \"open\"]}.",
    }
    LogicInvalid { problem: Prose } => {
        kinds: [LogicInvalid("logic_invalid", -32007, "INVALID_ARGS", "The logic has an unknown operator or a broken pattern, is too large, or takes too many steps.")],
        kind: ReasonKind::LogicInvalid,
        message: format!("Invalid logic: {problem}."),
        data: json!({ "problem": problem.to_string() }),
        hint: "Fix the rule. `glob` and `regexp` take the pattern first: {\"glob\": [\"Projects/*\", {\"var\": \"path\"}]}.",
    }
    QueryUnreadable { line: usize, column: usize, problem: Prose, expected: Vec<String>, nearest: Option<String> } => {
        kinds: [QueryInvalid("query_invalid", -32007, "INVALID_ARGS", "The query cannot be read; `line` and `column` say where, `expected` what could be there.")],
        kind: ReasonKind::QueryInvalid,
        message: format!("The query cannot be read: line {line}, column {column}: {problem}."),
        data: json!({ "line": line, "column": column, "expected": expected, "nearest": nearest }),
        hint: advice::unreadable_query(&expected, nearest),
    }
    /// Code in a language that is not evaluated here.
    QueryNotEvaluated { what: &'static str, line: usize } => {
        kinds: [],
        kind: ReasonKind::QueryInvalid,
        message: format!("{what} is JavaScript, which is not run here (line {line})."),
        data: json!({ "line": line, "column": 1, "unsupported": *what }),
        hint: "Ask for the same in DQL, for example TABLE status FROM #project WHERE due < date(today).",
    }
    /// Line and column are those of the part that failed, if that is known.
    QueryFailed { line: Option<usize>, column: Option<usize>, problem: Prose, nearest: Option<&'static str> } => {
        kinds: [QueryFailed("query_failed", -32007, "INVALID_ARGS", "The query can be read but has no result: every row failed, or a clause cannot be evaluated; `line` and `column` say where.")],
        kind: ReasonKind::QueryFailed,
        message: advice::failed_query_message(line.copied(), column.copied(), problem),
        data: json!({ "line": line, "column": column, "problem": problem.to_string(), "nearest": nearest }),
        hint: advice::failed_query(nearest.copied()),
    }
    QueryTooLarge { problem: Prose } => {
        kinds: [QueryTooLarge("query_too_large", -32007, "BUDGET_EXCEEDED", "The query takes more steps or more memory than one call may.")],
        kind: ReasonKind::QueryTooLarge,
        message: format!("The query was stopped: {problem}."),
        data: json!({ "problem": problem.to_string() }),
        hint: "Begin with fewer rows (in DQL FROM #tag or FROM \"Folder\", in a base file.inFolder(\"Folder\")), and flatten or group less.",
    }
    ViewUnknown { view: String, views: Vec<String> } => {
        kinds: [ViewUnknown("view_unknown", -32001, "NOT_FOUND", "The base has no view of this name.")],
        kind: ReasonKind::ViewUnknown,
        message: format!("View {view} not found."),
        data: json!({ "view": view, "views": views }),
        hint: format!("Send one of: {}.", list(&views)),
    }
    ContextLengthTooLarge { given: usize, limit: usize } => {
        kinds: [ContextLengthTooLarge("context_length_too_large", -32007, "INVALID_ARGS", "More context around each match was requested than is allowed.")],
        kind: ReasonKind::ContextLengthTooLarge,
        message: format!("`contextLength` {given} is too large; the limit is {limit}."),
        data: json!({ "contextLength": given, "limit": limit }),
        hint: format!("Set it to {limit} or less, and read the note for more."),
    }
    TooManyOperations { submitted: usize, limit: u64 } => {
        kinds: [BudgetExceeded("budget_exceeded", -32007, "BUDGET_EXCEEDED", "The batch has more operations than MCP_MAX_BULK_OPS or its `_budget` allow, its files have more bytes than LAPIDARY_MAX_CHANGE_BYTES, or the call needs more memory than LAPIDARY_MEMORY_BYTES allows.")],
        kind: ReasonKind::BudgetExceeded,
        message: format!("The batch has {}; the limit is {limit}.", counted(*submitted, "operation")),
        data: json!({ "submitted": submitted, "limit": limit }),
        hint: format!("Nothing was changed. Send at most {limit} operations at once, or set `_budget: {{\"maxBulkOps\": 0}}`."),
    }
    NotInBatch { tool: String } => {
        kinds: [NotInBatch("not_in_batch", -32007, "INVALID_ARGS", "The operation names a tool that cannot run in a batch.")],
        kind: ReasonKind::NotInBatch,
        message: format!("{tool} cannot be part of a batch."),
        data: json!({ "tool": tool }),
        hint: advice::not_in_batch(offered),
    }
    OtherVault { given: String, vault: String } => {
        kinds: [VaultDiffers("vault_differs", -32007, "INVALID_ARGS", "An operation names a different vault than its batch.")],
        kind: ReasonKind::VaultDiffers,
        message: format!("A batch changes one vault, {vault}, and this operation names {given}."),
        data: json!({ "vault": given, "vaults": [vault] }),
        hint: "Send one batch per vault.",
    }
    NotJoined(error: JoinError) => {
        kinds: [BatchConflict("batch_conflict", -32007, "INVALID_ARGS", "Two operations of a batch cannot be combined into one change.")],
        kind: ReasonKind::BatchConflict,
        message: format!("This cannot be done in one batch: {error}."),
        data: match error {
            JoinError::TrashAfterEdit { path } | JoinError::NewFolder { path } | JoinError::FolderLeft { path } => {
                json!({ "path": path.as_str() })
            }
        },
        hint: match error {
            JoinError::TrashAfterEdit { .. } => "Leave out the edit, or delete the file in a later call.",
            JoinError::NewFolder { .. } | JoinError::FolderLeft { .. } => {
                "Create the files at their final paths, or move the folder in a later call."
            }
        },
    }
    ProposalExpired => {
        kinds: [ProposalExpired("proposal_expired", -32002, "STALE_PRECONDITION", "The token has expired, was already used, or belongs to other arguments.")],
        kind: ReasonKind::ProposalExpired,
        message: "There is no open proposal with this token for these arguments.",
        data: json!({}),
        hint: "Nothing was changed. Make the call without `proposal_token` to get a new diff and token, then repeat it with exactly the same arguments.",
    }
    ProposalChanged => {
        kinds: [ProposalChanged("proposal_changed", -32002, "STALE_PRECONDITION", "A file changed since the proposal was made.")],
        kind: ReasonKind::ProposalChanged,
        message: "The proposal no longer shows what would change.",
        data: json!({}),
        hint: "Nothing was changed, because a file is different now. Make the call without `proposal_token` to see the new diff.",
    }
    PromptUnknown { name: String, nearest: Option<String> } => {
        kinds: [PromptUnknown("prompt_unknown", -32602, "INVALID_ARGS", "There is no such prompt.")],
        kind: ReasonKind::PromptUnknown,
        message: format!("There is no prompt {name}."),
        data: json!({ "prompt": name, "nearest": nearest }),
        hint: match nearest {
            Some(nearest) => format!("Did you mean {nearest}?"),
            None => "Prompts are notes in `Prompts/` with the tag `mcp-tools-prompt` in their properties; list them again.".to_owned(),
        },
    }
    /// `path` is the file that the question was about, or the first of them.
    /// `words` are the user's, for the caller.
    Declined { path: Option<VaultPath>, words: Option<String> } => {
        kinds: [Cancelled("cancelled", -32600, "PERMISSION_DENIED", "The user was asked and declined.")],
        kind: ReasonKind::Cancelled,
        message: "The user declined this call.",
        data: json!({ "path": path.as_ref().map(VaultPath::as_str), "words": words }),
        hint: match words {
            Some(words) => format!("Nothing was changed. The user answered {words}."),
            None => "Nothing was changed. Ask the user what to do instead.".to_owned(),
        },
    }
    NobodyToAsk => {
        kinds: [ApprovalUnavailable("approval_unavailable", -32005, "PERMISSION_DENIED", "The change needs approval, and the client has no way to ask the user.")],
        kind: ReasonKind::ApprovalUnavailable,
        message: "This needs the user's approval, and the client has no way to ask.",
        data: json!({}),
        hint: "Nothing was done. The owner can allow it in the approval settings, or use a client that can ask the user.",
    }
    /// A step of a recipe, a script or a batch that has to be asked about before it asks others.
    AskedAlone { tool: String } => {
        kinds: [],
        kind: ReasonKind::ApprovalUnavailable,
        message: format!("{tool} needs the user's approval for each call, and no user can be asked among other steps."),
        data: json!({ "tool": tool }),
        hint: "Nothing was done. Make that call by itself and give its answer to the other steps, or ask the owner to allow it in the approval settings.",
    }
    ApprovalPending {
        id: String,
        /// Identifies the caller again where nothing else does.
        handle: Option<String>,
    } => {
        kinds: [ApprovalPending("approval_pending", -32005, "PERMISSION_DENIED", "The change needs approval and is waiting for the owner to decide with `lapidary approvals`.")],
        kind: ReasonKind::ApprovalPending,
        message: format!("The owner has to approve this first. It is pending as {id}."),
        data: json!({ "approval": id, "handle": handle }),
        hint: format!("Nothing was changed. Ask the user to review it with `lapidary approvals show {}` and to accept or reject it at a terminal; then make the same call again{} to get the result.", id.raw(), handle.map_or(String::new(), |handle| format!(" with `approval` {handle} added to its arguments"))),
    }
    TooMany { what: &'static str, limit: usize } => {
        kinds: [TooMany("too_many", -32005, "BUDGET_EXCEEDED", "The caller, or all callers together, reached the limit of open questions, sessions or subscriptions.")],
        kind: ReasonKind::TooMany,
        message: format!("No more than {limit} {what} may be open at a time."),
        data: json!({ "limit": limit }),
        hint: "Nothing was done. Try again when some of them have been answered or closed.",
    }
    QuestionTooLong { characters: usize, limit: usize } => {
        kinds: [],
        kind: ReasonKind::BudgetExceeded,
        message: format!("The arguments have {characters} characters; the user is shown at most {limit} and has to see all of them."),
        data: json!({ "characters": characters, "limit": limit }),
        hint: "Nothing was done. Ask for less at a time.",
    }
    MadeOnApproval { checkpoint: String } => {
        kinds: [],
        kind: ReasonKind::ApprovalExpired,
        message: "The owner approved this, and the change has been made; its answer was lost when a process ended.",
        data: json!({ "checkpoint": checkpoint }),
        hint: "Do not repeat the call. Read the file to see the result.",
    }
    ConsentExpired => {
        kinds: [ApprovalExpired("approval_expired", -32005, "PERMISSION_DENIED", "The approval came too late, was already used, or was given for something else.")],
        kind: ReasonKind::ApprovalExpired,
        message: "The approval request for this change is no longer open.",
        data: json!({}),
        hint: "Nothing was changed. Make the call again to ask the user again.",
    }
    ChangedMeanwhile => {
        kinds: [ChangedMeanwhile("changed_meanwhile", -32002, "STALE_PRECONDITION", "The note changed while the user was being asked.")],
        kind: ReasonKind::ChangedMeanwhile,
        message: "The change is no longer the one that the user was asked about.",
        data: json!({}),
        hint: "Nothing was changed. Read the note again and repeat the call.",
    }
    DeniedByRule => {
        kinds: [DeniedByRule("denied_by_rule", -32005, "PERMISSION_DENIED", "The owner's approval rules forbid it.")],
        kind: ReasonKind::DeniedByRule,
        message: "The owner's rules do not allow this.",
        data: json!({}),
        hint: "Nothing was done. Tell the user what you wanted to do.",
    }
    Repeated { times: usize, last: String, similar: bool } => {
        kinds: [RepeatedCall("repeated_call", -32003, "INVALID_ARGS", "The same call has returned the same result several times, or nearly the same search was repeated.")],
        kind: ReasonKind::RepeatedCall,
        message: words::repeated(*times, last.raw(), *similar),
        data: json!({ "times": times, "lastAnswered": last, "similar": similar }),
        hint: match similar {
            true => "Use what the earlier searches found, or search elsewhere: another folder, mode or page, or other words.".to_owned(),
            false => format!("Use the answer from {}, or do something different.", last.raw()),
        },
    }
    Interrupted(interruption: Interruption) => {
        kinds: [
            Interrupted("interrupted", -32600, "INTERNAL", "The client cancelled the call."),
            DeadlineExceeded("deadline_exceeded", -32004, "DEADLINE_EXCEEDED", "The call took longer than MCP_DEADLINE_MS."),
            WriteUnfinished("write_unfinished", -32004, "IO_ERROR", "The disk did not confirm a change in progress."),
        ],
        kind: match interruption {
            Interruption::TakenBack => ReasonKind::Interrupted,
            Interruption::Deadline { .. } => ReasonKind::DeadlineExceeded,
            Interruption::WriteUnfinished => ReasonKind::WriteUnfinished,
        },
        message: words::interrupted(interruption),
        data: json!({}),
        hint: match interruption {
            Interruption::WriteUnfinished => "Read the note to see whether the change is there.",
            Interruption::TakenBack | Interruption::Deadline { .. } => "Nothing was changed. Try again, or ask for less.",
        },
    }
    Disk { path: Option<VaultPath>, problem: DiskFault } => {
        kinds: [
            DiskError("disk_error", -32000, "IO_ERROR", "The disk is full or read-only, access is not permitted, or the system reported an error."),
            VaultUnavailable("vault_unavailable", -32000, "IO_ERROR", "The vault's folder does not exist."),
            NameInvalid("name_invalid", -32007, "INVALID_ARGS", "The new name is refused by some systems, such as `a:b.md` or `CON.md`."),
        ],
        kind: match problem {
            DiskFault::VaultGone => ReasonKind::VaultUnavailable,
            DiskFault::NotPortable | DiskFault::BadName => ReasonKind::NameInvalid,
            _ => ReasonKind::DiskError,
        },
        message: words::disk(problem, path),
        data: json!({ "path": path.as_ref().map(VaultPath::as_str) }),
        hint: advice::disk(*problem),
    }
    /// A vault behind the app; the reasons are those of the app.
    RemoteVault { fault: RemoteFault } => {
        kinds: [],
        kind: remote::kind(*fault),
        message: remote::message(*fault),
        data: remote::data(*fault),
        hint: remote::hint(*fault),
    }
    Internal(bug: Bug) => {
        kinds: [InternalError("internal_error", -32603, "INTERNAL", "A bug in the server. Nothing was changed.")],
        kind: ReasonKind::InternalError,
        message: format!("The server failed: internal error, id {}.", bug.id()),
        data: json!({ "id": bug.id() }),
        hint: format!(
            "Nothing was changed. Try again; if it happens again, report it with the line in the server's log that has the id {}.",
            bug.id()
        ),
    }
}
