//! Puts a file into the vault, where its settings want attachments.

use base64::{Engine, prelude::BASE64_STANDARD};
use lapidary_note::{FileContent, LinkForm};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, clipped,
    quote::{Prose, quoted},
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{free_name, hash, index, link::NewLink, naming};
use lapidary_vault::{Change, ChangeSet, VaultPath, View, links::LinkFormat, store::StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::resources::media_type;

pub(crate) struct AttachmentAdd;

/// Add a file to the vault, in the folder that its settings name, under a free name. Answers with the link that embeds it;
/// put that into a note yourself.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The bytes in base64.
    #[serde(default)]
    data: Option<String>,
    /// Instead: a file in the folder that the owner opened for imports.
    #[serde(default)]
    source: Option<String>,
    /// Name with extension; needed with `data`.
    #[serde(default)]
    name: Option<String>,
    /// The note it is for: some vaults keep attachments beside their notes.
    #[serde(default)]
    note: Option<String>,
    /// Only show what would be added.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    // For the note.
    link: String,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<&'static str>,
    content_hash: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

impl WriteTool for AttachmentAdd {
    const DECLARATION: Declaration = Declaration {
        name: "attachment_add",
        dotted: None,
        title: "Add an attachment",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/note", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::ImportUnavailable, ReasonKind::FileExists],
        words: "add attach upload save import image picture screenshot attachment into the vault, insert image into note",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] =
        &[TextArgument::new("/name", TextLanguage::Path), TextArgument::new("/source", TextLanguage::Path)];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let note = input.note.as_deref().map(|note| naming::find(context, view, note)).transpose()?;
        let note = note.map(|found| found.path);
        let (bytes, own_name) = match (&input.data, &input.source) {
            (Some(data), None) => (decoded(tool, context, data)?, None),
            (None, Some(source)) => imported(tool, context, source)?,
            _ => return Err(Reason::bad_argument(tool, "", "must have either `data` or `source`")),
        };
        // A file from the import folder brings its name along.
        let name = input.name.or(own_name);
        let name = name.ok_or_else(|| Reason::bad_argument(tool, "name", "is needed with `data`"))?;
        let settings = view.app_settings();
        let path = free_path(tool, context, view, settings.attachments.folder(note.as_ref()).as_ref(), &name)?;
        let content = FileContent::from(bytes);
        let changes = ChangeSet::one(Change::Create { path: path.clone(), content: content.clone() });
        // Before the view is made, which holds the file a second time.
        context.budget.hold_all(&changes)?;
        // As it will be: the shortest link depends on the other files of the vault.
        let ahead = view.with(&changes);
        let files = index::files(context, &ahead)?;
        let form = if settings.markdown_links { LinkForm::Markdown } else { LinkForm::Wiki };
        // Without a note there is nothing that it could be relative to.
        let format = match (&note, settings.new_links) {
            (None, LinkFormat::Relative) => LinkFormat::Absolute,
            (_, format) => format,
        };
        let link = NewLink::to(files, &path, note.as_ref().unwrap_or(&path), format, form, "");
        let link = link.ok_or_else(|| Reason::bad_argument(tool, "name", "must be one that a link can name"))?;
        let output = Output {
            link: format!("!{}", link.text),
            media_type: media_type(&path),
            bytes: content.len(),
            content_hash: content.hash().to_string(),
            dry_run: input.dry_run,
            path: path.to_string(),
        };
        Ok(ToolPlan { changes, output, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, link, bytes, content_hash, dry_run, .. } = output;
        let done = if *dry_run { "Would add" } else { "Added" };
        let digits = hash::digits(content_hash);
        Some(format!("{done} {}, {bytes} bytes, hash {digits}; embed it with {}", quoted(path), quoted(link)))
    }

    fn examples(&self) -> Vec<Example> {
        const BESIDE: (&str, &str) = (".obsidian/app.json", "{\"attachmentFolderPath\": \"./files\"}");
        vec![
            Example {
                says: "A file for a note, in a vault that keeps attachments beside notes",
                before: &[BESIDE, ("Stones/Amber.md", "")],
                input: json!({ "name": "finds.csv", "data": "YSxiCg==", "note": "Amber" }),
                gives: ExampleResult::Including(json!({
                    "path": "Stones/files/finds.csv",
                    "link": "![[finds.csv]]",
                    "bytes": 4,
                    "mediaType": "text/csv",
                })),
                after: &[BESIDE, ("Stones/Amber.md", ""), ("Stones/files/finds.csv", "a,b\n")],
            },
            Example {
                says: "A name that is taken gets a number",
                before: &[("finds.csv", "old\n")],
                input: json!({ "name": "finds.csv", "data": "YSxiCg==" }),
                gives: ExampleResult::Including(json!({ "path": "finds 1.csv", "link": "![[finds 1.csv]]" })),
                after: &[("finds.csv", "old\n"), ("finds 1.csv", "a,b\n")],
            },
            Example {
                says: "A file from elsewhere, and the owner has opened no folder",
                before: &[],
                input: json!({ "source": "scan.pdf" }),
                gives: ExampleResult::Refusal(ReasonKind::ImportUnavailable),
                after: &[],
            },
            Example {
                says: "Bytes that are not base64",
                before: &[],
                input: json!({ "name": "a.png", "data": "***" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

fn decoded(tool: &str, context: &Context<'_>, data: &str) -> Result<Vec<u8>, Reason> {
    // Some callers send the address that a browser would show.
    let data = match data.split_once(";base64,") {
        Some((head, data)) if head.starts_with("data:") => data,
        _ => data,
    };
    let limit = context.budget.file_bytes();
    // Base64 is a third longer; checked before it takes memory.
    if data.len() / 4 > limit / 3 + 1 {
        return Err(Reason::bad_argument(tool, "data", Prose::ours(format!("must have at most {limit} bytes"))));
    }
    BASE64_STANDARD.decode(data).map_err(|_| Reason::bad_argument(tool, "data", "must be base64"))
}

/// The bytes and the name of a file in the folder for imports.
fn imported(tool: &str, context: &Context<'_>, source: &str) -> Result<(Vec<u8>, Option<String>), Reason> {
    let unavailable = |is_configured| Reason::ImportUnavailable { given: clipped(source), is_configured };
    let folder = context.attachments.imports.ok_or_else(|| unavailable(false))?;
    // The same parser as for the vault, so that a path cannot lead out of the folder.
    let path = VaultPath::parse(source).map_err(|_| unavailable(true))?;
    let limit = context.budget.file_bytes() as u64;
    match folder.read(&path, limit) {
        Ok(bytes) => Ok((bytes, Some(path.name().to_owned()))),
        Err(StoreError::TooLarge { .. }) => {
            Err(Reason::bad_argument(tool, "source", Prose::ours(format!("must name a file of at most {limit} bytes"))))
        }
        // Nothing is said about what else is on that disk.
        Err(_) => Err(unavailable(true)),
    }
}

/// The first free path for a name, as the app numbers them.
fn free_path(
    tool: &str,
    context: &Context<'_>,
    view: &View,
    folder: Option<&VaultPath>,
    name: &str,
) -> Result<VaultPath, Reason> {
    let refused = || Reason::bad_argument(tool, "name", "must be a file name with an extension, like `Plan.png`");
    let (stem, ending) = name.rsplit_once('.').ok_or_else(refused)?;
    let stem = free_name::cleaned(stem);
    let is_ending =
        // A long or strange ending is more likely part of the name.
        !ending.is_empty() && ending.len() <= 16 && ending.bytes().all(|letter| letter.is_ascii_alphanumeric());
    if stem.is_empty() || !is_ending {
        return Err(refused());
    }
    let taken = || Reason::bad_argument(tool, "name", "is taken with every number");
    free_name::free_path(context, view, folder, &stem, ending)?.ok_or_else(taken)
}
