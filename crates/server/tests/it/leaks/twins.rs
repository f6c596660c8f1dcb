//! Two vaults that a caller must not be able to tell apart: one with hidden files, one without.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use crate::harness::{Era, Server, Vault};

/// How every marker begins, and no other word.
pub(crate) const MARK: &str = "zq";

/// A word that stands in exactly one hidden place.
pub(crate) fn marker(what: &str, number: usize) -> String {
    format!("{MARK}{what}{number}x")
}

/// Where hidden files are. `NAME` becomes a marker.
const HIDDEN: [&str; 16] = [
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
];

/// In both vaults. Names, tags and links that hidden notes have too: whoever counts or resolves must not count them.
const VISIBLE: [(&str, &str); 6] = [
    ("Open/Plan.md", "---\naliases: [Agate]\ntags: [gem]\nstatus: open\n---\n# Plan\n\nlantern [[Stone]] #gem ^one\n"),
    ("Open/Stone.md", "# Stone\n\n- [ ] lantern [[Plan]] [[shadow-private]] [[Ignored/shadow-private.md|x]]\n"),
    ("Open/Drafts/Draft.md", "# Draft\n\nlantern\n\n## Plan\n\n![[Plan#Plan]]\n"),
    ("Open/Fixed/Law.md", "# Law\n\nlantern, and nobody changes it #gem\n"),
    ("Open/board.canvas", "{\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"Open/Plan.md\"}],\"edges\":[]}\n"),
    ("Loose.md", "# Loose\n\nlantern [[Plan]]\n"),
];

/// In both vaults, and closed like everything with a dot.
const RULES: [(&str, &str); 4] = [
    (".lapidaryignore", "/Ignored/\n*-private.md\n"),
    (".obsidian-agentignore", "Peers/\n"),
    (".lapidaryprotect", "Open/Fixed/\n"),
    (".obsidian/app.json", "{\"userIgnoreFilters\": [\"Excluded/\"]}"),
];

/// Links in both vaults; where the hidden files are missing, they lead nowhere.
const LINKS: [(&str, &str); 4] = [
    ("Open/door.md", "../Ignored/shadow-private.md"),
    ("Open/doors", "../Ignored"),
    ("Open/gate", "../Denied/deep"),
    ("Open/past.md", "../.trash/shadow.md"),
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
            "---\naliases: [{}, Agate]\ntags: [{}, gem]\n{}: {}\nstatus: open\n---\n# {}\n\n- [ ] {} lantern [[{}]] \
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
    let plain = ["Ignored/shadow-private.md", ".trash/shadow.md"].map(|path| Hidden {
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
    /// Rule files, patterns and denied paths; all else is open.
    Rules,
    /// Only what is listed is open.
    Lists,
}

impl Closing {
    fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Rules => &[("OBSIDIAN_DENY_PATHS", "Denied"), ("LAPIDARY_EXCLUDED_FILES", "hide")],
            Self::Lists => &[
                ("OBSIDIAN_READ_PATHS", "Open,Denied"),
                ("OBSIDIAN_WRITE_PATHS", "Open/Drafts"),
                ("OBSIDIAN_DENY_PATHS", "denied"),
            ],
        }
    }

    fn patterns(self) -> &'static str {
        match self {
            Self::Rules => "deny = [\"**/Globbed-*/**\", \"**/*.secret.md\"]",
            Self::Lists => "allow = [\"Open/**\"]\ndeny = [\"**/globbed-*\", \"**/*.secret.md\"]",
        }
    }
}

/// A vault of the pair, and a server on it.
pub(crate) struct Twin {
    pub(crate) vault: Vault,
    pub(crate) server: Server,
}

impl Twin {
    /// `more` is in both vaults, where nothing else is already.
    pub(crate) fn new(
        full: bool,
        closing: Closing,
        more: &BTreeMap<&'static str, &'static str>,
        environment: &[(&str, &str)],
    ) -> Self {
        let vault = Vault::new(&[]);
        for (path, text) in more.iter().map(|(path, text)| (*path, *text)).chain(VISIBLE).chain(RULES) {
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
        std::fs::write(&config, format!("[vaults.Notes]\npath = {:?}\n{}\n", vault.path(), closing.patterns()))
            .unwrap();
        let mut command = vault.command();
        command.args(["--tools", "all"]).env("LAPIDARY_CONFIG", config).env("LAPIDARY_REPETITION", "off");
        command.envs(closing.environment().iter().copied()).envs(environment.iter().copied());
        let server = Server::start(command).with_elicitation().open(Era::Modern);
        Self { vault, server }
    }

    /// Whether every hidden file is as it was made.
    pub(crate) fn is_untouched(&self) -> bool {
        let everything = self.vault.everything();
        hidden().iter().all(|hidden| everything.get(&hidden.path).map(Vec::as_slice) == Some(hidden.text.as_bytes()))
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
