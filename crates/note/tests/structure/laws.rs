//! The laws that every parsed note must obey.

use std::ops::Range;

use lapidary_note::{
    CodeKind, FieldForm, FootnoteKind, HeadingStyle, LinkKind, NodeContent, Note, TaskFieldKind, YamlNode,
};

/// Panics with the text if a part of the note does not cut out what it says it is.
pub(crate) fn check(text: &str) {
    let note = Note::parse(text);
    let all = Laws { text };
    all.headings(&note);
    all.blocks(&note);
    all.links(&note);
    all.inline(&note);
    all.lists(&note);
    all.properties(&note);
}

struct Laws<'t> {
    text: &'t str,
}

impl<'t> Laws<'t> {
    /// The text of a span, which must be on character boundaries.
    fn cut(&self, span: &Range<usize>) -> &'t str {
        self.text.get(span.clone()).unwrap_or_else(|| panic!("no span {span:?} in {:?}", self.text))
    }

    fn holds(&self, fact: bool, span: &Range<usize>) {
        assert!(fact, "{:?} at {span:?} in {:?}", self.cut(span), self.text);
    }

    fn within(&self, outer: &Range<usize>, inner: &Range<usize>) {
        self.cut(inner);
        self.holds(outer.start <= inner.start && inner.end <= outer.end, outer);
    }

    fn ordered<'a>(&self, spans: impl Iterator<Item = &'a Range<usize>>) {
        let starts: Vec<usize> = spans.map(|span| span.start).collect();
        assert!(starts.is_sorted(), "{starts:?} in {:?}", self.text);
    }

    /// Spans that must not share a byte.
    fn apart<'a>(&self, spans: impl Iterator<Item = &'a Range<usize>>) {
        let spans: Vec<&Range<usize>> = spans.collect();
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{spans:?} in {:?}", self.text);
    }

    fn headings(&self, note: &Note<'_>) {
        let mut previous = 0;
        for heading in &note.headings {
            self.within(&heading.section, &heading.own);
            self.within(&heading.own, &heading.span);
            self.within(&heading.span, &heading.words);
            self.holds(self.cut(&heading.words) == heading.text, &heading.span);
            self.holds(heading.own.start == heading.section.start, &heading.span);
            self.holds(heading.span.end <= heading.body && heading.body <= heading.own.end, &heading.span);
            let line = self.text[..heading.section.start].matches('\n').count() + 1;
            assert_eq!(heading.line, line, "{:?}", self.text);
            self.holds(
                heading.section.start == 0 || self.text[..heading.section.start].ends_with('\n') || previous == 0,
                &heading.span,
            );
            let marks = "#".repeat(usize::from(heading.level));
            let cut = self.cut(&heading.span);
            self.holds(
                match heading.style {
                    HeadingStyle::Setext => cut.ends_with(['=', '-']) && cut.contains('\n'),
                    HeadingStyle::Atx | HeadingStyle::ClosedAtx => cut.starts_with(&marks),
                },
                &heading.span,
            );
            self.holds(heading.parent.is_none_or(|parent| note.headings[parent].level < heading.level), &heading.span);
            assert_eq!(note.heading_at_line(heading.line), Some(heading), "{:?}", self.text);
            previous = heading.line;
        }
        self.apart(note.headings.iter().map(|heading| &heading.own));
        if let (Some(first), Some(last)) = (note.headings.first(), note.headings.last()) {
            // The parts tile the text from the first heading to the end.
            let tiled: usize = note.headings.iter().map(|heading| heading.own.len()).sum();
            assert_eq!(first.section.start + tiled, self.text.len(), "{:?}", self.text);
            assert_eq!(last.section.end, self.text.len(), "{:?}", self.text);
        }
    }

    fn blocks(&self, note: &Note<'_>) {
        self.ordered(note.blocks.iter().map(|block| &block.span));
        for block in &note.blocks {
            let cut = self.cut(&block.span);
            self.holds(!cut.is_empty() && !cut.ends_with('\n'), &block.span);
            self.holds(self.cut(&block.marker).strip_prefix('^') == Some(&block.id), &block.marker);
            self.holds(block.span.start <= block.marker.start, &block.marker);
            let inside = block.marker.end <= block.span.end;
            self.holds(inside || block.span.end <= block.marker.start, &block.marker);
        }
    }

    fn links(&self, note: &Note<'_>) {
        self.ordered(note.links.iter().map(|link| &link.span));
        for link in &note.links {
            let cut = self.cut(&link.span);
            self.within(&link.span, &link.destination);
            for part in [Some(&link.path), link.subpath.as_ref(), link.alias.as_ref(), link.title.as_ref()]
                .into_iter()
                .flatten()
            {
                self.within(&link.span, part);
            }
            if let Some(size) = &link.size {
                self.within(&link.span, &size.span);
                self.holds(link.embed && self.cut(&size.span).starts_with(|c: char| c.is_ascii_digit()), &link.span);
            }
            self.holds(link.subpath.as_ref().is_none_or(|subpath| self.cut(subpath).starts_with('#')), &link.span);
            self.holds(!self.cut(&link.path).contains('#'), &link.span);
            let cut = if link.embed { cut.strip_prefix('!').unwrap_or("no mark") } else { cut };
            self.holds(
                match link.kind {
                    LinkKind::Wiki => cut.starts_with("[[") && cut.ends_with("]]") && !cut.contains('\n'),
                    LinkKind::Markdown => cut.starts_with('[') && cut.ends_with(')'),
                    LinkKind::Reference => cut.starts_with('[') && cut.ends_with(']'),
                    LinkKind::Url => cut.contains([':', '@']),
                },
                &link.span,
            );
            link.target(self.text);
            link.place(self.text);
            note.definition_of(link);
        }
        let wiki = note.links.iter().filter(|link| link.kind == LinkKind::Wiki);
        self.apart(wiki.map(|link| &link.span));
        for definition in &note.definitions {
            self.within(&definition.span, &definition.label);
            self.within(&definition.span, &definition.destination);
            self.within(&definition.destination, &definition.path);
            definition.title.iter().for_each(|title| self.within(&definition.span, title));
        }
        for link in note.property_links() {
            self.cut(&link.span);
            assert!(link.value.get(link.link.path.clone()).is_some(), "{:?}", self.text);
            let written = link.offset.map(|offset| self.cut(&(offset..offset + link.value.len())));
            assert!(written.is_none_or(|written| written == link.value), "{:?}", self.text);
        }
    }

    fn inline(&self, note: &Note<'_>) {
        for tag in &note.tags {
            self.holds(self.cut(&tag.span).starts_with('#') && !tag.name().is_empty(), &tag.span);
            self.holds(!self.cut(&tag.name()).contains([' ', '\n', '#']), &tag.span);
        }
        self.apart(note.tags.iter().map(|tag| &tag.span));
        for comment in &note.comments {
            self.within(&comment.span, &comment.content);
            self.holds(self.cut(&comment.span).starts_with("%%"), &comment.span);
        }
        self.apart(
            note.comments
                .iter()
                .filter(|comment| comment.form == lapidary_note::MarkForm::Block)
                .map(|comment| &comment.span),
        );
        for math in &note.math {
            self.within(&math.span, &math.content);
            self.holds(self.cut(&math.span).starts_with(if math.display { "$$" } else { "$" }), &math.span);
        }
        self.apart(note.math.iter().map(|math| &math.span));
        for field in &note.fields {
            let cut = self.cut(&field.span);
            self.within(&field.span, &field.key);
            self.within(&field.span, &field.value);
            self.holds(field.key.end <= field.value.start && cut.contains("::"), &field.span);
            self.holds(
                match field.form {
                    FieldForm::Line => !cut.contains('\n'),
                    FieldForm::Square => cut.starts_with('[') && cut.ends_with(']'),
                    FieldForm::Round => cut.starts_with('(') && cut.ends_with(')'),
                },
                &field.span,
            );
        }
        for code in &note.code {
            self.within(&code.span, &code.content);
            match &code.kind {
                CodeKind::Span => {
                    self.holds(self.cut(&code.span).starts_with('`') && self.cut(&code.span).ends_with('`'), &code.span)
                }
                CodeKind::Indented => {}
                CodeKind::Fenced { language } => {
                    self.holds(self.cut(&code.span).starts_with(['`', '~']), &code.span);
                    language.iter().for_each(|language| self.within(&code.span, language));
                }
            }
        }
        self.apart(note.code.iter().map(|code| &code.span));
        self.ordered(note.footnotes.iter().map(|footnote| &footnote.span));
        for footnote in &note.footnotes {
            footnote.label.iter().chain(&footnote.content).for_each(|part| self.within(&footnote.span, part));
            let opening = if footnote.kind == FootnoteKind::Inline { "^[" } else { "[^" };
            self.holds(self.cut(&footnote.span).starts_with(opening), &footnote.span);
        }
    }

    fn lists(&self, note: &Note<'_>) {
        self.ordered(note.items.iter().map(|item| &item.whole));
        for (index, item) in note.items.iter().enumerate() {
            self.within(&item.whole, &item.span);
            self.within(&item.span, &item.marker);
            self.holds(item.marker.start == item.span.start, &item.span);
            self.holds(self.cut(&item.marker).ends_with(['-', '*', '+', '.', ')']), &item.marker);
            self.holds(
                item.parent.is_none_or(|parent| parent < index && note.items[parent].depth < item.depth),
                &item.span,
            );
        }
        for task in &note.tasks {
            self.within(&note.items[task.item].whole, &task.checkbox);
            self.holds(
                self.cut(&(task.checkbox.start + 1..task.checkbox.end - 1)) == task.status.to_string(),
                &task.checkbox,
            );
            self.holds(task.checkbox.end <= task.text.start && !self.cut(&task.text).contains('\n'), &task.text);
            self.apart(task.fields.iter().map(|field| &field.span));
            for field in &task.fields {
                self.within(&task.text, &field.span);
                self.within(&field.span, &field.value);
                self.holds(field.kind == TaskFieldKind::Priority || !field.value.is_empty(), &field.span);
            }
        }
        self.ordered(note.callouts.iter().map(|callout| &callout.span));
        for (index, callout) in note.callouts.iter().enumerate() {
            self.within(&callout.span, &callout.kind);
            callout.title.iter().chain(&callout.metadata).for_each(|part| self.within(&callout.span, part));
            self.holds(self.cut(&callout.span).starts_with('>') && !callout.kind.is_empty(), &callout.span);
            self.holds(callout.parent.is_none_or(|parent| parent < index), &callout.span);
        }
    }

    fn properties(&self, note: &Note<'_>) {
        let Some(block) = &note.frontmatter else { return };
        self.within(&block.span, &block.yaml);
        for property in note.readable_properties() {
            self.within(&block.yaml, &property.key_span);
            self.node(&block.yaml, &property.value);
        }
        for tag in note.property_tags() {
            self.within(&block.yaml, &tag.span);
        }
    }

    fn node(&self, outer: &Range<usize>, node: &YamlNode) {
        self.within(outer, &node.span);
        match &node.content {
            NodeContent::List(items) => items.iter().for_each(|item| self.node(&node.span, item)),
            NodeContent::Map(entries) => {
                for entry in entries {
                    self.within(&node.span, &entry.key_span);
                    self.node(&node.span, &entry.value);
                }
            }
            NodeContent::Scalar(_) | NodeContent::Alias(_) => {}
        }
    }
}
