//! Two vaults that a caller must not be able to distinguish: one with hidden files, one without.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion};
use serde_json::{Value, json};

use crate::{
    harness::{Era, Server, Vault, patience},
    http::HttpServer,
    oauth::{PASSPHRASE, granted, set_passphrase},
    tokens::{FAR, ForeignIssuer, WEB_SECRET, web_token},
};

/// The prefix of every marker, and of no other word.
pub(crate) const MARK: &str = "zq";

/// A word that is in exactly one hidden place.
pub(crate) fn marker(what: &str, number: usize) -> String {
    format!("{MARK}{what}{number}x")
}

/// An address that hidden notes have as their source.
pub(super) const SOURCE: &str = "https://lantern.example/a";

/// A hidden note that the owner chose as guide.
const GUIDE: &str = "Ignored/shadow-private.md";

/// Where hidden files are. `NAME` becomes a marker.
const HIDDEN: [&str; 19] = [
    ".obsidian/plugins/NAME/data.json",
    ".git/NAME.md",
    ".trash/NAME.md",
    ".NAME.md",
    "Open/.dots/NAME.md",
    "Denied/NAME.md",
    "Denied/deep/er/NAME.md",
    "Open/globbed-NAME/NAME.md",
    "Open/NAME.secret.md",
    "Ignored/NAME.md",
    "Ignored/deep/NAME/Plan.md",
    "Open/NAME-private.md",
    "Peers/NAME.md",
    "Excluded/NAME.md",
    "Open/node_modules/NAME/readme.md",
    "Ignored/NAME.canvas",
    // Documents, whose text is read in the background.
    "Denied/NAME.txt",
    "Ignored/NAME.html",
    "Peers/NAME.csv",
];

/// In both vaults. Names, tags and links that hidden notes have too: counting or resolving must ignore those.
/// In the order of their paths: bases list backlinks by the time of creation and then by path, and files that are made
/// right after each other may or may not have the same time.
const VISIBLE: [(&str, &str); 6] = [
    ("Loose.md", "# Loose\n\nlantern [[Plan]]\n"),
    ("Open/Drafts/Draft.md", "# Draft\n\nlantern\n\n## Plan\n\n![[Plan#Plan]]\n"),
    ("Open/Fixed/Law.md", "# Law\n\nlantern, and it is protected #gem\n"),
    ("Open/Plan.md", "---\naliases: [Agate]\ntags: [gem]\nstatus: open\n---\n# Plan\n\nlantern [[Stone]] #gem ^one\n"),
    ("Open/Stone.md", "# Stone\n\n- [ ] lantern [[Plan]] [[shadow-private]] [[Ignored/shadow-private.md|x]]\n"),
    ("Open/board.canvas", "{\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"Open/Plan.md\"}],\"edges\":[]}\n"),
];

/// In both vaults, and closed like everything with a dot.
const RULES: [(&str, &str); 4] = [
    (".lapidaryignore", "/Ignored/\n*-private.md\nOpen/Drafts/index.md\n"),
    (".obsidian-agentignore", "Peers/\n"),
    (".lapidaryprotect", "Open/Fixed/\n"),
    (".obsidian/app.json", "{\"userIgnoreFilters\": [\"Excluded/\"]}"),
];

/// Links in both vaults; without the hidden files, they lead nowhere.
const LINKS: [(&str, &str); 7] = [
    ("Open/door.md", "../Ignored/shadow-private.md"),
    ("Open/doors", "../Ignored"),
    ("Open/gate", "../Denied/deep"),
    ("Open/past.md", "../.trash/shadow.md"),
    ("Open/Drafts/chain", "../doors/deep"),
    ("Open/Drafts/below.md", "../doors/shadow-private.md/x.md"),
    ("Open/Drafts/new", "../../Denied"),
];

pub(crate) struct Hidden {
    pub(crate) path: String,
    pub(crate) name: String,
    text: String,
}

