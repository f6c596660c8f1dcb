//! When the user is asked, and when repeated calls are refused.

use super::DAY;
use crate::rules::rules;
use crate::setting::{Setting, ShownDefault};
use crate::value::{approval, milliseconds, number, toggle};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("approval"),
        variable: Some("LAPIDARY_APPROVAL"),
        flag: None,
        default: ShownDefault::Value("write=allow,destroy=ask"),
        doc: "For each effect, `write` and `destroy`, whether a call is `allow`ed, the user is `ask`ed, or it is \
              `deny`ed. In the file, a table `[approval]`; an effect that is not named is unchanged.",
        apply: |draft, given| {
            approval(draft.config.approval.clone(), &given.raw).map(|approval| draft.config.approval = approval)
        },
    },
    Setting {
        key: None,
        variable: Some("LAPIDARY_APPROVAL_RULES"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Rules that are checked before that; the first match decides. A decision and what it applies to (`effect`, `group`, \
              `tool`, `path`), like `ask tool=file_move; deny path=Archive; deny group=skill`. In the file, a list \
              `[[approval.rules]]` of tables with `decision` and the same keys. A path matches what a change touches; to close it \
              for reading, use `access.deny_paths`.",
        apply: |draft, given| rules(&given.raw).map(|rules| draft.config.approval.rules = rules),
    },
    Setting {
        key: Some("pending_approvals"),
        variable: Some("LAPIDARY_PENDING_APPROVALS"),
        flag: None,
        default: ShownDefault::Value("true"),
        doc: "Whether a change that needs approval waits for `lapidary approvals` if the client cannot ask the user; \
              otherwise it is refused.",
        apply: |draft, given| toggle(&given.raw).map(|pending| draft.config.approval.pending = pending),
    },
    Setting {
        key: Some("ask_before_deleting"),
        variable: Some("OBSIDIAN_DELETE_ELICITATION"),
        flag: None,
        default: ShownDefault::Value("true"),
        doc: "Whether `obsidian_delete_note` asks first, if the client can ask the user.",
        apply: |draft, given| toggle(&given.raw).map(|ask| draft.config.ask_before_deleting = ask),
    },
    Setting {
        key: Some("limits.ask_timeout_ms"),
        variable: Some("LAPIDARY_ASK_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("300000"),
        doc: "How long the user may take to answer; no answer counts as a refusal.",
        apply: |draft, given| {
            milliseconds(&given.raw, 1..=DAY).map(|timeout| draft.config.limits.ask_timeout = timeout)
        },
    },
    Setting {
        key: Some("repetition"),
        variable: Some("LAPIDARY_REPETITION"),
        flag: None,
        default: ShownDefault::Value("on"),
        doc: "Whether repeated calls are refused. Turn it off for scripts and benchmarks.",
        apply: |draft, given| toggle(&given.raw).map(|refused| draft.config.repetition.noticed = refused),
    },
    Setting {
        key: Some("limits.repetition_window"),
        variable: Some("LAPIDARY_REPETITION_WINDOW"),
        flag: None,
        default: ShownDefault::Value("15"),
        doc: "How many of a client's last calls are checked for repetition.",
        apply: |draft, given| number(&given.raw, 1..=1000).map(|window| draft.config.repetition.window = window),
    },
    Setting {
        key: Some("limits.repetition_allowed"),
        variable: Some("LAPIDARY_REPETITION_ALLOWED"),
        flag: None,
        default: ShownDefault::Value("3"),
        doc: "How often the same call may occur among them before it is refused.",
        apply: |draft, given| number(&given.raw, 1..=1000).map(|allowed| draft.config.repetition.allowed = allowed),
    },
    Setting {
        key: Some("limits.max_failures"),
        variable: Some("LAPIDARY_MAX_FAILURES"),
        flag: None,
        default: ShownDefault::Value("8"),
        doc: "After how many consecutive failed calls a client is told to stop and ask the user; 0 means never.",
        apply: |draft, given| number(&given.raw, 0..=1000).map(|most| draft.config.repetition.max_failures = most),
    },
];
