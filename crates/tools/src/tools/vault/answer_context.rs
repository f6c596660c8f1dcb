//! The passages worth reading to answer a question.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily, quote::Prose,
};
use lapidary_toolkit::{
    passages::{self, FoundPassage, PassageRoom},
    query_text::{LONGEST_QUERY, check_length},
};
use lapidary_vault::{RankedBy, RankedQuery, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct AnswerContext;

/// The passages worth reading to answer a question from the vault, by words and meaning, within `maxTokens`; each with its
/// place and the hash of its note, to be cited or edited.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// In the user's words.
    question: String,
    /// About three other ways to say it; they help much.
    #[serde(default)]
    alternatives: Vec<String>,
    /// About as much as this.
    #[serde(default = "max_tokens")]
    #[schemars(range(min = 200, max = 20_000))]
    max_tokens: usize,
}

fn max_tokens() -> usize {
    1_500
}

/// Text takes about four bytes a token; the rest is for what is around it.
const BYTES_PER_TOKEN: usize = 3;
/// Notes that are looked into: an answer from more is not an answer.
const MOST_NOTES: usize = 12;
const PIECES_PER_NOTE: usize = 3;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    passages: Vec<FoundPassage>,
    /// Further notes that fit.
    left: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl ReadTool for AnswerContext {
    const DECLARATION: Declaration = Declaration {
        name: "answer_context",
        dotted: None,
        title: "Passages for an answer",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "answer a question from my notes, what do my notes say about, passages for an answer with sources, retrieval context, cite notes, RAG, Frage aus Notizen beantworten, répondre à partir des notes, responder con mis notas, 根据笔记回答, ノートから答える",
    };
    const SEARCHES_BY: &[&str] = &["question"];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let name = Self::DECLARATION.name;
        check_length(name, &input.question)?;
        if input.alternatives.iter().map(|text| text.len() + 1).sum::<usize>() > LONGEST_QUERY {
            let problem = Prose::ours(format_args!("have more than {LONGEST_QUERY} bytes"));
            return Err(Reason::bad_argument(name, "alternatives", problem));
        }
        let query = RankedQuery {
            alternatives: &input.alternatives,
            documents: true,
            ..RankedQuery::from(input.question.as_str())
        };
        let bytes = input.max_tokens * BYTES_PER_TOKEN;
        let room = PassageRoom { bytes, notes: MOST_NOTES, pieces_per_note: PIECES_PER_NOTE };
        let found = passages::find(context, view, RankedBy::Hybrid, query, room)?;
        let notice = passages::notice(&found);
        Ok(Output { passages: found.passages, left: found.left, notice })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { passages, left, notice } = output;
        let mut text = notice.clone().map(|notice| notice + "\n").unwrap_or_default();
        if passages.is_empty() {
            return Some(text + "The notes say nothing about that. Try other words.");
        }
        text += &passages::text(passages);
        if *left > 0 {
            text += &format!("\n{} more", counted(*left, "note"));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Rent.md", "# Deposit\nThe landlord pays two cold rents back within half a year.\n"),
            ("Bread.md", "Flour, water and yeast.\n"),
        ];
        vec![
            Example {
                says: "What the notes say about a question",
                before: NOTES,
                input: json!({ "question": "when do I get the deposit back?", "alternatives": ["landlord", "rent"] }),
                gives: ExampleResult::Including(json!({ "passages": [{
                    "path": "Rent.md", "section": "Deposit", "line": 2,
                    "text": "The landlord pays two cold rents back within half a year.",
                }] })),
                after: &[],
            },
            Example {
                says: "Too little room for anything",
                before: NOTES,
                input: json!({ "question": "deposit", "maxTokens": 10 }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}
