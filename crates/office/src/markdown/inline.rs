//! Runs of text: their styles, highlights, and the first line of a callout.

use crate::body::{InlineRun, LONGEST_CALLOUT, RunContent, RunStyle};

use super::html::HtmlStyle;

/// The runs of a block that is being read, and the styles that are on.
#[derive(Default)]
pub(super) struct InlineState {
    runs: Vec<InlineRun>,
    pub(super) bold: usize,
    pub(super) italic: usize,
    pub(super) strike: usize,
    /// The links that are open, by their numbers in the body if they lead anywhere outside.
    pub(super) links: Vec<Option<usize>>,
    /// What tags of HTML have switched on; it ends with the block.
    html: RunStyle,
}

impl InlineState {
    pub(super) fn style(&self) -> RunStyle {
        RunStyle {
            bold: self.bold > 0 || self.html.bold,
            italic: self.italic > 0 || self.html.italic,
            strike: self.strike > 0 || self.html.strike,
            ..self.html
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(RunContent::Text(text.to_owned()), self.style());
        }
    }

    pub(super) fn push(&mut self, content: RunContent, style: RunStyle) {
        let link = self.links.last().copied().flatten();
        // Pieces of one style become one run.
        if let (RunContent::Text(text), Some(InlineRun { content: RunContent::Text(before), style: same, link: also })) =
            (&content, self.runs.last_mut())
            && *same == style
            && *also == link
        {
            before.push_str(text);
            return;
        }
        self.runs.push(InlineRun { content, style, link });
    }

    pub(super) fn line_break(&mut self) {
        self.runs.push(InlineRun::plain(RunContent::Break));
    }

    pub(super) fn take(&mut self) -> Vec<InlineRun> {
        std::mem::take(&mut self.runs)
    }

    pub(super) fn html_style(&mut self, style: HtmlStyle, is_open: bool) {
        let html = &mut self.html;
        match style {
            HtmlStyle::Bold => html.bold = is_open,
            HtmlStyle::Italic => html.italic = is_open,
            HtmlStyle::Strike => html.strike = is_open,
            HtmlStyle::Underline => html.underline = is_open,
            HtmlStyle::Highlight => html.highlight = is_open,
            HtmlStyle::Code => html.code = is_open,
            HtmlStyle::Raised => html.raised = is_open,
            HtmlStyle::Lowered => html.lowered = is_open,
        }
    }

    /// A tag that is never closed ends with its block.
    pub(super) fn end_html(&mut self) {
        self.html = RunStyle::default();
    }
}

/// Text between two `==` as highlighted.
pub(super) fn highlighted(runs: Vec<InlineRun>) -> Vec<InlineRun> {
    let is_text = |run: &InlineRun| !run.style.code && matches!(run.content, RunContent::Text(_));
    // The marks may be in different runs, as in `==**bold** and plain==`.
    let count: usize = runs.iter().filter(|run| is_text(run)).map(|run| run.as_text().matches("==").count()).sum();
    if count < 2 {
        return runs;
    }
    // Pairs only: the last of an odd number is text.
    let mut left = count - count % 2;
    let (mut made, mut is_on) = (Vec::with_capacity(runs.len() + count), false);
    for run in runs {
        let InlineRun { content, mut style, link } = run;
        let RunContent::Text(text) = content else {
            made.push(InlineRun { content, style, link });
            continue;
        };
        // In code, `==` is an operator, but the code may itself be highlighted.
        if style.code {
            style.highlight |= is_on;
            made.push(InlineRun { content: RunContent::Text(text), style, link });
            continue;
        }
        let mut rest = text.as_str();
        loop {
            let found = rest.find("==").filter(|_| left > 0);
            let (piece, behind) = found.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + 2..])));
            if !piece.is_empty() {
                let style = RunStyle { highlight: style.highlight || is_on, ..style };
                made.push(InlineRun { content: RunContent::Text(piece.to_owned()), style, link });
            }
            let Some(behind) = behind else { break };
            (is_on, left, rest) = (!is_on, left - 1, behind);
        }
    }
    made
}

/// Without blanks and breaks at both ends.
pub(super) fn trimmed(mut runs: Vec<InlineRun>) -> Vec<InlineRun> {
    // Blanks of code are part of it.
    let is_blank = |run: &InlineRun| match &run.content {
        RunContent::Text(text) => text.trim().is_empty() && !run.style.code,
        RunContent::Break => true,
        RunContent::Picture(_) | RunContent::Footnote(_) => false,
    };
    while runs.last().is_some_and(is_blank) {
        runs.pop();
    }
    let first = runs.iter().position(|run| !is_blank(run)).unwrap_or(runs.len());
    runs.drain(..first);
    let trim = |run: Option<&mut InlineRun>, cut: fn(&str) -> &str| {
        if let Some(InlineRun { content: RunContent::Text(text), style, .. }) = run
            && !style.code
        {
            *text = cut(text).to_owned();
        }
    };
    trim(runs.first_mut(), str::trim_start);
    trim(runs.last_mut(), str::trim_end);
    runs
}

/// The type of a callout, as far as blocks keep it, its title, and what follows in the same paragraph.
pub(super) fn callout(runs: &[InlineRun]) -> Option<(String, Vec<InlineRun>, Vec<InlineRun>)> {
    let RunContent::Text(text) = &runs.first()?.content else { return None };
    let inner = text.strip_prefix("[!")?;
    let (kind, rest) = inner.split_once(']')?;
    // What follows a bar is for stylesheets.
    let kind = kind.split('|').next().unwrap_or_default().trim().to_lowercase();
    if kind.is_empty() {
        return None;
    }
    // The sign says whether Obsidian folds it, which a document cannot.
    let title = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let mut first = runs[0].clone();
    first.content = RunContent::Text(title.to_owned());
    let end = runs.iter().position(|run| run.content == RunContent::Break).unwrap_or(runs.len());
    let title = std::iter::once(first).chain(runs[1..end.max(1)].iter().cloned()).collect();
    let mut title = trimmed(title);
    // As in Obsidian, which shows the type then.
    if title.is_empty() {
        title.push(InlineRun::text(capitalised(&kind)));
    }
    Some((kind.chars().take(LONGEST_CALLOUT).collect(), title, trimmed(runs[end..].to_vec())))
}

/// As the app names a callout without a title.
fn capitalised(kind: &str) -> String {
    let mut letters = kind.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
