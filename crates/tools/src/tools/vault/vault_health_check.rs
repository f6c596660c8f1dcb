//! What may be wrong in a vault.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, quote::quoted,
};
use lapidary_toolkit::{
    health::{self, FindingKind, HealthFinding, Severity},
    index,
    page::{self, ListingInput},
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct VaultHealthCheck;

/// What may be wrong in the vault: broken links and properties, twins, conflict copies, types that disagree, orphans and more.
///
/// Without `kind`: how many of each. With it: the findings, each with an id for `vault_health_fix`.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Show the findings of this kind.
    #[serde(default)]
    kind: Option<FindingKind>,
    #[serde(flatten)]
    listing: ListingInput,
}

/// How many are shown unless the caller says otherwise.
const USUAL: usize = 20;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Of all kinds that were looked for, the gravest first.
    summary: Vec<KindCount>,
    /// Of the chosen kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<ShownFinding>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct KindCount {
    kind: FindingKind,
    severity: Severity,
    count: usize,
    /// Those that `vault_health_fix` can mend.
    fixable: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShownFinding {
    id: String,
    says: String,
    /// The first ten.
    paths: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_count: Option<usize>,
    /// What `vault_health_fix` does about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// Why it has to be mended by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_hand: Option<String>,
}

impl ReadTool for VaultHealthCheck {
    const DECLARATION: Declaration = Declaration {
        name: "vault_health_check",
        dotted: None,
        title: "Vault health",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/folder", role: PathRole::List }],
        reasons: &[ReasonKind::DirectoryMissing],
        words: "vault health check up, what is wrong with my vault, problems, lint, tidy clean up, maintenance, duplicate notes names, same name twice, sync conflict copies, empty notes, huge large notes, invalid YAML frontmatter, inconsistent tags, case, missing images, Zustand Probleme des Vaults prüfen, doppelte Notizen, santé du coffre, doublons, salud de la bóveda, duplicados, 仓库健康检查, 重复笔记, 保管庫の点検, 重複",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let folder = input.listing.folder(view, index::notes(context, view)?)?;
        let kinds = input.kind.map_or(FindingKind::ALL.to_vec(), |kind| vec![kind]);
        let mut found = health::check(context, view, &kinds)?;
        // Filtered after the check, because a finding may be about files in several folders.
        found.retain(|finding| is_within(finding, folder.as_ref()));
        let count = |kind: FindingKind| {
            let of_kind = || found.iter().filter(|finding| finding.kind == kind);
            let (count, fixable) = (of_kind().count(), of_kind().filter(|finding| finding.fix.is_ok()).count());
            KindCount { kind, severity: kind.severity(), count, fixable }
        };
        let mut summary: Vec<KindCount> = kinds.into_iter().map(count).collect();
        // What was not found is not worth a line.
        summary.retain(|kind| kind.count > 0);
        if input.kind.is_none() {
            return Ok(Output { summary, findings: None, next_cursor: None });
        }
        let (mut page, next_cursor) = input.listing.page(found, USUAL)?;
        // Only for the page, as it compares names with the whole vault.
        health::name_nearest(context, view, &mut page.items)?;
        let findings = page.items.into_iter().map(ShownFinding::of).collect();
        Ok(Output { summary, findings: Some(findings), next_cursor })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { summary, findings, next_cursor } = output;
        if summary.is_empty() {
            return Some("No findings.".to_owned());
        }
        let line = |kind: &KindCount| {
            let fixable = if kind.fixable > 0 { format!(", {} fixable", kind.fixable) } else { String::new() };
            format!("{} {} ({}{fixable})", kind.count, kind.kind.name(), kind.severity.name())
        };
        let Some(findings) = findings else {
            let total: usize = summary.iter().map(|kind| kind.count).sum();
            let lines: Vec<String> = summary.iter().map(line).collect();
            return Some(format!("{}\n{}", counted(total, "finding"), lines.join("\n")));
        };
        let mut text = summary.iter().map(line).collect::<Vec<_>>().join("\n");
        for finding in findings {
            let more = finding.unsaid_paths();
            let fix = match (&finding.fix, &finding.by_hand) {
                (Some(fix), _) => format!(" → {fix}"),
                (None, Some(why)) => format!(" · {why}"),
                (None, None) => String::new(),
            };
            text += &format!("\n{}: {}{more}{fix}", finding.id, finding.says);
        }
        text += &page::more(next_cursor.as_deref());
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Plan.md", "[[old/Stone]] and [[Nowhere]] #Work\n"),
            ("Stone.md", "[[Plan]] #work #rock\n"),
            ("Quarry.md", "[[Plan]] #work\n"),
            ("Empty.md", ""),
        ];
        vec![
            Example {
                says: "How many of each kind",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Output(json!({ "summary": [
                    { "kind": "broken_link", "severity": "high", "count": 2, "fixable": 1 },
                    { "kind": "tag_case", "severity": "low", "count": 1, "fixable": 1 },
                    { "kind": "orphan_note", "severity": "low", "count": 1, "fixable": 0 },
                    { "kind": "empty_note", "severity": "low", "count": 1, "fixable": 1 },
                ] })),
                after: &[],
            },
            Example {
                says: "The findings of a kind",
                before: NOTES,
                input: json!({ "kind": "broken_link" }),
                gives: ExampleResult::Including(json!({ "findings": [
                    {
                        "says": "`Plan.md`:1 links to `Nowhere`, which does not exist",
                        "paths": ["Plan.md"],
                        "byHand": "no file is surely meant: create it, or edit the link",
                    },
                    {
                        "says": "`Plan.md`:1 links to `old/Stone`, which does not exist",
                        "paths": ["Plan.md"],
                        "fix": "link to `Stone.md`",
                    },
                ] })),
                after: &[],
            },
            Example {
                says: "An unknown kind",
                before: NOTES,
                input: json!({ "kind": "broken" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// How many paths a line of the text has beside its sentence.
const NAMED_PATHS: usize = 4;

impl ShownFinding {
    /// The paths that its sentence does not name.
    fn unsaid_paths(&self) -> String {
        let all: Vec<String> = self.paths.iter().map(|path| quoted(path).to_string()).collect();
        let unsaid: Vec<&str> = all.iter().map(String::as_str).filter(|path| !self.says.contains(path)).collect();
        let shown = &unsaid[..unsaid.len().min(NAMED_PATHS)];
        // Of many paths only the first are in the answer, but all are counted.
        let more = self.path_count.unwrap_or(all.len()) - all.len() + unsaid.len() - shown.len();
        match (shown, more) {
            ([], _) => String::new(),
            (shown, 0) => format!(" ({})", shown.join(", ")),
            (shown, more) => format!(" ({} and {more} more)", shown.join(", ")),
        }
    }

    fn of(finding: HealthFinding) -> Self {
        let (fix, by_hand) = match &finding.fix {
            Ok(fix) => (Some(fix.says()), None),
            Err(why) => (None, Some((*why).to_owned())),
        };
        let paths: Vec<String> = finding.paths.iter().map(VaultPath::to_string).collect();
        let path_count = (finding.path_count > paths.len()).then_some(finding.path_count);
        Self { id: finding.id, says: finding.says, paths, path_count, fix, by_hand }
    }
}

fn is_within(finding: &HealthFinding, folder: Option<&VaultPath>) -> bool {
    // One path in the folder is enough: the others say what it collides with.
    folder.is_none_or(|folder| finding.paths.iter().any(|path| path.is_within(folder)))
}
