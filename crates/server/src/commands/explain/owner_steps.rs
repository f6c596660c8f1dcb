//! What the owner can do about a refusal. Most are for the caller, which gets its own next step with the refusal.

use lapidary_tools::ReasonKind;

pub(super) fn owner_step(kind: ReasonKind) -> &'static str {
    // Only reasons that an owner can do something about; a new one falls to the last arm until it gets a step.
    match kind {
        ReasonKind::ToolDisabled => {
            "`lapidary tools` shows which tools are on. They are chosen by the settings `tools.include`, `tools.exclude` and \
             `access.read_only`, and by the profile of a client's token."
        }
        ReasonKind::InsufficientScope => "Issue a token with the scope of the tool.",
        ReasonKind::TokenRevoked => {
            "If the client should have access again: `lapidary token create NAME`, or let it sign in again."
        }
        ReasonKind::VaultUnknown | ReasonKind::VaultRequired | ReasonKind::VaultDiffers => {
            "`lapidary vaults` shows the names of the vaults."
        }
        ReasonKind::VaultClosed => {
            "Correct the rule file that the answer names. `lapidary doctor` says what is wrong with it."
        }
        ReasonKind::PathForbidden => {
            "`lapidary config show` shows which paths are open; `.lapidaryignore` and `.lapidaryprotect` in the vault close \
             more. Open the path there if clients may have it."
        }
        ReasonKind::SourceFixed => {
            "Sources are named by `access.source_paths` and `access.source_marks`. Change the note in Obsidian, or take it out \
             of them."
        }
        ReasonKind::SchemaMismatch | ReasonKind::SchemaInvalid => {
            "Schemas are the notes in `schema_folder`. Change `on_mismatch` there to `notice` if such changes should be made."
        }
        ReasonKind::NoteMissing | ReasonKind::DirectoryMissing | ReasonKind::AmbiguousPath => {
            "`lapidary search WORDS` shows the paths of notes."
        }
        ReasonKind::FileTooLarge => "Raise `limits.max_file_bytes` if clients should read such files.",
        ReasonKind::ReplyTooLarge => {
            "Nothing, usually: the caller asks for less. The limit is `limits.max_reply_bytes`."
        }
        ReasonKind::BudgetExceeded | ReasonKind::DeadlineExceeded => {
            "Nothing, usually: the caller asks for less. `lapidary config show --all` shows the limits."
        }
        ReasonKind::WebNotAllowed => {
            "Open the host with `web.hosts`, or with `web.private_hosts` if it is in your own network; with its port if that is not \
             80 or 443."
        }
        ReasonKind::ServerUnknown | ReasonKind::ServerToolUnknown => {
            "Configure the server under `mcp.servers`, or open its tool with `allow` and `deny` there."
        }
        ReasonKind::ServerUnavailable | ReasonKind::ServerTimeout | ReasonKind::ServerFaulty => {
            "Run `lapidary doctor`: it asks every server of `mcp.servers` once, and shows its last words."
        }
        ReasonKind::WebUnsupported => "Raise `web.max_bytes` if such pages should be read.",
        ReasonKind::NoActiveFile => {
            "Start Obsidian with the plugin Local REST API. `lapidary doctor` says whether it is reached."
        }
        ReasonKind::PeriodicDisabled => "Enable Daily notes, or the plugin Periodic Notes, in Obsidian.",
        ReasonKind::CheckpointMissing
        | ReasonKind::CheckpointAmbiguous
        | ReasonKind::NothingToUndo
        | ReasonKind::ChangeOfOther
        | ReasonKind::ChangeUnnamed
        | ReasonKind::ChangedSince
        | ReasonKind::VersionMissing => {
            "`lapidary undo --list` shows the changes that can be undone, those of all clients."
        }
        ReasonKind::ApprovalUnavailable => {
            "Let such requests wait for you with the setting `pending_approvals`, or allow the change with `approval`."
        }
        ReasonKind::ApprovalPending => {
            "`lapidary approvals` lists what waits; `lapidary approvals show ID` shows the change."
        }
        ReasonKind::Cancelled | ReasonKind::ApprovalExpired | ReasonKind::ChangedMeanwhile => {
            "Ask the assistant to try again if you want the change after all."
        }
        ReasonKind::DeniedByRule => "The rules are in the setting `approval`; `lapidary config show` shows them.",
        ReasonKind::RepeatedCall => {
            "Nothing, usually: an assistant was going round in circles. The setting is `repetition`."
        }
        ReasonKind::TooMany => "Try again later, or raise the limit; `lapidary config show --all` shows them.",
        ReasonKind::VaultUnavailable => {
            "Connect the disk or start the sync tool that has the folder, or correct its path."
        }
        ReasonKind::DiskError | ReasonKind::WriteUnfinished => {
            "`lapidary doctor` checks the disk, the permissions and the state folder."
        }
        ReasonKind::InternalError => {
            "Please report it, with the lines of the server's log that have the id in the answer."
        }
        // The answer says what to send instead.
        _ => "Nothing, usually: the answer tells the caller what to send instead.",
    }
}
