//! Every reason in every form, so that its texts can be read in one place and checked as a whole.

use std::{cell::Cell, time::Duration};

use lapidary_note::{ContentHash, EditError, ExpectedHash, PatchError, PatchMismatch, PropertyError};
use lapidary_operation::{
    AppFault, AppNeed, ArchiveProblem, ArgumentProblem, BlockCandidate, DecodeFault, DiskFault, FilePart,
    HeadingCandidate, Interruption, NameWanted, NearText, OffReason, PartCandidates, PathRefusal, Reason, ServerFault,
    ShapeProblem, TaskCandidate, WebFault, bug, quote::Prose,
};
use lapidary_recipe::RecipeName;
use lapidary_vault::{JoinError, PathDenied, PathError, PathPrefix, VaultPath, store::RemoteFault};

thread_local! {
    /// A suffix for every name, for tests in which notes and callers supply text.
    static PLANTED: Cell<&'static str> = const { Cell::new("") };
}

/// The same, with names that try to pass for the server's own words.
pub(crate) fn hostile_samples(tool: &str, argument: &str, planted: &'static str) -> Vec<Reason> {
    PLANTED.set(planted);
    let samples = samples(tool, argument);
    PLANTED.set("");
    samples
}

fn word(word: &str) -> String {
    format!("{word}{}", PLANTED.get())
}

fn path(path: &str) -> VaultPath {
    // Paths have no control characters.
    let planted: String = PLANTED.get().chars().filter(|c| !c.is_control() && *c != '/').collect();
    VaultPath::parse(&format!("{path}{planted}")).unwrap()
}

fn hash(of: &str) -> ContentHash {
    ContentHash::of(of.as_bytes())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| word(name)).collect()
}

/// The tool is one that was called, the argument one that it has.
pub(crate) fn samples(tool: &str, argument: &str) -> Vec<Reason> {
    [
        of_calls(tool, argument),
        of_paths(),
        of_files(),
        of_parts(),
        of_edits(),
        of_searches(),
        of_batches(),
        of_the_app(),
        of_the_server(),
    ]
    .concat()
}

fn of_calls(tool: &str, argument: &str) -> Vec<Reason> {
    let problem = |at: &str, nearest: Option<&str>| ArgumentProblem {
        at: if at.is_empty() { String::new() } else { word(at) },
        problem: "must be a string".into(),
        nearest: nearest.map(word),
    };
    let arguments = |problems| Reason::InvalidArguments { tool: tool.to_owned(), problems };
    let unknown =
        |name: &str, nearest: Option<&str>| Reason::ToolUnknown { name: word(name), nearest: nearest.map(word) };
    let off = |off| Reason::ToolOff { tool: word("file_replace"), off };
    vec![
        arguments(vec![problem("file", None)]),
        arguments(vec![problem("", None), problem("fiel", Some(argument))]),
        unknown("file_raed", Some("file_read")),
        unknown("obsidian_read_note", Some("obsidian_get_note")),
        unknown("obsidian_update_note", Some("obsidian_write_note")),
        unknown("obsidian_search_replace", Some("obsidian_replace_in_note")),
        unknown("obsidian_global_search", Some("obsidian_search_notes")),
        unknown("make_coffee", None),
        off(OffReason::ReadOnly),
        off(OffReason::Excluded),
        off(OffReason::NotChosen),
        off(OffReason::Profile),
        off(OffReason::Scope),
        off(OffReason::NotSetUp(crate::NO_MEMORY)),
        off(OffReason::NotSetUp(crate::NO_SCHEMAS)),
        off(OffReason::NotSetUp(crate::NO_RECIPES)),
        off(OffReason::NotSetUp(crate::NO_SCRIPTS)),
        off(OffReason::NotSetUp(crate::NO_WEB_SEARCH)),
        off(OffReason::Commands),
        off(OffReason::OwnFolders),
        Reason::InsufficientScope { tool: word("file_replace") },
        Reason::TokenRevoked,
        Reason::VaultUnknown { given: word("Nots"), names: names(&["Notes", "Work"]) },
        Reason::VaultRequired { names: names(&["Notes", "Work"]) },
        Reason::VaultClosed { file: ".lapidaryignore" },
        Reason::ResourceUnknown { uri: word("obsidian://none") },
        Reason::PromptUnknown { name: word("plna"), nearest: Some(word("plan")) },
        Reason::PromptUnknown { name: word("plan"), nearest: None },
    ]
}

