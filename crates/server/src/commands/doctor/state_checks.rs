//! What Lapidary keeps outside the vault: the history of changes, the index, pending questions and tokens.

use std::path::Path;

use lapidary_config::{ChosenVault, Config};
use lapidary_note::counted;
use lapidary_vault::{
    SAVED_FROM,
    store::{ApprovalQueue, ApprovalState, LedgerHealth, disk_facts, is_ours_alone, open_to_others},
};

use super::{super::command_hint::CommandHint, finding::Finding, vault_checks::room};
use crate::assemble::state_of;

/// The state folder itself.
pub(super) fn look(config: &Config) -> Vec<Finding> {
    let folder = &config.state_dir;
    let shown = folder.display();
    let mut findings = Vec::new();
    // Other users who can write there could forge history, so the server does not use such a folder.
    match is_ours_alone(folder) {
        Ok(()) => findings.push(Finding::ok("state folder", shown.to_string())),
        Err(problem) => {
            let advice = "correct it, or set LAPIDARY_STATE_DIR to another folder";
            findings.push(Finding::failure("state folder", format!("{shown} is not used: {problem}"), advice));
        }
    }
    // A folder that is not made yet is on the disk of the one around it.
    let made = folder.ancestors().find(|folder| lapidary_vault::store::folder_exists(folder));
    findings.extend(made.and_then(|folder| room("state folder", disk_facts(folder).free_bytes)));
    for (what, file) in secret_files(config) {
        match open_to_others(&file) {
            Some(true) => {
                let said = format!("other users of this computer may read {}", file.display());
                findings.push(Finding::failure(what, said, format!("chmod 600 \"{}\"", file.display())));
            }
            Some(false) => findings.push(Finding::ok(what, "only you may read them")),
            None => {}
        }
    }
    findings
}

fn secret_files(config: &Config) -> Vec<(&'static str, std::path::PathBuf)> {
    let key = config.http.tls.as_ref().map(|tls| ("key of the certificate", tls.key.clone()));
    std::iter::once(("tokens", config.state_dir.join(crate::assemble::AUTH_FILE))).chain(key).collect()
}

/// What is stored about one vault.
pub(super) fn look_at_vault(vault: &ChosenVault, state: &Path, hint: &CommandHint) -> Vec<Finding> {
    let folder = std::sync::Arc::new(state_of(state, vault));
    let mut findings = vec![history(folder.ledger_health())];
    // Kept aside by a recovery; it is never deleted by the program.
    for damaged in folder.damaged_histories() {
        let advice = "its readable part is in the new history; delete the file if you miss nothing";
        findings.push(Finding::warning(
            "history",
            format!("a damaged one was set aside: {}", damaged.display()),
            advice,
        ));
    }
    match folder.saved() {
        Ok(saved) => {
            findings.push(match saved.index_bytes {
                Some(bytes) => Finding::ok("index", format!("saved, {} KB", bytes.div_ceil(1024))),
                None => {
                    let said = format!("not saved; a search saves that of a vault with at least {SAVED_FROM} notes");
                    Finding::ok("index", said)
                }
            });
            findings.extend(saved.exposed.into_iter().map(|file| {
                let said = format!("other users of this computer may read {}", file.display());
                Finding::warning("state", said, format!("chmod 600 \"{}\"", file.display()))
            }));
        }
        Err(error) => findings.push(Finding::failure("index", error.to_string(), "see the state folder below")),
    }
    // A folder of questions that cannot be read is reported when a question is asked.
    let waiting = ApprovalQueue::new(folder).names().unwrap_or_default();
    let open = waiting.iter().filter(|name| name.progress == ApprovalState::Open).count();
    if open > 0 {
        let verb = if open == 1 { "waits" } else { "wait" };
        let said = format!("{} {verb} for your answer", counted(open, "change"));
        findings.push(Finding::warning("approvals", said, hint.command("approvals")));
    }
    findings
}

fn history(health: LedgerHealth) -> Finding {
    const WHAT: &str = "history";
    match health {
        LedgerHealth::Empty => Finding::ok(WHAT, "nothing has been changed yet"),
        LedgerHealth::Well { changes, bytes, unfinished: 0, is_checked } => {
            let checked = if is_checked { "" } else { "; too large to check every page" };
            let changes = counted_changes(changes);
            Finding::ok(WHAT, format!("{changes} can be undone, {} KB{checked}", bytes.div_ceil(1024)))
        }
        LedgerHealth::Well { unfinished, .. } => Finding::warning(
            WHAT,
            format!("{}: begun and not ended", counted_changes(unfinished)),
            "a server is at work, or was killed; the next change completes or undoes them",
        ),
        // An older program must not write to what it does not fully understand.
        LedgerHealth::Newer => Finding::failure(
            WHAT,
            "it was written by a newer version",
            "update this program, or start the newer one: changes are refused until then",
        ),
        LedgerHealth::Damaged(problem) => Finding::failure(
            WHAT,
            format!("it is damaged: {problem}"),
            "the next change sets it aside and keeps all that can be read; copy the state folder first if you want to look",
        ),
        LedgerHealth::Closed(problem) => Finding::failure(WHAT, problem, "correct the permissions of the state folder"),
    }
}

fn counted_changes(count: u64) -> impl std::fmt::Display {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "change")
}
