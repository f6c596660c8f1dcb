use super::ReasonKind;

/// How a kind of reason appears on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireCode {
    /// `data.reason` of the `obsidian_*` family. Stable like an API.
    pub id: &'static str,
    /// The number beside it.
    pub number: i32,
    /// `code` of the file tools.
    pub code: &'static str,
    pub when: &'static str,
}

impl ReasonKind {
    /// What any tool may answer, whatever it does; a tool declares only the others.
    pub const EVERYWHERE: &[Self] = &[
        Self::InvalidArguments,
        Self::ToolDisabled,
        Self::ReplyTooLarge,
        Self::Cancelled,
        Self::ApprovalUnavailable,
        Self::ApprovalPending,
        Self::TooMany,
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
    pub const WITH_A_TARGET: &[Self] = &[Self::NoActiveFile, Self::PeriodicDisabled];

    /// What any tool that works on a vault may answer besides.
    pub const IN_A_VAULT: &[Self] =
        &[Self::VaultUnknown, Self::VaultRequired, Self::VaultClosed, Self::VaultUnavailable, Self::DiskError];

    /// What any tool that changes a vault may answer besides.
    pub const WHEN_WRITING: &[Self] = &[Self::ChangedMeanwhile, Self::KeepsChanging, Self::WriteUnfinished];
}
