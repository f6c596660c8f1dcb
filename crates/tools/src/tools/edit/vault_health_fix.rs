//! Mends chosen findings of a health check, as one change.

use std::collections::BTreeSet;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, Reason, ReasonKind, ToolGroup, ToolPlan, WireFamily,
    WriteTool, clipped,
    quote::{Prose, quoted},
};
use lapidary_toolkit::health::{self, FindingKind, FixedFinding, HealthFinding, PlannedFixes, UnfixedFinding};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct VaultHealthFix;

/// Mend findings of `vault_health_check` as one change, which `undo` takes back as one.
///
/// Only what is safe is done; the rest is in `left`, with the reason. Look at the diff with `dryRun` first.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Ids of findings, or a kind such as `tag_case` for all of that kind.
    #[schemars(length(min = 1))]
    findings: Vec<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    changed: bool,
    files_changed: usize,
    /// The first hundred.
    fixed: Vec<FixedFinding>,
    fixed_count: usize,
    /// What stays, and why; the first hundred.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<UnfixedFinding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_count: Option<usize>,
    dry_run: bool,
}

/// Longer lists are not useful.
const MOST_NAMES: usize = 100;
/// In the text, where the numbers matter more.
const SHOWN_NAMES: usize = 20;
/// More would be several changes.
const MOST_CHOSEN: usize = 1_000;

