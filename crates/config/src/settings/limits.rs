//! What one call may use, and how much history is kept.

use std::time::Duration;

use super::SECOND;
use crate::setting::{Setting, ShownDefault};
use crate::value::number;
use crate::warning::ConfigWarning;

/// Every call has a deadline, so this is the value for "no limit".
const LONGEST_DEADLINE: u64 = 600 * SECOND;

/// A model reads it at the start of every conversation: some 16,000 tokens.
const MOST_GUIDE_BYTES: usize = 65_536;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("limits.deadline_ms"),
        variable: Some("MCP_DEADLINE_MS"),
        flag: None,
        default: ShownDefault::Value("60000"),
        doc: "How long a call may take. Every call has a deadline: 0 and values above 600000 mean 600000. \
              `search_content`, `regex_replace` and `vault_info` then answer with partial results, at least \
              one file; all other calls are refused.",
        apply: |draft, given| {
            let asked = number(&given.raw, 0..=u64::MAX)?;
            // Cut with a warning and not refused: the server works with less.
            if asked > LONGEST_DEADLINE {
                let place = given.place.clone();
                draft.warnings.push(ConfigWarning::DeadlineCut { place, asked, longest: LONGEST_DEADLINE });
            }
            let kept = if asked == 0 { LONGEST_DEADLINE } else { asked.min(LONGEST_DEADLINE) };
            draft.config.limits.deadline = Duration::from_millis(kept);
            Ok(())
        },
    },
    Setting {
        key: Some("limits.max_file_bytes"),
        variable: Some("LAPIDARY_MAX_FILE_BYTES"),
        flag: None,
        default: ShownDefault::Value("16777216"),
        doc: "The largest file that is read or written.",
        apply: |draft, given| number(&given.raw, 1..=u64::MAX).map(|most| draft.config.limits.max_file_bytes = most),
    },
    Setting {
        key: Some("limits.max_change_bytes"),
        variable: Some("LAPIDARY_MAX_CHANGE_BYTES"),
        flag: None,
        default: ShownDefault::Value("268435456"),
        doc: "The total size in bytes of the files of one change, before and after. They are held in memory.",
        apply: |draft, given| number(&given.raw, 1..=u64::MAX).map(|most| draft.config.limits.max_change_bytes = most),
    },
    Setting {
        key: Some("limits.memory_bytes"),
        variable: Some("LAPIDARY_MEMORY_BYTES"),
        flag: None,
        default: ShownDefault::Value("402653184"),
        doc: "What all calls together may hold in memory: the notes that they read and change, with their structure. \
              Large calls wait for each other; a call that needs more than there is for one is refused.",
        apply: |draft, given| number(&given.raw, 1..=u64::MAX).map(|most| draft.config.limits.memory_bytes = most),
    },
    Setting {
        key: Some("limits.max_reply_bytes"),
        variable: Some("LAPIDARY_MAX_REPLY_BYTES"),
        flag: None,
        default: ShownDefault::Value("1048576"),
        doc: "The largest answer to a call; at least 1024.",
        apply: |draft, given| {
            number(&given.raw, 1024..=usize::MAX).map(|most| draft.config.limits.max_reply_bytes = most)
        },
    },
    Setting {
        key: Some("limits.text_memory_bytes"),
        variable: Some("LAPIDARY_TEXT_MEMORY_BYTES"),
        flag: None,
        default: ShownDefault::Value("536870912"),
        doc: "How much text of a vault is kept in memory for searching. The rest is read from disk each time; 0 \
              keeps nothing.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.text_memory_bytes = most),
    },
    Setting {
        key: Some("limits.meaning_memory_bytes"),
        variable: Some("LAPIDARY_MEANING_MEMORY_BYTES"),
        flag: None,
        default: ShownDefault::Value("268435456"),
        doc: "How much memory a vault's vectors may take, for the search by meaning: about half a gigabyte of text fits \
              into the default, and the notes changed last come first. 0 switches the search by meaning off.",
        apply: |draft, given| {
            number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.meaning_memory_bytes = most)
        },
    },
    Setting {
        key: Some("limits.document_text_bytes"),
        variable: Some("LAPIDARY_DOCUMENT_TEXT_BYTES"),
        flag: None,
        default: ShownDefault::Value("67108864"),
        doc: "How much text of documents (PDF, DOCX, PPTX, XLSX, EPUB, HTML, CSV, text) a vault's search covers; those \
              changed last come first, and the index of them takes about as much memory. 0 leaves documents out of \
              the search, and none is read in the background.",
        apply: |draft, given| {
            number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.document_text_bytes = most)
        },
    },
    Setting {
        key: Some("limits.checkpoint_days"),
        variable: Some("LAPIDARY_CHECKPOINT_DAYS"),
        flag: None,
        default: ShownDefault::Value("90"),
        doc: "How many days a checkpoint is kept; at least 1.",
        apply: |draft, given| {
            let days = number(&given.raw, 1..=36_500_u64)?;
            draft.config.limits.checkpoint_age = Duration::from_secs(days * 24 * 60 * 60);
            Ok(())
        },
    },
    Setting {
        key: Some("limits.checkpoint_bytes"),
        variable: Some("LAPIDARY_CHECKPOINT_BYTES"),
        flag: None,
        default: ShownDefault::Value("1073741824"),
        doc: "The total compressed size of a vault's checkpoints. The oldest are removed first; the newest is always kept.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.checkpoint_bytes = most),
    },
    Setting {
        key: Some("limits.max_files_scanned"),
        variable: Some("MCP_MAX_FILES_SCANNED"),
        flag: None,
        default: ShownDefault::Value("0"),
        doc: "How many files `search_content`, `regex_replace` and `vault_info` scan before they answer with \
              partial results; 0 means no limit. A call can set its own in `_budget`. Other tools have no such limit.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.max_files_scanned = most),
    },
    Setting {
        key: Some("limits.max_bytes_read"),
        variable: Some("MCP_MAX_BYTES_READ"),
        flag: None,
        default: ShownDefault::Value("0"),
        doc: "The same, in bytes of text.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.max_bytes_read = most),
    },
    Setting {
        key: Some("limits.max_bulk_ops"),
        variable: Some("MCP_MAX_BULK_OPS"),
        flag: None,
        default: ShownDefault::Value("0"),
        doc: "How many operations one `bulk_apply` may have; 0 means no limit. A call can set its own with `_budget`.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.max_bulk_ops = most),
    },
    Setting {
        key: Some("limits.guide_bytes"),
        variable: Some("LAPIDARY_GUIDE_BYTES"),
        flag: None,
        default: ShownDefault::Value("4096"),
        doc: "How many bytes of your guide, those of all vaults together, clients get when they connect; `vault_guide` gives the \
              rest. 0 for none.",
        apply: |draft, given| {
            number(&given.raw, 0..=MOST_GUIDE_BYTES).map(|most| draft.config.limits.guide_bytes = most)
        },
    },
];