fn of_paths() -> Vec<Reason> {
    let prefixes = || vec![PathPrefix::parse("pub").unwrap(), PathPrefix::parse("work").unwrap()];
    let denied = [
        PathDenied::OutsideReadPaths { allowed: prefixes() },
        PathDenied::OutsideWritePaths { allowed: prefixes() },
        PathDenied::InDenyPaths,
        PathDenied::NotAllowed { allowed: names(&["Open/**"]) },
        PathDenied::Forbidden,
        PathDenied::Hidden,
        PathDenied::ReadOnly,
        PathDenied::Ignored,
        PathDenied::Protected,
    ];
    let refused = denied.into_iter().map(PathRefusal::ByScope).chain([
        PathRefusal::LeadsOutside,
        PathRefusal::LeadsToClosed,
        PathRefusal::PartlyClosed,
    ]);
    let mut all: Vec<Reason> = refused
        .enumerate()
        .map(|(number, denied)| Reason::PathForbidden { path: path("x/a.md"), writing: number % 2 == 1, denied })
        .collect();
    let invalid = [PathError::Empty, PathError::Escapes, PathError::ControlCharacter, PathError::TooLong];
    all.extend(invalid.map(|problem| Reason::PathInvalid { given: word("../a.md"), problem }));
    all.extend([
        Reason::SourceFixed { path: path("Sources/a.md") },
        Reason::SchemaMismatch {
            path: path("Meetings/a.md"),
            problems: vec![
                ShapeProblem::MissingProperty { property: word("date") },
                ShapeProblem::WrongType {
                    property: word("rating"),
                    expected: "a number",
                    found: Some(("text", word("four"))),
                },
                ShapeProblem::NotAllowed {
                    property: word("status"),
                    allowed: names(&["open", "done"]),
                    found: Some(word("late")),
                },
                ShapeProblem::MissingHeading { heading: word("Decisions") },
            ],
        },
        Reason::SchemaInvalid { path: path("Schemas/a.md"), problem: "`for` is missing".into() },
        Reason::NoteMissing { path: path("a.md"), suggestions: Vec::new() },
        Reason::NoteMissing { path: path("a.md"), suggestions: vec![path("A.md"), path("b/a.md")] },
        Reason::AmbiguousPath { path: path("a.md"), matches: vec![path("A.md"), path("á.md")] },
        Reason::PathIsDirectory { path: path("folder") },
        Reason::PathIsFile { path: path("a.md") },
        Reason::DirectoryMissing { path: path("Porjects"), nearest: Some(path("Projects")) },
        Reason::DirectoryMissing { path: path("Projects"), nearest: None },
        Reason::NotAFile { path: path("pipe") },
        Reason::NotText { path: path("image 1.png"), valid_up_to: Some(3) },
        Reason::NotText { path: path("image.png"), valid_up_to: None },
        Reason::NoActiveFile,
        Reason::PeriodicNotFound { period: "daily", date: Some(word("2026-11-16")), path: Some(path("2026-11-16.md")) },
        Reason::PeriodicNotFound { period: "weekly", date: None, path: Some(path("2026-W47.md")) },
        Reason::PeriodicNotFound { period: "yearly", date: None, path: None },
        Reason::PeriodicDisabled { period: "daily", unreadable: None },
        Reason::PeriodicDisabled { period: "daily", unreadable: Some(".obsidian/daily-notes.json") },
    ]);
    all
}

