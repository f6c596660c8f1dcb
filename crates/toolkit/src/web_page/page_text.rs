//! Writes the elements of a page as Markdown, one block after the other.

use html5gum::StartTag;

use super::attribute;

/// Lists and quotations within each other are nested no deeper: what comes below stays in the last of them.
const DEEPEST: usize = 16;

/// Of one page.
const MOST_PICTURES: usize = 200;

/// A page while it is written.
pub(super) struct PageText<'b> {
    base: Option<&'b str>,
    written: String,
    /// The block in progress, already escaped.
    line: String,
    heading: Option<usize>,
    containers: Vec<PageContainer>,
    /// Containers that are too deep, which end without having begun.
    unnested: usize,
    /// Inline elements in progress, with their starts in the line.
    marks: Vec<(InlineMark, usize)>,
    /// Within inline code.
    verbatim: usize,
    /// The text of preformatted code, and its language.
    code: Option<(String, String)>,
    table: Option<PageTable>,
    /// The addresses of its pictures, if they are wanted: each is a link by then, also without words and within a link.
    pictures: Option<Vec<String>>,
}

enum PageContainer {
    Quote {
        /// Whether a line of it is written.
        has_begun: bool,
    },
    /// With the number of its first item, if it is ordered.
    List { next: Option<usize>, items: usize },
    /// With its marker while that is not written yet, and the width of it.
    Item { marker: Option<String>, width: usize, is_tight: bool },
}

#[derive(Clone, Debug, PartialEq)]
enum InlineMark {
    Around(&'static str),
    Code,
    Link(Option<String>),
}

#[derive(Default)]
struct PageTable {
    rows: Vec<Vec<String>>,
    /// Tables in tables are part of their cell.
    depth: usize,
    in_cell: bool,
}

impl<'b> PageText<'b> {
    pub(super) fn new(base: Option<&'b str>, with_pictures: bool) -> Self {
        Self {
            base,
            pictures: with_pictures.then(Vec::new),
            written: String::new(),
            line: String::new(),
            heading: None,
            containers: Vec::new(),
            unnested: 0,
            marks: Vec::new(),
            verbatim: 0,
            code: None,
            table: None,
        }
    }

    pub(super) fn open(&mut self, name: &str, tag: &StartTag<()>) {
        if let Some((_, language)) = &mut self.code {
            if name == "code" && language.is_empty() {
                *language = language_of(tag).unwrap_or_default();
            }
            return;
        }
        if self.table.is_some() && self.open_in_table(name) {
            return;
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_block();
                self.heading = name[1..].parse().ok();
            }
            "br" => self.line_break(),
            "hr" => {
                self.end_block();
                // Not `---`, which at the start of a note would begin its properties.
                self.write_block("***");
            }
            "pre" => {
                self.end_block();
                self.code = Some((String::new(), language_of(tag).unwrap_or_default()));
            }
            "blockquote" => self.enter(PageContainer::Quote { has_begun: false }),
            "ul" => self.enter(PageContainer::List { next: None, items: 0 }),
            "ol" => {
                let start = attribute(tag, "start").and_then(|start| start.trim().parse().ok());
                // Markdown takes at most nine digits; this leaves room for the items.
                self.enter(PageContainer::List { next: Some(start.unwrap_or(1).min(999_999)), items: 0 });
            }
            "li" => self.begin_item(),
            "table" => {
                self.end_block();
                self.table = Some(PageTable::default());
            }
            "strong" | "b" => self.mark(InlineMark::Around("**")),
            "em" | "i" => self.mark(InlineMark::Around("*")),
            "del" | "s" => self.mark(InlineMark::Around("~~")),
            "mark" => self.mark(InlineMark::Around("==")),
            "code" | "kbd" | "samp" | "tt" => {
                self.mark(InlineMark::Code);
                self.verbatim += 1;
            }
            "a" => {
                let address = attribute(tag, "href").and_then(|href| self.address(&href));
                self.mark(InlineMark::Link(address));
            }
            "img" => self.picture(tag),
            name if is_block(name) => self.end_block(),
            _ => {}
        }
    }

