//! The list of a server's tools, within limits: what is kept of it, and what is left out.

use lapidary_operation::{ServerFault, ServerTool, ToolOffer, is_of_name};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    protocol::{CallerPatience, ServerLink, result_of},
    server_settings::ServerSettings,
};

const MOST_PAGES: usize = 50;
const MOST_TOOLS: usize = 500;
const LONGEST_NAME: usize = 128;
const LONGEST_DESCRIPTION: usize = 4_000;
const LARGEST_SCHEMA: usize = 32 << 10;
/// Of all descriptions and schemas.
const MOST_BYTES: usize = 2 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListPage {
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// All pages, as one list.
pub(crate) fn fetch(
    link: &dyn ServerLink,
    settings: &ServerSettings,
    patience: &CallerPatience<'_>,
) -> Result<ToolOffer, ServerFault> {
    let mut list = ToolList { offer: ToolOffer::default(), bytes: 0 };
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let params = cursor.as_ref().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let answer = link.request("tools/list", params, patience).map_err(|failed| failed.fault)?;
        let page: ListPage = result_of(&answer)?;
        page.tools.into_iter().for_each(|tool| list.take(settings, tool));
        match page.next_cursor {
            // The same page again and again is not a list.
            Some(next) if cursor.as_ref() != Some(&next) => cursor = Some(next),
            _ => break,
        }
    }
    Ok(list.offer)
}

struct ToolList {
    offer: ToolOffer,
    bytes: usize,
}

impl ToolList {
    fn take(&mut self, settings: &ServerSettings, tool: Value) {
        let Value::Object(mut tool) = tool else {
            self.offer.left_out += 1;
            return;
        };
        let name = match tool.remove("name") {
            Some(Value::String(name)) if is_name(&name) => name,
            // It could be taken for something else, or do something to a terminal.
            _ => {
                self.offer.left_out += 1;
                return;
            }
        };
        // What the owner does not allow is not there.
        if !settings.allows(&name) {
            return;
        }
        let mut description = match tool.remove("description") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        // A model reads it whole, and a server may write at any length.
        description.truncate(description.floor_char_boundary(LONGEST_DESCRIPTION));
        let input = match tool.remove("inputSchema") {
            Some(Value::Object(schema)) => Some(schema),
            _ => Some(Map::new()),
        };
        // Without its schema a tool can still be called; a cut schema would be a wrong one.
        let input = input.filter(|schema| json!(schema).to_string().len() <= LARGEST_SCHEMA);
        let bytes = name.len() + description.len() + json!(input).to_string().len();
        // Of two tools with one name, the first counts: a call could not say which one it means.
        let is_known = self.offer.named(&name).is_some();
        if is_known || self.offer.tools.len() >= MOST_TOOLS || self.bytes + bytes > MOST_BYTES {
            self.offer.left_out += 1;
            return;
        }
        self.bytes += bytes;
        let standing = settings.standing(&name);
        self.offer.tools.push(ServerTool { name, description, input, standing });
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_of_name)
}