fn of_the_app() -> Vec<Reason> {
    let faults = [
        AppFault::NotSetUp,
        AppFault::PluginOff,
        AppFault::PluginUnready,
        AppFault::KeyMissing,
        AppFault::SwitchedOff,
        AppFault::Unreachable,
        AppFault::CertificateRejected,
        AppFault::KeyRejected,
        AppFault::TimedOut,
        AppFault::NoAppThere,
        AppFault::NotOffered,
        AppFault::Failing { status: Some(503) },
        AppFault::Failing { status: None },
    ];
    let mut all: Vec<Reason> = faults.map(|fault| Reason::AppUnavailable { fault, need: AppNeed::ActiveNote }).to_vec();
    for need in [AppNeed::ListCommands, AppNeed::RunCommand, AppNeed::Omnisearch] {
        all.extend([AppFault::Unreachable, AppFault::TimedOut].map(|fault| Reason::AppUnavailable { fault, need }));
    }
    all.push(Reason::AppUnavailable { fault: AppFault::CommandsOffThere, need: AppNeed::ListCommands });
    all.push(Reason::CommandUnknown { command: word("editor:bold"), nearest: names(&["editor:toggle-bold"]) });
    all.push(Reason::CommandUnknown { command: word("make-coffee"), nearest: Vec::new() });
    let host = || word("a.example");
    let faults = [
        WebFault::NotAnAddress,
        WebFault::HostNotAllowed { host: host(), port: None, is_private: false },
        WebFault::HostNotAllowed { host: host(), port: Some(8080), is_private: false },
        WebFault::HostNotAllowed { host: word("::1"), port: Some(8080), is_private: true },
        WebFault::NoPublicHost { host: host() },
        WebFault::Downgraded,
        WebFault::Misdirected,
        WebFault::Unreachable,
        WebFault::TimedOut,
        WebFault::Status { status: 404 },
        WebFault::TooManyRedirects,
        WebFault::Unsupported { media_type: word("image/png") },
        WebFault::TooLarge { limit: 100 },
        WebFault::NoText { by_scripts: true },
        WebFault::NoText { by_scripts: false },
        WebFault::Busy,
        WebFault::NoEngine,
        WebFault::BadEngine,
    ];
    all.extend(faults.map(|fault| Reason::WebFailed { fault }));
    let failed = |fault, may_have_acted| Reason::ServerFailed { server: word("garden"), fault, may_have_acted };
    let unsent = [
        ServerFault::Unknown { known: vec![word("shed")] },
        ServerFault::Unknown { known: Vec::new() },
        ServerFault::NoSuchTool { nearest: vec![word("plant_count")] },
        ServerFault::NoSuchTool { nearest: Vec::new() },
        ServerFault::NotStarted,
        ServerFault::Ended,
        ServerFault::Resting { seconds: 30 },
        ServerFault::NotMcp,
        ServerFault::TimedOut,
        ServerFault::Unreachable,
        ServerFault::Redirected,
        ServerFault::Status { status: 401 },
        ServerFault::Busy,
    ];
    all.extend(unsent.map(|fault| failed(fault, false)));
    let sent = [
        ServerFault::Ended,
        ServerFault::TooMuch { limit: 100 },
        ServerFault::Flood { limit: 100, seconds: 10 },
        ServerFault::Refused { code: -32602 },
        ServerFault::TimedOut,
        ServerFault::TakenBack,
    ];
    all.extend(sent.map(|fault| failed(fault, true)));
    all
}

