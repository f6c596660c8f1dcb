//! Keeps a page of the web as a source note.

use lapidary_note::{Document, counted};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PageKind, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    hash, naming,
    note_template::{self, NoteTemplate, TemplatePlace},
    page_as_text::{self, PageOrigin},
    page_pictures::{self, KeptPictures, PicturesLeft},
    patching::edit_refusal,
    reading,
    sources::{self, KnownBy, SourceDraft, SourceNote, trimmed},
    template,
    web_page::WebPage,
};
use lapidary_vault::{Change, ChangeSet, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{read, web};
use crate::tools::NO_WEB_PAGES;

pub(crate) struct WebClip;

/// Keep a web page as a note in the folder for sources, with where it comes from and a status. A page that was kept before
/// is answered with its note.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Its address.
    #[schemars(length(min = 1, max = 2000))]
    url: String,
    /// The name of the note; the page has its own.
    #[serde(default)]
    #[schemars(length(max = 300))]
    title: Option<String>,
    /// Name or path of a template; the text of the page comes behind it.
    #[serde(default)]
    template: Option<String>,
    /// How far it is worked through; else that of the template, or `inbox`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    status: Option<String>,
    /// Keep its pictures as attachments: up to 20, 8 MB together; none below 16 pixels that the page has no words for.
    #[serde(default)]
    images: bool,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    /// Where it was found, after redirects.
    url: String,
    created: bool,
    /// What an existing note was recognised by.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_by: Option<KnownBy>,
    bytes: usize,
    content_hash: String,
    /// Pictures that were kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<String>,
    /// Pictures that stay links.
    #[serde(skip_serializing_if = "Option::is_none")]
    images_left: Option<usize>,
    /// Why, with how many of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    images_left_because: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
}

