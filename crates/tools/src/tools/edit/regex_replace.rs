//! Replaces by regular expression, as a proposal first.

use std::collections::BTreeMap;

use lapidary_note::ContentHash;
use lapidary_operation::{
    CommitReport, Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, ProposalStep, Reason,
    ReasonKind, ShownProposal, ToolGroup, ToolPlan, WireFamily, WriteTool, quote::Prose,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    budget::{self, BudgetInput},
    expression::{self, EXPECTED_HASHES, ExpressionFiles, ReplacedFile, TextExpression},
    file_edit::EXPECTED_CONTENT,
    hash,
};
use lapidary_vault::{ChangeSet, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

mod answers;

use answers::{Output, carried_out, proposed};

pub(crate) struct RegexReplace;

/// Replace the matches of a regular expression in one file, or in all files that match `glob`, in two steps.
///
/// Without `proposal_token` nothing is changed: the answer has the counts, an example per file and a token. The same
/// call with the token makes exactly that change, once, within five minutes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path in the vault.
    #[serde(default)]
    file: Option<String>,
    /// Instead of `file`: all text files whose path matches, e.g. `Projects/**/*.md`.
    #[serde(default)]
    glob: Option<String>,
    /// ECMAScript, over the whole text.
    #[schemars(length(min = 1))]
    pattern: String,
    /// `$1`, `$&` and `$<name>` refer to the match.
    replacement: String,
    /// Of `g` (all, not only the first), `i`, `m`, `s`, `u`.
    #[serde(default = "all")]
    flags: String,
    /// At most this many replacements per file.
    #[serde(default)]
    #[schemars(range(min = 1))]
    count: Option<usize>,
    /// With `glob`: how many files to skip.
    #[serde(default)]
    offset: usize,
    /// Refuse unless `file` still has this hash.
    #[serde(default)]
    expected_content_hash: Option<String>,
    /// With `glob`: the same for each file, by path.
    #[serde(default)]
    expected_hashes: BTreeMap<String, String>,
    /// From the proposal to carry out.
    #[serde(default)]
    proposal_token: Option<String>,
    /// Make a proposal with the full diff, even with a token.
    #[serde(default)]
    dry_run: bool,
    /// Stop early and say so.
    #[serde(default, rename = "_budget")]
    budget: Option<BudgetInput>,
}

fn all() -> String {
    "g".to_owned()
}

