//! The passages worth reading to answer a question.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    passages::{self, PassageAnswer, PassageRoom},
    query_text::check_words,
};
use lapidary_vault::{RankedBy, RankedQuery, View};
use schemars::JsonSchema;
use serde::Deserialize;
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
    const TEXTS: &'static [TextArgument] = &[
        TextArgument::new("/question", TextLanguage::Search),
        TextArgument::new("/alternatives/*", TextLanguage::Search),
    ];
    type Input = Input;
    type Output = PassageAnswer;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<PassageAnswer, Reason> {
        let name = Self::DECLARATION.name;
        check_words(name, "question", &input.question, &input.alternatives)?;
        let query = RankedQuery {
            alternatives: &input.alternatives,
            documents: true,
            ..RankedQuery::from(input.question.as_str())
        };
        let bytes = input.max_tokens * BYTES_PER_TOKEN;
        let room = PassageRoom { bytes, notes: MOST_NOTES, pieces_per_note: PIECES_PER_NOTE };
        let found = passages::find(context, view, RankedBy::Hybrid, query, room)?;
        Ok(PassageAnswer::of(found))
    }

    fn text(&self, output: &PassageAnswer) -> Option<String> {
        Some(output.text("The notes say nothing about that. Try other words."))
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
