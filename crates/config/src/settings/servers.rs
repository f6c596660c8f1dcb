//! Other MCP servers whose tools are reached through this one.

use crate::raw::ValueOrigin;
use crate::refused::ConfigRefusal;
use crate::server_table::servers;
use crate::setting::{Setting, ShownDefault};
use crate::value::toggle;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("mcp.servers"),
        variable: None,
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Other MCP servers whose tools assistants may call with `mcp_call`, which is off without any; in the file only: a table \
              `[mcp.servers.name]` with `command` (and `args`, `env`, `pass_env`) or `url` (and `headers`, `token_env`), and \
              `about`, `allow`, `deny`, `read_only`, `approval` (`always`, `writes` or `never`), `timeout_ms` and \
              `max_reply_bytes`. A file in a vault cannot have it, as it starts programs.",
        apply: |draft, given| {
            // A project folder can bring a `.env` that names a file beside it.
            if draft.is_file_by_dotenv {
                return Err(ConfigRefusal::ServersNotOwn);
            }
            let (servers, unset) = servers(&given.raw, draft.places)?;
            draft.config.mcp.servers = servers;
            draft.config.mcp.file = match &given.place {
                ValueOrigin::File { file, .. } => Some(file.clone()),
                _ => None,
            };
            // Only warned about: a server may work without them.
            draft.warnings.extend(unset);
            Ok(())
        },
    },
    Setting {
        key: None,
        variable: Some("LAPIDARY_NESTED"),
        flag: None,
        default: ShownDefault::Value("false"),
        doc: "Set for the programs of `mcp.servers`: a Lapidary among them reaches no further servers.",
        apply: |draft, given| toggle(&given.raw).map(|nested| draft.config.mcp.is_nested = nested),
    },
];
