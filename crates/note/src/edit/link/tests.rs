//! Tests of retargeting links.

use super::*;
use crate::edit::variants::{check, refuse};

/// The first link or definition.
fn first<'a>(shown: &str, target: &'a str) -> LinkRetarget<'a> {
    let note = Note::parse(shown);
    let link = note.links.first().and_then(|link| LinkRetarget::link(link, target));
    link.unwrap_or_else(|| LinkRetarget::definition(&note.definitions[0], target))
}

#[test]
fn a_wikilink_keeps_everything_but_its_target() {
    for (before, target, after) in [
        ("a [[Old]] b\n", "New", "a [[New]] b\n"),
        ("[[Old#H#S|al]]\n", "dir/New", "[[dir/New#H#S|al]]\n"),
        ("![[Old.png|100x20]]\n", "New (1).png", "![[New (1).png|100x20]]\n"),
        ("| [[Old\\|al]] |\n", "New", "| [[New\\|al]] |\n"),
        ("[[Old#^id]]\n", "größe 石", "[[größe 石#^id]]\n"),
        ("[[#H]]\n", "New", "[[New#H]]\n"),
    ] {
        check(before, after, |document| document.retarget_links(&[first(document.shown(), target)]));
    }
    for bad in ["", " ", "a|b", "a]b", "a#b", "a^b", "a\nb", " a"] {
        refuse("[[Old]]\n", &EditError::BadLinkTarget { target: bad.to_owned() }, |document| {
            document.retarget_links(&[first(document.shown(), bad)])
        });
    }
}

#[test]
fn a_markdown_link_gets_the_encoding_it_needs() {
    for (before, target, after) in [
        ("[x](Old.md)\n", "New.md", "[x](New.md)\n"),
        ("[x](Old.md#H%20I \"t\")\n", "A b.md", "[x](A%20b.md#H%20I \"t\")\n"),
        ("[x](Old.md)\n", "We!rd (name) [x].md", "[x](We!rd%20(name)%20[x].md)\n"),
        ("[x](Old.md)\n", "a(b.md", "[x](<a(b.md>)\n"),
        ("[x](Old.md#H)\n", "a )b.md", "[x](<a )b.md#H>)\n"),
        ("[x](<Old one.md#H>)\n", "A b.md", "[x](<A b.md#H>)\n"),
        ("[x](<Old.md>)\n", "a>b.md", "[x](<a%3Eb.md>)\n"),
        ("[x](Old.md)\n", "<b.md", "[x](%3Cb.md)\n"),
        ("[x](Old.md)\n", "50%25.md", "[x](50%2525.md)\n"),
        ("[x](Old.md)\n", "50% é.md", "[x](50%25%20é.md)\n"),
        ("[x](Old.md)\n", "a|b\\c.md", "[x](a%7Cb%5Cc.md)\n"),
        ("[r]: Old.md 'T'\n", "A b.md", "[r]: A%20b.md 'T'\n"),
        ("![](Old.png)\n", "New.png", "![](New.png)\n"),
    ] {
        check(before, after, |document| document.retarget_links(&[first(document.shown(), target)]));
    }
}

#[test]
fn several_links_change_at_once() {
    check("[[Old]] [[Old|x]]\n", "[[New]] [[New|x]]\n", |document| {
        let one = |path: Range<usize>| LinkRetarget {
            form: LinkForm::Wiki,
            destination: path.clone(),
            path,
            target: "New",
            alias: None,
        };
        document.retarget_links(&[one(2..5), one(10..13)])
    });
}

#[test]
fn a_link_in_a_property_keeps_its_quotes() {
    for (before, at, target, after) in [
        ("up: \"[[Old|x]]\" # c\n", "up", "New", "up: \"[[New|x]]\" # c\n"),
        ("up: '[[Old]]'\n", "up", "It's", "up: '[[It''s]]'\n"),
        ("up:\n- \"[[Old]]\"\n- b\n", "up.0", "New", "up:\n- \"[[New]]\"\n- b\n"),
        ("up: [\"[[Old]]\", b]\n", "up.0", "\"q\"", "up: [\"[[\\\"q\\\"]]\", b]\n"),
    ] {
        let (before, after) = (format!("---\n{before}---\nbody\n"), format!("---\n{after}---\nbody\n"));
        let link = LinkRetarget { form: LinkForm::Wiki, destination: 2..5, path: 2..5, target, alias: None };
        let path = PropertyPath::parse(at).unwrap();
        check(&before, &after, |document| document.retarget_property_link(&path, &link));
    }
}

