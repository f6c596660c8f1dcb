//! Makes a note of a source: a text, a web page or a document of the vault.

use std::sync::Arc;

use lapidary_note::{Document, FileContent, LinkForm};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, clipped,
    quote::{Prose, quoted},
};
use lapidary_toolkit::{
    anchoring::{self, AnchorProblem},
    hash, index, naming,
    page_as_text::{self, PageOrigin},
    reading,
    sources::{self, KnownBy, SourceDraft, SourceNote, trimmed},
    web_page::WebPage,
};
use lapidary_vault::{
    Change, ChangeSet, DocumentKind, DocumentText, VaultPath, View,
    links::{LinkFormat, linkpath_for},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct SourceIngest;

/// Keep a source as a note: a text, a page as HTML (it becomes Markdown) or a document of the vault (PDF by pages, DOCX, EPUB,
/// …), with where it comes from and a status. A source that is known by its `url` or text is answered with its note.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, in Markdown.
    #[serde(default)]
    text: Option<String>,
    /// Instead: a page as HTML.
    #[serde(default)]
    html: Option<String>,
    /// Instead: a text, HTML file or document of the vault.
    #[serde(default)]
    file: Option<String>,
    /// Its address.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    url: Option<String>,
    /// The name of the note; a page has its own.
    #[serde(default)]
    #[schemars(length(max = 300))]
    title: Option<String>,
    /// Who wrote it.
    #[serde(default)]
    #[schemars(length(max = 300))]
    author: Option<String>,
    /// A date.
    #[serde(default)]
    #[schemars(length(max = 40))]
    published: Option<String>,
    /// How far it is worked through.
    #[serde(default = "inbox")]
    #[schemars(length(min = 1, max = 100))]
    status: String,
    /// Places that get a block id, to link to.
    #[serde(default)]
    #[schemars(length(max = 50))]
    anchors: Vec<AnchorInput>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

fn inbox() -> String {
    sources::INBOX.to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnchorInput {
    /// Words of the text, or a heading.
    #[schemars(length(min = 1, max = 1000))]
    quote: String,
    /// Letters, digits and `-`; else `q1`, `q2`, ….
    #[serde(default)]
    #[schemars(length(min = 1, max = 50))]
    id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    created: bool,
    /// What an existing note was recognised by.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_by: Option<KnownBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// Links to the anchors, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    anchors: Vec<String>,
    bytes: usize,
    content_hash: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
}

const SUPPORTED: &str = "documents (pdf, docx, pptx, xlsx, epub), pages (html, htm, xhtml) and text (txt, text, rst, org, tex, csv, tsv, srt, vtt, log)";

impl WriteTool for SourceIngest {
    const DECLARATION: Declaration = Declaration {
        name: "source_ingest",
        dotted: None,
        title: "Keep a source",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        // What is known already is not added again.
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::AttachmentUnsupported,
            ReasonKind::AttachmentUnreadable,
            ReasonKind::NotText,
            ReasonKind::TextMissing,
            ReasonKind::FileExists,
        ],
        words: "save clip import ingest an article web page html document source into the vault, web clipper, read later, literature note, bibliography, Artikel Webseite Quelle speichern, enregistrer un article une source, guardar un artículo una fuente, 保存网页 文章, 記事を保存",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        check_facts(&input)?;
        let (mut draft, file) = given_source(context, view, &input)?;
        // Before a name is chosen: a source that is known gets no second note.
        let known = sources::all(context, view)?;
        if let Some((note, by)) = draft.known_as(&known) {
            return answer_known(view, note, by, &draft, &input);
        }
        let taken = || Reason::bad_argument(tool, "title", "is taken with every number");
        let path = draft.free_path(context, view)?.ok_or_else(taken)?;
        if let Some(file) = file {
            let link = LinkForm::Wiki.written(&wiki_path(context, view, &file, &path)?, "");
            // Some names have no link.
            draft.original = Some(link.unwrap_or_else(|| file.to_string()));
        }
        let (body, ids) = anchors(&path, &draft.text, &input.anchors)?;
        let not_text = |_| Reason::NotText { path: path.clone(), valid_up_to: None };
        let note = Document::open(body).map_err(not_text)?;
        let document = draft.with_properties(context, &path, &note, Some(&input.status))?;
        let content: FileContent = document.content().clone();
        let changes = ChangeSet::one(Change::Create { path: path.clone(), content: content.clone() });
        context.budget.hold_all(&changes)?;
        // As it will be: the shortest name depends on the other notes.
        let ahead = view.with(&changes);
        let named = if ids.is_empty() { String::new() } else { wiki_path(context, &ahead, &path, &path)? };
        let link = |id: &String| format!("[[{named}#^{id}]]");
        let output = Output {
            created: true,
            known_by: None,
            status: Some(input.status),
            anchors: ids.iter().map(link).collect(),
            bytes: content.len(),
            content_hash: content.hash().to_string(),
            dry_run: input.dry_run,
            notice: None,
            path: path.to_string(),
        };
        Ok(ToolPlan { changes, output, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, known_by, status, anchors, bytes, content_hash, dry_run, notice, .. } = output;
        let (path, digits) = (quoted(path), hash::digits(content_hash));
        let status = status.as_ref().map_or(String::new(), |status| format!(", status {}", quoted(status)));
        let mut text = match (known_by, dry_run) {
            (Some(KnownBy::Url), _) => format!("Known already by its address: {path}{status}, hash {digits}"),
            (Some(KnownBy::Text), _) => format!("Known already by its text: {path}{status}, hash {digits}"),
            (None, true) => format!("Would create {path}, {bytes} bytes{status}, hash {digits}"),
            (None, false) => format!("Created {path}, {bytes} bytes{status}, hash {digits}"),
        };
        for link in anchors {
            text += &format!("\n{}", quoted(link));
        }
        if let Some(notice) = notice {
            text += &format!("\n{notice}");
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const SLATE: (&str, &str) = (
            "Sources/Slate roofs.md",
            "---\ntitle: Slate roofs\nsource: https://a.example/slate\ningested: 2026-04-15\nstatus: inbox\nsource_hash: sha256:39e58a4099c64d9d\n---\nSlate lasts a **century**. ^lasts\n",
        );
        vec![
            Example {
                says: "A page becomes a note in the inbox, with a block to link to",
                before: &[],
                input: json!({
                    "html": "<title>Slate roofs</title><p>Slate lasts a <b>century</b>.</p>",
                    "url": "https://a.example/slate",
                    "anchors": [{ "quote": "lasts a century", "id": "lasts" }],
                }),
                gives: ExampleResult::Including(json!({
                    "path": "Sources/Slate roofs.md", "created": true, "status": "inbox",
                    "anchors": ["[[Slate roofs#^lasts]]"],
                })),
                after: &[SLATE],
            },
            Example {
                says: "The same address again is the same note",
                before: &[SLATE],
                input: json!({ "text": "Slate lasts long.", "url": "http://a.example/slate/#top" }),
                gives: ExampleResult::Including(json!({
                    "path": "Sources/Slate roofs.md", "created": false, "knownBy": "url",
                })),
                after: &[SLATE],
            },
            Example {
                says: "A file of the vault, with a link to it",
                before: &[("Files/field notes.txt", "Grey, fine-grained.\n")],
                input: json!({ "file": "field notes.txt", "author": "Ada", "status": "read" }),
                gives: ExampleResult::Including(json!({ "path": "Sources/field notes.md", "status": "read" })),
                after: &[
                    ("Files/field notes.txt", "Grey, fine-grained.\n"),
                    (
                        "Sources/field notes.md",
                        "---\ntitle: field notes\noriginal: \"[[field notes.txt]]\"\nauthor: Ada\ningested: 2026-04-15\nstatus: read\nsource_hash: sha256:4fd71184bbda130b\n---\nGrey, fine-grained.\n",
                    ),
                ],
            },
            Example {
                says: "A document becomes a note with its pages",
                before: &[("Slate.pdf", crate::tools::read::attachment_read::SLATE)],
                input: json!({ "file": "Slate.pdf" }),
                gives: ExampleResult::Including(json!({ "path": "Sources/Slate.md", "created": true })),
                after: &[
                    (
                        "Sources/Slate.md",
                        "---\ntitle: Slate\noriginal: \"[[Slate.pdf]]\"\ningested: 2026-04-15\nstatus: inbox\nsource_hash: sha256:f73d77ef3566c6d3\n---\n## Page 1\n\n[[Slate.pdf#page=1]]\n\nSlate lasts a century.\n",
                    ),
                    ("Slate.pdf", crate::tools::read::attachment_read::SLATE),
                ],
            },
            Example {
                says: "A quotation that the text does not have",
                before: &[],
                input: json!({ "text": "Slate.", "anchors": [{ "quote": "granite" }] }),
                gives: ExampleResult::Refusal(ReasonKind::TextMissing),
                after: &[],
            },
            Example {
                says: "A kind of file whose text cannot be read",
                before: &[("plan.psd", "8BPS")],
                input: json!({ "file": "plan.psd" }),
                gives: ExampleResult::Refusal(ReasonKind::AttachmentUnsupported),
                after: &[],
            },
            Example {
                says: "Nothing to keep",
                before: &[],
                input: json!({ "url": "https://a.example" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// How a source was given.
enum SourceForm {
    Text,
    Page,
    Document(Arc<DocumentText>),
}

/// The source that was given, and the file of the vault that it is in.
fn given_source(context: &Context<'_>, view: &View, input: &Input) -> Result<(SourceDraft, Option<VaultPath>), Reason> {
    let bad = |at: &str, problem: &'static str| Reason::bad_argument(SourceIngest::DECLARATION.name, at, problem);
    let mut file = None;
    let (original, form) = match (&input.text, &input.html, &input.file) {
        (Some(text), None, None) => (text.clone(), SourceForm::Text),
        (None, Some(html), None) => (html.clone(), SourceForm::Page),
        (None, None, Some(name)) => {
            let found = naming::find(context, view, name)?;
            let read = match DocumentKind::of(&found.path) {
                None => return Err(Reason::AttachmentUnsupported { path: found.path, supported: SUPPORTED }),
                Some(kind) if kind.is_text() => {
                    let form = if kind == DocumentKind::Html { SourceForm::Page } else { SourceForm::Text };
                    (reading::show(&found.path, &found.file)?.text().to_owned(), form)
                }
                Some(kind) => {
                    let document = reading::document_text(context, view, &found.path, &found.file, kind)?;
                    let files = index::files(context, view)?;
                    let link = linkpath_for(files, &found.path, &found.path, LinkFormat::Shortest, LinkForm::Wiki);
                    (sources::document_markdown(&document, &link), SourceForm::Document(document))
                }
            };
            file = Some(found.path);
            read
        }
        _ => return Err(bad("", "must have one of `text`, `html` and `file`")),
    };
    let url = trimmed(input.url.as_deref());
    if url.as_ref().is_some_and(|url| url.contains(char::is_whitespace) || !url.contains("://")) {
        return Err(bad("url", "must be an address like `https://example.com/page`"));
    }
    let marked = match &form {
        // Without the links to its pages: they change with the place of the file.
        SourceForm::Document(document) => {
            document.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n\n")
        }
        SourceForm::Text | SourceForm::Page => original.clone(),
    };
    let page = match form {
        SourceForm::Page => {
            let page = WebPage::read(&original, url.as_deref());
            let markdown = page_as_text::as_text(&page.markdown, PageOrigin::Html, url.as_deref());
            WebPage { markdown, ..page }
        }
        SourceForm::Text => WebPage { markdown: original, ..WebPage::default() },
        SourceForm::Document(document) => WebPage {
            markdown: original,
            // Other programs put the name of a template or of themselves there.
            title: document.title.clone().filter(|_| document.kind == DocumentKind::Epub),
            author: document.author.clone(),
            ..WebPage::default()
        },
    };
    let draft = SourceDraft::of_page(page, &marked).ok_or_else(|| bad("", "must have text that can be kept"))?;
    let named = || file.as_ref().map(|file| naming::title(file).to_owned());
    let title = trimmed(input.title.as_deref()).or_else(|| draft.title.clone()).or_else(named);
    let draft = SourceDraft {
        title: title.or_else(|| first_heading(&draft.text)),
        // Only what the caller says is where it comes from.
        claimed: draft.url.filter(|claimed| url.as_deref() != Some(claimed)),
        url,
        author: trimmed(input.author.as_deref()).or(draft.author),
        published: trimmed(input.published.as_deref()).or(draft.published),
        ..draft
    };
    Ok((draft, file))
}

/// The date is a year, a month, a day or a time, and the status one line.
fn check_facts(input: &Input) -> Result<(), Reason> {
    let bad = |at, problem| Err(Reason::bad_argument(SourceIngest::DECLARATION.name, at, problem));
    if trimmed(input.published.as_deref()).is_some_and(|date| !is_date(&date)) {
        return bad("published", "must be a date, written YYYY, YYYY-MM or YYYY-MM-DD");
    }
    match input.status.trim().is_empty() || input.status.chars().any(char::is_control) {
        true => bad("status", "must be one line of text"),
        false => Ok(()),
    }
}

fn is_date(given: &str) -> bool {
    let day = given.split_once(['T', ' ']).map_or(given, |(day, _)| day);
    let day = match day.len() {
        4 => format!("{day}-01-01"),
        7 => format!("{day}-01"),
        _ => day.to_owned(),
    };
    day.parse::<jiff::civil::Date>().is_ok()
}

fn first_heading(text: &str) -> Option<String> {
    let document = Document::open(text.to_owned()).ok()?;
    let note = document.note();
    note.headings.first().map(|heading| heading.text.clone())
}

fn answer_known(
    view: &View,
    note: &SourceNote,
    by: KnownBy,
    given: &SourceDraft,
    input: &Input,
) -> Result<ToolPlan<Output>, Reason> {
    let file = reading::read(view, &note.path)?;
    let is_other = note.property(sources::HASH) != Some(&given.mark);
    let output = Output {
        path: note.path.to_string(),
        created: false,
        known_by: Some(by),
        status: note.property(sources::STATUS).map(str::to_owned),
        anchors: Vec::new(),
        bytes: file.content.len(),
        content_hash: file.hash().to_string(),
        dry_run: input.dry_run,
        notice: is_other.then_some("Its text is another one than this; nothing was changed."),
    };
    Ok(ToolPlan { changes: ChangeSet::default(), output, dry_run: input.dry_run })
}

/// The text with an id at each anchor, and the ids.
fn anchors(path: &VaultPath, text: &str, wanted: &[AnchorInput]) -> Result<(String, Vec<String>), Reason> {
    let (mut text, mut ids) = (text.to_owned(), Vec::new());
    for (number, anchor) in wanted.iter().enumerate() {
        let at = format!("anchors[{number}]");
        let bad =
            |problem: &'static str| Reason::bad_argument(SourceIngest::DECLARATION.name, &at, Prose::from(problem));
        let id = anchor.id.clone().unwrap_or_else(|| format!("q{}", number + 1));
        if !id.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'-') {
            return Err(bad("must have an id of letters, digits and `-`"));
        }
        let (with_id, id) = anchoring::anchored(&text, &anchor.quote, &id).map_err(|problem| match problem {
            AnchorProblem::Missing => {
                Reason::TextMissing { path: path.clone(), preview: clipped(&anchor.quote), near: None }
            }
            AnchorProblem::Taken => bad("has an id that another block of the text has"),
            AnchorProblem::Unfit => bad("is at a place that cannot have a block id"),
        })?;
        text = with_id;
        ids.push(id);
    }
    Ok((text, ids))
}

/// What a wiki link calls a file, wherever the note with it will be.
fn wiki_path(context: &Context<'_>, view: &View, file: &VaultPath, note: &VaultPath) -> Result<String, Reason> {
    let format = match view.app_settings().new_links {
        LinkFormat::Relative => LinkFormat::Absolute,
        format => format,
    };
    Ok(linkpath_for(index::files(context, view)?, file, note, format, LinkForm::Wiki))
}
