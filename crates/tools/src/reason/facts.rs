use super::{Disk, Interruption, Reason};

/// A reason without its data: what a tool declares that it may refuse with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    InvalidArguments,
    ToolUnknown,
    ToolDisabled,
    VaultUnknown,
    VaultRequired,
    VaultClosed,
    ResourceUnknown,
    PathTraversal,
    PathForbidden,
    NoteMissing,
    AmbiguousPath,
    PathIsDirectory,
    PathIsFile,
    DirectoryMissing,
    NotAFile,
    NotText,
    FileTooLarge,
    ReplyTooLarge,
    NoActiveFile,
    PeriodicNotFound,
    PeriodicDisabled,
    FileExists,
    StalePrecondition,
    CheckpointMissing,
    CheckpointAmbiguous,
    VersionMissing,
    KeepsChanging,
    SectionRequired,
    SectionMissing,
    TargetAmbiguous,
    LineOutOfRange,
    PatchInvalid,
    PatchMismatch,
    EditRefused,
    SectionTargetMissing,
    AmbiguousSection,
    ContentPreexists,
    HeadingOutsideSection,
    PatchRejected,
    ValueRequired,
    TagsRequired,
    FrontmatterInvalid,
    TextMissing,
    TextNotUnique,
    OccurrenceOutOfRange,
    RegexInvalid,
    RegexUnsafe,
    PathPrefixInvalidMode,
    QueryRequired,
    LogicRequired,
    LogicInvalid,
    ContextLengthTooLarge,
    BudgetExceeded,
    NotInBatch,
    VaultDiffers,
    BatchConflict,
    ProposalExpired,
    ProposalChanged,
    PromptUnknown,
    Cancelled,
    ApprovalUnavailable,
    ApprovalPending,
    ApprovalExpired,
    ChangedMeanwhile,
    DeniedByRule,
    RepeatedCall,
    Interrupted,
    DeadlineExceeded,
    WriteUnfinished,
    DiskError,
    VaultUnavailable,
    InternalError,
}

/// How a reason appears on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `data.reason` of the `obsidian_*` family. Stable like an API.
    pub id: &'static str,
    /// The number beside it.
    pub number: i32,
    /// `code` of the file tools.
    pub code: &'static str,
    pub when: &'static str,
}

impl Kind {
    pub const ALL: &[Self] = &[
        Self::InvalidArguments,
        Self::ToolUnknown,
        Self::ToolDisabled,
        Self::VaultUnknown,
        Self::VaultRequired,
        Self::VaultClosed,
        Self::ResourceUnknown,
        Self::PathTraversal,
        Self::PathForbidden,
        Self::NoteMissing,
        Self::AmbiguousPath,
        Self::PathIsDirectory,
        Self::PathIsFile,
        Self::DirectoryMissing,
        Self::NotAFile,
        Self::NotText,
        Self::FileTooLarge,
        Self::ReplyTooLarge,
        Self::NoActiveFile,
        Self::PeriodicNotFound,
        Self::PeriodicDisabled,
        Self::FileExists,
        Self::StalePrecondition,
        Self::CheckpointMissing,
        Self::CheckpointAmbiguous,
        Self::VersionMissing,
        Self::KeepsChanging,
        Self::SectionRequired,
        Self::SectionMissing,
        Self::TargetAmbiguous,
        Self::LineOutOfRange,
        Self::PatchInvalid,
        Self::PatchMismatch,
        Self::EditRefused,
        Self::SectionTargetMissing,
        Self::AmbiguousSection,
        Self::ContentPreexists,
        Self::HeadingOutsideSection,
        Self::PatchRejected,
        Self::ValueRequired,
        Self::TagsRequired,
        Self::FrontmatterInvalid,
        Self::TextMissing,
        Self::TextNotUnique,
        Self::OccurrenceOutOfRange,
        Self::RegexInvalid,
        Self::RegexUnsafe,
        Self::PathPrefixInvalidMode,
        Self::QueryRequired,
        Self::LogicRequired,
        Self::LogicInvalid,
        Self::ContextLengthTooLarge,
        Self::BudgetExceeded,
        Self::NotInBatch,
        Self::VaultDiffers,
        Self::BatchConflict,
        Self::ProposalExpired,
        Self::ProposalChanged,
        Self::PromptUnknown,
        Self::Cancelled,
        Self::ApprovalUnavailable,
        Self::ApprovalPending,
        Self::ApprovalExpired,
        Self::ChangedMeanwhile,
        Self::DeniedByRule,
        Self::RepeatedCall,
        Self::Interrupted,
        Self::DeadlineExceeded,
        Self::WriteUnfinished,
        Self::DiskError,
        Self::VaultUnavailable,
        Self::InternalError,
    ];