#[test]
fn a_link_that_would_not_lead_where_it_should_is_refused() {
    let lost = |target: &str| EditError::LinkLost { target: target.to_owned() };
    let markdown = |path: Range<usize>, target| LinkRetarget {
        form: LinkForm::Markdown,
        destination: path.clone(),
        path,
        target,
        alias: None,
    };
    // Written like a Markdown link it would lead to `A%20b`.
    refuse("[[Old]]\n", &lost("A b"), |document| document.retarget_links(&[markdown(2..5, "A b")]));
    refuse("[[Old]] [[y]]\n", &lost("New"), |document| {
        let strayed = LinkRetarget { form: LinkForm::Wiki, destination: 3..5, path: 3..5, target: "New", alias: None };
        document.retarget_links(&[strayed])
    });
    // The marks would close the text below, and a heading would come out of the comment.
    refuse("[[Old]]\n%%\n# H\n", &lost("a %% b"), |document| {
        document.retarget_links(&[first(document.shown(), "a %% b")])
    });
    check("[[Old]]\n", "[[a\u{a0}b]]\n", |document| document.retarget_links(&[first(document.shown(), "a\u{a0}b")]));
}

#[test]
fn a_property_that_is_not_a_link_does_not_become_one() {
    let lost = EditError::LinkLost { target: "New".to_owned() };
    for (yaml, at, path, error) in [
        ("up: see [[Old]]\n", "up", 6..9, lost.clone()),
        ("up: \"![[Old]]\"\n", "up", 3..6, lost.clone()),
        ("up: &x \"[[Old]]\"\nb: *x\n", "b", 2..5, lost.clone()),
        ("up: \"[[Old]]\"\nb: \"[[c]]\"\n", "up", 3..5, lost),
        ("up: &x \"[[Old]]\"\nb: *x\n", "up", 2..5, PropertyError::Anchored { path: "up".to_owned() }.into()),
        ("up: [1]\n", "up", 2..5, PropertyError::Missing { path: "up".to_owned() }.into()),
        ("- a\n", "up", 2..5, PropertyError::NotAMap.into()),
    ] {
        let link = LinkRetarget { form: LinkForm::Wiki, destination: path.clone(), path, target: "New", alias: None };
        let at = PropertyPath::parse(at).unwrap();
        refuse(&format!("---\n{yaml}---\n"), &error, |document| document.retarget_property_link(&at, &link));
    }
}

#[test]
fn words_that_were_the_name_of_the_file_can_follow_it() {
    let first = |shown: &str| Note::parse(shown).links[0].clone();
    for (before, after) in [
        ("[[d/Old|Old]] x\n", "[[New|New]] x\n"),
        ("![[d/Old|Old|100]]\n", "![[New|New|100]]\n"),
        ("[Old](d/Old.md \"t\")\n", "[New](New \"t\")\n"),
        ("| [[Old\\|Old]] |\n| - |\n", "| [[New\\|New]] |\n| - |\n"),
        ("[[Old]]\n", "[[New]]\n"),
    ] {
        check(before, after, |document| {
            let link = first(document.shown());
            document.retarget_links(&[LinkRetarget::link(&link, "New").unwrap().with_alias(&link, Some("New"))])
        });
    }
}

#[test]
fn a_new_link_leads_where_it_should_or_is_not_written() {
    for (target, wiki, markdown) in [
        ("a b", Some("[[a b]]"), Some("[w](a%20b)")),
        ("a]] [[b.md", None, Some("[w](a]]%20[[b.md)")),
        ("a|b.md", None, Some("[w](a%7Cb.md)")),
        ("a^b.md", None, Some("[w](a^b.md)")),
        ("a#b.md", None, None),
        ("a`b.md", None, Some("[w](a%60b.md)")),
        ("50%% off.md", None, Some("[w](50%25%25%20off.md)")),
        ("a) [x](b.md", None, Some("[w](<a) [x](b.md>)")),
        ("größe 石.md", Some("[[größe 石.md]]"), Some("[w](größe%20石.md)")),
    ] {
        assert_eq!(LinkForm::Wiki.written(target, "w").as_deref(), wiki, "{target}");
        assert_eq!(LinkForm::Markdown.written(target, "w").as_deref(), markdown, "{target}");
    }
    for words in ["a](b) [[c]]", "`", "<!--", "%% x", "a\\", "x\n# y", "[^1]", "#tag ^id"] {
        let link = LinkForm::Markdown.written("a.md", words).unwrap();
        let line = format!("- {link}: rest `code` [[next]]\n");
        let note = Note::parse(&line);
        assert_eq!(note.links.len(), 2, "{line}");
        assert!(note.tags.is_empty() && note.headings.is_empty() && note.code.len() == 1, "{line}");
    }
}

#[test]
fn literal_words_mean_nothing() {
    for (words, written) in [
        ("Where slate comes from, 50 % of it", "Where slate comes from, 50 % of it"),
        ("see [[Secret]] ![[x]] [a](b)", "see \\[\\[Secret\\]\\] !\\[\\[x\\]\\] \\[a\\](b)"),
        ("#tag c# a#b", "\\#tag c# a#b"),
        ("%% hidden", "%\\% hidden"),
        ("end ^block", "end \\^block"),
        ("a < b <b>", "a < b \\<b>"),
        ("two\nlines", "two lines"),
    ] {
        let literal = literal_words(words);
        assert_eq!(literal, written);
        let line = format!("- {literal}\n\nafter\n");
        let note = Note::parse(&line);
        assert!(note.links.is_empty() && note.tags.is_empty() && note.blocks.is_empty(), "{line}");
    }
}
