//! Everything that a server offers, and requests that try it out.

use std::collections::BTreeMap;

use lapidary_tools::TOOLS;
use serde_json::{Value, json};

use super::{
    twins::Client,
    values::{fitting, with_paths},
};

/// One thing on offer.
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) requests: Vec<Request>,
    /// Files that its examples need.
    pub(super) needs: BTreeMap<&'static str, &'static str>,
    pub(super) writes: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) params: Value,
}

/// Found by listing, so that later additions are tried too.
pub(super) fn all(server: &mut Client) -> Vec<Offer> {
    let capabilities = server.capabilities();
    let mut offers = vec![tools_themselves()];
    offers.extend(tools(server));
    let mut references = Vec::new();
    if capabilities.get("prompts").is_some() {
        for prompt in listed(server, "prompts/list", "prompts") {
            references.push((json!({ "type": "ref/prompt", "name": prompt["name"] }), names(&prompt["arguments"])));
            offers.push(prompt_offer(&prompt));
        }
    }
    if capabilities.get("resources").is_some() {
        offers.extend(listed(server, "resources/list", "resources").iter().map(resource));
        for template in listed(server, "resources/templates/list", "resourceTemplates") {
            let uri = template["uriTemplate"].as_str().unwrap().to_owned();
            references.push((json!({ "type": "ref/resource", "uri": uri }), variables(&uri)));
            offers.push(template_offer(&uri, "resources/read"));
            // Only older clients with a session have it; it is refused to others in any case.
            offers.push(template_offer(&uri, "resources/subscribe"));
        }
    }
    if capabilities["extensions"].get("io.modelcontextprotocol/skills").is_some() {
        offers.push(skills(server));
    }
    if capabilities.get("completions").is_some() {
        offers.extend(references.iter().map(|(reference, arguments)| completion(reference, arguments)));
    }
    offers
}

/// What every client is told before the first call.
fn tools_themselves() -> Offer {
    let methods = ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"];
    let requests = methods.map(|method| Request { method, params: json!({}) }).to_vec();
    offer("the lists", requests)
}

fn offer(name: &str, requests: Vec<Request>) -> Offer {
    Offer { name: name.to_owned(), requests, needs: BTreeMap::new(), writes: false }
}

/// All items of a list, page by page.
fn listed(server: &mut Client, method: &str, items: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut params = json!({});
    loop {
        let result = server.request(method, params)["result"].clone();
        all.extend(result[items].as_array().unwrap().iter().cloned());
        match &result["nextCursor"] {
            Value::Null => return all,
            cursor => params = json!({ "cursor": cursor }),
        }
    }
}

fn tools(server: &mut Client) -> Vec<Offer> {
    let listed = listed(server, "tools/list", "tools");
    let mut offers: Vec<Offer> = listed.iter().map(tool).collect();
    // One tool calls the others, under the same rules.
    let relayed: Vec<Request> = offers
        .iter()
        .flat_map(|offer| offer.requests.iter().step_by(7))
        .map(|request| json!({ "name": "call_tool", "arguments": request.params }))
        .map(|params| Request { method: "tools/call", params })
        .collect();
    if let Some(relay) = offers.iter_mut().find(|offer| offer.name == "call_tool") {
        relay.requests.extend(relayed);
    }
    offers
}

fn tool(listed: &Value) -> Offer {
    let name = listed["name"].as_str().unwrap();
    let mut needs = BTreeMap::new();
    let mut arguments = Vec::new();
    let declared = TOOLS.iter().find(|tool| tool.spec().name() == name);
    for example in declared.map(|tool| tool.examples()).unwrap_or_default() {
        let known: Vec<&str> = example.before.iter().chain(example.after).map(|(path, _)| *path).collect();
        arguments.extend(with_paths(&example.input, &known));
        for (path, text) in example.before {
            needs.entry(*path).or_insert(*text);
        }
    }
    arguments.extend(fitting(&listed["inputSchema"]));
    let call = |arguments| Request { method: "tools/call", params: json!({ "name": name, "arguments": arguments }) };
    let writes = listed["annotations"]["readOnlyHint"] != true;
    Offer { name: name.to_owned(), requests: arguments.into_iter().map(call).collect(), needs, writes }
}

fn names(arguments: &Value) -> Vec<String> {
    let name = |argument: &Value| argument["name"].as_str().unwrap().to_owned();
    arguments.as_array().into_iter().flatten().map(name).collect()
}

fn prompt_offer(prompt: &Value) -> Offer {
    let text = json!({ "type": "string" });
    let properties: serde_json::Map<String, Value> =
        names(&prompt["arguments"]).into_iter().map(|name| (name, text.clone())).collect();
    let required: Vec<String> = properties.keys().cloned().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let get = |arguments| Request {
        method: "prompts/get",
        params: json!({ "name": prompt["name"], "arguments": arguments }),
    };
    offer(prompt["name"].as_str().unwrap(), fitting(&schema).into_iter().map(get).collect())
}

fn resource(resource: &Value) -> Offer {
    let read = Request { method: "resources/read", params: json!({ "uri": resource["uri"] }) };
    offer(resource["uri"].as_str().unwrap(), vec![read])
}

/// The list of skills, each of them with its files, and others that there may be.
fn skills(server: &mut Client) -> Offer {
    let listed = listed(server, "skills/list", "skills");
    let known = listed.iter().flat_map(|skill| skill["resources"].as_array().unwrap()).map(|file| file["uri"].clone());
    let guessed = fitting(&json!({ "type": "string" })).into_iter().flat_map(|text| {
        let text = encoded(text.as_str().unwrap_or_default());
        [json!(format!("skill://Notes/{text}/SKILL.md")), json!(format!("skill://Notes/Drafts/{text}"))]
    });
    let mut requests = vec![Request { method: "skills/list", params: json!({}) }];
    for uri in known.chain(guessed) {
        for method in ["skills/get", "resources/read"] {
            requests.push(Request { method, params: json!({ "uri": uri }) });
        }
    }
    offer("skills", requests)
}

/// `{name}` and `{+name}` in a template.
fn variables(template: &str) -> Vec<String> {
    let inner = template.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    inner.map(|(name, _)| name.trim_start_matches(['+', '/', '?', '#', '&']).to_owned()).collect()
}

fn template_offer(template: &str, method: &'static str) -> Offer {
    let texts = fitting(&json!({ "type": "string" }));
    let filled = |text: &str, plain: bool| {
        let text = if plain { text.to_owned() } else { encoded(text) };
        let (mut uri, mut rest) = (String::new(), template);
        while let Some((before, after)) = rest.split_once('{') {
            uri += before;
            uri += &text;
            rest = after.split_once('}').map_or("", |(_, rest)| rest);
        }
        uri + rest
    };
    let read = |uri: String| Request { method, params: json!({ "uri": uri }) };
    let texts = texts.iter().filter_map(Value::as_str);
    offer(template, texts.flat_map(|text| [read(filled(text, true)), read(filled(text, false))]).collect())
}

fn encoded(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(letter).collect()
}

fn completion(reference: &Value, arguments: &[String]) -> Offer {
    let texts = fitting(&json!({ "type": "string" }));
    let request = |argument: &String, text: &Value| Request {
        method: "completion/complete",
        params: json!({ "ref": reference, "argument": { "name": argument, "value": text } }),
    };
    let requests = arguments.iter().flat_map(|argument| texts.iter().map(move |text| request(argument, text)));
    offer(&format!("completion of {reference}"), requests.collect())
}