pub(crate) fn hidden() -> Vec<Hidden> {
    let marked = HIDDEN.iter().enumerate().map(|(number, place)| {
        let name = marker("name", number);
        let mark = |what| marker(what, number);
        let text = format!(
            "---\naliases: [{}, Agate]\ntags: [{}, gem]\n{}: {}\nstatus: open\nsource: {SOURCE}\n\
             source_hash: sha256:0\n---\n# {}\n\n- [ ] {} lantern [[{}]] \
             [[Plan]] #{} #gem ^{}\n",
            mark("alias"),
            mark("tag"),
            mark("key"),
            mark("value"),
            mark("head"),
            mark("text"),
            mark("link"),
            mark("inline"),
            mark("block"),
        );
        Hidden { path: place.replace("NAME", &name), name, text }
    });
    // Without a marker in their names, so that visible notes and links can name them.
    let plain = [GUIDE, ".trash/shadow.md", "Open/Drafts/index.md"].map(|path| Hidden {
        path: path.to_owned(),
        name: "shadow".to_owned(),
        text: format!("lantern {}\n", marker("shadow", path.len())),
    });
    marked.chain(plain).collect()
}

pub(crate) fn visible() -> impl Iterator<Item = &'static str> {
    VISIBLE.iter().map(|(path, _)| *path)
}

/// What is closed, and by what.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Closing {
    /// Rule files, patterns and denied paths; everything else is open.
    Rules,
    /// Only listed paths are open.
    Lists,
    /// The server opens nearly everything; the token of the caller does not.
    Principal,
    /// The same, with what the owner granted to an OAuth client.
    Granted,
    /// Rules, and a caller with a JSON web token for reading.
    Scoped,
    /// Lists, and a caller that another authorization server allows everything.
    Issued,
    /// Rules, in a vault that is behind the plugin.
    Remote,
}

impl Closing {
    fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Rules | Self::Scoped | Self::Remote => {
                &[("OBSIDIAN_DENY_PATHS", "Denied"), ("LAPIDARY_EXCLUDED_FILES", "hide")]
            }
            Self::Lists | Self::Issued => &[
                ("OBSIDIAN_READ_PATHS", "Open,Denied"),
                ("OBSIDIAN_WRITE_PATHS", "Open/Drafts"),
                ("OBSIDIAN_DENY_PATHS", "denied"),
            ],
            Self::Principal | Self::Granted => &[],
        }
    }

    fn patterns(self) -> &'static str {
        match self {
            Self::Rules | Self::Scoped | Self::Remote => "deny = [\"**/Globbed-*/**\", \"**/*.secret.md\"]",
            Self::Lists | Self::Issued => "allow = [\"Open/**\"]\ndeny = [\"**/globbed-*\", \"**/*.secret.md\"]",
            Self::Principal | Self::Granted => "deny = [\"Open/globbed-*\", \"Open/*.secret.md\"]",
        }
    }

    /// The contents of the rule files. If the token closes a folder, they do not.
    fn rules(self) -> [(&'static str, &'static str); 4] {
        let mut rules = RULES;
        if let Self::Principal | Self::Granted = self {
            rules[0].1 = "Open/*-private.md\nOpen/Drafts/index.md\n";
            rules[1].1 = "";
        }
        rules
    }
}

/// A vault of the pair, and a client of a server on it.
pub(crate) struct Twin {
    /// Its folder; of a vault behind the plugin only what is around it.
    pub(crate) vault: Vault,
    pub(crate) client: Client,
    /// Where the files are, if not in a folder.
    plugin: Option<FakePlugin>,
}

/// Over any connection.
pub(crate) enum Client {
    Stdio(Server),
    /// In a session, with a token.
    Http {
        server: HttpServer,
        session: String,
        bearer: String,
    },
}

