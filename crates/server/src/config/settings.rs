//! The table of settings. Every layer and the reference are generated from it; a setting is added here and in `model`.

use std::time::Duration;

use lapidary_auth::{SecretText, SharedSecretVerifier};

use super::model::{AuthMode, LogFormat, LogLevel, SessionMode, Transport};
use super::prefixes::prefixes;
use super::profiles::{profiles, tokens};
use super::raw::RawValue;
use super::refused::ConfigRefusal;
use super::rules::rules;
use super::setting::{ReferenceSection, Setting, SettingFlag, ShownDefault};
use super::value::{address, approval, endpoint, folder_names, milliseconds, names, number, origins, toggle, word};
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
        doc: "The tools to list: names of tools and groups, `default`, `obsidian`, `files` or `all`.",
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
        flag: Some(SettingFlag { name: "--http", value: "", given: |flags| flags.http.map(|_| text("http")) }),
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
        doc: "The port to listen on; 0 lets the system choose one.",
        apply: |draft, given| number(&given.raw, 0..=u16::MAX).map(|port| draft.config.http.port = port),
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.max_port_retries"),
        variable: Some("MCP_HTTP_MAX_PORT_RETRIES"),
        flag: None,
        default: ShownDefault::Value("15"),
        doc: "How many of the following ports to try if the port is taken.",
        apply: |draft, given| number(&given.raw, 0..=1000).map(|retries| draft.config.http.max_port_retries = retries),
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
        default: ShownDefault::Value("4194304"),
        doc: "The largest request that is accepted; 0 means no limit.",
        apply: |draft, given| {
            let most = number(&given.raw, 0..=usize::MAX)?;
            draft.config.http.max_body_bytes = (most > 0).then_some(most);
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
        default: ShownDefault::Value("86400000"),
        doc: "How long a session lives without a request. The default is long, because several clients do not recover \
              from a lost session.",
        apply: |draft, given| {
            milliseconds(&given.raw, SECOND..=365 * DAY).map(|timeout| draft.config.http.session_timeout = timeout)
        },
    },
    Setting {
        section: ReferenceSection::Http,
        key: Some("http.auth_mode"),
        variable: Some("MCP_AUTH_MODE"),
        flag: None,
        default: ShownDefault::Words("`bearer` if there is any token, `none` otherwise"),
        doc: "How HTTP clients authenticate: `none` (not at all, but tokens in the configuration are still \
              required), `bearer` (a token of the configuration or of `lapidary token create`), or `jwt` (a JSON web token, \
              HS256). With `oauth` this version does not start, because it does not support it.",
        apply: |draft, given| {
            let words = [
                ("none", Ok(AuthMode::None)),
                ("bearer", Ok(AuthMode::Bearer)),
                ("jwt", Ok(AuthMode::Jwt)),
                ("oauth", Err("oauth")),
            ];
            match word(&given.raw, &words)? {
                Ok(mode) => (draft.config.http.auth.mode, draft.auth) = (Some(mode), None),
                Err(mode) => draft.auth = Some((mode, given.place.clone())),
            }
            Ok(())
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