    /// What any tool may answer, whatever it does; a tool declares only the others.
    pub const EVERYWHERE: &[Self] = &[
        Self::InvalidArguments,
        Self::ToolDisabled,
        Self::ReplyTooLarge,
        Self::Cancelled,
        Self::ApprovalUnavailable,
        Self::ApprovalPending,
        Self::ApprovalExpired,
        Self::DeniedByRule,
        Self::RepeatedCall,
        Self::Interrupted,
        Self::DeadlineExceeded,
        Self::InternalError,
    ];

    /// What any tool that is given a path may answer besides.
    pub const WITH_A_PATH: &[Self] = &[Self::PathTraversal, Self::PathForbidden];

    /// And if it is the path of a file.
    pub const WITH_A_FILE: &[Self] = &[Self::PathIsDirectory, Self::NotAFile, Self::NotText, Self::FileTooLarge];

    /// And if the file can be named as the open or a periodic note.
    pub const WITH_A_TARGET: &[Self] = &[Self::NoActiveFile, Self::PeriodicNotFound, Self::PeriodicDisabled];

    /// What any tool that works on a vault may answer besides.
    pub const IN_A_VAULT: &[Self] =
        &[Self::VaultUnknown, Self::VaultRequired, Self::VaultClosed, Self::VaultUnavailable, Self::DiskError];

    /// What any tool that changes a vault may answer besides.
    pub const WHEN_WRITING: &[Self] = &[Self::ChangedMeanwhile, Self::KeepsChanging, Self::WriteUnfinished];

