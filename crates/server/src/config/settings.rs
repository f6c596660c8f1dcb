//! The table of settings. Every layer and the reference are generated from it; a setting is added here and in `model`.

use std::time::Duration;

use lapidary_auth::{SecretText, SharedSecretVerifier};
use lapidary_note::ContentHash;

use super::model::{AuthMode, LogFormat, LogLevel, SessionMode, Transport};
use super::prefixes::prefixes;
use super::profiles::{profiles, tokens};
use super::raw::RawValue;
use super::refused::ConfigRefusal;
use super::rules::rules;
use super::setting::{ReferenceSection, Setting, SettingFlag, ShownDefault};
use super::telemetry_draft::WrittenValue;
use super::value::{
    address, address_ranges, approval, endpoint, folder_names, hosts, issuer_url, limit, milliseconds, names, number,
    origins, public_url, redirect_places, toggle, word,
};
use super::vault_table::has_rules;
use super::vaults::{RequestedVaults, asked};
use super::warning::ConfigWarning;

const SECOND: u64 = 1000;
const DAY: u64 = 24 * 60 * 60 * SECOND;

/// Every call has a deadline, so this is the value for "no limit".
const LONGEST_DEADLINE: u64 = 600 * SECOND;

const LOG_LEVELS: &[(&str, LogLevel)] = &[
    ("off", LogLevel::Off),
    ("error", LogLevel::Error),
    ("warning", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("trace", LogLevel::Trace),
    ("silent", LogLevel::Off),
    ("emerg", LogLevel::Error),
    ("alert", LogLevel::Error),
    ("crit", LogLevel::Error),
    ("fatal", LogLevel::Error),
    ("err", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("notice", LogLevel::Info),
];

const LOG_FORMATS: &[(&str, LogFormat)] = &[("plain", LogFormat::Plain), ("json", LogFormat::Json)];

pub(crate) static SETTINGS: &[Setting] = &[
    Setting {
        section: ReferenceSection::Vaults,
        key: Some("vaults"),
        variable: Some("OBSIDIAN_VAULT_PATHS"),
        flag: Some(SettingFlag { name: "--vault", value: "[NAME=]PATH", given: |flags| list(&flags.vaults) }),
        default: ShownDefault::Words("the only vault that Obsidian knows"),
        doc: "The vault folders to serve. In the file, a table `[vaults]` of `name = \"path\"`, or a table \
              `[vaults.name]` with `path`, `allow` and `deny` (lists of patterns that open or close parts of this vault) and \
              `follow` (folders that its links may lead to); in the variable, paths separated by `;`. An unnamed vault takes its folder's name.",
        apply: |draft, given| {
            let vaults = asked(&given.raw)?;
            let ruled = vaults.iter().filter(|vault| has_rules(&vault.access)).cloned();
            draft.ruled.extend(ruled.map(|vault| (vault, given.place.clone())));
            if !vaults.is_empty() {
                draft.asked = Some(RequestedVaults { vaults, place: given.place.clone() });
            }
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Vaults,
        key: None,
        variable: None,
        flag: Some(SettingFlag { name: "--demo", value: "", given: |flags| switch(flags.demo) }),
        default: ShownDefault::Value("false"),
        doc: "Serve only a copy of the bundled demo vault.",
        apply: |draft, given| toggle(&given.raw).map(|demo| draft.demo = demo),
    },
    Setting {
        section: ReferenceSection::Vaults,
        key: None,
        variable: None,
        flag: Some(SettingFlag { name: "--any-folder", value: "", given: |flags| switch(flags.any_folder) }),
        default: ShownDefault::Value("false"),
        doc: "Serve a folder even if it is the home folder or contains it, like a whole disk. Without it, such a folder is \
              refused: it has far more than notes.",
        apply: |draft, given| toggle(&given.raw).map(|any| draft.config.any_folder = any),
    },
    Setting {
        section: ReferenceSection::Vaults,
        key: None,
        variable: Some("OBSIDIAN_API_KEY"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The key of the Local REST API plugin. If no vault is given, it selects the vault in Obsidian's own list \
              whose plugin has it; it is never logged.",
        apply: |draft, given| given.raw.text().map(|key| draft.api_key = Some(key.to_owned())),
    },
    Setting {
        section: ReferenceSection::Access,
        key: Some("access.read_only"),
        variable: Some("OBSIDIAN_READ_ONLY"),
        flag: Some(SettingFlag { name: "--read-only", value: "", given: |flags| switch(flags.read_only) }),
        default: ShownDefault::Value("false"),
        doc: "Change nothing. Wins over everything else.",
        apply: |draft, given| toggle(&given.raw).map(|read_only| draft.config.access.read_only = read_only),
    },
    Setting {
        section: ReferenceSection::Access,
        key: Some("access.read_paths"),
        variable: Some("OBSIDIAN_READ_PATHS"),
        flag: None,
        default: ShownDefault::Words("everything"),
        doc: "The folders and notes that may be read, including everything below them; case is ignored. What may be \
              written may also be read.",
        apply: |draft, given| prefixes(&given.raw).map(|paths| draft.config.access.read_paths = Some(paths)),
    },
    Setting {
        section: ReferenceSection::Access,
        key: Some("access.write_paths"),
        variable: Some("OBSIDIAN_WRITE_PATHS"),
        flag: None,
        default: ShownDefault::Words("everything"),
        doc: "The folders and notes that may be written, including everything below them.",
        apply: |draft, given| prefixes(&given.raw).map(|paths| draft.config.access.write_paths = Some(paths)),
    },
    Setting {
        section: ReferenceSection::Access,
        key: Some("access.deny_paths"),
        variable: Some("OBSIDIAN_DENY_PATHS"),
        flag: None,
        default: ShownDefault::Words("nothing"),
        doc: "The folders and notes that may be neither read nor written. Wins over the other two.",
        apply: |draft, given| prefixes(&given.raw).map(|paths| draft.config.access.deny_paths = Some(paths)),
    },
    Setting {
        section: ReferenceSection::Access,
        key: Some("access.excluded_files"),
        variable: Some("LAPIDARY_EXCLUDED_FILES"),
        flag: None,
        default: ShownDefault::Value("show"),
        doc: "How files in Obsidian's \"Excluded files\" setting are treated: `show`, or `hide`, which treats \
              them like ignored files.",
        apply: |draft, given| {
            let words = [("show", false), ("hide", true)];
            word(&given.raw, &words).map(|hide| draft.config.access.hide_excluded = hide)
        },
    },
    Setting {
        section: ReferenceSection::Access,
        key: Some("access.skip_folders"),
        variable: Some("LAPIDARY_SKIP_FOLDERS"),
        flag: None,
        default: ShownDefault::Value("node_modules"),
        doc: "Names of folders to skip at any depth; an empty list in the file means none.",
        apply: |draft, given| folder_names(&given.raw).map(|names| draft.config.access.skip_folders = names),
    },
    Setting {
        section: ReferenceSection::Access,
        key: Some("access.follow_links"),
        variable: Some("LAPIDARY_FOLLOW_LINKS"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Folders outside the vaults that links in a vault may lead to, separated by `;`. All other links that \
              leave a vault are refused.",
        apply: |draft, given| {
            let folders = given.raw.entries(';')?.into_iter().map(|folder| draft.places.whole(folder));
            draft.config.access.follow_links = folders.collect::<Result<_, _>>()?;
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Tools,
        key: Some("tools.include"),
        variable: Some("LAPIDARY_TOOLS"),
        flag: Some(SettingFlag { name: "--tools", value: "LIST", given: |flags| list(&flags.tools) }),
        default: ShownDefault::Words("`default`"),
        doc: "The tools to list: names of tools and groups, `default`, `obsidian`, `files`, `chatgpt` or `all`.",
        apply: |draft, given| {
            let names = names(&given.raw)?;
            if !names.is_empty() {
                draft.config.tools.include = Some(names);
            }
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Tools,
        key: Some("tools.exclude"),
        variable: Some("LAPIDARY_EXCLUDE_TOOLS"),
        flag: Some(SettingFlag { name: "--exclude-tools", value: "LIST", given: |flags| list(&flags.exclude_tools) }),
        default: ShownDefault::Words("none"),
        doc: "The tools to exclude, with the same syntax. Overrides the list.",
        apply: |draft, given| {
            let names = names(&given.raw)?;
            if !names.is_empty() {
                draft.config.tools.exclude = names;
            }
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Tools,
        key: Some("profile"),
        variable: Some("LAPIDARY_PROFILE"),
        flag: Some(SettingFlag {
            name: "--profile",
            value: "NAME",
            given: |flags| flags.profile.clone().map(RawValue::Text),
        }),
        default: ShownDefault::Value("curator"),
        doc: "Which of the enabled tools callers may use: `reader` only reads, `editor` changes notes in \
              ways that can be undone, `curator` has everything; or a custom profile.",
        apply: |draft, given| {
            draft.config.profile = given.raw.text()?.to_owned();
            draft.profile_place = Some(given.place.clone());
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Tools,
        key: Some("profiles"),
        variable: None,
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Custom profiles, in the file only: a table `[profiles.name]` with `allow` and `exclude`, lists of \
              tools and groups as in the list of tools, and `effect`, the strongest effect allowed on files (`read`, `write` or \
              `destroy`). A profile only removes tools.",
        apply: |draft, given| profiles(&given.raw).map(|own| draft.config.profiles = own.into_iter().collect()),
    },
    Setting {
        section: ReferenceSection::Tools,
        key: Some("skills_folder"),
        variable: Some("LAPIDARY_SKILLS_FOLDER"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A folder of the vaults, like `Skills`, whose notes are all playbooks: clients offer it as a prompt, and \
              `find_tool` finds it.",
        apply: |draft, given| {
            let folder = prefixes(&given.raw)?;
            // One folder; `prefixes` refuses values that cannot be one.
            given
                .raw
                .text()
                .map(|written| draft.config.skills = (!folder.is_empty()).then(|| written.trim_matches('/').to_owned()))
        },
    },
    Setting {
        section: ReferenceSection::Tools,
        key: Some("tools.dotted_names"),
        variable: Some("LAPIDARY_DOTTED_NAMES"),
        flag: Some(SettingFlag { name: "--dotted-names", value: "", given: |flags| switch(flags.dotted_names) }),
        default: ShownDefault::Value("false"),
        doc: "List `file.read` instead of `file_read`. Many clients refuse dots; calls may always use either.",
        apply: |draft, given| toggle(&given.raw).map(|dotted| draft.config.tools.dotted_names = dotted),
    },
    Setting {
        section: ReferenceSection::Approval,
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
        section: ReferenceSection::Approval,
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
        section: ReferenceSection::Approval,
        key: Some("pending_approvals"),
        variable: Some("LAPIDARY_PENDING_APPROVALS"),
        flag: None,
        default: ShownDefault::Value("true"),
        doc: "Whether a change that needs approval waits for `lapidary approvals` if the client cannot ask the user; \
              otherwise it is refused.",
        apply: |draft, given| toggle(&given.raw).map(|pending| draft.config.approval.pending = pending),
    },
    Setting {
        section: ReferenceSection::Approval,
        key: Some("ask_before_deleting"),
        variable: Some("OBSIDIAN_DELETE_ELICITATION"),
        flag: None,
        default: ShownDefault::Value("true"),
        doc: "Whether `obsidian_delete_note` asks first, if the client can ask the user.",
        apply: |draft, given| toggle(&given.raw).map(|ask| draft.config.ask_before_deleting = ask),
    },
    Setting {
        section: ReferenceSection::Approval,
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
        section: ReferenceSection::Approval,
        key: Some("repetition"),
        variable: Some("LAPIDARY_REPETITION"),
        flag: None,
        default: ShownDefault::Value("on"),
        doc: "Whether repeated calls are refused. Turn it off for scripts and benchmarks.",
        apply: |draft, given| toggle(&given.raw).map(|refused| draft.config.repetition.noticed = refused),
    },
    Setting {
        section: ReferenceSection::Approval,
        key: Some("limits.repetition_window"),
        variable: Some("LAPIDARY_REPETITION_WINDOW"),
        flag: None,
        default: ShownDefault::Value("15"),
        doc: "How many of a client's last calls are checked for repetition.",
        apply: |draft, given| number(&given.raw, 1..=1000).map(|window| draft.config.repetition.window = window),
    },
    Setting {
        section: ReferenceSection::Approval,
        key: Some("limits.repetition_allowed"),
        variable: Some("LAPIDARY_REPETITION_ALLOWED"),
        flag: None,
        default: ShownDefault::Value("3"),
        doc: "How often the same call may occur among them before it is refused.",
        apply: |draft, given| number(&given.raw, 1..=1000).map(|allowed| draft.config.repetition.allowed = allowed),
    },
    Setting {
        section: ReferenceSection::Approval,
        key: Some("limits.max_failures"),
        variable: Some("LAPIDARY_MAX_FAILURES"),
        flag: None,
        default: ShownDefault::Value("8"),
        doc: "After how many consecutive failed calls a client is told to stop and ask the user; 0 means never.",
        apply: |draft, given| number(&given.raw, 0..=1000).map(|most| draft.config.repetition.max_failures = most),
    },
    Setting {
        section: ReferenceSection::Limits,
        key: Some("limits.deadline_ms"),
        variable: Some("MCP_DEADLINE_MS"),
        flag: None,
        default: ShownDefault::Value("60000"),
        doc: "How long a call may take. Every call has a deadline: 0 and values above 600000 mean 600000. \
              `search_content`, `regex_replace` and `vault_info` then answer with partial results, at least \
              one file; all other calls are refused.",
        apply: |draft, given| {
            let asked = number(&given.raw, 0..=u64::MAX)?;
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
        section: ReferenceSection::Limits,
        key: Some("limits.max_file_bytes"),
        variable: Some("LAPIDARY_MAX_FILE_BYTES"),
        flag: None,
        default: ShownDefault::Value("16777216"),
        doc: "The largest file that is read or written.",
        apply: |draft, given| number(&given.raw, 1..=u64::MAX).map(|most| draft.config.limits.max_file_bytes = most),
    },
    Setting {
        section: ReferenceSection::Limits,
        key: Some("limits.max_change_bytes"),
        variable: Some("LAPIDARY_MAX_CHANGE_BYTES"),
        flag: None,
        default: ShownDefault::Value("268435456"),
        doc: "The total size in bytes of the files of one change, before and after. They are held in memory.",
        apply: |draft, given| number(&given.raw, 1..=u64::MAX).map(|most| draft.config.limits.max_change_bytes = most),
    },
    Setting {
        section: ReferenceSection::Limits,
        key: Some("limits.memory_bytes"),
        variable: Some("LAPIDARY_MEMORY_BYTES"),
        flag: None,
        default: ShownDefault::Value("402653184"),
        doc: "What all calls together may hold in memory: the notes that they read and change, with their structure. \
              Large calls wait for each other; a call that needs more than there is for one is refused.",
        apply: |draft, given| number(&given.raw, 1..=u64::MAX).map(|most| draft.config.limits.memory_bytes = most),
    },
    Setting {
        section: ReferenceSection::Limits,
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
        section: ReferenceSection::Limits,
        key: Some("limits.text_memory_bytes"),
        variable: Some("LAPIDARY_TEXT_MEMORY_BYTES"),
        flag: None,
        default: ShownDefault::Value("536870912"),
        doc: "How much text of a vault is kept in memory for searching. The rest is read from disk each time; 0 \
              keeps nothing.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.text_memory_bytes = most),
    },
    Setting {
        section: ReferenceSection::Limits,
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
        section: ReferenceSection::Limits,
        key: Some("limits.checkpoint_bytes"),
        variable: Some("LAPIDARY_CHECKPOINT_BYTES"),
        flag: None,
        default: ShownDefault::Value("1073741824"),
        doc: "The total compressed size of a vault's checkpoints. The oldest are removed first; the newest is always kept.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.checkpoint_bytes = most),
    },
    Setting {
        section: ReferenceSection::Limits,
        key: Some("limits.max_files_scanned"),
        variable: Some("MCP_MAX_FILES_SCANNED"),
        flag: None,
        default: ShownDefault::Value("0"),
        doc: "How many files `search_content`, `regex_replace` and `vault_info` scan before they answer with \
              partial results; 0 means no limit. A call can set its own in `_budget`. Other tools have no such limit.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.max_files_scanned = most),
    },
    Setting {
        section: ReferenceSection::Limits,
        key: Some("limits.max_bytes_read"),
        variable: Some("MCP_MAX_BYTES_READ"),
        flag: None,
        default: ShownDefault::Value("0"),
        doc: "The same, in bytes of text.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.max_bytes_read = most),
    },
    Setting {
        section: ReferenceSection::Limits,
        key: Some("limits.max_bulk_ops"),
        variable: Some("MCP_MAX_BULK_OPS"),
        flag: None,
        default: ShownDefault::Value("0"),
        doc: "How many operations one `bulk_apply` may have; 0 means no limit. A call can set its own with `_budget`.",
        apply: |draft, given| number(&given.raw, 0..=u64::MAX).map(|most| draft.config.limits.max_bulk_ops = most),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("transport"),
        variable: Some("MCP_TRANSPORT_TYPE"),
        flag: Some(SettingFlag {
            name: "--http",
            value: "",
            given: |flags| (flags.http.is_some() || flags.sse).then(|| text("http")),
        }),
        default: ShownDefault::Value("stdio"),
        doc: "How clients reach `lapidary serve`: `stdio` (standard input and output) or `http`.",
        apply: |draft, given| {
            let words = [("stdio", Transport::Stdio), ("http", Transport::Http)];
            word(&given.raw, &words).map(|transport| draft.config.transport = transport)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.host"),
        variable: Some("MCP_HTTP_HOST"),
        flag: Some(SettingFlag {
            name: "--http",
            value: "HOST",
            given: |flags| Some(text(flags.http?.host?.to_string())),
        }),
        default: ShownDefault::Value("127.0.0.1"),
        doc: "The address to listen on. At an address that other computers can reach, clients without a token are refused, \
              unless you pass `--insecure-no-auth`. Put a proxy with TLS in front, or a token can be read in transit.",
        apply: |draft, given| address(&given.raw).map(|host| draft.config.http.host = host),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.port"),
        variable: Some("MCP_HTTP_PORT"),
        flag: Some(SettingFlag {
            name: "--http",
            value: "PORT",
            given: |flags| Some(text(flags.http?.port?.to_string())),
        }),
        default: ShownDefault::Value("3010"),
        doc: "The port to listen on; 0 lets the system choose one. With `--sse` the default is 9789.",
        apply: |draft, given| {
            draft.config.http.port = number(&given.raw, 0..=u16::MAX)?;
            draft.has_port = true;
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_port_retries"),
        variable: Some("MCP_HTTP_MAX_PORT_RETRIES"),
        flag: None,
        default: ShownDefault::Value("15"),
        doc: "How many of the following ports to try if the port is taken. None, unless set here, if you choose the port; never any \
              with a public URL.",
        apply: |draft, given| {
            draft.config.http.max_port_retries = number(&given.raw, 0..=1000)?;
            draft.has_port_retries = true;
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.endpoint_path"),
        variable: Some("MCP_HTTP_ENDPOINT_PATH"),
        flag: None,
        default: ShownDefault::Value("/mcp"),
        doc: "The path of the MCP endpoint.",
        apply: |draft, given| endpoint(&given.raw).map(|path| draft.config.http.endpoint_path = path),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_body_bytes"),
        variable: Some("MCP_HTTP_MAX_BODY_BYTES"),
        flag: None,
        default: ShownDefault::Value("5242880"),
        doc: "The largest request that is taken; what is beyond gets 413. 0 means no limit.",
        apply: |draft, given| {
            let most = number(&given.raw, 0..=usize::MAX)?;
            draft.config.http.body.bytes = (most > 0).then_some(most);
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.allowed_origins"),
        variable: Some("MCP_ALLOWED_ORIGINS"),
        flag: None,
        default: ShownDefault::Words("origins of this computer"),
        doc: "The web origins whose requests are answered, like `https://app.example`; `*` answers all of them.",
        apply: |draft, given| origins(&given.raw).map(|origins| draft.config.http.allowed_origins = origins),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.session_mode"),
        variable: Some("MCP_SESSION_MODE"),
        flag: None,
        default: ShownDefault::Value("auto"),
        doc: "Whether clients get a session: `stateful`, `stateless`, or `auto`, which is `stateful`.",
        apply: |draft, given| {
            let words = [
                ("auto", SessionMode::Stateful),
                ("stateful", SessionMode::Stateful),
                ("stateless", SessionMode::Stateless),
            ];
            word(&given.raw, &words).map(|mode| draft.config.http.session_mode = mode)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.session_timeout_ms"),
        variable: Some("MCP_STATEFUL_SESSION_STALE_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("1800000"),
        doc: "How long a session lives without a request and without an open stream.",
        apply: |draft, given| {
            milliseconds(&given.raw, SECOND..=365 * DAY).map(|idle| draft.config.http.sessions.idle = idle)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.public_url"),
        variable: Some("MCP_PUBLIC_URL"),
        flag: Some(SettingFlag {
            name: "--public-url",
            value: "URL",
            given: |flags| flags.public_url.clone().map(RawValue::Text),
        }),
        default: ShownDefault::Words("none"),
        doc: "The address under which the world reaches this server through a proxy or a tunnel, like `https://vault.example.com`, without a path. Requests may name its host.",
        apply: |draft, given| public_url(&given.raw).map(|url| draft.config.http.public_url = Some(url)),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.allowed_hosts"),
        variable: Some("LAPIDARY_ALLOWED_HOSTS"),
        flag: None,
        default: ShownDefault::Words("names of this computer, and the host of MCP_PUBLIC_URL"),
        doc: "Further hosts that requests may name in `Host`, like `nas.local` or `nas.local:3010`. All others are refused, because a web page can have its own name lead here.",
        apply: |draft, given| hosts(&given.raw).map(|hosts| draft.config.http.allowed_hosts = hosts),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.trusted_proxies"),
        variable: Some("LAPIDARY_TRUSTED_PROXIES"),
        flag: None,
        default: ShownDefault::Words("this computer"),
        doc: "Addresses of proxies, like `10.0.0.0/8`, whose `X-Forwarded-For` is believed.",
        apply: |draft, given| address_ranges(&given.raw).map(|proxies| draft.config.http.trusted_proxies = proxies),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.heartbeat_ms"),
        variable: Some("MCP_HEARTBEAT_INTERVAL_MS"),
        flag: None,
        default: ShownDefault::Value("15000"),
        doc: "How often a stream without news shows that it lives, so that proxies do not close it; 0 means the default.",
        apply: |draft, given| {
            let every = number(&given.raw, 0..=DAY)?;
            draft.config.http.heartbeat = Duration::from_millis(if every == 0 { 15 * SECOND } else { every });
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.sse"),
        variable: Some("LAPIDARY_SSE"),
        flag: Some(SettingFlag { name: "--sse", value: "", given: |flags| switch(flags.sse) }),
        default: ShownDefault::Value("false"),
        doc: "Serve the older HTTP+SSE transport too (`/sse` and `/messages`), for clients that know no other. There, a token \
              may be part of the address (`?token=`). Without other authentication, one is made at start and \
              printed. The flag means `--http` as well.",
        apply: |draft, given| toggle(&given.raw).map(|sse| draft.config.http.sse = sse),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.tls_cert"),
        variable: Some("LAPIDARY_TLS_CERT"),
        flag: Some(SettingFlag {
            name: "--tls-cert",
            value: "FILE",
            given: |flags| flags.tls_cert.clone().map(RawValue::Text),
        }),
        default: ShownDefault::Words("none: a proxy encrypts, or nothing leaves this computer"),
        doc: "The certificate for TLS, with its chain, in PEM form. A changed file is read again within seconds.",
        apply: |draft, given| {
            draft.tls.0 = Some(draft.places.whole(given.raw.text()?)?);
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.tls_key"),
        variable: Some("LAPIDARY_TLS_KEY"),
        flag: Some(SettingFlag {
            name: "--tls-key",
            value: "FILE",
            given: |flags| flags.tls_key.clone().map(RawValue::Text),
        }),
        default: ShownDefault::Words("none"),
        doc: "The private key of the certificate, in PEM form.",
        apply: |draft, given| {
            draft.tls.1 = Some(draft.places.whole(given.raw.text()?)?);
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.metrics"),
        variable: Some("LAPIDARY_METRICS"),
        flag: None,
        default: ShownDefault::Value("false"),
        doc: "Serve `/metrics` for Prometheus: to this computer, and to collectors elsewhere that send LAPIDARY_METRICS_TOKEN.",
        apply: |draft, given| toggle(&given.raw).map(|served| draft.config.http.metrics.served = served),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.metrics_token"),
        variable: Some("LAPIDARY_METRICS_TOKEN"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The token with which `/metrics` is read from other computers: 32 characters or more. It opens nothing else.",
        apply: |draft, given| {
            let token = given.raw.text()?;
            if token.len() < 32 {
                return Err(ConfigRefusal::WeakSecret);
            }
            draft.config.http.metrics.token = Some(ContentHash::of(token.as_bytes()));
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.head_timeout_ms"),
        variable: Some("LAPIDARY_HTTP_HEAD_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("10000"),
        doc: "How long the head of a request may take to arrive before the connection is closed; 0 means no limit.",
        apply: |draft, given| limit(&given.raw).map(|limit| draft.config.http.connections.head = limit),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.body_timeout_ms"),
        variable: Some("LAPIDARY_HTTP_BODY_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("30000"),
        doc: "How long the body of a request may take to arrive before it is refused with 408; 0 means no limit.",
        apply: |draft, given| limit(&given.raw).map(|limit| draft.config.http.body.time = limit),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.idle_timeout_ms"),
        variable: Some("LAPIDARY_HTTP_IDLE_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("75000"),
        doc: "How long a connection may wait between two requests before it is closed; 0 means no limit.",
        apply: |draft, given| limit(&given.raw).map(|limit| draft.config.http.connections.idle = limit),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_connections"),
        variable: Some("LAPIDARY_HTTP_MAX_CONNECTIONS"),
        flag: None,
        default: ShownDefault::Value("1024"),
        doc: "How many connections may be open; what is beyond is closed at once. 0 means no limit.",
        apply: |draft, given| number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.connections.all = most),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_connections_per_address"),
        variable: Some("LAPIDARY_HTTP_MAX_CONNECTIONS_PER_ADDRESS"),
        flag: None,
        default: ShownDefault::Value("64"),
        doc: "The same for one address of another computer (of IPv6, the first 64 bits of it).",
        apply: |draft, given| {
            number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.connections.per_address = most)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_sessions"),
        variable: Some("LAPIDARY_HTTP_MAX_SESSIONS"),
        flag: None,
        default: ShownDefault::Value("1000"),
        doc: "How many sessions may be open. The one that was idle longest makes room for another; if all are in use, 503 is answered. 0 means no limit.",
        apply: |draft, given| number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.sessions.all = most),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_sessions_per_client"),
        variable: Some("LAPIDARY_HTTP_MAX_SESSIONS_PER_CLIENT"),
        flag: None,
        default: ShownDefault::Value("32"),
        doc: "The same for one client that is known by its token.",
        apply: |draft, given| {
            number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.sessions.per_client = most)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_streams_per_client"),
        variable: Some("LAPIDARY_HTTP_MAX_STREAMS_PER_CLIENT"),
        flag: None,
        default: ShownDefault::Value("16"),
        doc: "How many streams of news one client may keep open; 0 means no limit. What is beyond gets 429.",
        apply: |draft, given| number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.clients.streams = most),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_calls_per_client"),
        variable: Some("LAPIDARY_HTTP_MAX_CALLS_PER_CLIENT"),
        flag: None,
        default: ShownDefault::Value("8"),
        doc: "How many calls of one client may be under way. Others wait for 5 seconds and then get 429. 0 means no limit.",
        apply: |draft, given| number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.clients.calls = most),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_calls"),
        variable: Some("LAPIDARY_HTTP_MAX_CALLS"),
        flag: None,
        default: ShownDefault::Value("64"),
        doc: "The same for all clients together.",
        apply: |draft, given| {
            number(&given.raw, 0..=usize::MAX).map(|most| draft.config.http.clients.calls_in_all = most)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.calls_per_second"),
        variable: Some("LAPIDARY_HTTP_CALLS_PER_SECOND"),
        flag: None,
        default: ShownDefault::Value("20"),
        doc: "How many calls one client may make each second, three seconds of them at once; what is beyond gets 429 with `Retry-After`. 0 means no limit. A client is a token or, without authentication, another computer.",
        apply: |draft, given| {
            number(&given.raw, 0..=u32::MAX).map(|most| draft.config.http.clients.calls_per_second = most)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.writes_per_second"),
        variable: Some("LAPIDARY_HTTP_WRITES_PER_SECOND"),
        flag: None,
        default: ShownDefault::Value("5"),
        doc: "The same for calls that may change something, four seconds of them at once.",
        apply: |draft, given| {
            number(&given.raw, 0..=u32::MAX).map(|most| draft.config.http.clients.writes_per_second = most)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.auth_mode"),
        variable: Some("MCP_AUTH_MODE"),
        flag: None,
        default: ShownDefault::Words("`builtin` with a public URL, `bearer` if there is any token, `none` otherwise"),
        doc: "How HTTP clients authenticate: `none` (not at all, but tokens in the configuration are still \
              required), `bearer` (a token of the configuration or of `lapidary token create`), `builtin` (the same, and \
              OAuth with the server's own sign-in page), `jwt` (a JSON web token, HS256) or `oauth` (tokens of another \
              authorization server).",
        apply: |draft, given| {
            let words = [
                ("none", AuthMode::None),
                ("bearer", AuthMode::Bearer),
                ("builtin", AuthMode::Builtin),
                ("jwt", AuthMode::Jwt),
                ("oauth", AuthMode::Oauth),
            ];
            word(&given.raw, &words).map(|mode| draft.config.http.auth.mode = Some(mode))
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.access_ttl_ms"),
        variable: Some("LAPIDARY_ACCESS_TTL_MS"),
        flag: None,
        default: ShownDefault::Value("86400000"),
        doc: "How long an access token of `builtin` lives before its client gets the next one: 5 minutes to 7 days.",
        apply: |draft, given| {
            milliseconds(&given.raw, 300 * SECOND..=7 * DAY).map(|life| draft.config.http.auth.access_life = life)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.allowed_redirects"),
        variable: Some("LAPIDARY_ALLOWED_REDIRECTS"),
        flag: None,
        default: ShownDefault::Words("every `https` page, known programs, programs on the user's computer"),
        doc: "Where `builtin` may send a browser back to with a code: origins like `https://claude.ai`, schemes of programs \
              like `cursor:`, and `loopback`.",
        apply: |draft, given| redirect_places(&given.raw).map(|places| draft.config.http.auth.redirects = Some(places)),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.oauth_issuer"),
        variable: Some("OAUTH_ISSUER_URL"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "For `oauth`: the issuer whose tokens are accepted, exactly as in their claim `iss`.",
        apply: |draft, given| issuer_url(&given.raw).map(|issuer| draft.config.http.auth.foreign.issuer = Some(issuer)),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.oauth_audience"),
        variable: Some("OAUTH_AUDIENCE"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "For `oauth`: the required value of the claim `aud`, or one of its values.",
        apply: |draft, given| {
            given.raw.text().map(|text| draft.config.http.auth.foreign.audience = Some(text.to_owned()))
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.oauth_keys_url"),
        variable: Some("OAUTH_JWKS_URI"),
        flag: None,
        default: ShownDefault::Words("`/.well-known/jwks.json` below the issuer"),
        doc: "For `oauth`: where the issuer publishes its keys.",
        apply: |draft, given| issuer_url(&given.raw).map(|keys| draft.config.http.auth.foreign.keys = Some(keys)),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.oauth_keys_cooldown_ms"),
        variable: Some("OAUTH_JWKS_COOLDOWN_MS"),
        flag: None,
        default: ShownDefault::Value("300000"),
        doc: "For `oauth`: how long to wait before the keys are fetched again because a token names one that is not there.",
        apply: |draft, given| {
            milliseconds(&given.raw, 0..=DAY).map(|time| draft.config.http.auth.foreign.cooldown = time)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.oauth_keys_timeout_ms"),
        variable: Some("OAUTH_JWKS_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("5000"),
        doc: "For `oauth`: how long fetching the keys may take.",
        apply: |draft, given| {
            milliseconds(&given.raw, 1..=60 * SECOND).map(|time| draft.config.http.auth.foreign.timeout = time)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.resource_identifier"),
        variable: Some("MCP_SERVER_RESOURCE_IDENTIFIER"),
        flag: None,
        default: ShownDefault::Words("not checked"),
        doc: "For `oauth`: the resource that a token has to be for, in its claim `resource` or `aud` (RFC 8707).",
        apply: |draft, given| {
            given.raw.text().map(|text| draft.config.http.auth.foreign.resource = Some(text.to_owned()))
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.auth_secret_key"),
        variable: Some("MCP_AUTH_SECRET_KEY"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The secret with which JSON web tokens are signed, for `jwt`: 32 characters or more. It is never logged.",
        apply: |draft, given| {
            let secret = given.raw.text()?;
            SharedSecretVerifier::new(secret, None, None).map_err(|_| ConfigRefusal::WeakSecret)?;
            draft.config.http.auth.secret = Some(SecretText::new(secret.to_owned()));
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.jwt_issuer"),
        variable: Some("MCP_JWT_EXPECTED_ISSUER"),
        flag: None,
        default: ShownDefault::Words("any"),
        doc: "The required value of the claim `iss` of a JSON web token.",
        apply: |draft, given| given.raw.text().map(|text| draft.config.http.auth.issuer = Some(text.to_owned())),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.jwt_audience"),
        variable: Some("MCP_JWT_EXPECTED_AUDIENCE"),
        flag: None,
        default: ShownDefault::Words("any"),
        doc: "The required value of the claim `aud` of a JSON web token, or one of its values.",
        apply: |draft, given| given.raw.text().map(|text| draft.config.http.auth.audience = Some(text.to_owned())),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.ignore_scopes"),
        variable: Some("MCP_AUTH_DISABLE_SCOPE_CHECKS"),
        flag: None,
        default: ShownDefault::Value("false"),
        doc: "Accept every valid JSON web token for all tools, regardless of its scopes. The server warns about it at startup.",
        apply: |draft, given| toggle(&given.raw).map(|ignored| draft.config.http.auth.ignores_scopes = ignored),
    },
    Setting {
        section: ReferenceSection::Http,
        key: None,
        variable: None,
        flag: Some(SettingFlag {
            name: "--insecure-no-auth",
            value: "",
            given: |flags| switch(flags.insecure_no_auth),
        }),
        default: ShownDefault::Value("false"),
        doc: "Serve an address that other computers can reach without authentication: every client that reaches the \
              port can read and change the vaults.",
        apply: |draft, given| toggle(&given.raw).map(|insecure| draft.config.http.auth.insecure = insecure),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("tokens"),
        variable: Some("LAPIDARY_TOKENS"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The clients that may call over HTTP, each with a token that it sends as `Authorization: Bearer …` and a \
              its own profile. In the file, a table `[tokens.name]` with `token` and `profile`; in the variable, \
              `name:profile:token`, separated by `;`. A token may be written as `sha256:` and its hash. If any token is set, \
              clients without one are refused. In the file, a token may also have `vaults` (the names of the vaults that \
              exist for it; default all), `read_paths` and `write_paths` (folders, within those of `access`; \
              `write_paths` default to `read_paths`) and `read_only`. Anything outside does not exist \
              for that client.",
        apply: |draft, given| {
            draft.config.tokens = tokens(&given.raw)?;
            draft.tokens_place = Some(given.place.clone());
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: None,
        variable: Some("LAPIDARY_TOKEN"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The token with which `lapidary doctor --remote` asks as a client. It is never logged.",
        apply: |draft, given| {
            draft.config.client_token = Some(SecretText::new(given.raw.text()?.to_owned()));
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::State,
        key: Some("state_dir"),
        variable: Some("LAPIDARY_STATE_DIR"),
        flag: None,
        default: ShownDefault::Words(
            "`$XDG_STATE_HOME/lapidary` or `~/.local/state/lapidary`; macOS `~/Library/Application Support/lapidary`; \
             Windows `%LOCALAPPDATA%\\lapidary`",
        ),
        doc: "The folder for journals, checkpoints, logs and caches. It must be outside the vaults.",
        apply: |draft, given| {
            draft.config.state_dir = draft.places.whole(given.raw.text()?)?;
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::State,
        key: Some("audit.max_bytes"),
        variable: Some("LAPIDARY_AUDIT_MAX_BYTES"),
        flag: None,
        default: ShownDefault::Value("5000000"),
        doc: "The size at which the call log is rotated; at least 1024.",
        apply: |draft, given| {
            number(&given.raw, 1024..=u64::MAX).map(|most| draft.config.limits.audit_max_bytes = most)
        },
    },
    Setting {
        section: ReferenceSection::State,
        key: Some("log.level"),
        variable: Some("MCP_LOG_LEVEL"),
        flag: None,
        default: ShownDefault::Value("info"),
        doc: "What is logged to standard error and to LOGS_DIR. `off`: nothing. `error`: internal errors, with the id that \
              the caller got, and what ends the server. `warning`: settings without effect, vaults that are closed, \
              unfinished changes that were rolled back, state that cannot be written. `info`: what is served, and where. \
              `debug`: each call with its duration, indexes that are built, loaded or discarded, clients that do not respond. \
              `trace`: each stage of a call, waits for locks. No level logs text of notes, paths in the vault or tokens. \
              `emerg`, `alert`, `crit`, `fatal` and `err` mean `error`, `warn` means `warning`, `notice` means `info`, \
              `silent` means `off`.",
        apply: |draft, given| word(&given.raw, LOG_LEVELS).map(|level| draft.config.log.level = level),
    },
    Setting {
        section: ReferenceSection::State,
        key: Some("log.format"),
        variable: Some("LAPIDARY_LOG_FORMAT"),
        flag: None,
        default: ShownDefault::Value("plain"),
        doc: "The log format: `plain` for people, or `json`, one object per line with `time`, `level`, `pid`, `target`, \
              `msg`, `fields` and `spans`, the enclosing calls and stages.",
        apply: |draft, given| word(&given.raw, LOG_FORMATS).map(|format| draft.config.log.format = format),
    },
    Setting {
        section: ReferenceSection::State,
        key: Some("log.dir"),
        variable: Some("LOGS_DIR"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A folder for `lapidary.log`, which gets the same lines as standard error. It must be outside \
              the vaults. Several servers may share it; five older files are kept as `lapidary.log.1` to `.5`.",
        apply: |draft, given| {
            draft.config.log.folder = Some(draft.places.whole(given.raw.text()?)?);
            Ok(())
        },
    },
    Setting {
        section: ReferenceSection::State,
        key: Some("log.max_bytes"),
        variable: Some("LAPIDARY_LOG_MAX_BYTES"),
        flag: None,
        default: ShownDefault::Value("5000000"),
        doc: "The size at which `lapidary.log` is rotated; at least 1024.",
        apply: |draft, given| number(&given.raw, 1024..=u64::MAX).map(|most| draft.config.log.max_bytes = most),
    },
    Setting {
        section: ReferenceSection::Telemetry,
        key: Some("telemetry.otlp"),
        variable: Some("OTEL_ENABLED"),
        flag: None,
        default: ShownDefault::Value("false"),
        doc: "Send traces and metrics by OTLP over HTTP. They contain names of tools, outcomes, sizes and durations, never text, paths or tokens.",
        apply: |draft, given| toggle(&given.raw).map(|enabled| draft.telemetry.enabled = enabled),
    },
    Setting {
        section: ReferenceSection::Telemetry,
        key: Some("telemetry.endpoint"),
        variable: Some("OTEL_EXPORTER_OTLP_ENDPOINT"),
        flag: None,
        default: ShownDefault::Words("`http://localhost:4318`"),
        doc: "The address of the collector; `/v1/traces` and `/v1/metrics` are added to it.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.endpoint = written),
    },
    Setting {
        section: ReferenceSection::Telemetry,
        key: Some("telemetry.traces_endpoint"),
        variable: Some("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
        flag: None,
        default: ShownDefault::Words("below the collector"),
        doc: "The whole address for traces.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.traces = written),
    },
    Setting {
        section: ReferenceSection::Telemetry,
        key: Some("telemetry.metrics_endpoint"),
        variable: Some("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"),
        flag: None,
        default: ShownDefault::Words("below the collector"),
        doc: "The whole address for metrics.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.metrics = written),
    },
    Setting {
        section: ReferenceSection::Telemetry,
        key: Some("telemetry.service_name"),
        variable: Some("OTEL_SERVICE_NAME"),
        flag: None,
        default: ShownDefault::Words("`lapidary`"),
        doc: "The name of this server in traces and metrics.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.service_name = written),
    },
    Setting {
        section: ReferenceSection::Telemetry,
        key: Some("telemetry.service_version"),
        variable: Some("OTEL_SERVICE_VERSION"),
        flag: None,
        default: ShownDefault::Words("that of Lapidary"),
        doc: "Its version there.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.service_version = written),
    },
    Setting {
        section: ReferenceSection::Telemetry,
        key: Some("telemetry.sampled"),
        variable: Some("OTEL_TRACES_SAMPLER_ARG"),
        flag: None,
        default: ShownDefault::Words("all"),
        doc: "The share of traces that is sent, from 0 to 1, where the client has not decided.",
        apply: |draft, given| WrittenValue::of(given).map(|written| draft.telemetry.sampled = written),
    },
];

/// The value of a flag that takes many; `None` if it was not given.
fn list(entries: &[String]) -> Option<RawValue> {
    (!entries.is_empty()).then(|| RawValue::List(entries.iter().cloned().map(RawValue::Text).collect()))
}

/// The value of a flag without one: it can only enable.
fn switch(given: bool) -> Option<RawValue> {
    given.then(|| text("true"))
}

fn text(value: impl Into<String>) -> RawValue {
    RawValue::Text(value.into())
}
