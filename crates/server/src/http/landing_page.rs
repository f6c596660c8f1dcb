//! The page that a person sees who opens the address of the server in a browser.

use std::fmt::Write;

use lapidary_tools::{Catalogue, CatalogueEntry, ToolGroup, ToolStanding};

use super::connection_snippets::{ConnectionSnippet, ConnectionStyle, snippets};
use crate::tool_standing;

/// What the page tells. Without an identity, a visitor learns the names of tools and nothing about the vaults.
pub(super) struct LandingPage<'a> {
    /// The address of the endpoint.
    pub(super) url: &'a str,
    pub(super) style: ConnectionStyle,
    /// The name of the mode of authentication.
    pub(super) mode: &'static str,
    /// What the visitor may use, if that is known.
    pub(super) visitor: Option<PageVisitor<'a>>,
    /// What the server offers by default.
    pub(super) offered: &'a Catalogue,
    pub(super) resources: usize,
}

/// A visitor who may see more than names.
pub(super) struct PageVisitor<'a> {
    pub(super) vaults: Vec<String>,
    pub(super) catalogue: &'a Catalogue,
}

impl LandingPage<'_> {
    pub(super) fn html(&self) -> String {
        // In words, because most visitors do not know the names of the modes.
        let access = match self.style {
            ConnectionStyle::Open => "no sign-in: everyone who reaches this address may use it",
            ConnectionStyle::Token => "with a token of the owner",
            ConnectionStyle::SignIn => "after signing in",
        };
        let mut facts = vec![
            ("Address", format!("<code>{}</code>", escaped(self.url))),
            ("Access", format!("{access} <span class=\"mark\">{}</span>", self.mode)),
        ];
        if let Some(PageVisitor { vaults, .. }) = &self.visitor {
            facts.insert(0, ("Vaults", escaped(&vaults.join(", "))));
        }
        let facts: String = facts.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{value}</dd>")).collect();
        let clients: String = snippets(self.url, self.style).iter().map(client).collect();
        // Names of tools are public, as in the server card; vaults and arguments are for callers with a grant.
        let tools = match &self.visitor {
            Some(visitor) => inventory(visitor.catalogue, self.resources),
            None => names(self.offered),
        };
        format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Lapidary</title>\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"robots\" content=\"noindex\">\
             <link rel=\"icon\" type=\"image/svg+xml\" href=\"/assets/icon.svg\">\
             <link rel=\"stylesheet\" href=\"/assets/page.css\"></head><body><main>\
             <header><img src=\"/assets/icon.svg\" alt=\"\"><div><h1>Lapidary</h1>\
             <p class=\"soft\">Safe, fast and thrifty access to Obsidian vaults for AI assistants, over MCP.</p></div></header>\
             <dl class=\"facts\">{facts}</dl>\
             <h2>Connect a client</h2>{clients}{tools}\
             <footer>Lapidary {} · <a href=\"/.well-known/mcp.json\">server card</a> · <a href=\"/healthz\">health</a></footer>\
             </main></body></html>\n",
            env!("CARGO_PKG_VERSION")
        )
    }
}

fn client(ConnectionSnippet { client, steps, text, install }: &ConnectionSnippet) -> String {
    let text = text.as_ref().map_or(String::new(), |text| format!("<pre><code>{}</code></pre>", escaped(text)));
    let link = install.as_ref().map_or(String::new(), |link| {
        format!("<a class=\"button\" href=\"{}\">Install in {}</a>", escaped(link), escaped(client))
    });
    format!("<details><summary>{}</summary><div><p>{}</p>{text}{link}</div></details>", escaped(client), escaped(steps))
}

/// All tools with what they do, and why those that are off are.
fn inventory(catalogue: &Catalogue, resources: usize) -> String {
    let mut html = String::new();
    // A function pointer, as none of the conditions captures anything.
    let of = |standing: fn(&ToolStanding) -> bool| {
        catalogue.entries().iter().filter(|entry| standing(&entry.standing)).collect::<Vec<_>>()
    };
    let listed = of(|standing| *standing == ToolStanding::Listed);
    let deferred = of(|standing| *standing == ToolStanding::Deferred);
    let off = of(|standing| matches!(standing, ToolStanding::Off(_)));
    for (title, note, entries) in [
        ("Tools", "", listed),
        ("More tools", "Not in the list of tools, to keep it small; clients find them with find_tool.", deferred),
        ("Tools that are off", "", off),
    ] {
        if entries.is_empty() {
            continue;
        }
        // Writing to a string cannot fail.
        write!(html, "<h2>{title} <span class=\"mark\">{}</span></h2>", entries.len()).unwrap_or_default();
        if !note.is_empty() {
            write!(html, "<p class=\"soft\">{note}</p>").unwrap_or_default();
        }
        for group in ToolGroup::ALL {
            let own: String =
                entries.iter().filter(|entry| entry.spec.declaration.group == group).map(|entry| tool(entry)).collect();
            if !own.is_empty() {
                write!(html, "<h3>{}</h3><ul class=\"tools\">{own}</ul>", group.name()).unwrap_or_default();
            }
        }
    }
    write!(
        html,
        "<h2>Resources and prompts</h2><p>{resources} resources, and every file of the vaults as obsidian://vault/PATH. \
         Prompts are notes of the vaults; clients list them.</p>"
    )
    .unwrap_or_default();
    html
}

fn tool(entry: &CatalogueEntry) -> String {
    let spec = &entry.spec;
    let (_, why) = tool_standing::in_words(entry.standing);
    let is_off = matches!(entry.standing, ToolStanding::Off(_));
    let (class, said) =
        if is_off { (" class=\"off\"", why.to_owned()) } else { ("", first_sentence(spec.description())) };
    format!(
        "<li{class}><code>{}</code> <span class=\"mark\">{}</span><p>{}</p></li>",
        escaped(spec.name()),
        spec.effect.name(),
        escaped(&said)
    )
}

pub(super) fn first_sentence(description: &str) -> String {
    let line = description.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    // A full stop and a blank: version numbers and file names have no blank behind theirs.
    match line.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => line,
    }
}

fn names(catalogue: &Catalogue) -> String {
    let names: String = catalogue.on().map(|entry| format!("<code>{}</code> ", escaped(entry.spec.name()))).collect();
    format!(
        "<h2>Tools</h2><p class=\"soft\">What a client may use depends on who it is.</p><div class=\"names\">{names}</div>"
    )
}

/// Text within HTML, also within the quotes of an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            letter => html.push(letter),
        }
    }
    html
}