impl WriteTool for WebClip {
    const DECLARATION: Declaration = Declaration {
        name: "web_clip",
        dotted: None,
        title: "Keep a web page",
        family: WireFamily::Own,
        group: ToolGroup::Web,
        listed: false,
        // What is known already is not added again.
        idempotent: true,
        paths: &[PathArgument { pointer: "/template", role: PathRole::Read }],
        reasons: &[
            ReasonKind::WebNotAllowed,
            ReasonKind::WebUnreachable,
            ReasonKind::WebTimeout,
            ReasonKind::WebUnsupported,
            ReasonKind::NoteMissing,
            ReasonKind::NotText,
        ],
        words: "save clip a web page url link into the vault as a note, web clipper, bookmark, read later, Webseite speichern, enregistrer une page web, guardar una página web, 保存网页到笔记, ページを保存",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/url", TextLanguage::Address)];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let bad = |at: &str, problem: &'static str| Reason::bad_argument(Self::DECLARATION.name, at, problem);
        let web = web(context, NO_WEB_PAGES[1])?;
        let known = sources::all(context, view)?;
        // By its address alone it needs no request.
        let asked = SourceDraft { url: Some(input.url.clone()), ..SourceDraft::default() };
        if let Some((note, by)) = asked.known_as(&known) {
            return answer_known(view, note, by, &input.url, &input);
        }
        // Before the request: a call that is refused for its template asks no stranger.
        let template = input.template.as_ref().map(|name| NoteTemplate::find(context, view, name)).transpose()?;
        let fetched = web.fetch(&input.url, context.cancel)?;
        let page = read(&fetched, input.images)?;
        let pictures = page.pictures.clone();
        let origin = match fetched.kind {
            PageKind::Html => PageOrigin::Html,
            PageKind::Text => PageOrigin::Markdown,
        };
        let markdown = page_as_text::as_text(&page.markdown, origin, Some(&fetched.url));
        let page = WebPage { markdown, ..page };
        let draft = SourceDraft::of_page(page, &fetched.text);
        let mut draft = draft.ok_or_else(|| bad("url", "must be a page that has text"))?;
        draft.title = trimmed(input.title.as_deref()).or(draft.title);
        if let Some((note, by)) = draft.known_as(&known) {
            return answer_known(view, note, by, &fetched.url, &input);
        }
        let taken = || bad("title", "is taken with every number");
        let path = draft.free_path(context, view)?.ok_or_else(taken)?;
        let not_text = |_| Reason::NotText { path: path.clone(), valid_up_to: None };
        let kept = match pictures.is_empty() {
            true => None,
            false => Some(page_pictures::keep(context, view, web, &path, &draft.text, &pictures)?),
        };
        let (text, images, left) = match kept {
            Some(KeptPictures { text, changes, left }) => (text, changes, left),
            None => (draft.text.clone(), Vec::new(), PicturesLeft::default()),
        };
        let mut note = Document::open(text).map_err(not_text)?;
        let mut notice = None;
        if let Some(template) = template {
            let filled = template.filled(context, naming::title(&path));
            notice = filled.has_commands.then_some(template::COMMANDS_LEFT);
            note = note_template::inserted(&note, &filled.text, TemplatePlace::Start)
                .map_err(|error| edit_refusal(&path, &error))?;
        }
        let note = draft.with_properties(context, &path, &note, input.status.as_deref())?;
        let content = note.content().clone();
        let image_paths = images.iter().map(|change| change.path().to_string()).collect();
        // One change: no reader sees a note without its pictures, and one undo takes all of it back.
        let note = Change::Create { path: path.clone(), content: content.clone() };
        let changes = ChangeSet { changes: std::iter::once(note).chain(images).collect() };
        context.budget.hold_all(&changes)?;
        let output = Output {
            path: path.to_string(),
            url: fetched.url,
            created: true,
            known_by: None,
            bytes: content.len(),
            content_hash: content.hash().to_string(),
            images: image_paths,
            images_left: Some(left.total()).filter(|total| *total > 0),
            images_left_because: Some(left.in_words()).filter(|words| !words.is_empty()),
            dry_run: input.dry_run,
            notice,
        };
        Ok(ToolPlan { changes, output, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, known_by, bytes, content_hash, dry_run, notice, .. } = output;
        let (path, digits) = (quoted(path), hash::digits(content_hash));
        let text = match (known_by, dry_run) {
            (Some(KnownBy::Url), _) => format!("Known already by its address: {path}, hash {digits}"),
            (Some(KnownBy::Text), _) => format!("Known already by its text: {path}, hash {digits}"),
            (None, true) => format!("Would create {path}, {bytes} bytes, hash {digits}"),
            (None, false) => format!("Created {path}, {bytes} bytes, hash {digits}"),
        };
        let images = match (output.images.len(), output.images_left) {
            (0, None) => String::new(),
            (kept, None) => format!(", {}", counted(kept, "picture")),
            (kept, Some(left)) => {
                let because = output.images_left_because.as_deref().unwrap_or_default();
                format!(", {kept} of {} (the others stay links: {because})", counted(kept + left, "picture"))
            }
        };
        let notice = notice.map_or(String::new(), |notice| format!("\n{notice}"));
        Some(format!("{text}{images}{notice}"))
    }

    fn examples(&self) -> Vec<Example> {
        const SETTINGS: (&str, &str) = (".obsidian/templates.json", r#"{"folder":"Templates"}"#);
        const CLIP: (&str, &str) = ("Templates/Clip.md", "---\nstatus: unread\ntags: [clip]\n---\n# {{title}}\n\n");
        const ATTACHMENTS: (&str, &str) = (".obsidian/app.json", r#"{"attachmentFolderPath":"Files"}"#);
        const GALLERY: (&str, &str) = (
            "Sources/Gallery.md",
            "---\ntitle: Gallery\nsource: https://a.example/gallery\ningested: 2026-04-15\nstatus: inbox\nsource_hash: sha256:f8d9d353e70e2ae8\n---\nA tile: ![[tile.gif]]\n\n![[tile.gif]] [Picture: Trap](https://a.example/trap.png)[Picture: Elsewhere](https://b.example/x.png)\n",
        );
        const TILE: (&str, &str) = (
            "Files/tile.gif",
            "GIF89a....................................................................................................",
        );
        const SLATE: (&str, &str) = (
            "Sources/Slate roofs.md",
            "---\ntitle: Slate roofs\nsource: https://a.example/slate\nauthor: Ada\ningested: 2026-04-15\nstatus: inbox\nsource_hash: sha256:b1f708ea72a91ed0\n---\nSlate lasts a **century**. See [tiles](https://a.example/tiles).\n",
        );
        vec![
            Example {
                says: "A page becomes a note in the folder for sources",
                before: &[],
                input: json!({ "url": "https://a.example/slate" }),
                gives: ExampleResult::Including(json!({
                    "path": "Sources/Slate roofs.md", "url": "https://a.example/slate", "created": true,
                }))
                .with_web(),
                after: &[SLATE],
            },
            Example {
                says: "With the vault's template",
                before: &[SETTINGS, CLIP],
                input: json!({ "url": "https://a.example/slate", "template": "Clip" }),
                gives: ExampleResult::Including(json!({ "path": "Sources/Slate roofs.md", "created": true }))
                    .with_web(),
                after: &[
                    SETTINGS,
                    CLIP,
                    (
                        "Sources/Slate roofs.md",
                        "---\nstatus: unread\ntags:\n  - clip\ntitle: Slate roofs\nsource: https://a.example/slate\nauthor: Ada\ningested: 2026-04-15\nsource_hash: sha256:b1f708ea72a91ed0\n---\n# Slate roofs\n\nSlate lasts a **century**. See [tiles](https://a.example/tiles).\n",
                    ),
                ],
            },
            Example {
                says: "A page that was kept before is not fetched again",
                before: &[SLATE],
                input: json!({ "url": "http://a.example/slate#top" }),
                gives: ExampleResult::Including(json!({
                    "path": "Sources/Slate roofs.md", "created": false, "knownBy": "url",
                }))
                .with_web(),
                after: &[SLATE],
            },
            Example {
                says: "With its pictures, in the folder that the vault has for attachments",
                before: &[ATTACHMENTS],
                input: json!({ "url": "https://a.example/gallery", "images": true }),
                gives: ExampleResult::Including(json!({
                    "path": "Sources/Gallery.md", "images": ["Files/tile.gif"], "imagesLeft": 2,
                }))
                .with_web(),
                after: &[ATTACHMENTS, GALLERY, TILE],
            },
            Example {
                says: "A page that is not there",
                before: &[],
                input: json!({ "url": "https://a.example/gone" }),
                gives: ExampleResult::Refusal(ReasonKind::WebUnreachable).with_web(),
                after: &[],
            },
        ]
    }
}

fn answer_known(
    view: &View,
    note: &SourceNote,
    by: KnownBy,
    url: &str,
    input: &Input,
) -> Result<ToolPlan<Output>, Reason> {
    let file = reading::read(view, &note.path)?;
    let output = Output {
        path: note.path.to_string(),
        url: url.to_owned(),
        created: false,
        known_by: Some(by),
        bytes: file.content.len(),
        content_hash: file.hash().to_string(),
        images: Vec::new(),
        images_left: None,
        images_left_because: None,
        dry_run: input.dry_run,
        notice: None,
    };
    Ok(ToolPlan { changes: ChangeSet::default(), output, dry_run: input.dry_run })
}