/// A token that the owner makes, for some folders and for the writing of fewer.
fn owner_token(vault: &Vault) -> String {
    let paths = ["--paths", "Open", "--write-paths", "Open/Drafts,Open/Plan.md"];
    let made = vault.command().args(["token", "create", "twin"]).args(paths).output().unwrap();
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

impl Client {
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        match self {
            Self::Stdio(server) => server.request(method, params),
            Self::Http { server, session, bearer } => {
                let bearer = ("Authorization", bearer.as_str());
                let reply = server.ask_in(session, &[bearer], method, &params).to_string();
                // The log has the start of it.
                serde_json::from_str(&reply.replace(&session[..8], "session")).unwrap()
            }
        }
    }

    /// Other messages since the last time.
    pub(crate) fn aside(&mut self) -> Vec<Value> {
        match self {
            Self::Stdio(server) => std::mem::take(&mut server.aside),
            Self::Http { .. } => Vec::new(),
        }
    }

    /// The server's own list of features.
    pub(crate) fn capabilities(&mut self) -> Value {
        match self {
            Self::Stdio(server) => server.request("server/discover", json!({}))["result"]["capabilities"].clone(),
            Self::Http { .. } => json!({ "prompts": {}, "resources": {}, "completions": {} }),
        }
    }
}

impl Twin {
    /// `more` is in both vaults, where nothing else is yet.
    pub(crate) fn new(
        full: bool,
        closing: Closing,
        more: &BTreeMap<&'static str, &'static str>,
        environment: &[(&str, &str)],
    ) -> Self {
        if let Closing::Remote = closing {
            return Self::remote(full, more, environment);
        }
        let vault = Vault::new(&[]);
        for (path, text) in more.iter().map(|(path, text)| (*path, *text)).chain(VISIBLE).chain(closing.rules()) {
            vault.write(path, text.as_bytes());
        }
        if full {
            hidden().iter().for_each(|hidden| vault.write(&hidden.path, hidden.text.as_bytes()));
        }
        #[cfg(unix)]
        for (at, target) in LINKS {
            std::os::unix::fs::symlink(target, vault.path().join(at)).unwrap();
        }
        age(&vault, more);
        let config = vault.path().with_file_name("lapidary.toml");
        let patterns = closing.patterns();
        std::fs::write(&config, format!("[vaults.Notes]\npath = {:?}\n{patterns}\n", vault.path())).unwrap();
        let mut command = vault.command();
        command.args(["--tools", "all"]).env("LAPIDARY_CONFIG", config).env("LAPIDARY_REPETITION", "off");
        // A folder that has hidden notes too, so that remembering is tried beside them.
        command.env("LAPIDARY_MEMORY_FOLDER", "Open").env("LAPIDARY_SKILLS_FOLDER", "Open");
        // Open, and nothing answers there: what the vault knows of a page must not depend on hidden notes.
        command.env("LAPIDARY_WEB_PRIVATE_HOSTS", "127.0.0.1:9").env("LAPIDARY_WEB_SEARCH_URL", "http://127.0.0.1:9/");
        command.env("LAPIDARY_SOURCES_FOLDER", "Open/Drafts").env("LAPIDARY_GUIDE_NOTE", GUIDE);
        // The same for what is checked and kept up.
        command.env("LAPIDARY_SCHEMA_FOLDER", "Open/Drafts/Schemas");
        command.env("LAPIDARY_RECIPE_FOLDER", "Open").env("LAPIDARY_SCRIPTS", "true");
        command.env("LAPIDARY_INDEX_NOTES", "Open/Index.md,Open/Drafts/Index.md");
        command.env("LAPIDARY_SOURCE_MARKS", "#zqtag9x");
        command.envs(closing.environment().iter().copied()).envs(environment.iter().copied());
        let client = match closing {
            Closing::Rules | Closing::Lists => {
                // Tools that read the log need a separate process.
                let server = if environment.is_empty() { Server::start(&command) } else { Server::spawn(command) };
                Client::Stdio(server.with_elicitation().open(Era::Modern))
            }
            Closing::Remote | Closing::Principal | Closing::Granted | Closing::Scoped | Closing::Issued => {
                command.args(["--http", "127.0.0.1:0"]);
                let (server, token) = match closing {
                    Closing::Granted => {
                        set_passphrase(&vault, PASSPHRASE);
                        command.env("MCP_AUTH_MODE", "builtin");
                        let server = HttpServer::start_command(command);
                        let choices = [("profile", "curator"), ("vault.Notes", "on"), ("folders", "Open")];
                        let token = granted(&server, "vault:destroy", &choices);
                        (server, token)
                    }
                    Closing::Scoped => {
                        command.envs([("MCP_AUTH_MODE", "jwt"), ("MCP_AUTH_SECRET_KEY", WEB_SECRET)]);
                        let claims = json!({ "cid": "phone", "scope": "vault:read", "exp": FAR });
                        (HttpServer::start_command(command), web_token(&claims))
                    }
                    Closing::Issued => {
                        let issuer = ForeignIssuer::start();
                        command.envs(issuer.settings());
                        (HttpServer::start_command(command), issuer.token("vault:destroy"))
                    }
                    _ => {
                        let token = owner_token(&vault);
                        (HttpServer::start_command(command), token)
                    }
                };
                let bearer = format!("Bearer {token}");
                let session = server.session_with(&[("Authorization", &bearer)]);
                Client::Http { server, session, bearer }
            }
        };
        Self { vault, client, plugin: None }
    }