    pub(super) fn close(&mut self, name: &str) {
        if let Some((code, language)) = self.code.take_if(|_| name == "pre") {
            return self.write_code(&code, &language);
        }
        if self.code.is_some() || (self.table.is_some() && self.close_in_table(name)) {
            return;
        }
        match name {
            "blockquote" => self.leave(|container| matches!(container, PageContainer::Quote { .. })),
            "ul" | "ol" => self.leave(|container| matches!(container, PageContainer::List { .. })),
            "li" => self.end_item(),
            "strong" | "b" => self.unmark(|mark| *mark == InlineMark::Around("**")),
            "em" | "i" => self.unmark(|mark| *mark == InlineMark::Around("*")),
            "del" | "s" => self.unmark(|mark| *mark == InlineMark::Around("~~")),
            "mark" => self.unmark(|mark| *mark == InlineMark::Around("==")),
            "code" | "kbd" | "samp" | "tt" => {
                self.verbatim = self.verbatim.saturating_sub(1);
                self.unmark(|mark| *mark == InlineMark::Code);
            }
            "a" => self.unmark(|mark| matches!(mark, InlineMark::Link(_))),
            name if is_block(name) => self.end_block(),
            _ => {}
        }
    }

    pub(super) fn add(&mut self, text: &str) {
        if let Some((code, _)) = &mut self.code {
            code.push_str(text);
            return;
        }
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            if c.is_whitespace() {
                if !self.line.is_empty() && !self.line.ends_with([' ', '\n']) {
                    self.line.push(' ');
                }
                continue;
            }
            if c.is_control() {
                continue;
            }
            let before = self.line.chars().next_back().unwrap_or(' ');
            if self.verbatim == 0 && needs_escape(before, c, rest.peek().copied()) {
                self.line.push('\\');
            }
            self.line.push(c);
        }
    }

    /// The whole text, and the addresses of the pictures in it.
    pub(super) fn finish(mut self) -> (String, Vec<String>) {
        if let Some((code, language)) = self.code.take() {
            self.write_code(&code, &language);
        }
        self.end_table();
        self.end_block();
        (self.written, self.pictures.unwrap_or_default())
    }

    /// Ends the paragraph or heading in progress.
    pub(super) fn end_block(&mut self) {
        if self.table.as_ref().is_some_and(|table| table.in_cell) {
            // A cell is one line.
            self.add(" ");
            return;
        }
        // A mark that is not closed by the end of its block is left out.
        self.marks.clear();
        self.verbatim = 0;
        let line = std::mem::take(&mut self.line);
        let heading = self.heading.take();
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        match heading {
            Some(level) => {
                let text = text.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
                self.write_block(&format!("{} {text}", "#".repeat(level.clamp(1, 6))));
            }
            None => {
                let lines: Vec<String> = text.split('\n').map(|line| guarded(line.trim())).collect();
                self.write_block(&lines.join("  \n"));
            }
        }
    }

    fn line_break(&mut self) {
        if self.table.is_some() || self.heading.is_some() {
            return self.add(" ");
        }
        let length = self.line.trim_end().len();
        self.line.truncate(length);
        // Marks cannot go over the end of a line in every reader.
        self.marks.iter_mut().for_each(|(_, start)| *start = (*start).min(length));
        if !self.line.is_empty() {
            self.line.push('\n');
        }
    }

    fn mark(&mut self, mark: InlineMark) {
        if self.marks.len() < DEEPEST {
            self.marks.push((mark, self.line.len()));
        }
    }

    /// Puts a mark around what came since it began.
    fn unmark(&mut self, is_meant: impl Fn(&InlineMark) -> bool) {
        let Some(at) = self.marks.iter().rposition(|(mark, _)| is_meant(mark)) else { return };
        let (mark, start) = self.marks.remove(at);
        // The same twice would end the first.
        let is_doubled = matches!(mark, InlineMark::Around(_)) && self.marks.iter().any(|(other, _)| *other == mark);
        let Some(inner) = self.line.get(start..) else { return };
        let (text, end) = (inner.trim().to_owned(), inner.trim_end().len());
        let (before, after) = (inner.len() - inner.trim_start().len(), inner[end..].to_owned());
        if text.is_empty() || is_doubled || text.contains('\n') {
            return;
        }
        let marked = match mark {
            InlineMark::Around(sign) => format!("{sign}{text}{sign}"),
            InlineMark::Code => code_span(&text),
            InlineMark::Link(None) => return,
            InlineMark::Link(Some(address)) => format!("[{text}]({address})"),
        };
        self.line.truncate(start + before);
        self.line += &marked;
        self.line += &after;
        // The places of marks that began within it are no longer right.
        self.marks.retain(|(_, other)| *other <= start);
    }

    fn picture(&mut self, tag: &StartTag<()>) {
        let words = attribute(tag, "alt").unwrap_or_default();
        let address = attribute(tag, "src").and_then(|src| self.address(&src));
        let address = address.filter(|address| address.starts_with("http"));
        if let (Some(pictures), Some(address)) = (&mut self.pictures, &address) {
            if !pictures.contains(address) && pictures.len() < MOST_PICTURES {
                pictures.push(address.clone());
            }
            // A link cannot have another in it, and the picture is what was wanted.
            for (mark, _) in &mut self.marks {
                if matches!(mark, InlineMark::Link(_)) {
                    *mark = InlineMark::Link(None);
                }
            }
            let words = if words.trim().is_empty() { "Picture".to_owned() } else { format!("Picture: {words}") };
            self.mark(InlineMark::Link(Some(address.clone())));
            self.add(&words);
            self.unmark(|mark| matches!(mark, InlineMark::Link(Some(_))));
            return;
        }
        if words.trim().is_empty() {
            return;
        }
        if let Some(address) =
            address.filter(|_| !self.marks.iter().any(|(mark, _)| matches!(mark, InlineMark::Link(_))))
        {
            self.mark(InlineMark::Link(Some(address)));
            self.add(&format!("Picture: {words}"));
            self.unmark(|mark| matches!(mark, InlineMark::Link(_)));
        } else {
            self.add(&words);
        }
    }

    fn address(&self, href: &str) -> Option<String> {
        absolute_address(self.base, href)
    }

    fn enter(&mut self, container: PageContainer) {
        self.end_block();
        if self.containers.len() < DEEPEST {
            self.containers.push(container);
        } else {
            self.unnested += 1;
        }
    }

    /// Ends the innermost container of a kind, with all in it.
    fn leave(&mut self, is_meant: impl Fn(&PageContainer) -> bool) {
        self.end_block();
        if self.unnested > 0 {
            self.unnested -= 1;
        } else if let Some(at) = self.containers.iter().rposition(is_meant) {
            self.containers.truncate(at);
        }
    }

    fn begin_item(&mut self) {
        self.end_item();
        if self.unnested > 0 || self.containers.len() >= DEEPEST {
            return;
        }
        let is_nested =
            self.containers.iter().rev().nth(1).is_some_and(|above| matches!(above, PageContainer::Item { .. }));
        let (marker, is_first) = match self.containers.last_mut() {
            Some(PageContainer::List { next, items }) => {
                *items += 1;
                let number = next.map(|first| first + *items - 1);
                (number.map_or("- ".to_owned(), |number| format!("{number}. ")), *items == 1)
            }
            _ => ("- ".to_owned(), true),
        };
        let width = marker.len();
        let is_tight = !is_first || is_nested;
        self.containers.push(PageContainer::Item { marker: Some(marker), width, is_tight });
    }

    fn end_item(&mut self) {
        self.end_block();
        let list = self.containers.iter().rposition(|container| matches!(container, PageContainer::List { .. }));
        let item = self.containers.iter().rposition(|container| matches!(container, PageContainer::Item { .. }));
        if let Some(item) = item.filter(|item| list.is_none_or(|list| list < *item)) {
            self.containers.truncate(item);
        }
    }

    fn write_code(&mut self, code: &str, language: &str) {
        let code = code.strip_prefix('\n').unwrap_or(code).trim_end();
        if code.is_empty() {
            return;
        }
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        // Longer than any run of backticks in the code.
        let fence = "`".repeat(longest.max(2) + 1);
        self.write_block(&format!("{fence}{language}\n{code}\n{fence}"));
    }

    /// Writes a block in its containers, apart from the one before.
    fn write_block(&mut self, block: &str) {
        let is_tight =
            matches!(self.containers.last(), Some(PageContainer::Item { marker: Some(_), is_tight: true, .. }));
        if !self.written.is_empty() && !is_tight {
            // What comes before a quotation is not part of it.
            let begins = |container: &PageContainer| matches!(container, PageContainer::Quote { has_begun: false });
            let end = self.containers.iter().position(begins).unwrap_or(self.containers.len());
            let gap = Self::prefix(&mut self.containers[..end], false);
            self.written += gap.trim_end();
            self.written.push('\n');
        }
        for container in &mut self.containers {
            if let PageContainer::Quote { has_begun } = container {
                *has_begun = true;
            }
        }
        for (number, line) in block.split('\n').enumerate() {
            let prefix = Self::prefix(&mut self.containers, number == 0);
            let whole = format!("{prefix}{line}");
            // Two blanks at the end are a line break.
            self.written += if line.is_empty() { whole.trim_end() } else { &whole };
            self.written.push('\n');
        }
    }

    /// What comes before a line; with `begins`, the markers of items that begin with it.
    fn prefix(containers: &mut [PageContainer], begins: bool) -> String {
        let mut prefix = String::new();
        for container in containers {
            match container {
                PageContainer::Quote { .. } => prefix += "> ",
                PageContainer::List { .. } => {}
                PageContainer::Item { marker, width, .. } => match marker.take_if(|_| begins) {
                    Some(marker) => prefix += &marker,
                    // Before its marker it takes no room.
                    None if marker.is_some() => {}
                    None => prefix += &" ".repeat(*width),
                },
            }
        }
        prefix
    }

    /// Whether the table takes care of this element.
    fn open_in_table(&mut self, name: &str) -> bool {
        let Some(table) = &mut self.table else { return false };
        match name {
            "table" => table.depth += 1,
            "tr" if table.depth == 0 => {
                self.end_cell();
                self.table.iter_mut().for_each(|table| table.rows.push(Vec::new()));
            }
            "td" | "th" if table.depth == 0 => {
                self.end_cell();
                self.table.iter_mut().for_each(|table| table.in_cell = true);
            }
            "tr" | "td" | "th" => self.add(" "),
            "ul" | "ol" | "li" | "blockquote" | "pre" | "hr" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.add(" "),
            _ => return false,
        }
        true
    }

    fn close_in_table(&mut self, name: &str) -> bool {
        let Some(table) = &mut self.table else { return false };
        match name {
            "table" if table.depth > 0 => table.depth -= 1,
            "table" => self.end_table(),
            "tr" | "td" | "th" if table.depth == 0 => self.end_cell(),
            "ul" | "ol" | "li" | "blockquote" | "pre" => self.add(" "),
            _ => return false,
        }
        true
    }

    fn end_cell(&mut self) {
        let Some(table) = &mut self.table else { return };
        self.marks.clear();
        self.verbatim = 0;
        let cell = std::mem::take(&mut self.line);
        if std::mem::take(&mut table.in_cell) {
            if table.rows.is_empty() {
                table.rows.push(Vec::new());
            }
            if let Some(row) = table.rows.last_mut() {
                row.push(cell.trim().replace('|', "\\|"));
            }
        } else if !cell.trim().is_empty() {
            // Such as a caption.
            table.rows.push(vec![cell.trim().to_owned()]);
        }
    }

    fn end_table(&mut self) {
        self.end_cell();
        let Some(PageTable { mut rows, .. }) = self.table.take() else { return };
        rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        // One column is layout, not data.
        if columns <= 1 {
            for cell in rows.iter().flatten() {
                self.write_block(&guarded(&cell.replace("\\|", "|")));
            }
            return;
        }
        let mut block = String::new();
        for (number, row) in rows.iter().enumerate() {
            // Only the first row says how many columns there are. With all of them filled up, one wide row among many short
            // ones would make a page far larger than it was sent.
            let missing = if number == 0 { columns - row.len() } else { 0 };
            block += &format!("| {} |{}\n", row.join(" | "), "  |".repeat(missing));
            if number == 0 {
                block += &format!("|{}\n", " --- |".repeat(columns));
            }
        }
        self.write_block(block.trim_end());
    }
}

