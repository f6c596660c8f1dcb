//! The documents about configuration, generated from the table of settings.

use super::dotenv_trust;
use super::file;
use super::inert::{InertVariables, OLD, WITHOUT_EFFECT};
use super::setting::{ReferenceSection, Setting, ShownDefault};
use super::settings;

// A test loads it, so that the example in the document is always valid.
pub(super) const EXAMPLE: &str = r#"transport = "stdio"

[vaults]
notes = "~/Documents/Notes"

[vaults.work]
path = "/srv/vaults/work"
deny = ["Clients/**"]

[access]
read_only = false
deny_paths = ["Private", "Journal/Diary.md"]

[approval]
write = "allow"
destroy = "ask"

[log]
level = "info"
"#;

const HEAD: &str = "\
# Configuration

<!-- Generated from the table of settings by `cargo xtask docs`. Do not edit. -->

Lapidary needs no configuration beyond a vault. Everything that can be set is set in one of these places; later wins:

1. the configuration file,
2. `.env` in the working folder, as far as it is trusted,
3. the environment,
4. flags.

Clients start a server in the folder of the project that is open, so a `.env` there may come from a stranger. All of it counts only \
if it is your set-up: nothing else chooses a vault (no flag, variable or configuration file), and the `.env` does; or if the \
variable `LAPIDARY_ENV_FILE` in the environment names it. Otherwise it can set log level and format, port and path of HTTP, limits on one call, \
dotted names and repetition, and can make the server read-only; the rest of it has no effect, and a warning says so.

A setting that is empty, or an unfilled template like `${user_config.vault}`, is not set. Switches take `true`, `1`, \
`yes`, `on`, `y`, `enabled` and `false`, `0`, `no`, `off`, `n`, `disabled`, in any case. Lists are separated by commas; \
in the file they may be arrays. A relative path starts at the working folder, `~/` at the home folder.

With a wrong value, an unknown key in the file or a vault that does not exist, Lapidary exits with code 2 and a message \
that names the place. An unknown variable that starts with `OBSIDIAN_`, `MCP_` or `LAPIDARY_` is named in a warning.

## The configuration file

";

const FILE_PLACES: &str = "
| platform | `lapidary.toml` is searched in |
|---|---|
| Linux | `$XDG_CONFIG_HOME/lapidary`, or `~/.config/lapidary` |
| macOS | `~/Library/Application Support/lapidary` |
| Windows | `%APPDATA%\\lapidary` |

A file given explicitly must exist; it may also be JSON with the same keys, like `{\"vaults\": {\"notes\": \"/path\"}}`. \
If none is given, the vaults of `~/.config/obsidian-native-mcp/vaults.json` are read too, and `lapidary.toml` wins \
over them.

";

const VAULT_SOURCES: &str = "\
## How vaults are chosen

The first source that gives any vaults is used:

1. `--vault`,
2. `OBSIDIAN_VAULT_PATHS`, in the environment or in `.env`,
3. the configuration file,
4. `OBSIDIAN_API_KEY`: the vault of Obsidian's own list whose Local REST API plugin has this key; if none has, \
   the [remote vault](remote-vaults.md) behind `OBSIDIAN_BASE_URL`,
5. Obsidian's own list (`obsidian.json`; also of Flatpak and Snap), if it has exactly one vault that exists.

Only vaults that you choose are served: if several are found and none is chosen, Lapidary exits with the list and the lines \
to add. `--demo` wins over all of these. If two vaults have the same name, the second is called `name-2`.
";

/// `docs/configuration.md`.
pub fn reference() -> String {
    let mut text = HEAD.to_owned();
    let (flag, variable) = (file::FLAG, file::VARIABLE);
    text += &format!("`{flag} FILE` or `{variable}` names it; the default depends on the platform.\n");
    text.push_str(FILE_PLACES);
    text += &format!("```toml\n{EXAMPLE}```\n\n{VAULT_SOURCES}");
    for section in ReferenceSection::ALL {
        text += &format!("\n## {}\n\n", section.title());
        text.push_str("| in the file | variable | flag | default | |\n|---|---|---|---|---|\n");
        for setting in settings::in_section(section) {
            text += &format!("{}\n", row(setting));
        }
    }
    text.push_str(
        "\n## Variables without effect\n\nThese are known from the servers that Lapidary replaces, or from clients.\n\n",
    );
    inert_table(&mut text, WITHOUT_EFFECT);
    text.push_str("\n## Variables of older versions\n\n");
    inert_table(&mut text, OLD);
    text
}

/// `.env.example`: every variable, with its default where there is one.
pub fn env_example() -> String {
    let mut text = "# Settings of Lapidary. Copy this file to .env in the working folder and remove the # of what you \
                    set.\n# docs/configuration.md says more.\n"
        .to_owned();
    text += &format!(
        "\n# The .env file, if it is elsewhere or the vault is chosen elsewhere. Only in the real environment.\n#{}=\n",
        dotenv_trust::VARIABLE
    );
    text += &format!("\n# The configuration file, if it is not in the default place.\n#{}=\n", file::VARIABLE);
    for section in ReferenceSection::ALL {
        text += &format!("\n# --- {} ---\n", section.title());
        for setting in settings::in_section(section) {
            // Settings that only a flag or the file has are not part of this file.
            let Some(variable) = setting.variable else { continue };
            let default = match setting.default {
                ShownDefault::Value(value) => value,
                ShownDefault::Words(_) => "",
            };
            text += &format!("\n# {}\n#{variable}={default}\n", setting.doc);
        }
    }
    text
}

fn row(setting: &Setting) -> String {
    let code = |text: &str| format!("`{text}`");
    let flag = setting.flag.as_ref().map(|flag| format!("{} {}", flag.name, flag.value));
    let default = match setting.default {
        ShownDefault::Value(value) => code(value),
        ShownDefault::Words(words) => words.to_owned(),
    };
    let cells = [
        setting.key.map(code).unwrap_or_default(),
        setting.variable.map(code).unwrap_or_default(),
        flag.map(|flag| code(flag.trim_end())).unwrap_or_default(),
        default,
        setting.doc.to_owned(),
    ];
    // A `|` in a cell would end it.
    format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

fn inert_table(text: &mut String, table: &[InertVariables]) {
    text.push_str("| variable | why |\n|---|---|\n");
    for inert in table {
        let names: Vec<String> = inert.names.iter().map(|name| format!("`{name}`")).collect();
        *text += &format!("| {} | {} |\n", names.join(", "), inert.reason);
    }
}
