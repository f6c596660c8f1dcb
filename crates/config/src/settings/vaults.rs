//! Which vaults are served.

use super::{list, switch};
use crate::raw::ValueOrigin;
use crate::setting::{Setting, SettingFlag, ShownDefault};
use crate::value::toggle;
use crate::vault_table::has_rules;
use crate::vaults::{RequestedVaults, requested_vaults};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("vaults"),
        variable: Some("OBSIDIAN_VAULT_PATHS"),
        flag: Some(SettingFlag { name: "--vault", value: "NAME|PATH", given: |flags| list(&flags.vaults) }),
        default: ShownDefault::Words("the only vault that Obsidian knows"),
        doc: "The vault folders to serve. In the file, a table `[vaults]` of `name = \"path\"`, or a table \
              `[vaults.name]` with `path`, `allow` and `deny` (lists of patterns that open or close parts of this vault) and \
              `follow` (folders that its links may lead to); with `url` and `key` instead of `path`, the vault behind Obsidian's plugin Local \
              REST API at that address, and `certificate`, the file with the certificate that it has; in the variable, paths separated by `;`. An unnamed vault takes its folder's name. \
              The flag takes the folder, or the name of a vault that the file, the variable or Obsidian knows, or `NAME=PATH`.",
        apply: |draft, given| {
            let vaults = requested_vaults(&given.raw)?;
            let ruled = vaults.iter().filter(|vault| has_rules(&vault.access)).cloned();
            // Collected from every source, since rules hold for a folder whichever source chooses it.
            draft.ruled.extend(ruled.map(|vault| (vault, given.place.clone())));
            // A name on the command line refers to other sources, not to itself.
            if !matches!(given.place, ValueOrigin::Flag(_) | ValueOrigin::Found(_)) {
                draft.known.extend(vaults.iter().cloned());
            }
            if !vaults.is_empty() {
                draft.asked = Some(RequestedVaults { vaults, place: given.place.clone() });
            }
            Ok(())
        },
    },
    Setting {
        key: None,
        variable: None,
        flag: Some(SettingFlag { name: "--demo", value: "", given: |flags| switch(flags.demo) }),
        default: ShownDefault::Value("false"),
        doc: "Serve only a copy of the bundled demo vault.",
        apply: |draft, given| toggle(&given.raw).map(|demo| draft.demo = demo),
    },
    Setting {
        key: None,
        variable: None,
        flag: Some(SettingFlag { name: "--any-folder", value: "", given: |flags| switch(flags.any_folder) }),
        default: ShownDefault::Value("false"),
        doc: "Serve a folder even if it is the home folder or contains it, like a whole disk. Without it, such a folder is \
              refused: it has far more than notes.",
        apply: |draft, given| toggle(&given.raw).map(|any| draft.config.any_folder = any),
    },
    Setting {
        key: None,
        variable: Some("OBSIDIAN_API_KEY"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The key of the Local REST API plugin. If no vault is given, it selects the vault in Obsidian's own list \
              whose plugin has it, and if there is none, the vault behind the plugin at OBSIDIAN_BASE_URL; it is never logged.",
        apply: |draft, given| given.raw.text().map(|key| draft.api_key = Some(key.to_owned())),
    },
];
