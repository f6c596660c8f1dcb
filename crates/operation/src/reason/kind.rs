//! Kinds of reasons and their wire codes.

use super::ReasonKind;

/// How a kind of reason appears on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireCode {
    /// `data.reason` of the `obsidian_*` family. Stable like an API.
    pub id: &'static str,
    /// The number that goes with it.
    pub number: i32,
    /// `code` of the file tools.
    pub code: &'static str,
    pub when: &'static str,
}

impl ReasonKind {
    /// What any tool may answer; a tool declares only other reasons.
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

    /// What any tool that takes a path may also answer.
    pub const WITH_A_PATH: &[Self] = &[Self::PathTraversal, Self::PathForbidden];

    /// The same, if the path is that of a file.
    pub const WITH_A_FILE: &[Self] =
        &[Self::AmbiguousPath, Self::PathIsDirectory, Self::NotAFile, Self::NotText, Self::FileTooLarge];

    /// The same, if the file can be given as the open or a periodic note.
    pub const WITH_A_TARGET: &[Self] = &[Self::NoActiveFile, Self::PeriodicDisabled];

    /// What any tool may also answer if the vault is behind the Obsidian app, or the call needs it.
    pub const WITH_THE_APP: &[Self] = &[
        Self::ObsidianUnreachable,
        Self::CertificateRejected,
        Self::ApiKeyRejected,
        Self::ObsidianTimeout,
        Self::ObsidianFailed,
    ];

    /// What any tool that works on a vault may also answer.
    pub const IN_A_VAULT: &[Self] =
        &[Self::VaultUnknown, Self::VaultRequired, Self::VaultClosed, Self::VaultUnavailable, Self::DiskError];

    /// What any tool that changes a vault may also answer.
    pub const WHEN_WRITING: &[Self] = &[Self::ChangedMeanwhile, Self::KeepsChanging, Self::WriteUnfinished];
}