fn of_files() -> Vec<Reason> {
    let expected = || ExpectedHash::parse("sha256:000000000000").unwrap();
    let taken = |wanted| Reason::DestinationExists { path: path("a.md"), current: hash("now"), wanted };
    let faults = [
        DecodeFault::Broken,
        DecodeFault::TooManyPixels,
        DecodeFault::Memory,
        DecodeFault::Time,
        DecodeFault::Output,
        DecodeFault::Crashed,
        DecodeFault::Unavailable,
    ];
    let archives = [
        (None, ArchiveProblem::Broken),
        (Some("a.md"), ArchiveProblem::Encrypted),
        (Some("a.md"), ArchiveProblem::Method),
        (Some("a.md"), ArchiveProblem::NotAFile),
        (Some("../a.md"), ArchiveProblem::Name),
        (Some("a.md"), ArchiveProblem::Twice),
        (None, ArchiveProblem::Overlap),
        (None, ArchiveProblem::TooManyEntries { limit: 2 }),
        (Some("a.md"), ArchiveProblem::Ratio),
        (None, ArchiveProblem::Empty),
    ];
    let mut all = vec![
        Reason::FileTooLarge { path: path("a.md"), bytes: 20, limit: 10 },
        Reason::ResultTooLarge { path: path("a.md"), bytes: 20, limit: 10 },
        Reason::ReplyTooLarge { bytes: 20, limit: 10 },
        Reason::TemplateRefused { path: path("a.docx"), fault: DecodeFault::Macros },
        Reason::TemplateRefused { path: path("a.docx"), fault: DecodeFault::Linked },
        Reason::MeaningNotReady { done: 40 },
        Reason::MeaningOff,
        Reason::UnexpectedChange { least: Some(3), most: 3, count: 2, paths: vec![path("a.md"), path("b.md")] },
        Reason::UnexpectedChange { least: None, most: 1, count: 70, paths: vec![path("a.md")] },
        Reason::KeyReused { key: word("key") },
        Reason::AlreadyMade { checkpoint: Some("c0ffee0000000001".to_owned()), undone: false },
        Reason::AlreadyMade { checkpoint: None, undone: true },
        Reason::TaskMissing {
            path: path("a.md"),
            wanted: word("Order slate"),
            tasks: vec![TaskCandidate { line: 2, text: word("Order slates") }],
            total: 4,
        },
        Reason::TaskMissing { path: path("a.md"), wanted: word("Order slate"), tasks: Vec::new(), total: 0 },
        Reason::TaskMissing { path: path("a.md"), wanted: word("Order slate"), tasks: Vec::new(), total: 4 },
        Reason::TaskAmbiguous {
            path: path("a.md"),
            wanted: word("call"),
            tasks: vec![
                TaskCandidate { line: 1, text: word("Call Ruth") },
                TaskCandidate { line: 2, text: word("Call Tomas") },
            ],
            total: 2,
        },
        Reason::RecurrenceUnsupported { path: path("a.md"), line: 3, rule: word("every January") },
        Reason::FileExists { path: path("a.md"), current: hash("now") },
        Reason::AttachmentUnsupported { path: path("a.psd"), supported: "pictures (png) and sounds (mp3)" },
        Reason::AttachmentUnsupported { path: path("a.md"), supported: "pictures (png) and sounds (mp3)" },
        Reason::CanvasInvalid { path: path("a.canvas") },
        Reason::ImportUnavailable { given: word("a.png"), is_configured: true },
        Reason::ImportUnavailable { given: word("a.png"), is_configured: false },
        taken(NameWanted::New),
        taken(NameWanted::Recipe),
        taken(NameWanted::Whole),
        taken(NameWanted::Unpacked),
        taken(NameWanted::Moved),
        taken(NameWanted::Back),
        Reason::CheckpointMissing { given: word("c1") },
        Reason::CheckpointMissing { given: word("c1f2") },
        Reason::CheckpointAmbiguous { given: word("c"), ids: names(&["c1", "c2"]) },
        Reason::NothingToUndo,
        Reason::ChangeOfOther { id: word("c1") },
        Reason::ChangeUnnamed,
        Reason::ChangedSince { path: path("a.md"), id: word("c1") },
        Reason::NotInCheckpoint { path: path("a.md"), checkpoint: word("c1"), files: vec![path("b.md")] },
        Reason::VersionMissing { path: path("a.md"), wanted: word("sha256:00") },
        Reason::KeepsChanging { path: path("a.md") },
    ];
    for argument in ["expected_content_hash", "expectedHash"] {
        for current in [Some(hash("now")), None] {
            all.push(Reason::Stale { path: path("a.md"), argument, expected: expected(), current });
        }
    }
    for (argument, changed, lost) in [
        (Some("expectedHash"), names(&["-old", "+new"]), Vec::new()),
        (Some("expected_content_hash"), Vec::new(), names(&["a line"])),
        (None, Vec::new(), Vec::new()),
    ] {
        let (path, current) = (path("a.md"), hash("now"));
        all.push(Reason::Overtaken { path, argument, expected: expected(), current, changed, lost });
    }
    all.extend(faults.map(|fault| Reason::AttachmentUnreadable { path: path("a.png"), fault }));
    all.extend(archives.map(|(entry, problem)| {
        let (path, entry) = (path("a.zip"), entry.map(word));
        Reason::ArchiveRefused { path, entry, problem }
    }));
    for part in [FilePart::Section, FilePart::Block, FilePart::Range, FilePart::Frontmatter] {
        for found in [Some(hash("part")), None] {
            let (path, current) = (path("a.md"), hash("now"));
            all.push(Reason::StalePart { path, part, expected: expected(), found, current });
        }
    }
    all
}

