//! Makes a note of a source: a text, a web page or a document of the vault.

use lapidary_note::{Document, FileContent};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, clipped,
    quote::{Prose, quoted},
};
use lapidary_toolkit::{
    anchoring::{self, AnchorProblem},
    hash, naming, reading,
    sources::{self, KnownBy, SourceDraft, SourceNote, trimmed},
    web_page::WebPage,
};
use lapidary_vault::{Change, ChangeSet, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct SourceIngest;

/// Keep a source as a note: a text, a page as HTML (it becomes Markdown) or a text file of the vault, with where it comes
/// from and a status. A source that is known by its address or text is answered with its note.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, in Markdown.
    #[serde(default)]
    text: Option<String>,
    /// Instead: a page as HTML.
    #[serde(default)]
    html: Option<String>,
    /// Instead: a text or HTML file of the vault.
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

/// Files that are text, by their endings; the second ones are pages.
const TEXTS: &[&str] = &["txt", "text", "rst", "org", "tex", "csv", "tsv", "srt", "vtt", "log"];
const PAGES: &[&str] = &["html", "htm", "xhtml"];
const SUPPORTED: &str = "pages (html, htm, xhtml) and text (txt, text, rst, org, tex, csv, tsv, srt, vtt, log)";

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
        let given = given(context, view, &input)?;
        let known = sources::all(context, view)?;
        if let Some((note, by)) = given.known_as(&known) {
            return answer_known(view, note, by, &given, &input);
        }
        let taken = || Reason::bad_argument(Self::DECLARATION.name, "title", "is taken with every number");
        let path = given.free_path(context, view)?.ok_or_else(taken)?;
        let (body, ids) = anchors(&path, &given.text, &input.anchors)?;
        let note = Document::open(body).map_err(|_| Reason::NotText { path: path.clone(), valid_up_to: None })?;
        let document = given.with_properties(context, view, &path, &note, Some(&input.status))?;
        let content: FileContent = document.content().clone();
        let changes = ChangeSet::one(Change::Create { path: path.clone(), content: content.clone() });
        context.budget.hold_all(&changes)?;
        let link = |id: &String| format!("[[{}#^{id}]]", naming::title(&path));
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

/// What the caller gave, as Markdown with what is known about it.
fn given(context: &Context<'_>, view: &View, input: &Input) -> Result<SourceDraft, Reason> {
    let bad = |at: &str, problem: &'static str| Reason::bad_argument(SourceIngest::DECLARATION.name, at, problem);
    let mut file = None;
    let (original, is_page) = match (&input.text, &input.html, &input.file) {
        (Some(text), None, None) => (text.clone(), false),
        (None, Some(html), None) => (html.clone(), true),
        (None, None, Some(name)) => {
            let found = naming::find(context, view, name)?;
            let ending = found.path.name().rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_lowercase());
            let is_page = PAGES.contains(&&*ending);
            if !is_page && !TEXTS.contains(&&*ending) {
                return Err(Reason::AttachmentUnsupported { path: found.path, supported: SUPPORTED });
            }
            let text = reading::show(&found.path, &found.file)?.text().to_owned();
            file = Some(found.path);
            (text, is_page)
        }
        _ => return Err(bad("", "must have one of `text`, `html` and `file`")),
    };
    let url = trimmed(input.url.as_deref());
    if url.as_ref().is_some_and(|url| url.contains(char::is_whitespace) || !url.contains("://")) {
        return Err(bad("url", "must be an address like `https://example.com/page`"));
    }
    let page = if is_page {
        WebPage::read(&original, url.as_deref())
    } else {
        WebPage { markdown: original.clone(), ..WebPage::default() }
    };
    let read = SourceDraft::of_page(page, &original).ok_or_else(|| bad("", "must have text that can be kept"))?;
    let named = file.as_ref().map(|file| naming::title(file).to_owned());
    Ok(SourceDraft {
        title: trimmed(input.title.as_deref()).or(read.title).or(named).or_else(|| first_heading(&read.text)),
        url: url.or(read.url),
        author: trimmed(input.author.as_deref()).or(read.author),
        published: trimmed(input.published.as_deref()).or(read.published),
        file,
        ..read
    })
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