    pub fn facts(self) -> Facts {
        let facts = |id, number, code, when| Facts { id, number, code, when };
        match self {
            Self::InvalidArguments => {
                facts("invalid_arguments", -32602, "INVALID_ARGS", "The arguments do not fit the tool's schema.")
            }
            Self::ToolUnknown => {
                facts("tool_unknown", -32602, "INVALID_ARGS", "`call_tool` names a tool that does not exist.")
            }
            Self::ToolDisabled => facts(
                "tool_disabled",
                -32005,
                "PERMISSION_DENIED",
                "The owner has switched the tool off, or the server is read-only.",
            ),
            Self::VaultUnknown => {
                facts("vault_unknown", -32007, "INVALID_ARGS", "`vault` names a vault that is not served.")
            }
            Self::VaultRequired => {
                facts("vault_required", -32007, "INVALID_ARGS", "Several vaults are served and `vault` is missing.")
            }
            Self::VaultClosed => facts(
                "vault_closed",
                -32005,
                "PERMISSION_DENIED",
                "A rule file of the vault cannot be read, so nobody knows what is open. The owner has to repair it.",
            ),
            Self::ResourceUnknown => {
                facts("resource_unknown", -32602, "NOT_FOUND", "The URI is none of this server's resources.")
            }
            Self::PathTraversal => facts(
                "path_traversal",
                -32007,
                "INVALID_ARGS",
                "The path is empty, leaves the vault, or is no path at all.",
            ),
            Self::PathForbidden => facts(
                "path_forbidden",
                -32005,
                "PERMISSION_DENIED",
                "The path lies outside what this server may read or change. Decided by the path alone.",
            ),
            Self::NoteMissing => facts("note_missing", -32001, "NOT_FOUND", "Nothing is at the path."),
            Self::AmbiguousPath => facts(
                "ambiguous_path",
                -32002,
                "DUPLICATE_TARGET",
                "The exact path does not exist and several differ from it only in case.",
            ),
            Self::PathIsDirectory => facts("path_is_directory", -32007, "INVALID_ARGS", "A folder is at the path."),
            Self::PathIsFile => {
                facts("path_is_file", -32007, "INVALID_ARGS", "A file is at the path, and a folder was asked for.")
            }
            Self::DirectoryMissing => facts("directory_missing", -32001, "NOT_FOUND", "There is no such folder."),
            Self::NotAFile => facts(
                "not_a_file",
                -32007,
                "INVALID_ARGS",
                "A pipe, socket or device is at the path, or a file stands where a folder is needed.",
            ),
            Self::NotText => facts(
                "not_text",
                -32007,
                "PARSE_ERROR",
                "The file is binary, or an edit was asked of a file that is not UTF-8.",
            ),
            Self::FileTooLarge => {
                facts("file_too_large", -32007, "BUDGET_EXCEEDED", "The file is larger than LAPIDARY_MAX_FILE_BYTES.")
            }
            Self::ReplyTooLarge => facts(
                "reply_too_large",
                -32007,
                "BUDGET_EXCEEDED",
                "The answer would be larger than LAPIDARY_MAX_REPLY_BYTES.",
            ),
            Self::NoActiveFile => facts(
                "no_active_file",
                -32001,
                "NOT_FOUND",
                "The note that is open in Obsidian was asked for, and the app cannot be asked.",
            ),
            Self::PeriodicNotFound => facts(
                "periodic_not_found",
                -32001,
                "NOT_FOUND",
                "There is no note for this day, week, month, quarter or year. `path` is where it would be.",
            ),
            Self::PeriodicDisabled => facts(
                "periodic_disabled",
                -32007,
                "INVALID_ARGS",
                "Obsidian keeps no notes of this period in the vault, or its settings cannot be read.",
            ),
            Self::FileExists => facts(
                "file_exists",
                -32002,
                "DESTINATION_EXISTS",
                "A file is already at the path, and the call does not replace one.",
            ),
            Self::StalePrecondition => facts(
                "stale_precondition",
                -32002,
                "STALE_PRECONDITION",
                "The file is not the one whose hash was given.",
            ),
            Self::CheckpointMissing => {
                facts("checkpoint_missing", -32001, "NOT_FOUND", "There is no such checkpoint, or not of this file.")
            }
            Self::CheckpointAmbiguous => facts(
                "checkpoint_ambiguous",
                -32002,
                "DUPLICATE_TARGET",
                "Several checkpoints begin with the characters that were given.",
            ),
            Self::VersionMissing => facts(
                "version_missing",
                -32001,
                "NOT_FOUND",
                "That version of the file was not kept, or there was none.",
            ),
            Self::KeepsChanging => facts(
                "keeps_changing",
                -32002,
                "STALE_PRECONDITION",
                "Another program changed the file each time the change was planned.",
            ),
            Self::SectionRequired => facts(
                "section_required",
                -32007,
                "INVALID_ARGS",
                "Format `section` was asked for without saying which.",
            ),
            Self::SectionMissing => {
                facts("section_missing", -32001, "NOT_FOUND", "The note has no such heading, block or property.")
            }
            Self::TargetAmbiguous => facts(
                "target_ambiguous",
                -32002,
                "DUPLICATE_TARGET",
                "Several headings or blocks have the name that was given.",
            ),
            Self::LineOutOfRange => {
                facts("line_out_of_range", -32007, "INVALID_ARGS", "The file has fewer lines than the one asked for.")
            }
            Self::PatchInvalid => facts(
                "patch_invalid",
                -32007,
                "INVALID_ARGS",
                "The patch is no unified diff of one file, or its counts are not those of its lines.",
            ),
            Self::PatchMismatch => facts(
                "patch_mismatch",
                -32002,
                "STALE_PRECONDITION",
                "The file does not hold, at the line that the patch names, what the patch says is there.",
            ),
            Self::EditRefused => facts(
                "edit_refused",
                -32007,
                "INVALID_ARGS",
                "The change cannot be made without changing something else, or would not be read back as what was asked for.",
            ),
            Self::SectionTargetMissing => facts(
                "section_target_missing",
                -32007,
                "NOT_FOUND",
                "The note has no such heading, block or property to change.",
            ),
            Self::AmbiguousSection => {
                facts("ambiguous_section", -32002, "DUPLICATE_TARGET", "Several headings are meant.")
            }
            Self::ContentPreexists => facts(
                "content_preexists",
                -32007,
                "INVALID_ARGS",
                "What is to be added stands there already, and `applyIfContentPreexists` is not set.",
            ),
            Self::HeadingOutsideSection => facts(
                "heading_outside_section",
                -32007,
                "INVALID_ARGS",
                "The content holds a heading that would end the section instead of standing in it.",
            ),
            Self::PatchRejected => facts(
                "patch_rejected",
                -32007,
                "INVALID_ARGS",
                "The content does not fit the part, or something beside it would be read differently afterwards.",
            ),
            Self::ValueRequired => {
                facts("value_required", -32007, "INVALID_ARGS", "A property is set without a value.")
            }
            Self::TagsRequired => {
                facts("tags_required", -32007, "INVALID_ARGS", "Tags are added or removed, and none are named.")
            }
            Self::FrontmatterInvalid => {
                facts("frontmatter_invalid", -32007, "PARSE_ERROR", "The properties are not valid YAML.")
            }
            Self::TextMissing => facts("text_missing", -32001, "NOT_FOUND", "The text to find is not in the file."),
            Self::TextNotUnique => {
                facts("text_not_unique", -32002, "DUPLICATE_TARGET", "The text to find stands there several times.")
            }
            Self::OccurrenceOutOfRange => facts(
                "occurrence_out_of_range",
                -32007,
                "INVALID_ARGS",
                "There are fewer occurrences than the one asked for.",
            ),
            Self::RegexInvalid => {
                facts("regex_invalid", -32007, "INVALID_ARGS", "The regular expression cannot be read.")
            }
            Self::RegexUnsafe => facts(
                "regex_unsafe",
                -32007,
                "INVALID_ARGS",
                "The regular expression is too long, nests repetitions, or took too many attempts.",
            ),
            Self::PathPrefixInvalidMode => facts(
                "path_prefix_invalid_mode",
                -32007,
                "INVALID_ARGS",
                "`pathPrefix` was given in another mode than `text`.",
            ),
            Self::QueryRequired => facts("query_required", -32007, "INVALID_ARGS", "The mode needs a `query`."),
            Self::LogicRequired => facts("logic_required", -32007, "INVALID_ARGS", "The mode needs `logic`."),
            Self::LogicInvalid => facts(
                "logic_invalid",
                -32007,
                "INVALID_ARGS",
                "The logic has an unknown operator or a broken pattern, is too large, or takes too many steps.",
            ),
            Self::ContextLengthTooLarge => facts(
                "context_length_too_large",
                -32007,
                "INVALID_ARGS",
                "More text around each match was asked for than is sent.",
            ),
            Self::BudgetExceeded => facts(
                "budget_exceeded",
                -32007,
                "BUDGET_EXCEEDED",
                "The batch has more operations than MCP_MAX_BULK_OPS or its `_budget` allow.",
            ),
            Self::NotInBatch => {
                facts("not_in_batch", -32007, "INVALID_ARGS", "The operation names a tool that is not run in batches.")
            }
            Self::VaultDiffers => facts(
                "vault_differs",
                -32007,
                "INVALID_ARGS",
                "An operation of a batch names another vault than the batch.",
            ),
            Self::BatchConflict => facts(
                "batch_conflict",
                -32007,
                "INVALID_ARGS",
                "Two operations of a batch cannot be made in one change.",
            ),
            Self::ProposalExpired => facts(
                "proposal_expired",
                -32002,
                "STALE_PRECONDITION",
                "The token is too old, was used, or is for other arguments.",
            ),
            Self::ProposalChanged => {
                facts("proposal_changed", -32002, "STALE_PRECONDITION", "A file changed since the proposal was made.")
            }
            Self::PromptUnknown => facts("prompt_unknown", -32602, "INVALID_ARGS", "There is no such prompt."),
            Self::Cancelled => facts("cancelled", -32600, "PERMISSION_DENIED", "A person was asked and said no."),
            Self::ApprovalUnavailable => facts(
                "approval_unavailable",
                -32005,
                "PERMISSION_DENIED",
                "The change needs consent and the client cannot ask anybody.",
            ),
            Self::ApprovalPending => facts(
                "approval_pending",
                -32005,
                "PERMISSION_DENIED",
                "The change needs consent; it waits for a person, who answers with `lapidary approvals`.",
            ),
            Self::ApprovalExpired => facts(
                "approval_expired",
                -32005,
                "PERMISSION_DENIED",
                "The consent came too late, was used before, or was given for something else.",
            ),
            Self::ChangedMeanwhile => {
                facts("changed_meanwhile", -32002, "STALE_PRECONDITION", "The note changed while a person was asked.")
            }
            Self::DeniedByRule => {
                facts("denied_by_rule", -32005, "PERMISSION_DENIED", "The owner's approval rules say no.")
            }
            Self::RepeatedCall => facts(
                "repeated_call",
                -32003,
                "INVALID_ARGS",
                "The same call has been answered with the same result again and again, or nearly the same was searched.",
            ),
            Self::Interrupted => facts("interrupted", -32600, "INTERNAL", "The client took the call back."),
            Self::DeadlineExceeded => {
                facts("deadline_exceeded", -32004, "DEADLINE_EXCEEDED", "The call took longer than MCP_DEADLINE_MS.")
            }
            Self::WriteUnfinished => {
                facts("write_unfinished", -32004, "IO_ERROR", "The disk did not confirm a change that was under way.")
            }
            Self::DiskError => facts(
                "disk_error",
                -32000,
                "IO_ERROR",
                "The disk is full or read-only, access is not permitted, or the system reported an error.",
            ),
            Self::VaultUnavailable => {
                facts("vault_unavailable", -32000, "IO_ERROR", "The vault's folder is not there.")
            }
            Self::InternalError => {
                facts("internal_error", -32603, "INTERNAL", "A bug in the server. Nothing was changed.")
            }
        }
    }
}