    /// A vault that is only reachable through the plugin, which knows nothing of rules.
    fn remote(full: bool, more: &BTreeMap<&'static str, &'static str>, environment: &[(&str, &str)]) -> Self {
        let closing = Closing::Remote;
        // The hidden files last: each file gets a later time than the one before.
        let files = more.iter().map(|(path, text)| (*path, *text)).chain(VISIBLE).chain(closing.rules());
        let files: Vec<(&str, &[u8])> = files.map(|(path, text)| (path, text.as_bytes())).collect();
        let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&files));
        if full {
            hidden().iter().for_each(|hidden| plugin.write(&hidden.path, hidden.text.as_bytes()));
        }
        let vault = Vault::new(&[]);
        let config = vault.path().with_file_name("lapidary.toml");
        let (url, key, patterns) = (plugin.url(), plugin.key(), closing.patterns());
        std::fs::write(&config, format!("[vaults.Notes]\nurl = {url:?}\nkey = {key:?}\n{patterns}\n")).unwrap();
        let mut command = vault.command();
        command.args(["--tools", "all"]).env("LAPIDARY_CONFIG", config).env("LAPIDARY_REPETITION", "off");
        command.env("LAPIDARY_MEMORY_FOLDER", "Open");
        // Open, and nothing answers there: what the vault knows of a page must not depend on hidden notes.
        command.env("LAPIDARY_WEB_PRIVATE_HOSTS", "127.0.0.1:9").env("LAPIDARY_WEB_SEARCH_URL", "http://127.0.0.1:9/");
        command.env("LAPIDARY_SCHEMA_FOLDER", "Open/Drafts/Schemas");
        command.env("LAPIDARY_RECIPE_FOLDER", "Open").env("LAPIDARY_SCRIPTS", "true");
        command.env("LAPIDARY_INDEX_NOTES", "Open/Index.md,Open/Drafts/Index.md");
        command.envs(closing.environment().iter().copied()).envs(environment.iter().copied());
        let server = Server::spawn(command).with_elicitation().open(Era::Modern);
        Self { vault, client: Client::Stdio(server), plugin: Some(plugin) }
    }

    /// Has the visible documents read, so that no reply depends on how far that is.
    pub(crate) fn settle_documents(&mut self) {
        let started = std::time::Instant::now();
        let search = json!({ "name": "obsidian_search_notes", "arguments": { "query": "ext:pdf" } });
        while self.client.request("tools/call", search.clone()).to_string().contains("not read yet") {
            assert!(started.elapsed() < patience(), "the documents are not read");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether every hidden file is unchanged.
    pub(crate) fn is_untouched(&self) -> bool {
        let is_same = |found: Option<&[u8]>, hidden: &Hidden| found == Some(hidden.text.as_bytes());
        match &self.plugin {
            Some(plugin) => hidden().iter().all(|hidden| is_same(plugin.read(&hidden.path).as_deref(), hidden)),
            None => {
                let everything = self.vault.everything();
                hidden().iter().all(|hidden| is_same(everything.get(&hidden.path).map(Vec::as_slice), hidden))
            }
        }
    }
}

/// Times that are the same in both vaults.
fn age(vault: &Vault, more: &BTreeMap<&'static str, &'static str>) {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for path in visible().chain(more.keys().copied()) {
        let file = std::fs::File::options().write(true).open(vault.path().join(path)).unwrap();
        file.set_modified(long_ago).unwrap();
    }
}
