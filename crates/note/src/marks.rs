//! Comments, formulas, code, callouts and footnotes.

use std::ops::Range;

/// Text that Obsidian does not show: `%%…%%`. Links and tags in it count, headings and blocks do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Including both `%%`; an unclosed one runs to the end of its container.
    pub span: Range<usize>,
    pub content: Range<usize>,
    pub form: MarkForm,
}

/// A formula: `$…$` or `$$…$$`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MathSpan {
    pub span: Range<usize>,
    pub content: Range<usize>,
    /// Written with `$$`.
    pub display: bool,
    pub form: MarkForm,
}

/// Whether a construct is part of a paragraph or a separate block, which may contain blank lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkForm {
    Inline,
    Block,
}

/// Code, in which nothing else counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSpan {
    /// Including backticks or fences.
    pub span: Range<usize>,
    /// Between them; in a list or a quote this includes the prefixes of the lines.
    pub content: Range<usize>,
    pub kind: CodeKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeKind {
    Span,
    Indented,
    Fenced {
        /// The first word after the opening fence.
        language: Option<Range<usize>>,
    },
}

/// A quote that starts with `[!type]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callout {
    /// The whole quote, without the last line end.
    pub span: Range<usize>,
    /// The type as written, `note` in `[!note|wide]`; case is ignored.
    pub kind: Range<usize>,
    /// The text after a `|` in the brackets.
    pub metadata: Option<Range<usize>>,
    pub fold: Option<CalloutFold>,
    pub title: Option<Range<usize>>,
    /// The callout around it, as an index.
    pub parent: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalloutFold {
    /// `+`
    Open,
    /// `-`
    Closed,
}

/// A footnote, or a reference to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footnote {
    pub kind: FootnoteKind,
    pub span: Range<usize>,
    /// The name without `[^` and `]`; an inline footnote has none. Case is ignored.
    pub label: Option<Range<usize>>,
    /// The text of the note; a reference has none.
    pub content: Option<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FootnoteKind {
    /// `[^label]`
    Reference,
    /// `[^label]: text`
    Definition,
    /// `^[text]`
    Inline,
}