fn of_parts() -> Vec<Reason> {
    let heading = |path: &str, line, occurrence| HeadingCandidate {
        id: format!("h{line}"),
        path: word(path),
        level: 2,
        line,
        occurrence,
        hash: (line == 3).then(|| hash("part")),
    };
    let block = |line| BlockCandidate { line, start_line: line - 1, end_line: line, hash: None };
    let ambiguous = |candidates| Reason::Ambiguous { path: path("a.md"), target: word("Plan"), candidates };
    let several = |candidates: &[&str]| Reason::AmbiguousSection {
        path: path("a.md"),
        target: word("Plan"),
        candidates: names(candidates),
    };
    let mut all = vec![
        Reason::SectionRequired,
        ambiguous(PartCandidates::Headings(vec![heading("A::Plan", 3, 1), heading("B", 5, 2), heading("B", 7, 3)])),
        ambiguous(PartCandidates::Blocks(vec![block(3), block(5)])),
        several(&["A::Plan", "B::Plan"]),
        several(&["Plan", "Plan", "B::Plan"]),
        several(&["Plan", "Plan"]),
    ];
    for (section_type, available) in [("heading", &["A", "B"][..]), ("block", &[]), ("frontmatter", &["mood"])] {
        let (target, available) = (word("Plan"), names(available));
        let missing = (path("a.md"), target.clone(), available.clone());
        let (path, target, available) = missing;
        all.push(Reason::SectionMissing {
            path: path.clone(),
            section_type,
            target: target.clone(),
            available: available.clone(),
        });
        all.push(Reason::SectionTargetMissing { path, section_type, target, available });
    }
    for (argument, line, lines) in [("from", 9, 0), ("from", 9, 3), ("line", 9, 3)] {
        all.push(Reason::LineOutOfRange { path: path("a.md"), argument, line, lines });
    }
    all
}

