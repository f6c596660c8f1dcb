//! Reads files as resources.

use std::time::Duration;

use lapidary_operation::{
    AppFault, AppNeed, AppStatus, ContentForm, Context, PluginManifest, Reason, ReasonKind, ResourceBody, VaultState,
    bug,
};
use lapidary_toolkit::{
    owner_guide,
    reading::{self, NOT_UTF8},
    tags,
    whole::NoteContents,
};
use lapidary_vault::{File, VaultPath, View, store::Capabilities};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    JSON,
    media::{PLAIN_TEXT, UNKNOWN, is_shown, media_type},
};

/// A note in the format of the contract, and the data that an edit of it needs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NoteJson {
    path: String,
    #[serde(flatten)]
    whole: NoteContents,
    content_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    eol: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bom: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// A note as JSON, other text as text, and everything else by its bytes.
pub(crate) fn read_file(context: &Context<'_>, view: &View, path: &VaultPath) -> Result<ResourceBody, Reason> {
    let file = reading::read(view, path)?;
    context.check()?;
    if !path.is_note() {
        return Ok(attachment(path, &file));
    }
    match note(path, &file) {
        // It only has the name of a note.
        Err(Reason::NotText { .. }) => Ok(attachment(path, &file)),
        note => note,
    }
}

fn note(path: &VaultPath, file: &File) -> Result<ResourceBody, Reason> {
    let shown = reading::show(path, file)?;
    let mut notices = Vec::new();
    notices.extend(shown.is_lossy().then(|| NOT_UTF8.to_owned()));
    let whole = NoteContents::of(file, &shown, &mut notices);
    json_contents(&NoteJson {
        path: path.to_string(),
        whole,
        content_hash: file.hash().to_string(),
        eol: shown.eol(),
        bom: shown.bom(),
        notice: (!notices.is_empty()).then(|| notices.join(" ")),
    })
}

fn attachment(path: &VaultPath, file: &File) -> ResourceBody {
    let known = media_type(path);
    let bytes = |media_type| ResourceBody {
        media_type,
        form: ContentForm::Bytes(file.bytes().to_vec()),
        hash: Some(file.hash()),
        eol: None,
        bom: false,
    };
    // Before its bytes are looked at: an SVG is text, but a client has to show it.
    if known.is_some_and(is_shown) {
        return bytes(known.unwrap_or(UNKNOWN));
    }
    match reading::show(path, file) {
        Ok(shown) if !shown.is_lossy() => ResourceBody {
            media_type: known.unwrap_or(PLAIN_TEXT),
            form: ContentForm::Text(shown.text().to_owned()),
            hash: Some(file.hash()),
            eol: shown.eol(),
            bom: shown.bom(),
        },
        // Text with replaced bytes would not be the file; its bytes are.
        _ => bytes(known.unwrap_or(UNKNOWN)),
    }
}

/// Every tag of the vault.
pub(crate) fn read_tags(context: &Context<'_>, view: &View) -> Result<ResourceBody, Reason> {
    let counted = tags::of_vault(context, view)?;
    let tags: Vec<_> = counted.into_iter().map(|(name, count)| json!({ "name": name, "count": count })).collect();
    json_contents(&json!({ "tags": tags }))
}

/// The owner's guide, whole.
pub(crate) fn read_guide(context: &Context<'_>, view: &View) -> Result<ResourceBody, Reason> {
    match owner_guide::find(context, view, usize::MAX)? {
        Some(guide) => json_contents(&json!({
            "path": guide.path.as_str(),
            "content": guide.text,
            "contentHash": guide.hash.to_string(),
        })),
        None => json_contents(&json!({ "notice": owner_guide::NONE })),
    }
}

/// How long an app may take to say how it is.
const APP_STATUS_TIME: Duration = Duration::from_secs(2);

/// Whether each vault is usable, what its place can promise, and how its app is.
pub(crate) fn status(context: &Context<'_>, vaults: &[VaultState]) -> Result<ResourceBody, Reason> {
    let usable = vaults.iter().all(|vault| vault.problem.is_none());
    let mut states = Vec::new();
    // The first app that answers is also described where clients of the original look for it.
    let mut reached: Option<AppStatus> = None;
    for vault in vaults {
        context.check()?;
        let status = vault.problem.map_or("OK", |problem| problem.wire_code().id);
        let asked = vault
            .app
            .as_ref()
            .map_or(Err(AppFault::SwitchedOff), |app| app.status(context.cancel.left().min(APP_STATUS_TIME)));
        let mut state = json!({ "name": vault.name, "status": status, "app": app_state(&asked) });
        if let Some(capabilities) = &vault.capabilities {
            state["capabilities"] = shown_capabilities(capabilities);
        }
        states.push(state);
        reached = reached.or(asked.ok());
    }
    let mut contents = json!({
        "status": if usable { "OK" } else { "unavailable" },
        "service": "Lapidary",
        // Part of the format of Obsidian's Local REST API: whether its key is accepted. Without the app there is nothing to
        // log in to.
        "authenticated": reached.as_ref().map_or(usable, |app| app.is_authenticated),
        "versions": { "self": env!("CARGO_PKG_VERSION") },
        "vaults": states,
    });
    if let Some(AppStatus { obsidian: Some(obsidian), .. }) = &reached {
        contents["versions"]["obsidian"] = json!(obsidian);
    }
    if let Some(manifest) = reached.and_then(|app| app.manifest) {
        contents["manifest"] = shown_manifest(&manifest);
    }
    json_contents(&contents)
}

/// What the place of a vault can promise, for programs.
pub fn shown_capabilities(capabilities: &Capabilities) -> Value {
    json!({
        "compareAndSwap": capabilities.compare_and_swap,
        "atomicMany": capabilities.atomic_many,
        "durable": capabilities.durable,
        "checkpoints": capabilities.checkpoints,
    })
}

/// The app of a vault, or why it cannot be used.
fn app_state(asked: &Result<AppStatus, AppFault>) -> Value {
    let app = match asked {
        Ok(app) => app,
        // As the owner wants it, so it is not reported as a fault.
        Err(AppFault::SwitchedOff) => return json!({ "status": "off" }),
        Err(AppFault::NotSetUp | AppFault::PluginUnready | AppFault::KeyMissing) => {
            return json!({ "status": "not_set_up" });
        }
        Err(AppFault::PluginOff) => return json!({ "status": "plugin_off" }),
        Err(fault) => {
            let kind = Reason::AppUnavailable { fault: *fault, need: AppNeed::ActiveNote }.kind();
            return json!({ "status": kind.wire_code().id });
        }
    };
    let mut state = json!({
        "status": if app.is_authenticated { "OK" } else { ReasonKind::ApiKeyRejected.wire_code().id },
        "authenticated": app.is_authenticated,
        "versions": { "obsidian": app.obsidian, "self": app.plugin },
        "apiExtensions": app.extensions,
    });
    if let Some(manifest) = &app.manifest {
        state["manifest"] = shown_manifest(manifest);
    }
    state
}

fn shown_manifest(PluginManifest { id, name, version }: &PluginManifest) -> Value {
    json!({ "id": id, "name": name, "version": version })
}

fn json_contents(value: &impl Serialize) -> Result<ResourceBody, Reason> {
    let text =
        // Indented, because people choose resources, and some clients show them as they are.
        serde_json::to_string_pretty(value).map_err(|error| bug!("a resource cannot be written as JSON: {error}"))?;
    Ok(ResourceBody { media_type: JSON, form: ContentForm::Text(text), hash: None, eol: None, bom: false })
}
