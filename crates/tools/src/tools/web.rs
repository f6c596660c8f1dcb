//! Pages of the web, at hosts that the owner opened. What they say is text of strangers.

pub(super) mod web_clip;
pub(super) mod web_fetch;
pub(super) mod web_search;

use lapidary_operation::{Context, FetchedPage, MissingSetting, OffReason, PageKind, Reason, WebFault, WebRequests};
use lapidary_toolkit::web_page::WebPage;

fn web<'c>(context: &'c Context<'_>, missing: MissingSetting) -> Result<&'c WebRequests<'c>, Reason> {
    let off = || Reason::ToolOff { tool: missing.needed_by.to_owned(), off: OffReason::NotSetUp(missing) };
    context.web.as_ref().ok_or_else(off)
}

/// A page as Markdown, with the address where it was found. One without text is refused: an empty answer would say that there is
/// nothing, where only scripts would show what there is.
fn read(fetched: &FetchedPage, with_pictures: bool) -> Result<WebPage, Reason> {
    let page = match fetched.kind {
        PageKind::Html if with_pictures => WebPage::read_with_pictures(&fetched.text, Some(&fetched.url)),
        PageKind::Html => WebPage::read(&fetched.text, Some(&fetched.url)),
        PageKind::Text => WebPage { markdown: fetched.text.replace("\r\n", "\n"), ..WebPage::default() },
    };
    if page.markdown.trim().is_empty() {
        return Err(Reason::WebFailed { fault: WebFault::NoText { by_scripts: page.has_scripts } });
    }
    // What a page says about its own address is not believed: it would be recorded as the source.
    Ok(WebPage { url: Some(fetched.url.clone()), ..page })
}