/// An absolute address on the web, if this is one or leads to one.
pub(crate) fn absolute_address(base: Option<&str>, href: &str) -> Option<String> {
    let href: String = href.chars().filter(|c| !c.is_control()).collect();
    let href = href.trim();
    let scheme = href.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let whole = match scheme.as_deref() {
        Some("http" | "https" | "mailto") => href.to_owned(),
        Some(scheme) if !scheme.is_empty() && scheme.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'+') => {
            return None;
        }
        _ => {
            let base = base?.split(['#', '?']).next()?;
            let (scheme, rest) = base.split_once("://")?;
            let host = rest.split('/').next()?;
            match href {
                "" => return None,
                href if href.starts_with('#') => return None,
                href if href.starts_with("//") => format!("{scheme}:{href}"),
                href if href.starts_with('/') => format!("{scheme}://{host}{href}"),
                href => {
                    let folder = rest.rsplit_once('/').map_or(rest, |(folder, _)| folder);
                    format!("{scheme}://{folder}/{href}")
                }
            }
        }
    };
    // What would end the address of a link in Markdown.
    let escaped = whole.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
    Some(escaped.replace('<', "%3C").replace('>', "%3E").replace('\\', "%5C"))
}

/// Elements that begin and end a paragraph.
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "section"
            | "article"
            | "main"
            | "header"
            | "figure"
            | "figcaption"
            | "address"
            | "dl"
            | "dt"
            | "dd"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "body"
            | "html"
            | "head"
            | "details"
            | "summary"
            | "fieldset"
            | "table"
            | "tr"
            | "caption"
            | "center"
            | "hgroup"
    )
}

