//! Tests of the parts of links.

use crate::{Link, LinkKind, LinkPlace, Note};

/// The parts of a link, short enough for a table.
fn show(text: &str, link: &Link) -> String {
    let part = |name: &str, span: &Option<std::ops::Range<usize>>| {
        span.clone().map_or(String::new(), |span| format!(" {name}={}", &text[span]))
    };
    let kind = match link.kind {
        LinkKind::Wiki => "wiki",
        LinkKind::Markdown => "md",
        LinkKind::Reference => "ref",
        LinkKind::Url => "url",
    };
    let mut shown = format!("{kind}{} {}", if link.embed { "!" } else { "" }, &text[link.path.clone()]);
    shown += &part("sub", &link.subpath);
    shown += &part("alias", &link.alias);
    shown += &part("title", &link.title);
    if let Some(size) = &link.size {
        shown += &format!(" size={}x{}", size.width, size.height.map_or("-".to_owned(), |height| height.to_string()));
    }
    if !link.internal {
        shown += " external";
    }
    shown
}

#[test]
fn links_are_taken_apart_as_obsidian_does() {
    for (text, expected) in [
        ("[[T]]", vec!["wiki T"]),
        ("[[Sq]uare]]", vec!["wiki Sq]uare"]),
        ("[[[draft] N]]", vec!["wiki [draft] N"]),
        ("[[a [[b]] c]]", vec!["wiki b"]),
        ("[[a\nb]] [[]] [[ ]] \\[[a]]", vec![]),
        ("\\\\[[a]]", vec!["wiki a"]),
        ("[[ A ]]", vec!["wiki A"]),
        ("[[T|alias]] [[a|b|c]] [[|x]]", vec!["wiki T alias=alias", "wiki a alias=b|c", "wiki |x"]),
        (
            "[[T#H#S|a]] [[#H]] [[a#^b]] [[a #h]]",
            vec!["wiki T sub=#H#S alias=a", "wiki  sub=#H", "wiki a sub=#^b", "wiki a sub=#h"],
        ),
        ("![[T]] !![[x]] \\![[y]]", vec!["wiki! T", "wiki! x", "wiki y"]),
        (
            "![[i.png|300]] ![[i.png|300x200]] ![[i.png|cap|300]]",
            vec!["wiki! i.png size=300x-", "wiki! i.png size=300x200", "wiki! i.png alias=cap size=300x-"],
        ),
        (
            "![[i.png| 300 x 200 ]] ![[i.png|cap]] ![[i|+3]] [[i|300]]",
            vec!["wiki! i.png size=300x200", "wiki! i.png alias=cap", "wiki! i alias=+3", "wiki i alias=300"],
        ),
        (
            "![alt|300](i.png) ![300](u.png) ![a](b.png)",
            vec!["md! i.png alias=alt size=300x-", "md! u.png size=300x-", "md! b.png alias=a"],
        ),
        ("[[https://x.y]]", vec!["wiki https://x.y"]),
        ("[x]([[a]])", vec!["md [[a]] alias=x"]),
        ("[[a]](b) [[a](b)]]", vec!["wiki a", "wiki a](b)"]),
        ("[t](b c.md) [t](<b c.md>) [t](b(1).md)", vec!["md b c.md alias=t", "md b(1).md alias=t"]),
        (
            "[t](x.md \"title\") [t](x.md 'a \"b\"') [t](x (y))",
            vec!["md x.md alias=t title=title", "md x.md alias=t title=a \"b\"", "md x alias=t title=y"],
        ),
        (
            "[t](#H) [t](a.md#^b) [](x) [t]()",
            vec!["md  sub=#H alias=t", "md a.md sub=#^b alias=t", "md x", "md  alias=t"],
        ),
        (
            "[t](./a:b) [t](../x) [t](a:b) [t](%zz)",
            vec!["md ./a:b alias=t", "md ../x alias=t", "md a:b alias=t external", "md %zz alias=t external"],
        ),
        ("![i](100%.png) ![i](a:%zz)", vec!["md! 100%.png alias=i", "md! a:%zz alias=i external"]),
        ("[![i](p.png)](N.md)", vec!["md N.md alias=![i](p.png)", "md! p.png alias=i"]),
        ("[a [[b]] c](d)", vec!["md d alias=a [[b]] c", "wiki b"]),
        ("[a\nb](c) [*e*](f)", vec!["md c alias=a\nb", "md f alias=*e*"]),
        (
            "<https://x.y/#z> https://a.b/c. (http://d.e/f) <me@x.y>",
            vec![
                "url https://x.y/ sub=#z external",
                "url https://a.b/c external",
                "url http://d.e/f external",
                "url me@x.y external",
            ],
        ),
        ("xhttp://no ftp://no http:// [http://in](x)", vec!["md x alias=http://in"]),
        ("`[[a]]` $[[a]]$ <!-- [[a]] -->\n\n<div>[[a]]</div>", vec![]),
        ("<b>[[x]]</b>", vec!["wiki x"]),
        (
            "| [[T\\|a]] | ![[i.png\\|300]] |\n| - | - |\n| [[x\\|y\\|z]] | ![[i\\|c\\|3]] |",
            vec!["wiki T alias=a", "wiki! i.png size=300x-", "wiki x alias=y\\|z", "wiki! i alias=c size=3x-"],
        ),
        (
            "| a |\n| - |\n| x | ![[E.jpg\\|200]] | `[[no]]` | [t](u.md)\n||[[b]]|[[c]]|\n|\n| y |\n",
            vec!["wiki! E.jpg size=200x-", "md u.md alias=t", "wiki b", "wiki c"],
        ),
        ("> | a | b |\n> | - | - |\n> | [[c]] |\n> | d | e | [[f]] |\n", vec!["wiki c", "wiki f"]),
        // The text of `1. ` starts in the fifth column.
        ("1. x\n  \n\t   ![[a]]\n", vec!["wiki! a"]),
        ("1) x\n\n       a\n\t   [[b]] `[[no]]`\n\n\t\t[[no]]\n", vec!["wiki b"]),
        ("1. x\n\n        [[no]]\n\n       [c](d)\n", vec!["md d alias=c"]),
        ("- x\n\n\t   [[no]]\n\n10. x\n\n\t    [[no]]\n", vec![]),
        ("1. x\n   y\n\n\t   [[no]]\n", vec![]),
        ("H\n  ===\n    [[a]]\n\n<!-- [[no]] --> [[no]]\n---\n[[b]]\n", vec!["wiki a", "wiki b"]),
        ("> q\n\t[[a]]\n\n>\t[[b]]\n>\n>\t\t[[no]]\n", vec!["wiki a", "wiki b"]),
        ("<div>\n[[no]]\n \t\n[[a]]\n", vec!["wiki a"]),
        ("a\r[[b]]\n", vec!["wiki b"]),
        ("[[a`b]] c`d", vec!["wiki a`b"]),
        ("`a [[b` c]]", vec![]),
        ("# [[a]]\n\n> [[b]]\n\n- [[c]]\n\n[^1]: [[d]]", vec!["wiki a", "wiki b", "wiki c", "wiki d"]),
        ("[t](a%20b.md)", vec!["md a%20b.md alias=t"]),
        ("[[石庭 💎#größe|é]]", vec!["wiki 石庭 💎 sub=#größe alias=é"]),
    ] {
        let note = Note::parse(text);
        let found: Vec<String> = note.links.iter().map(|link| show(text, link)).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn the_span_of_a_link_is_the_whole_construct() {
    for (text, span, destination) in [
        ("a [[b#c|d]] e", "[[b#c|d]]", "b#c"),
        ("a ![[b|3]] e", "![[b|3]]", "b"),
        ("a [b](<c d#e> \"t\") e", "[b](<c d#e> \"t\")", "<c d#e>"),
        ("a ![b](c.png) e", "![b](c.png)", "c.png"),
        ("a <http://x> e", "<http://x>", "http://x"),
        ("a http://x/y, e", "http://x/y", "http://x/y"),
    ] {
        let link = &Note::parse(text).links[0];
        assert_eq!((&text[link.span.clone()], &text[link.destination.clone()]), (span, destination), "{text:?}");
    }
}

#[test]
fn an_address_can_be_followed_as_reported() {
    for (text, address) in [
        ("[t](<https://x.y/a b>)", "https://x.y/a b"),
        ("[t](https://x.y 'z')", "https://x.y"),
        ("<https://x.y>", "https://x.y"),
        ("<me@x.y>", "mailto:me@x.y"),
        ("<mailto:me@x.y>", "mailto:me@x.y"),
        ("https://x.y", "https://x.y"),
        ("[t](<a b.md>)", "a b.md"),
    ] {
        assert_eq!(Note::parse(text).links[0].address(text), address, "{text:?}");
    }
}

#[test]
fn a_subpath_names_headings_a_block_or_a_footnote() {
    for (text, expected) in [
        ("[[a#b#c]]", Some(LinkPlace::Headings(vec!["b", "c"]))),
        ("[[a##b#]]", Some(LinkPlace::Headings(vec!["b"]))),
        ("[[a#^id]]", Some(LinkPlace::Block("id"))),
        ("[[a#[^1]]]", Some(LinkPlace::Footnote("1"))),
        ("[[a#b#^id]]", Some(LinkPlace::Headings(vec!["b", "^id"]))),
        ("[[a]]", None),
    ] {
        assert_eq!(Note::parse(text).links[0].place(text), expected, "{text:?}");
    }
}