fn of_edits() -> Vec<Reason> {
    let text = || word("Plan");
    let patch = [
        PatchError::NoHunk,
        PatchError::Header { hunk: 0, line: 1 },
        PatchError::SeveralFiles { line: 9 },
        PatchError::UnendedLine { hunk: 1 },
    ];
    let mut all: Vec<Reason> = patch.into_iter().map(Reason::PatchInvalid).collect();
    let stated = lapidary_note::Patch::parse("@@ -1,2 +1,2 @@\n-a\n+b\n").err().unwrap();
    all.push(Reason::PatchInvalid(stated));
    for found_at in [Some(7), None] {
        let mismatch =
            PatchMismatch { hunk: 0, line: 3, removed: true, expected: word("a"), actual: Some(word("b")), found_at };
        all.push(Reason::PatchMismatch { path: path("a.md"), mismatch: Box::new(mismatch), current: hash("now") });
    }
    let edits = [
        EditError::OutsideText { span: 3..9, length: 5 },
        EditError::OutsideLines { line: 9, lines: 5 },
        EditError::MergedLineEnds,
        EditError::SeveralLines,
        EditError::HeadingLost { text: text() },
        EditError::HeadingTaken { path: text() },
        EditError::AmbiguousHeading { path: text() },
        EditError::TooDeep { path: text() },
        EditError::HeadingsLost,
        EditError::IntoItself,
        EditError::InProperties,
        EditError::NothingToMove,
        EditError::Unclosed,
        EditError::BlockLost { id: text() },
        EditError::BadBlockId { id: text() },
        EditError::BlockIdTaken { id: text() },
        EditError::NotATable { id: text() },
        EditError::Columns { expected: 2, found: 3 },
        EditError::BadTag { tag: text() },
        EditError::TagLost { tag: text() },
        EditError::BadLinkTarget { target: text() },
        EditError::LinkLost { target: text() },
        EditError::Property(PropertyError::NotAMap),
        EditError::Property(PropertyError::Missing { path: text() }),
    ];
    all.extend(edits.map(|error| Reason::EditRefused { path: path("a.md"), error }));
    all.extend([
        Reason::RecipeMissing { name: word("custom_weekly"), nearest: Some(word("custom_weekly_review")) },
        Reason::RecipeMissing { name: word("custom_weekly"), nearest: None },
        Reason::RecipeInvalid {
            name: Some(word("custom_weekly")),
            problems: vec![ArgumentProblem { at: word("steps[0]"), problem: "is required".into(), nearest: None }],
        },
        Reason::RecipeDisabled { name: RecipeName::parse("custom_weekly").unwrap() },
        Reason::RecipeInvalid {
            name: None,
            problems: vec![ArgumentProblem { at: word("steps[0]"), problem: "is required".into(), nearest: None }],
        },
        Reason::RecipeStopped {
            recipe: Some("custom_a".into()),
            step: Some(1),
            problem: "the results of the steps are too large".into(),
        },
        Reason::RecipeStopped { recipe: None, step: None, problem: "the results of the steps are too large".into() },
        Reason::RecipeArguments {
            recipe: word("custom_a"),
            problems: vec![ArgumentProblem { at: word("title"), problem: "is required".into(), nearest: None }],
        },
        Reason::ServerArguments {
            server: word("garden"),
            tool: word("plant_count"),
            problems: vec![ArgumentProblem { at: word("arguments.bed"), problem: "is required".into(), nearest: None }],
        },
        Reason::InStep {
            list: "edits",
            index: 2,
            reason: Box::new(Reason::TextMissing { path: path("a.md"), preview: text(), near: None }),
        },
        Reason::InStep {
            list: "edits",
            index: 1,
            reason: Box::new(Reason::FileExists { path: path("a.md"), current: hash("now") }),
        },
        Reason::LinkWouldBeLost { path: path("a.md"), source: path("b.md"), place: text() },
        Reason::ContentPreexists { path: path("a.md"), target: text() },
        Reason::HeadingOutsideSection { path: path("a.md"), target: text(), heading: word("# B") },
        Reason::PatchRejected { path: path("a.md"), problem: "no table".into(), remedy: None },
        Reason::PatchRejected { path: path("a.md"), problem: "not closed".into(), remedy: Some("Close it first.") },
        Reason::ValueRequired { key: word("status") },
        Reason::TagsRequired { operation: "add" },
        Reason::FrontmatterInvalid { path: path("a.md"), problem: "line 2".into() },
        Reason::FrontmatterWouldBreak { path: path("a.md"), problem: "line 2".into() },
        Reason::TextMissing {
            path: path("a.md"),
            preview: text(),
            near: Some(NearText { line: 7, text: "Text".to_owned(), differs: "case" }),
        },
        Reason::TextNotUnique { path: path("a.md"), occurrences: 3, lines: vec![1, 4, 9] },
        Reason::NameTaken {
            path: path("work/new.md"),
            existing: path("Work/new.md"),
            twin: path("Work"),
            is_folder: true,
        },
        Reason::NameTaken {
            path: path("readme.md"),
            existing: path("README.md"),
            twin: path("README.md"),
            is_folder: false,
        },
        Reason::NothingToOpen { path: path("a.md"), suggestions: vec![path("b.md")] },
        Reason::OccurrenceOutOfRange { path: path("a.md"), occurrences: 3, wanted: 4 },
    ]);
    all
}