fn language_of(tag: &StartTag<()>) -> Option<String> {
    let class = attribute(tag, "class")?;
    let language =
        class.split_whitespace().find_map(|name| name.strip_prefix("language-").or(name.strip_prefix("lang-")))?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "+-#.".contains(c);
    Some(language.chars().filter(|c| is_name(*c)).take(30).collect())
}

/// Between backticks that are not in it.
fn code_span(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest + 1);
    let (start, end) = (if text.starts_with('`') { " " } else { "" }, if text.ends_with('`') { " " } else { "" });
    format!("{ticks}{start}{text}{end}{ticks}")
}

/// Whether a character would mean something else than itself to a reader of Markdown, or to Obsidian.
fn needs_escape(before: char, c: char, after: Option<char>) -> bool {
    match c {
        '\\' | '`' | '*' | '[' | ']' | '$' => true,
        '_' => !before.is_alphanumeric() || !after.is_some_and(char::is_alphanumeric),
        '<' => after.is_none_or(|after| after.is_ascii_alphabetic() || "/!?".contains(after)),
        '&' => after.is_none_or(|after| after.is_ascii_alphanumeric() || after == '#'),
        '#' | '^' => !before.is_alphanumeric(),
        '~' | '=' | '%' => before == c || after.is_none_or(|after| after == c),
        _ => false,
    }
}

/// A line that begins no list, quotation or rule.
fn guarded(line: &str) -> String {
    let is_rule = |sign: char| line.chars().all(|c| c == sign || c == ' ');
    let begins =
        |sign: char| line.strip_prefix(sign).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match line.as_bytes() {
        [b'>', ..] => format!("\\{line}"),
        [b'-', ..] if begins('-') || is_rule('-') => format!("\\{line}"),
        [b'+', ..] if begins('+') => format!("\\{line}"),
        [b'=', ..] if is_rule('=') => format!("\\{line}"),
        _ if digits > 0 && line[digits..].starts_with(['.', ')']) => {
            format!("{}\\{}", &line[..digits], &line[digits..])
        }
        _ => line.to_owned(),
    }
}
