//! Lists tags with their counts.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily, quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{names::NameRegex, tags};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct ObsidianListTags;

/// List the tags of the vault with their number of notes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Only tags that this matches, without `#`.
    #[serde(default)]
    name_regex: Option<String>,
    /// Only tags of at least this many notes.
    #[serde(default)]
    min_count: Option<usize>,
    /// How many.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: usize,
}

fn limit() -> usize {
    200
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    tags: Vec<CountedTag>,
    applied_filters: TagFilters,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cap: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct CountedTag {
    name: String,
    count: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TagFilters {
    #[serde(skip_serializing_if = "Option::is_none")]
    name_regex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_count: Option<usize>,
    limit: usize,
}

impl ReadTool for ObsidianListTags {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_list_tags",
        dotted: None,
        title: "Obsidian List Tags",
        family: WireFamily::Obsidian,
        group: ToolGroup::Vault,
        listed: true,
        idempotent: true,
        paths: &[],
        reasons: &[ReasonKind::RegexInvalid, ReasonKind::RegexUnsafe],
        words: "all tags hashtags of the vault, most used, how often, nested",
    };
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/nameRegex", TextLanguage::Pattern)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        // Checked before the vault is read.
        let regex = input.name_regex.as_deref().map(|given| NameRegex::guarded("nameRegex", given)).transpose()?;
        let all = tags::of_vault(context, view)?;
        let mut found = Vec::new();
        for (name, count) in &all {
            context.check()?;
            let named = regex.as_ref().map_or(Ok(true), |regex| regex.matches(name))?;
            if named && *count >= input.min_count.unwrap_or_default() {
                found.push(CountedTag { name: name.clone(), count: *count });
            }
        }
        let (total, limit) = (found.len(), input.limit);
        // Tags come sorted by count, so the rarest are cut.
        let truncated = total > limit;
        found.truncate(limit);
        let notice = if truncated {
            Some(format!("{limit} of {total} tags are shown. Raise `limit`, or set `nameRegex` or `minCount`."))
        // A vault without tags needs no advice on filters.
        } else if found.is_empty() && !all.is_empty() {
            Some(format!("None of {} matches the filters.", counted(all.len(), "tag")))
        } else {
            None
        };
        Ok(Output {
            tags: found,
            applied_filters: TagFilters { name_regex: input.name_regex, min_count: input.min_count, limit },
            truncated,
            shown: truncated.then_some(limit),
            cap: truncated.then_some(limit),
            notice,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let regex = output.applied_filters.name_regex.as_ref();
        let regex = regex.map_or(String::new(), |regex| format!(" · nameRegex={}", quoted(regex)));
        let least = output.applied_filters.min_count;
        let least = least.map_or(String::new(), |least| format!(" · minCount={least}"));
        let tags: String = output.tags.iter().map(|tag| format!("\n#{} {}", quoted(&tag.name), tag.count)).collect();
        Some(format!("{}{regex}{least}{tags}", counted(output.tags.len(), "tag")))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("a.md", "---\ntags: [project/garden]\n---\n#log\n"),
            ("b.md", "#Project/kiln and #log\n"),
            ("c.md", "#log\n"),
        ];
        vec![
            Example {
                says: "The tags that start with a word",
                before: NOTES,
                input: json!({ "nameRegex": "^project" }),
                gives: ExampleResult::Output(json!({
                    "tags": [{ "name": "project", "count": 2 }, { "name": "project/garden", "count": 1 }],
                    "appliedFilters": { "nameRegex": "^project", "limit": 200 },
                })),
                after: &[],
            },
            Example {
                says: "The most used tag",
                before: NOTES,
                input: json!({ "minCount": 2, "limit": 1 }),
                gives: ExampleResult::Output(json!({
                    "tags": [{ "name": "log", "count": 3 }],
                    "appliedFilters": { "minCount": 2, "limit": 1 },
                    "truncated": true,
                    "shown": 1,
                    "cap": 1,
                    "notice": "1 of 2 tags are shown. Raise `limit`, or set `nameRegex` or `minCount`.",
                })),
                after: &[],
            },
            Example {
                says: "An invalid expression",
                before: NOTES,
                input: json!({ "nameRegex": "(" }),
                gives: ExampleResult::Refusal(ReasonKind::RegexInvalid),
                after: &[],
            },
            Example {
                says: "An expression with a lookahead and a nested repetition",
                before: NOTES,
                input: json!({ "nameRegex": "(?!b)(a+)+$" }),
                gives: ExampleResult::Refusal(ReasonKind::RegexUnsafe),
                after: &[],
            },
        ]
    }
}
