//! Reads a page of the web as Markdown.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily, fence::fenced,
    quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{foreign_text::FOREIGN, page, page_part::PagePart};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{read, web};
use crate::tools::NO_WEB_PAGES;

pub(crate) struct WebFetch;

/// Read a web page as Markdown: its main text, links, code and tables.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Its address.
    #[schemars(length(min = 1, max = 2000))]
    url: String,
    /// How much of it.
    #[serde(default = "max_bytes")]
    #[schemars(range(min = 200, max = 100_000))]
    max_bytes: usize,
    /// From the previous answer.
    #[serde(default)]
    cursor: Option<String>,
}

fn max_bytes() -> usize {
    8_000
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Where it was found, after redirects.
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<String>,
    /// Text of strangers.
    markdown: String,
    total_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl ReadTool for WebFetch {
    const DECLARATION: Declaration = Declaration {
        name: "web_fetch",
        dotted: None,
        title: "Read a web page",
        family: WireFamily::Own,
        group: ToolGroup::Web,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[
            ReasonKind::WebNotAllowed,
            ReasonKind::WebUnreachable,
            ReasonKind::WebTimeout,
            ReasonKind::WebUnsupported,
        ],
        words: "read open get fetch download a web page website url link online article as markdown, Webseite lesen, lire une page web, leer una página web, 读取网页, ウェブページを読む",
    };
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/url", TextLanguage::Address)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, _: &View, input: Input) -> Result<Output, Reason> {
        // For every part: the server keeps the page for a while, so that the parts fit together.
        let fetched = web(context, NO_WEB_PAGES[0])?.fetch(&input.url, context.cancel)?;
        let page = read(&fetched, false)?;
        let part = PagePart::of(&page.markdown, input.cursor.as_deref(), input.max_bytes)?;
        Ok(Output {
            url: fetched.url,
            title: page.title,
            author: page.author,
            published: page.published,
            markdown: part.text.to_owned(),
            next_cursor: part.next,
            total_bytes: page.markdown.len(),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { url, title, author, published, markdown, total_bytes, next_cursor } = output;
        let title = title.as_ref().map_or(String::new(), |title| format!("{} at ", quoted(title)));
        let by = author.as_ref().map_or(String::new(), |author| format!(", by {}", quoted(author)));
        let on = published.as_ref().map_or(String::new(), |published| format!(", published {}", quoted(published)));
        let size = match markdown.len() == *total_bytes {
            true => format!("{total_bytes} bytes"),
            false => format!("{} of {total_bytes} bytes", markdown.len()),
        };
        let more = page::more(next_cursor.as_deref());
        Some(format!("{title}{}{by}{on}: {size}. {FOREIGN}\n{}{more}", quoted(url), fenced(markdown)))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "A page, found after a redirect",
                before: &[],
                input: json!({ "url": "http://a.example/slate" }),
                gives: ExampleResult::Output(json!({
                    "url": "https://a.example/slate",
                    "title": "Slate roofs",
                    "author": "Ada",
                    "markdown": "Slate lasts a **century**. See [tiles](https://a.example/tiles).\n",
                    "totalBytes": 65,
                }))
                .with_web(),
                after: &[],
            },
            Example {
                says: "A host that the owner has not opened",
                before: &[],
                input: json!({ "url": "https://other.example/" }),
                gives: ExampleResult::Refusal(ReasonKind::WebNotAllowed).with_web(),
                after: &[],
            },
            Example {
                says: "Not an address of the web",
                before: &[],
                input: json!({ "url": "file:///etc/passwd" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments).with_web(),
                after: &[],
            },
            Example {
                says: "The owner has opened no host",
                before: &[],
                input: json!({ "url": "https://a.example/slate" }),
                gives: ExampleResult::Refusal(ReasonKind::ToolDisabled),
                after: &[],
            },
        ]
    }
}