fn of_searches() -> Vec<Reason> {
    let (argument, pattern, problem) = ("nameRegex", word("("), Prose::from("unclosed group"));
    vec![
        Reason::RegexInvalid { argument, pattern: pattern.clone(), problem: problem.clone() },
        Reason::RegexUnsafe { argument, pattern, problem },
        Reason::PathPrefixInvalidMode { mode: "jsonlogic" },
        Reason::QueryRequired { mode: "text" },
        Reason::LogicRequired { mode: "jsonlogic" },
        Reason::LogicInvalid { problem: "`foo` is not an operator".into() },
        Reason::QueryUnreadable {
            line: 2,
            column: 5,
            problem: Prose::of_others("unexpected text"),
            expected: vec![word("FROM"), word("WHERE")],
            nearest: None,
        },
        Reason::QueryUnreadable {
            line: 1,
            column: 1,
            problem: Prose::of_others("unknown function"),
            expected: Vec::new(),
            nearest: Some(word("length")),
        },
        Reason::QueryNotEvaluated { what: "a `dataviewjs` block", line: 3 },
        Reason::QueryFailed {
            line: Some(1),
            column: Some(6),
            problem: Prose::of_others("limit should be a number"),
            nearest: Some("length"),
        },
        Reason::QueryTooLarge { problem: "the query takes more than 5 steps".into() },
        Reason::ViewUnknown { view: word("Best"), views: vec![word("All")] },
        Reason::CursorInvalid { cursor: word("abc") },
        Reason::ContextLengthTooLarge { given: 9000, limit: 1000 },
        Reason::Repeated { times: 3, last: "2026-11-16T12:00:00.000Z".to_owned(), similar: false },
        Reason::Repeated { times: 3, last: "2026-11-16T12:00:00.000Z".to_owned(), similar: true },
    ]
}

fn of_batches() -> Vec<Reason> {
    let joins = [
        JoinError::TrashAfterEdit { path: path("a.md") },
        JoinError::NewFolder { path: path("b") },
        JoinError::FolderLeft { path: path("b/a.md") },
    ];
    let mut all: Vec<Reason> = joins.into_iter().map(Reason::NotJoined).collect();
    all.extend([
        Reason::TooManyOperations { submitted: 30, limit: 20 },
        Reason::ChangeTooLarge { bytes: 20, limit: 10 },
        Reason::MemoryExceeded { bytes: 20, limit: 10 },
        Reason::NotInBatch { tool: word("file_read") },
        Reason::OtherVault { given: word("Work"), vault: word("Notes") },
        Reason::ProposalExpired,
        Reason::ProposalChanged,
    ]);
    all
}

fn of_the_server() -> Vec<Reason> {
    let disk = [
        DiskFault::NotPermitted,
        DiskFault::ReadOnly,
        DiskFault::Full,
        DiskFault::BadName,
        DiskFault::NotPortable,
        DiskFault::NoTrash,
        DiskFault::NoState,
        DiskFault::VaultGone,
        DiskFault::Failing,
    ];
    let mut all: Vec<Reason> = disk
        .into_iter()
        .enumerate()
        .map(|(number, problem)| Reason::Disk { path: (number % 2 == 0).then(|| path("a.md")), problem })
        .collect();
    let remote = [
        RemoteFault::Unreachable,
        RemoteFault::CertificateRejected,
        RemoteFault::KeyRejected,
        RemoteFault::TimedOut,
        RemoteFault::Failing { status: Some(500) },
        RemoteFault::Failing { status: None },
        RemoteFault::NoEmptyFolders,
    ];
    all.extend(remote.map(|fault| Reason::RemoteVault { fault }));
    let interruptions = [
        Interruption::TakenBack,
        Interruption::Deadline { allowed: Duration::from_secs(60) },
        Interruption::WriteUnfinished,
    ];
    all.extend(interruptions.map(Reason::Interrupted));
    all.extend([
        Reason::Declined { path: Some(path("a.md")), words: None },
        Reason::Declined { path: None, words: Some("Use a list instead.".to_owned()) },
        Reason::NobodyToAsk,
        Reason::AskedAlone { tool: "web_fetch".to_owned() },
        Reason::ApprovalPending { id: "a1".to_owned(), handle: None },
        Reason::ApprovalPending { id: "a1".to_owned(), handle: Some(word("c0ffee")) },
        Reason::TooMany { what: "approval requests", limit: 20 },
        Reason::QuestionTooLong { characters: 7_000, limit: 6_000 },
        Reason::MadeOnApproval { checkpoint: "c0ffee".to_owned() },
        Reason::ConsentExpired,
        Reason::ChangedMeanwhile,
        Reason::DeniedByRule,
        bug!("something impossible"),
    ]);
    all
}