impl WriteTool for VaultHealthFix {
    const DECLARATION: Declaration = Declaration {
        name: "vault_health_fix",
        dotted: None,
        title: "Mend findings",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "fix repair mend vault problems, fix broken links automatically, repair findings of the health check, clean up the vault, tidy tags, remove empty notes, Vault reparieren aufräumen, réparer le coffre, reparar la bóveda, 修复仓库问题, 保管庫の修復",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let Input { findings, dry_run } = input;
        let chosen = ChosenFindings::parse(&findings)?;
        // Only the kinds that were chosen, because each is a walk over the vault.
        let found = health::check(context, view, &chosen.kinds())?;
        // A finding that is no longer found is named, not ignored: the vault has changed since the caller looked.
        let (chosen, gone) = chosen.among(found);
        let PlannedFixes { changes, mut fixed, mut left } = health::plan_fixes(context, view, chosen)?;
        let why = "there is no such finding: it was mended, or its notes changed";
        left.extend(gone.into_iter().map(|id| UnfixedFinding { id, why: why.to_owned() }));
        let (fixed_count, left_count) = (fixed.len(), left.len());
        // Counted before the lists are cut.
        fixed.truncate(MOST_NAMES);
        left.truncate(MOST_NAMES);
        let output = Output {
            changed: !changes.is_empty(),
            files_changed: changes.changes.len(),
            fixed,
            fixed_count,
            left,
            left_count: (left_count > 0).then_some(left_count),
            dry_run,
        };
        Ok(ToolPlan { changes, output, dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { files_changed, fixed, fixed_count, left, left_count, dry_run, .. } = output;
        let dry = if *dry_run { "Dry run: " } else { "" };
        let mut text =
            format!("{dry}{} mended in {}", counted(*fixed_count, "finding"), counted(*files_changed, "file"));
        for FixedFinding { id, does, paths } in fixed.iter().take(SHOWN_NAMES) {
            let path = paths.first().map_or(String::new(), |path| format!(" {}:", quoted(path)));
            text += &format!("\n{id}:{path} {does}");
        }
        if *fixed_count > fixed.len().min(SHOWN_NAMES) {
            text += &format!("\n… {} more", fixed_count - fixed.len().min(SHOWN_NAMES));
        }
        for UnfixedFinding { id, why } in left.iter().take(SHOWN_NAMES) {
            text += &format!("\nLeft: {id}: {why}");
        }
        let unnamed = left_count.unwrap_or_default().saturating_sub(left.len().min(SHOWN_NAMES));
        if unnamed > 0 {
            text += &format!("\n… {unnamed} more left");
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Plan.md", "[[old/Stone|it]] and [[Pebble]] #Work\n"),
            ("Stone.md", "---\naliases: [Pebble]\n---\n[[Plan]] #work\n"),
            ("Log.md", "[[Plan]] #work\n"),
        ];
        vec![
            Example {
                says: "Links and tags in one change",
                before: NOTES,
                input: json!({ "findings": ["broken_link", "tag_case"] }),
                gives: ExampleResult::Including(
                    json!({ "changed": true, "filesChanged": 1, "fixedCount": 3, "dryRun": false }),
                ),
                after: &[
                    ("Plan.md", "[[Stone|it]] and [[Stone|Pebble]] #work\n"),
                    ("Stone.md", "---\naliases: [Pebble]\n---\n[[Plan]] #work\n"),
                    ("Log.md", "[[Plan]] #work\n"),
                ],
            },
            Example {
                says: "Look before you leap",
                before: NOTES,
                input: json!({ "findings": ["tag_case"], "dryRun": true }),
                gives: ExampleResult::Including(json!({ "fixedCount": 1, "dryRun": true })),
                after: NOTES,
            },
            Example {
                says: "A name that links follow to one that every system accepts",
                before: &[("Why?.md", "x\n"), ("Log.md", "[[Why?]]\n")],
                input: json!({ "findings": ["unportable_name"] }),
                gives: ExampleResult::Including(json!({ "fixedCount": 1, "filesChanged": 2 })),
                after: &[("Why.md", "x\n"), ("Log.md", "[[Why]]\n")],
            },
            Example {
                says: "What only a person can decide is left",
                before: &[("a.md", "[[Nowhere]]\n")],
                input: json!({ "findings": ["broken_link"] }),
                gives: ExampleResult::Including(json!({
                    "changed": false,
                    "left": [{ "why": "no file is surely meant: create it, or edit the link" }],
                    "leftCount": 1,
                })),
                after: &[("a.md", "[[Nowhere]]\n")],
            },
            Example {
                says: "Not a finding",
                before: NOTES,
                input: json!({ "findings": ["everything"] }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
        ]
    }
}

/// What a caller chose: single findings, and all of some kinds.
struct ChosenFindings {
    ids: BTreeSet<String>,
    whole_kinds: BTreeSet<FindingKind>,
}

impl ChosenFindings {
    fn parse(given: &[String]) -> Result<Self, Reason> {
        let refused = |problem: Prose| Reason::bad_argument(VaultHealthFix::DECLARATION.name, "findings", problem);
        if given.len() > MOST_CHOSEN {
            return Err(refused(Prose::ours(format_args!("must have at most {MOST_CHOSEN} entries"))));
        }
        let mut chosen = Self { ids: BTreeSet::new(), whole_kinds: BTreeSet::new() };
        for name in given {
            match FindingKind::ALL.into_iter().find(|kind| kind.name() == name) {
                Some(kind) => drop(chosen.whole_kinds.insert(kind)),
                None if FindingKind::of_id(name).is_some() => drop(chosen.ids.insert(name.clone())),
                None => {
                    let problem = format!("is neither an id of a finding nor a kind: {}", quoted(&clipped(name)));
                    return Err(refused(Prose::ours(problem)));
                }
            }
        }
        Ok(chosen)
    }

    fn kinds(&self) -> Vec<FindingKind> {
        let of_ids = self.ids.iter().filter_map(|id| FindingKind::of_id(id));
        // Each kind once, in the order of the list.
        let kinds: BTreeSet<FindingKind> = of_ids.chain(self.whole_kinds.iter().copied()).collect();
        kinds.into_iter().collect()
    }

    /// The chosen ones of those that were found, and the ids that are not among them.
    fn among(mut self, found: Vec<HealthFinding>) -> (Vec<HealthFinding>, BTreeSet<String>) {
        let mut chosen = found;
        // Taken out as they are found; what remains was not.
        chosen.retain(|finding| self.ids.remove(&finding.id) || self.whole_kinds.contains(&finding.kind));
        (chosen, self.ids)
    }
}