impl WriteTool for RegexReplace {
    const IS_SEPARABLE: bool = true;
    const DECLARATION: Declaration = Declaration {
        name: "regex_replace",
        dotted: Some("regex.replace"),
        title: "Replace by regular expression",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::StalePrecondition,
            ReasonKind::RegexInvalid,
            ReasonKind::RegexUnsafe,
            ReasonKind::ProposalExpired,
            ReasonKind::ProposalChanged,
            ReasonKind::EditRefused,
        ],
        words: "regular expression search and replace with groups, in many files at once, across the vault, in the whole vault, in all files, in all notes, swap a word or phrase, in every file, everywhere, correct a name in all notes, glob",
    };
    const EFFECT: Effect = Effect::Write;
    const IN_BATCHES: bool = false;
    const DEADLINE: Option<&'static str> = Some(budget::DEADLINE);
    const TEXTS: &'static [TextArgument] = &[
        TextArgument::new("/glob", TextLanguage::Glob),
        TextArgument::new("/pattern", TextLanguage::Pattern),
        TextArgument::new("/replacement", TextLanguage::Replacement),
    ];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let expression = TextExpression::parse(tool, &input.pattern, &input.replacement, &input.flags, input.count)?;
        // With `dry_run`, a token is ignored rather than spent.
        let token = input.proposal_token.as_deref().filter(|_| !input.dry_run).map(ProposalToken::parse).transpose()?;
        input.check_expectations()?;
        let found = match (&input.file, &input.glob) {
            (Some(file), None) => {
                let expected = input.expected_content_hash.as_deref();
                expression::in_file(tool, context, view, &expression, file, expected, input.budget.as_ref())?
            }
            (None, Some(glob)) => {
                let sources = ExpressionFiles {
                    glob,
                    offset: input.offset,
                    expected: &input.expected_hashes,
                    budget: input.budget.as_ref(),
                    // A truncated proposal is carried out as far as it was shown.
                    exactly: token.as_ref().map(|token| token.scanned),
                };
                expression::in_files(tool, context, view, &expression, &sources)?
            }
            _ => return Err(Reason::bad_argument(tool, "file", "or `glob` is required, but not both")),
        };
        let changes = ChangeSet { changes: found.replaced.iter().map(ReplacedFile::change).collect() };
        // Bound to the arguments and to the resulting change: if either differs, the token is not valid for it.
        let proposal = ShownProposal { tool, arguments: input.digest(found.scanned), changes: changes.digest() };
        if let Some(token) = token {
            let redeemed = ProposalStep::Redeem { token: token.sealed.to_owned(), proposal };
            return Ok(ToolPlan { changes, output: carried_out(&input, &found, redeemed), dry_run: false });
        }
        // Nothing to carry out needs no token.
        let issued = (!changes.is_empty()).then_some(ProposalStep::Issue(proposal));
        Ok(ToolPlan { changes, output: proposed(&input, &found, issued), dry_run: true })
    }

    fn proposal(&self, output: &Output) -> Option<ProposalStep> {
        output.proposal.clone()
    }

    fn shows_diff(&self, output: &Output) -> bool {
        output.wants_diff
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(output.text())
    }

    fn finish(&self, output: &mut Output, learnt: &CommitReport<'_>) {
        let written = |sealed| ProposalToken { scanned: output.scanned, sealed }.written();
        // Issued by the pipeline, which alone can seal it.
        output.proposal_token = learnt.proposal_token.map(written);
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] =
            &[("a.md", "2026-04-13\n"), ("b.md", "x\n"), ("c.md", "2026-05-01 2026-05-02\n")];
        let dates = |more: serde_json::Value| {
            let mut input = json!({ "pattern": "(\\d+)-(\\d+)-(\\d+)", "replacement": "$3.$2.$1" });
            if let (Some(input), serde_json::Value::Object(more)) = (input.as_object_mut(), more) {
                input.extend(more);
            }
            input
        };
        vec![
            Example {
                says: "A proposal for one file",
                before: NOTES,
                input: dates(json!({ "file": "a.md" })),
                gives: ExampleResult::Including(json!({
                    "file": "a.md",
                    "replaced_preview_count": 1,
                    "wouldBeHash": ContentHash::of(b"13.04.2026\n").to_string(),
                    "dry_run": true,
                })),
                after: NOTES,
            },
            Example {
                says: "A proposal for many files, the first match of each",
                before: NOTES,
                input: dates(json!({ "glob": "*.md", "flags": "" })),
                gives: ExampleResult::Including(json!({ "replaced_preview_count": 2, "files": [
                    { "file": "a.md", "replacedCount": 1 },
                    { "file": "c.md", "wouldBeHash": hash::short(&ContentHash::of(b"01.05.2026 2026-05-02\n").to_string()) },
                ] })),
                after: NOTES,
            },
            Example {
                says: "A token that was never issued",
                before: NOTES,
                input: dates(json!({ "file": "a.md", "proposal_token": "1-00" })),
                gives: ExampleResult::Refusal(ReasonKind::ProposalExpired),
                after: NOTES,
            },
            Example {
                says: "An invalid expression",
                before: NOTES,
                input: json!({ "file": "a.md", "pattern": "(", "replacement": "" }),
                gives: ExampleResult::Refusal(ReasonKind::RegexInvalid),
                after: NOTES,
            },
        ]
    }
}

impl Input {
    /// An expectation is checked or refused, never ignored.
    fn check_expectations(&self) -> Result<(), Reason> {
        let tool = RegexReplace::DECLARATION.name;
        if self.glob.is_some() && self.expected_content_hash.is_some() {
            let problem = "is for one `file`; with `glob` send `expected_hashes`";
            return Err(Reason::bad_argument(tool, EXPECTED_CONTENT, problem));
        }
        if self.file.is_some() && !self.expected_hashes.is_empty() {
            let problem = Prose::ours(format_args!("is for `glob`; with `file` send `{EXPECTED_CONTENT}`"));
            return Err(Reason::bad_argument(tool, EXPECTED_HASHES, problem));
        }
        Ok(())
    }

    /// Everything that determines what is changed.
    fn digest(&self, scanned: usize) -> ContentHash {
        let Self { file, glob, pattern, replacement, flags, count, offset, .. } = self;
        ContentHash::of(json!([file, glob, pattern, replacement, flags, count, offset, scanned]).to_string().as_bytes())
    }
}

/// A token as callers see it: the number of files searched, and the seal on everything.
struct ProposalToken<'t> {
    scanned: usize,
    sealed: &'t str,
}

impl<'t> ProposalToken<'t> {
    fn parse(given: &'t str) -> Result<Self, Reason> {
        let parts = given.split_once('-').and_then(|(scanned, sealed)| Some((scanned.parse().ok()?, sealed)));
        // A mangled token is treated like an old one: the way out is the same.
        parts.map(|(scanned, sealed)| Self { scanned, sealed }).ok_or(Reason::ProposalExpired)
    }

    fn written(&self) -> String {
        format!("{}-{}", self.scanned, self.sealed)
    }
}
