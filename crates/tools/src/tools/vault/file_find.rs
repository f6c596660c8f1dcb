//! Finds files by name.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily,
    quote::{quoted, quoted_path},
};
use lapidary_query::nearest_several;
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    folder::{FolderTarget, relative},
    index,
    names::{NameGlob, NameRegex, composed},
    page::ListPage,
};
use lapidary_vault::{VaultPath, View, links::folded_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct FileFind;

/// Find files of any kind by name (case-sensitive).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// A name with its extension, part of one, or a pattern.
    query: String,
    /// `exact` and `substring` match the name, `glob` and `regex` the path relative to `directory`.
    #[serde(default)]
    mode: FindMode,
    /// Where to look; everywhere by default.
    #[serde(default)]
    directory: Option<String>,
    /// How many to list.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: usize,
    /// How many to skip: the `nextOffset` of the previous answer.
    #[serde(default)]
    offset: usize,
}

fn limit() -> usize {
    200
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum FindMode {
    Exact,
    #[default]
    Substring,
    Glob,
    Regex,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    matches: Vec<NameMatch>,
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct NameMatch {
    path: String,
    why: FindMode,
}

enum NamePattern {
    Exact(String),
    Substring(String),
    Glob(NameGlob),
    Regex(Box<NameRegex>),
}

impl NamePattern {
    fn parse(mode: FindMode, query: &str) -> Result<Self, Reason> {
        Ok(match mode {
            // Accented letters have two encodings, and names on disk may use either.
            FindMode::Exact => Self::Exact(composed(query).into_owned()),
            FindMode::Substring => Self::Substring(composed(query).into_owned()),
            FindMode::Glob => Self::Glob(NameGlob::parse(FileFind::DECLARATION.name, "query", query)?),
            FindMode::Regex => Self::Regex(Box::new(NameRegex::parse("query", query)?)),
        })
    }

    fn fits(&self, name: &str, path: &str) -> Result<bool, Reason> {
        match self {
            Self::Exact(wanted) => Ok(composed(name) == *wanted),
            Self::Substring(wanted) => Ok(composed(name).contains(wanted)),
            Self::Glob(glob) => Ok(glob.matches(path)),
            Self::Regex(regex) => regex.matches(path),
        }
    }
}

impl ReadTool for FileFind {
    const DECLARATION: Declaration = Declaration {
        name: "file_find",
        dotted: Some("file.find"),
        title: "Find files by name",
        family: WireFamily::Files,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/directory", role: PathRole::List }],
        reasons: &[ReasonKind::RegexInvalid, ReasonKind::RegexUnsafe],
        words: "find locate where is a file note attachment image by its name path, where did I put it, is there a file of that name, glob, regex",
    };
    const TEXTS: &'static [TextArgument] = &[
        TextArgument::new("/query", TextLanguage::Glob).when("mode", "glob"),
        TextArgument::new("/query", TextLanguage::Pattern).when("mode", "regex"),
    ];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let wanted = NamePattern::parse(input.mode, &input.query)?;
        let files = index::files(context, view)?;
        let folder = match FolderTarget::find(view, files, input.directory.as_deref().unwrap_or_default())?.or_nothing()
        {
            Ok(folder) => folder,
            Err(notice) => {
                return Ok(Output { matches: Vec::new(), total: 0, next_offset: None, notice: Some(notice) });
            }
        };
        let mut found = Vec::new();
        for file in files.below(folder.as_ref()) {
            context.check()?;
            // Patterns see the path below the folder, names only the last part.
            if wanted.fits(file.path().name(), relative(file.path().as_str(), folder.as_ref()))? {
                found.push(file.path());
            }
        }
        let page = ListPage::of(found, input.offset, input.limit);
        let matches =
            page.items.into_iter().map(|path| NameMatch { path: path.to_string(), why: input.mode }).collect();
        // Only now, because it compares the name with that of every file.
        let notice = if page.total == 0 {
            let all: Vec<&VaultPath> = files.below(folder.as_ref()).map(|file| file.path()).collect();
            nothing_found(input.mode, &input.query, &all)
        } else {
            None
        };
        Ok(Output { matches, total: page.total, next_offset: page.next, notice })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let mut text = format!("{} found", output.total);
        for found in &output.matches {
            text += &format!("\n{}", quoted(&found.path));
        }
        text += &output.next_offset.map_or_else(String::new, |next| format!("\n… go on with `offset: {next}`"));
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const FILES: &[(&str, &str)] =
            &[("Daily/2026-04-13.md", ""), ("Gems/gem.png", ""), ("Gems/Gem Cutting.md", "")];
        vec![
            Example {
                says: "Where is that picture?",
                before: FILES,
                input: json!({ "query": "gem" }),
                gives: ExampleResult::Output(
                    json!({ "matches": [{ "path": "Gems/gem.png", "why": "substring" }], "total": 1 }),
                ),
                after: &[],
            },
            Example {
                says: "By an expression, on the path",
                before: FILES,
                input: json!({ "query": "^\\d{4}-\\d\\d", "mode": "regex", "directory": "Daily" }),
                gives: ExampleResult::Output(
                    json!({ "matches": [{ "path": "Daily/2026-04-13.md", "why": "regex" }], "total": 1 }),
                ),
                after: &[],
            },
            Example {
                says: "The first of several",
                before: FILES,
                input: json!({ "query": "**/*.md", "mode": "glob", "limit": 1 }),
                gives: ExampleResult::Including(json!({ "total": 2, "nextOffset": 1 })),
                after: &[],
            },
            Example {
                says: "A name in another case",
                before: FILES,
                input: json!({ "query": "gem cutting" }),
                gives: ExampleResult::Output(json!({
                    "matches": [], "total": 0,
                    "notice": "No name matches. Did you mean `Gems/Gem Cutting.md`?",
                })),
                after: &[],
            },
            Example {
                says: "An invalid expression",
                before: FILES,
                input: json!({ "query": "(", "mode": "regex" }),
                gives: ExampleResult::Refusal(ReasonKind::RegexInvalid),
                after: &[],
            },
        ]
    }
}

/// More would not be read.
const MOST_SUGGESTIONS: usize = 5;

/// The notice if no file has the name: files that have it in another case, or a similar one.
fn nothing_found(mode: FindMode, query: &str, files: &[&VaultPath]) -> Option<String> {
    // No name is close to a pattern.
    if !matches!(mode, FindMode::Exact | FindMode::Substring) {
        return None;
    }
    let wanted = folded_name(query);
    // First those that differ in case, which is the usual mistake.
    let alike = files.iter().copied().filter(|path| folded_name(path.name()).contains(&*wanted));
    let mut meant: Vec<&VaultPath> = alike.take(MOST_SUGGESTIONS).collect();
    if meant.is_empty() {
        // Only if nothing has the same letters: a similar name is a weaker guess.
        let near = nearest_several(query, files.iter().map(|path| path.name()), MOST_SUGGESTIONS);
        meant.extend(near.into_iter().filter_map(|name| files.iter().copied().find(|path| path.name() == name)));
    }
    let meant: Vec<String> = meant.into_iter().map(|path| quoted_path(path).to_string()).collect();
    (!meant.is_empty()).then(|| format!("No name matches. Did you mean {}?", meant.join(", ")))
}