impl Reason {
    pub fn kind(&self) -> Kind {
        match self {
            Self::InvalidArguments { .. } => Kind::InvalidArguments,
            Self::ToolUnknown { .. } => Kind::ToolUnknown,
            Self::ToolOff { .. } => Kind::ToolDisabled,
            Self::VaultUnknown { .. } => Kind::VaultUnknown,
            Self::VaultRequired { .. } => Kind::VaultRequired,
            Self::VaultClosed { .. } => Kind::VaultClosed,
            Self::ResourceUnknown { .. } => Kind::ResourceUnknown,
            Self::PathInvalid { .. } => Kind::PathTraversal,
            Self::PathForbidden { .. } => Kind::PathForbidden,
            Self::NoteMissing { .. } => Kind::NoteMissing,
            Self::AmbiguousPath { .. } => Kind::AmbiguousPath,
            Self::PathIsDirectory { .. } => Kind::PathIsDirectory,
            Self::PathIsFile { .. } => Kind::PathIsFile,
            Self::DirectoryMissing { .. } => Kind::DirectoryMissing,
            Self::NotAFile { .. } => Kind::NotAFile,
            Self::NotText { .. } => Kind::NotText,
            Self::FileTooLarge { .. } => Kind::FileTooLarge,
            Self::ReplyTooLarge { .. } => Kind::ReplyTooLarge,
            Self::NoActiveFile => Kind::NoActiveFile,
            Self::PeriodicNotFound { .. } => Kind::PeriodicNotFound,
            Self::PeriodicDisabled { .. } => Kind::PeriodicDisabled,
            Self::FileExists { .. } => Kind::FileExists,
            Self::DestinationExists { .. } => Kind::FileExists,
            Self::Stale { .. } | Self::StalePart { .. } => Kind::StalePrecondition,
            Self::CheckpointMissing { .. } | Self::NotInCheckpoint { .. } => Kind::CheckpointMissing,
            Self::CheckpointAmbiguous { .. } => Kind::CheckpointAmbiguous,
            Self::VersionMissing { .. } => Kind::VersionMissing,
            Self::KeepsChanging { .. } => Kind::KeepsChanging,
            Self::SectionRequired => Kind::SectionRequired,
            Self::SectionMissing { .. } => Kind::SectionMissing,
            Self::Ambiguous { .. } => Kind::TargetAmbiguous,
            Self::LineOutOfRange { .. } => Kind::LineOutOfRange,
            Self::PatchInvalid(_) => Kind::PatchInvalid,
            Self::PatchMismatch { .. } => Kind::PatchMismatch,
            Self::EditRefused { .. } => Kind::EditRefused,
            Self::InStep { reason, .. } => reason.kind(),
            Self::SectionTargetMissing { .. } => Kind::SectionTargetMissing,
            Self::AmbiguousSection { .. } => Kind::AmbiguousSection,
            Self::ContentPreexists { .. } => Kind::ContentPreexists,
            Self::HeadingOutsideSection { .. } => Kind::HeadingOutsideSection,
            Self::PatchRejected { .. } => Kind::PatchRejected,
            Self::ValueRequired { .. } => Kind::ValueRequired,
            Self::TagsRequired { .. } => Kind::TagsRequired,
            Self::FrontmatterInvalid { .. } | Self::FrontmatterWouldBreak { .. } => Kind::FrontmatterInvalid,
            Self::TextMissing { .. } => Kind::TextMissing,
            Self::TextNotUnique { .. } => Kind::TextNotUnique,
            Self::OccurrenceOutOfRange { .. } => Kind::OccurrenceOutOfRange,
            Self::RegexInvalid { .. } => Kind::RegexInvalid,
            Self::RegexUnsafe { .. } => Kind::RegexUnsafe,
            Self::PathPrefixInvalidMode { .. } => Kind::PathPrefixInvalidMode,
            Self::QueryRequired { .. } => Kind::QueryRequired,
            Self::LogicRequired { .. } => Kind::LogicRequired,
            Self::LogicInvalid { .. } => Kind::LogicInvalid,
            Self::ContextLengthTooLarge { .. } => Kind::ContextLengthTooLarge,
            Self::TooManyOperations { .. } => Kind::BudgetExceeded,
            Self::NotInBatch { .. } => Kind::NotInBatch,
            Self::OtherVault { .. } => Kind::VaultDiffers,
            Self::NotJoined(_) => Kind::BatchConflict,
            Self::PromptUnknown { .. } => Kind::PromptUnknown,
            Self::ProposalExpired => Kind::ProposalExpired,
            Self::ProposalChanged => Kind::ProposalChanged,
            Self::Declined => Kind::Cancelled,
            Self::NobodyToAsk => Kind::ApprovalUnavailable,
            Self::ApprovalPending { .. } => Kind::ApprovalPending,
            Self::ConsentExpired => Kind::ApprovalExpired,
            Self::ChangedMeanwhile => Kind::ChangedMeanwhile,
            Self::DeniedByRule => Kind::DeniedByRule,
            Self::Repeated { .. } => Kind::RepeatedCall,
            Self::Interrupted(Interruption::TakenBack) => Kind::Interrupted,
            Self::Interrupted(Interruption::Deadline { .. }) => Kind::DeadlineExceeded,
            Self::Interrupted(Interruption::WriteUnfinished) => Kind::WriteUnfinished,
            Self::Disk { problem: Disk::VaultGone, .. } => Kind::VaultUnavailable,
            Self::Disk { .. } => Kind::DiskError,
            Self::Internal(_) => Kind::InternalError,
        }
    }
}
