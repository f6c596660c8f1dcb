//! Documents as other programs see them: archives whose parts fit together.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io::{Cursor, Read, Write},
};

use lapidary_note::steps_of;
use proptest::prelude::*;
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use crate::{
    BlockContent, BodyBlock, BodyPicture, BodyTable, CellValue, DocumentBody, DocumentFacts, DocxParts, EmbeddedPart,
    FilledDocument, InlineRun, MarkdownFault, MarkdownResult, OfficeFormat, PictureFormat, PptxParts, SheetTable,
    TemplateFault, TemplateFilling, WantedEmbed, WriteFault, XlsxParts, csv_table, fill_template, markdown,
    sheet_names,
    template::{attribute_for_tests as attribute, tokens_for_tests as tokens},
    write_docx, write_pptx, write_xlsx,
};

const MOST: usize = 64 << 20;

/// Pictures and notes that a note may embed.
fn embedded(wanted: &WantedEmbed<'_>) -> Result<EmbeddedPart, ()> {
    Ok(match wanted.target {
        "a.png" => EmbeddedPart::Picture(BodyPicture {
            format: PictureFormat::Png,
            width: 40,
            height: 20,
            alt: "a".to_owned(),
            bytes: b"\x89PNG".to_vec(),
        }),
        "Other" => EmbeddedPart::Note { name: "Other".to_owned(), text: "# Inner\n\nwords ![[a.png]]\n".to_owned() },
        "Round" => EmbeddedPart::Note { name: "Round".to_owned(), text: "round ![[Round]] ![[Back]]\n".to_owned() },
        "Back" => EmbeddedPart::Note { name: "Back".to_owned(), text: "back ![[Round]]\n".to_owned() },
        _ => EmbeddedPart::Nothing,
    })
}

fn read(text: &str) -> MarkdownResult {
    markdown("note", text, &mut embedded).unwrap_or_else(|fault| panic!("{fault:?}"))
}

fn body(text: &str) -> DocumentBody {
    read(text).body
}

fn facts() -> DocumentFacts {
    DocumentFacts {
        title: "A & <b>\u{1}".to_owned(),
        author: "\"Me\"".to_owned(),
        keywords: vec!["x".to_owned(), "y".to_owned()],
        description: String::new(),
        created: Some("2026-04-15T00:00:00Z".to_owned()),
        modified: None,
    }
}

fn docx(text: &str) -> Vec<u8> {
    write_docx(&DocxParts { body: &body(text), facts: &facts(), most_bytes: MOST }).unwrap().bytes
}

fn pptx(text: &str) -> Vec<u8> {
    write_pptx(&PptxParts { body: &body(text), facts: &facts(), most_bytes: MOST }).unwrap().bytes
}

fn xlsx(tables: &[SheetTable]) -> Vec<u8> {
    write_xlsx(&XlsxParts { tables, facts: &facts(), most_bytes: MOST }).unwrap().bytes
}

fn parts(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut parts = BTreeMap::new();
    for number in 0..archive.len() {
        let mut entry = archive.by_index(number).unwrap();
        let (name, mut content) = (entry.name().unwrap().into_owned(), Vec::new());
        entry.read_to_end(&mut content).unwrap();
        parts.insert(name, content);
    }
    parts
}

fn part(bytes: &[u8], name: &str) -> String {
    String::from_utf8(parts(bytes).remove(name).unwrap_or_else(|| panic!("no {name}"))).unwrap()
}

/// Every part is well-formed and has a type, and everything that is referred to is there.
fn assert_whole(bytes: &[u8]) {
    let parts = parts(bytes);
    let text = |name: &str| std::str::from_utf8(&parts[name]).unwrap();
    let types = text("[Content_Types].xml");
    let found = tokens(types);
    let endings: HashSet<String> = found
        .iter()
        .filter(|token| token.is_start("Default"))
        .filter_map(|token| attribute(types, token, "Extension"))
        .collect();
    let named: BTreeSet<String> = found
        .iter()
        .filter(|token| token.is_start("Override"))
        .filter_map(|token| attribute(types, token, "PartName"))
        .collect();
    for name in &named {
        assert!(parts.contains_key(name.trim_start_matches('/')), "{name} has a type and does not exist");
    }
    for name in parts.keys().filter(|name| *name != "[Content_Types].xml") {
        let ending = name.rsplit('.').next().unwrap();
        assert!(named.contains(&format!("/{name}")) || endings.contains(ending), "{name} has no type");
        if !ending.ends_with("xml") && ending != "rels" {
            continue;
        }
        let xml = text(name);
        assert!(xml.chars().all(crate::xml::is_legal), "{name}");
        let found = tokens(xml);
        if ending == "rels" {
            let (folder, own) = name.rsplit_once("_rels/").unwrap();
            let source = format!("{folder}{}", own.trim_end_matches(".rels"));
            assert!(source.is_empty() || parts.contains_key(&source), "{name} is of nothing");
            for token in found.iter().filter(|token| token.is_start("Relationship")) {
                if attribute(xml, token, "TargetMode").as_deref() == Some("External") {
                    continue;
                }
                let target = attribute(xml, token, "Target").unwrap();
                let place = joined(folder, &target);
                assert!(parts.contains_key(&place), "{name} refers to {place}");
            }
            continue;
        }
        // Every id that the part uses is one of its list.
        let list = crate::package::relations_of(name);
        let ids: HashSet<String> = match parts.get(&list) {
            Some(_) => tokens(text(&list)).iter().filter_map(|token| attribute(text(&list), token, "Id")).collect(),
            None => HashSet::new(),
        };
        for token in &found {
            for attribute_name in ["r:id", "r:embed"] {
                if let Some(id) = attribute(xml, token, attribute_name) {
                    assert!(ids.contains(&id), "{name} uses {id}");
                }
            }
        }
    }
}

fn joined(folder: &str, target: &str) -> String {
    if let Some(whole) = target.strip_prefix('/') {
        return whole.to_owned();
    }
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in target.split('/') {
        if name == ".." {
            names.pop();
        } else {
            names.push(name);
        }
    }
    names.join("/")
}

const EVERYTHING: &str = "---\ntitle: x\n---\n# One\n\n**b** *i* ~~s~~ `c` ==h== <u>u</u> [l](https://example.com/?a=1&b=2) [[N|n]] [^1] ^[in *line*] %%no%%\n\n[^1]: foot **note**\n\n- a\n  1. b\n  2. c\n- [x] d\n- [ ] e\n\n> q\n> > r\n\n> [!tip] T\n> x\n\n```js\na < b\n\tc\n```\n\n$$\nx^2\n$$\n\n| A | B |\n|:-:|--:|\n| 1 | ![[a.png]] |\n\n---\n\n## Two\n\n![[a.png|20]]\n\n![[Other]]\n\n![[Gone]]\n\ntext ^id\n\nnote: say it\n";

#[test]
fn a_document_has_everything_that_a_note_has() {
    let result = read(EVERYTHING);
    assert_eq!(result.left_out, ["![[Gone]]"]);
    let document = docx(EVERYTHING);
    assert_whole(&document);
    let xml = part(&document, "word/document.xml");
    for expected in [
        "<w:pStyle w:val=\"Heading1\"/>",
        "<w:b/>",
        "<w:i/>",
        "<w:strike/>",
        "<w:highlight w:val=\"yellow\"/>",
        "<w:u w:val=\"single\"/>",
        "<w:hyperlink r:id=",
        "<w:footnoteReference w:id=\"2\"/>",
        "a &lt; b</w:t><w:br/><w:tab/>",
        "\u{2611}",
        "<w:tblHeader/>",
        "x^2",
        ">Inner<",
        ">Gone<",
    ] {
        assert!(xml.contains(expected), "{expected} in {xml}");
    }
    for hidden in ["%%", "no</w:t>", "^id", "title: x", "==", "[[", "[^"] {
        assert!(!xml.contains(hidden), "{hidden}");
    }
    assert!(part(&document, "word/footnotes.xml").contains(">note<"));
    // The picture in the table, the one on its own, and that of the embedded note.
    assert_eq!(parts(&document).keys().filter(|name| name.starts_with("word/media/")).count(), 3);
    let core = part(&document, "docProps/core.xml");
    assert!(core.contains("<dc:title>A &amp; &lt;b&gt;</dc:title>") && core.contains("2026-04-15T00:00:00Z"), "{core}");
}

#[test]
fn blocks_know_their_lists_and_quotes() {
    let body = body("- a\n\n  more\n  - b\n    ```\n    c\n    ```\n1. d\n> - e\n");
    let places: Vec<_> = body
        .blocks
        .iter()
        .map(|block| {
            let text = match &block.content {
                BlockContent::Code(text) => text.clone(),
                _ => crate::body::plain_text(block.runs()),
            };
            (text, block.quote, block.list.map(|place| (place.level, place.opens)))
        })
        .collect();
    let expected = [
        ("a", 0, Some((0, true))),
        ("more", 0, Some((0, false))),
        ("b", 0, Some((1, true))),
        ("c", 0, Some((1, false))),
        ("d", 0, Some((0, true))),
        ("e", 1, Some((0, true))),
    ];
    assert_eq!(places, expected.map(|(text, quote, list)| (text.to_owned(), quote, list)));
    assert_eq!(body.lists, [None, None, Some(1), None]);
}

#[test]
fn a_note_that_embeds_itself_ends() {
    let result = read("![[Round]]\n");
    assert!(result.body.blocks.len() < 10, "{:?}", result.body.blocks);
    assert!(!result.left_out.is_empty());
    // Many embeds of long notes are refused before they are held.
    let long = "x".repeat(1 << 20);
    let mut embed = |_: &WantedEmbed<'_>| -> Result<EmbeddedPart, ()> {
        Ok(EmbeddedPart::Note { name: "Long".to_owned(), text: long.clone() })
    };
    let many = "![[Long]]\n\n".repeat(40);
    assert_eq!(markdown("note", &many, &mut embed).unwrap_err(), MarkdownFault::TooLong { limit: crate::TOO_LONG });
}

#[test]
fn slides_begin_at_headings_or_at_rules() {
    let titles = |text: &str| body(text).slide_titles();
    assert_eq!(titles("# A\n\nx\n\n## B\n\n### C\n\ny\n"), ["A", "B"]);
    assert_eq!(titles("# A\n\n## Sub\n\n---\n\n## B\n\n---\n\ntext\n"), ["A", "B", ""]);
    assert_eq!(titles(""), [""]);
    // More than fits goes on under the same title.
    let long = format!("# A\n\n{}", "- a line of text\n".repeat(60));
    let found = titles(&long);
    assert!(found.len() > 2 && found.iter().all(|title| title == "A"), "{found:?}");
    let slides = pptx(EVERYTHING);
    assert_whole(&slides);
    let notes: Vec<String> =
        parts(&slides).into_keys().filter(|name| name.starts_with("ppt/notesSlides/notes")).collect();
    assert_eq!(notes.len(), 1);
    assert!(part(&slides, &notes[0]).contains("say it"));
}

#[test]
fn a_text_is_never_a_formula_and_values_have_types() {
    let table = SheetTable {
        name: "a/b: c*'".to_owned(),
        columns: vec!["=x".to_owned(), "n".to_owned()],
        rows: vec![
            vec![CellValue::Text("=1+1".to_owned()), CellValue::Number(1.5)],
            vec![CellValue::Text("@SUM(A1)".to_owned()), CellValue::Day(46_127)],
            vec![CellValue::Text("_x0041_".to_owned()), CellValue::Number(f64::NAN)],
            vec![CellValue::Boolean(true), CellValue::Moment(46_127.5)],
        ],
    };
    let book = xlsx(&[table.clone(), table]);
    assert_whole(&book);
    let sheet = part(&book, "xl/worksheets/sheet1.xml");
    assert!(!sheet.contains("<f"), "{sheet}");
    for expected in
        ["state=\"frozen\"", "<autoFilter ref=\"A1:B5\"/>", "t=\"b\"><v>1<", "s=\"2\"><v>46127<", "s=\"5\" t=\"s\""]
    {
        assert!(sheet.contains(expected), "{expected} in {sheet}");
    }
    assert!(part(&book, "xl/sharedStrings.xml").contains("_x005F_x0041_"));
    let names = part(&book, "xl/workbook.xml");
    assert!(names.contains("<sheet name=\"a b c\"") && names.contains("<sheet name=\"a b c 2\""), "{names}");
}

#[test]
fn the_same_note_gives_the_same_bytes() {
    assert!(docx(EVERYTHING) == docx(EVERYTHING));
    assert!(pptx(EVERYTHING) == pptx(EVERYTHING));
    let table = csv_table("a,b\n1,x\n2,y\n");
    assert!(xlsx(std::slice::from_ref(&table)) == xlsx(&[table]));
}

#[test]
fn addresses_that_run_something_are_only_text() {
    for address in ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x", "\\\\host\\share"] {
        let document = docx(&format!("[words](<{address}>)\n"));
        assert_whole(&document);
        assert!(!part(&document, "word/_rels/document.xml.rels").contains("External"), "{address}");
        assert!(part(&document, "word/document.xml").contains("words"));
    }
    assert!(part(&docx("[w](https://example.com/a b)"), "word/document.xml").contains("w"));
}

fn markup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "# ",
        "## ",
        "\n",
        "\n\n",
        "- ",
        "  - ",
        "1. ",
        "7) ",
        "> ",
        "> [!note] ",
        "```\n",
        "    ",
        "| a | b |\n|---|---|\n| c | d |\n",
        "---\n",
        "**",
        "*",
        "~~",
        "==",
        "`",
        "$",
        "$$\n",
        "%%",
        "[[a]]",
        "![[a.png]]",
        "![[Other]]",
        "![[Round]]",
        "[x](http://a.b/?c&d)",
        "![y](http://a.b)",
        "[^1]",
        "[^1]: ",
        "^[",
        "]",
        "<b>",
        "</b>",
        "<br>",
        "<!--",
        "-->",
        "<script>",
        "- [ ] ",
        "- [x] ",
        "^id",
        "&amp;",
        "<",
        ">",
        "&",
        "\"",
        "]]>",
        "\u{0}",
        "\u{1b}",
        "\u{fffe}",
        "\u{fdd0}0\u{fdd1}",
        "\u{202e}",
        "😀",
        "日本",
        "word ",
        "{{title}}",
        "\t",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

fn cell() -> impl Strategy<Value = CellValue> {
    prop_oneof![
        Just(CellValue::Empty),
        any::<f64>().prop_map(CellValue::Number),
        any::<bool>().prop_map(CellValue::Boolean),
        (61_i64..2_900_000).prop_map(CellValue::Day),
        markup().prop_map(CellValue::text),
        any::<String>().prop_map(CellValue::text),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_note_is_a_whole_document(text in prop_oneof![markup(), any::<String>()]) {
        assert_whole(&docx(&text));
        assert_whole(&pptx(&text));
    }

    #[test]
    fn any_rows_are_a_whole_workbook(
        name in any::<String>(),
        columns in prop::collection::vec(any::<String>(), 0..5),
        rows in prop::collection::vec(prop::collection::vec(cell(), 0..6), 0..6),
    ) {
        let table = SheetTable { name, columns, rows };
        assert_whole(&xlsx(&[table.clone(), table]));
    }

    #[test]
    fn any_values_make_a_whole_document_of_a_template(title in any::<String>(), text in markup()) {
        let filling = TemplateFilling { title, body: body(&text), ..TemplateFilling::default() };
        let made = filled(OfficeFormat::Docx, &docx("# {{title}}\n\n{{content}}\n\nend {{ti**tle**}}\n"), &filling).unwrap();
        assert_whole(&made.bytes);
        let made = filled(OfficeFormat::Pptx, &pptx("# {{title}}\n\n## {{slide.title}}\n\n{{content}}\n"), &filling).unwrap();
        assert_whole(&made.bytes);
    }

    #[test]
    fn separated_values_are_read_to_their_end(text in any::<String>()) {
        let table = csv_table(&text);
        assert_whole(&xlsx(&[table]));
    }
}

fn filled(format: OfficeFormat, template: &[u8], filling: &TemplateFilling) -> Result<FilledDocument, TemplateFault> {
    // As between two processes.
    let filling = TemplateFilling::from_bytes(&filling.to_bytes()).expect("what was sent can be read");
    fill_template(format, template, &filling, &|name| (name == "date").then(|| "2026-04-15".to_owned()), MOST)
}

fn letter() -> TemplateFilling {
    TemplateFilling {
        title: "Slate & {{date}} <x>".to_owned(),
        properties: vec![("Client".to_owned(), CellValue::text("Ada\u{7} {{title}}"))],
        body: body(
            "## Part\n\n1. one\n2. two\n\n[l](https://a.example/) ![[a.png]] [^1]\n\n[^1]: foot\n\n| A |\n|---|\n| b |\n",
        ),
        rows: csv_table("name,price,day\nSlate,2.5,2026-04-15\n=Jet,3,2026-05-01\n"),
        ..TemplateFilling::default()
    }
}

#[test]
fn a_letter_is_filled_and_nothing_is_read_twice() {
    let template = docx(
        "# {{title}}\n\nDear {{cl**ie**nt}}, {{date}}, {{Unknown}}.\n\n{{content}}\n\n| Name | Price |\n|---|---|\n| {{rows.name}} | {{rows.price}} |\n\n[w](https://b.example)\n",
    );
    let made = filled(OfficeFormat::Docx, &template, &letter()).unwrap();
    assert_whole(&made.bytes);
    assert_eq!(made.unknown, ["Unknown"]);
    assert_eq!((made.rows, made.pictures_left_out), (2, 0));
    let xml = part(&made.bytes, "word/document.xml");
    // A value that looks like a placeholder is text, and so is what looks like markup.
    assert!(xml.contains("Slate &amp; {{date}} &lt;x&gt;") && xml.contains("Ada {{title}}"), "{xml}");
    for expected in
        ["2026-04-15", "{{Unknown}}", ">one<", "<w:drawing>", ">=Jet<", ">2.5<", ">foot<", "w:val=\"Heading2\""]
    {
        assert!(xml.contains(expected), "{expected} in {xml}");
    }
    for gone in ["{{content}}", "{{rows", "cl</w:t>"] {
        assert!(!xml.contains(gone), "{gone}");
    }
    // All other parts are those of the template.
    let (before, after) = (parts(&template), parts(&made.bytes));
    for (name, content) in &before {
        let changes = ["word/document.xml", "word/_rels/document.xml.rels", "[Content_Types].xml"];
        assert!(changes.contains(&name.as_str()) || after[name] == *content, "{name}");
    }
    assert!(made.bytes == filled(OfficeFormat::Docx, &template, &letter()).unwrap().bytes);
}

#[test]
fn a_row_of_a_workbook_is_repeated_and_formulas_follow() {
    let template = {
        let row = |texts: [&str; 3]| texts.map(|text| CellValue::text(text.to_owned())).to_vec();
        let table = SheetTable {
            name: "Bill".to_owned(),
            columns: ["{{title}}", "", ""].map(str::to_owned).to_vec(),
            rows: vec![
                row(["Name", "Price", "Day"]),
                row(["{{rows.name}}", "{{rows.price}}", "{{rows.day}}"]),
                row(["Sum", "", "for {{client}}"]),
            ],
        };
        let book = xlsx(&[table]);
        let sheet = part(&book, "xl/worksheets/sheet1.xml")
            .replace("<row r=\"4\">", "<row r=\"4\"><c r=\"B4\"><f>SUM(B3:B3)</f><v>0</v></c>");
        let sheet = sheet.replace("<c r=\"B4\"></c>", "");
        with_part(&book, "xl/worksheets/sheet1.xml", sheet.as_bytes())
    };
    let made = filled(OfficeFormat::Xlsx, &template, &letter()).unwrap();
    assert_whole(&made.bytes);
    let sheet = part(&made.bytes, "xl/worksheets/sheet1.xml");
    for expected in [
        "<c r=\"A3\" s=\"5\" t=\"inlineStr\"><is><t xml:space=\"preserve\">Slate</t>",
        "<c r=\"A4\"",
        ">=Jet</t>",
        "<v>2.5</v>",
        "<c r=\"B5\"><f>SUM(B3:B4)</f></c>",
        "ref=\"A1:C5\"",
        "for Ada",
    ] {
        assert!(
            sheet.contains(&expected.replace(" s=\"5\"", " s=\"0\"")) || sheet.contains(expected),
            "{expected} in {sheet}"
        );
    }
    assert_eq!(made.rows, 2);
    // The day has a format of days, which the template did not have for this cell.
    let styles = part(&made.bytes, "xl/styles.xml");
    assert!(styles.contains("numFmtId=\"14\"") && styles.contains("<cellXfs count=\"7\">"), "{styles}");
    assert!(sheet.contains("s=\"6\"><v>46127</v>"), "{sheet}");
}

#[test]
fn a_slide_is_repeated_for_each_of_the_note() {
    let template = pptx("# {{title}}\n\nby {{client}}\n\n## {{slide.title}}\n\n{{content}}\n\n## End\n\nBye\n");
    let filling = TemplateFilling {
        body: body("# Talk\n\n## One\n\n- a\n  - b\n\n## Two\n\n[c](https://c.example/)\n"),
        ..letter()
    };
    let made = filled(OfficeFormat::Pptx, &template, &filling).unwrap();
    assert_whole(&made.bytes);
    assert_eq!((made.slides, made.filled), (4, 6));
    let main = part(&made.bytes, "ppt/presentation.xml");
    let order: Vec<String> = tokens(&main)
        .iter()
        .filter(|token| token.is_start("sldId"))
        .filter_map(|token| attribute(&main, token, "id"))
        .collect();
    // The copy is behind the first of them, in front of the end.
    assert_eq!(order, ["256", "257", "259", "258"]);
    assert!(part(&made.bytes, "ppt/slides/slide2.xml").contains(">One<"));
    let second = part(&made.bytes, "ppt/slides/slide4.xml");
    assert!(second.contains(">Two<") && second.contains("hlinkClick"), "{second}");
}

fn with_part(bytes: &[u8], name: &str, content: &[u8]) -> Vec<u8> {
    let mut all = parts(bytes);
    all.insert(name.to_owned(), content.to_vec());
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in all {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(&content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn a_template_that_is_broken_or_hostile_is_refused() {
    let template = docx(EVERYTHING);
    let fault = |bytes: &[u8]| filled(OfficeFormat::Docx, bytes, &letter()).unwrap_err();
    assert_eq!(fault(b""), TemplateFault::Broken);
    assert_eq!(fault(b"PK no archive"), TemplateFault::Broken);
    assert_eq!(fault(&[0xd0, 0xcf, 0x11, 0xe0, 0, 0]), TemplateFault::Locked);
    assert_eq!(fault(&with_part(&template, "word/vbaProject.bin", b"x")), TemplateFault::Macros);
    let types = part(&template, "[Content_Types].xml");
    let macros = types.replace("wordprocessingml.document.main+xml", "word.document.macroEnabled.main+xml");
    assert_eq!(fault(&with_part(&template, "[Content_Types].xml", macros.as_bytes())), TemplateFault::Macros);
    // A document of another kind with this name.
    assert_eq!(fault(&pptx("# a\n")), TemplateFault::Broken);
    let main = part(&template, "word/document.xml");
    let declared = main.replace("<w:document", "<!DOCTYPE x [<!ENTITY a \"b\">]><w:document");
    for (name, content) in [
        ("word/document.xml", declared.as_str()),
        ("word/document.xml", "<w:document"),
        ("word/document.xml", "<x>{{title}}</x>"),
        ("word/document.xml", &main[..main.len() / 2]),
        ("word/styles.xml", "<a></b>"),
    ] {
        assert_eq!(fault(&with_part(&template, name, content.as_bytes())), TemplateFault::Broken, "{content}");
    }
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert_eq!(fault(&with_part(&template, "word/document.xml", deep.as_bytes())), TemplateFault::Unpacked);
    let bomb = vec![0; 40 << 20];
    assert_eq!(fault(&with_part(&template, "word/media/a.bin", &bomb)), TemplateFault::Unpacked);
}

const RELATION: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A list of relations with this entry added.
fn with_relation(bytes: &[u8], list: &str, kind: &str, target: &str, more: &str) -> Vec<u8> {
    let entry =
        format!("<Relationship Id=\"rId900\" Type=\"{RELATION}/{kind}\" Target=\"{target}\"{more}/></Relationships>");
    let empty =
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"></Relationships>";
    let known = parts(bytes).get(list).map(|list| String::from_utf8(list.clone()).unwrap());
    with_part(bytes, list, known.unwrap_or(empty.to_owned()).replace("</Relationships>", &entry).as_bytes())
}

#[test]
fn what_a_template_loads_from_elsewhere_does_not_get_into_the_document() {
    let outside = " TargetMode=\"External\"";
    let (main, settings) = ("word/_rels/document.xml.rels", "word/_rels/settings.xml.rels");
    let template = docx(EVERYTHING);
    let attached =
        "<w:settings xmlns:w=\"w\" xmlns:r=\"r\"><w:attachedTemplate r:id=\"rId900\"/><w:zoom/></w:settings>";
    let attached = with_part(&template, "word/settings.xml", attached.as_bytes());
    let attached = with_relation(&attached, settings, "attachedTemplate", "https://evil.example/x.dotm", outside);
    let made = filled(OfficeFormat::Docx, &attached, &letter()).unwrap();
    assert!(made.is_detached);
    assert!(!part(&made.bytes, settings).contains("evil"));
    assert_eq!(
        part(&made.bytes, "word/settings.xml"),
        "<w:settings xmlns:w=\"w\" xmlns:r=\"r\"><w:zoom/></w:settings>"
    );
    // A link is followed by its reader, or not.
    let linked = with_relation(&template, main, "hyperlink", "https://a.example/", outside);
    let made = filled(OfficeFormat::Docx, &linked, &letter()).unwrap();
    assert!(!made.is_detached && part(&made.bytes, main).contains("https://a.example/"));
    for (kind, target, more) in [
        ("image", "https://evil.example/a.png", outside),
        ("image", "https://evil.example/a.png", " TargetMode=\"external\""),
        ("image", "https://evil.example/a.png", ""),
        ("oleObject", "file:///C:/a.xlsx", outside),
        ("frame", "\\\\evil\\a.docx", outside),
        ("subDocument", "b.docx", outside),
    ] {
        let hostile = with_relation(&template, main, kind, target, more);
        let fault = filled(OfficeFormat::Docx, &hostile, &letter()).unwrap_err();
        assert_eq!(fault, TemplateFault::Linked, "{kind} {target} {more}");
    }
    let open =
        "<Relationship Id=\"r\" Type=\"x/attachedTemplate\" Target=\"b.dotm\" TargetMode=\"External\"></Relationship>";
    let open = format!("<Relationships>{open}</Relationships>");
    let fault = |list: &[u8]| filled(OfficeFormat::Docx, &with_part(&template, settings, list), &letter()).unwrap_err();
    assert_eq!(fault(open.as_bytes()), TemplateFault::Linked);
    let wide: Vec<u8> = open.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(fault(&[&[0xff, 0xfe], wide.as_slice()].concat()), TemplateFault::Broken);
}

#[test]
fn a_template_cut_off_or_with_other_bytes_never_panics() {
    let templates = [
        (OfficeFormat::Docx, docx("# {{title}}\n\n{{content}}\n\n| {{rows.name}} |\n|---|\n| {{rows.name}} |\n")),
        (OfficeFormat::Pptx, pptx("# {{title}}\n\n## {{slide.title}}\n\n{{content}}\n")),
        (OfficeFormat::Xlsx, xlsx(&[csv_table("{{title}},b\n{{rows.name}},{{rows.price}}\n")])),
    ];
    for (format, template) in &templates {
        for end in (0..template.len()).step_by(512) {
            assert!(filled(*format, &template[..end], &letter()).is_err(), "{format:?} {end}");
        }
        let (mut state, mut refused) = (7_u64, 0);
        for _ in 0..60 {
            let mut bytes = template.clone();
            for _ in 0..4 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(state >> 33).unwrap() % bytes.len();
                bytes[at] ^= 1 << (state % 8);
            }
            match filled(*format, &bytes, &letter()) {
                Ok(made) => assert!(!made.bytes.is_empty()),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 20, "{format:?} {refused}");
    }
}

#[test]
fn values_that_came_from_elsewhere_are_checked() {
    let whole = letter().to_bytes();
    assert!(TemplateFilling::from_bytes(&whole).is_some());
    assert_eq!(TemplateFilling::from_bytes(&whole[..whole.len() - 1]), None);
    assert_eq!(TemplateFilling::from_bytes(&[whole, vec![0]].concat()), None);
    assert_eq!(TemplateFilling::from_bytes(&u64::MAX.to_le_bytes()), None);
    let mut lost = letter();
    lost.body.footnotes.clear();
    assert_eq!(TemplateFilling::from_bytes(&lost.to_bytes()), None);
}

/// A table whose first row has this many cells and all others one.
fn ragged(columns: usize, rows: usize) -> DocumentBody {
    let cell = || vec![InlineRun::text("x")];
    let head = (0..columns).map(|_| cell()).collect();
    let rows = std::iter::once(head).chain((0..rows).map(|_| vec![cell()])).collect();
    let table = BlockContent::Table(BodyTable { sides: Vec::new(), rows });
    DocumentBody { blocks: vec![BodyBlock::plain(table)], ..DocumentBody::default() }
}

#[test]
fn a_few_long_rows_and_many_short_ones_are_refused_before_they_are_filled_up() {
    let facts = facts();
    let docx = |body: &DocumentBody| write_docx(&DocxParts { body, facts: &facts, most_bytes: MOST });
    let pptx = |body: &DocumentBody| write_pptx(&PptxParts { body, facts: &facts, most_bytes: MOST });
    let wide = ragged(10_000, 10_000);
    assert_eq!(docx(&wide), Err(WriteFault::TooManyColumns { most: 63 }));
    assert_eq!(pptx(&wide), Err(WriteFault::TooManyColumns { most: 75 }));
    let long = ragged(63, 1_000_000);
    let (made, steps) = steps_of(|| docx(&long));
    assert_eq!(made, Err(WriteFault::TooLong { most: 64 << 20 }));
    assert!((100_000..100_000_000).contains(&steps), "{steps}");
    assert_eq!(pptx(&long), Err(WriteFault::TooMany { most: 1_000 }));
    assert!(long.slide_titles().len() <= 1_001, "those that are refused anyway are not made");
    assert_whole(&docx(&ragged(63, 20)).unwrap().bytes);
}

#[test]
fn what_many_blocks_and_runs_share_is_kept_once() {
    let size = |text: &str| serde_json::to_vec(&body(text)).unwrap().len();
    let callout = format!("> [!{}]\n{}", "x".repeat(100_000), ">\n> x\n".repeat(4_000));
    assert!(size(&callout) < 2 << 20, "{}", size(&callout));
    let read = body("> [!TIP|left] T\n> x\n");
    assert_eq!(read.blocks[1].callout.as_deref(), Some("tip"));
    let link = format!("[{}](https://example.com/{})", "a*b*".repeat(4_000), "x".repeat(1_900));
    assert!(size(&link) < 2 << 20, "{}", size(&link));
    let document = docx(&link);
    assert_whole(&document);
    let relations = part(&document, "word/_rels/document.xml.rels");
    assert_eq!(relations.matches("https://example.com/xxx").count(), 1);
    assert!(part(&document, "word/document.xml").contains("<w:hyperlink r:id="));
}

#[test]
fn a_footnote_in_a_footnote_leaves_the_document_before_it() {
    for text in [
        "# A\n\ntext[^1]\n\n[^1]: > [^2]: x\n",
        "# A\n\ntext[^1]\n\n[^1]: one\n\n    - [^2]: x\n\n      > [^3]: y\n\nend\n",
    ] {
        let document = docx(text);
        assert_whole(&document);
        let main = part(&document, "word/document.xml");
        assert!(main.contains(">A<") && main.contains(">text<"), "{main}");
        assert_eq!(main.contains(">end<"), text.contains("end"), "{main}");
        assert!(part(&document, "word/footnotes.xml").contains(">x<"), "{text}");
    }
}

#[test]
fn a_document_is_measured_as_it_is_packed() {
    let write = |table: SheetTable, most_bytes| {
        write_xlsx(&XlsxParts { tables: &[table], facts: &facts(), most_bytes }).map(|made| made.bytes.len())
    };
    let rows = |columns: usize, rows: usize| SheetTable {
        name: "a".to_owned(),
        columns: vec!["a".to_owned(); columns],
        rows: vec![vec![CellValue::text("a text"); columns]; rows],
    };
    // More than 16 MB of XML.
    let packed = write(rows(20, 20_000), 16 << 20).unwrap();
    assert!(packed < 4 << 20, "{packed}");
    assert_eq!(write(rows(20, 20_000), packed), Ok(packed));
    assert_eq!(write(rows(20, 20_000), packed - 1), Err(WriteFault::TooLarge));
    assert_eq!(write(rows(16_385, 1), MOST), Err(WriteFault::TooManyColumns { most: 16_384 }));
    assert_eq!(write(rows(100, 20_000), MOST), Err(WriteFault::TooLong { most: 64 << 20 }));
}

#[test]
fn what_a_format_cannot_show_is_counted() {
    let facts = facts();
    let note = "# A ![[a.png]]\n\nwords[^1] ^[in ![[a.png]]]\n\n[^1]: foot ![[a.png]]\n\n| a |\n|---|\n| ![[a.png]] |\n\nnote: say ![[a.png]]\n";
    let body = body(note);
    assert_eq!(body.pictures.len(), 5);
    let pictures = |bytes: &[u8], folder: &str| parts(bytes).keys().filter(|name| name.starts_with(folder)).count();
    let made = write_docx(&DocxParts { body: &body, facts: &facts, most_bytes: MOST }).unwrap();
    assert_whole(&made.bytes);
    assert_eq!((made.pictures_left_out, pictures(&made.bytes, "word/media/")), (2, 3));
    let made = write_pptx(&PptxParts { body: &body, facts: &facts, most_bytes: MOST }).unwrap();
    assert_whole(&made.bytes);
    // That of the title is on its slide; a cell, a footnote and the notes of the speaker show none.
    assert_eq!((made.pictures_left_out, pictures(&made.bytes, "ppt/media/")), (4, 1));
    assert!(part(&made.bytes, "ppt/slides/slide1.xml").contains("<p:pic>"));
    let long = CellValue::text("x".repeat(32_768));
    let table =
        SheetTable { name: String::new(), columns: vec!["a".to_owned()], rows: vec![vec![long.clone()], vec![long]] };
    let made = write_xlsx(&XlsxParts { tables: &[table], facts: &facts, most_bytes: MOST }).unwrap();
    assert_eq!(made.texts_cut, 2);
}

#[test]
fn a_picture_of_any_size_is_drawn_within_the_page() {
    for size in ["1000x4000000000", "4000000000", "4000000000x1", "4294967295x4294967295", "1x4294967295"] {
        let text = format!("![[a.png|{size}]]\n");
        for (bytes, part_name, mark) in
            [(docx(&text), "word/document.xml", "wp:extent"), (pptx(&text), "ppt/slides/slide1.xml", "a:ext")]
        {
            assert_whole(&bytes);
            let xml = part(&bytes, part_name);
            let sides = |name: &str| -> Vec<u64> {
                let found =
                    tokens(&xml).into_iter().filter(|token| token.is_start(mark.split(':').next_back().unwrap()));
                found.filter_map(|token| attribute(&xml, &token, name)?.parse().ok()).collect()
            };
            for side in sides("cx").into_iter().chain(sides("cy")) {
                assert!((1..=11_000_000).contains(&side), "{size}: {side}");
            }
        }
    }
}

#[test]
fn a_name_that_is_cut_does_not_end_with_an_apostrophe() {
    let table = |name: &str| SheetTable { name: name.to_owned(), ..SheetTable::default() };
    let names = sheet_names(&[
        table("123456789012345678901234567890' more"),
        table("123456789012345678901234567890'"),
        table("' a '"),
        table("''"),
    ]);
    assert_eq!(names, ["123456789012345678901234567890", "12345678901234567890123456789 2", "a", "Sheet"]);
}

#[test]
fn formulas_in_a_deep_place_are_counted_one_by_one() {
    let text = |formulas: usize| format!("{}{}\n", ">".repeat(2_000), " $$x$$".repeat(formulas));
    let steps = |formulas: usize| steps_of(|| body(&text(formulas))).1;
    assert!(steps(400) > steps(200) + 200 * 2_000, "{} {}", steps(400), steps(200));
}

/// A workbook with these sheets: their names, and what is in their parts.
fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
    let table = |name: &str| SheetTable { name: name.to_owned(), columns: vec!["a".to_owned()], rows: Vec::new() };
    let tables: Vec<SheetTable> = sheets.iter().map(|(name, _)| table(name)).collect();
    let mut book = xlsx(&tables);
    for (number, (_, inner)) in (1..).zip(sheets) {
        let sheet = format!(
            "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" xmlns:r=\"{RELATION}\">{inner}</worksheet>"
        );
        book = with_part(&book, &format!("xl/worksheets/sheet{number}.xml"), sheet.as_bytes());
    }
    book
}

fn text_cell(place: &str, text: &str) -> String {
    format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

fn assert_has(xml: &str, expected: &[&str]) {
    let xml = xml.replace("&apos;", "'").replace("&quot;", "\"");
    for expected in expected {
        assert!(xml.contains(expected), "{expected} in {xml}");
    }
}

const NAME_ROW: &str = "<row r=\"5\"><c r=\"A5\" t=\"inlineStr\"><is><t>{{rows.name}}</t></is></c>";

#[test]
fn each_copy_of_a_row_has_merged_cells_links_and_rules_of_its_own() {
    let sheet = format!(
        "<dimension ref=\"A5:D6\"/><sheetViews><sheetView workbookViewId=\"0\"><selection activeCell=\"A6\" sqref=\"A6\"/></sheetView></sheetViews>\
         <sheetData>{NAME_ROW}</row><row r=\"6\">{}</row></sheetData>\
         <mergeCells count=\"3\"><mergeCell ref=\"B5:D5\"/><mergeCell ref=\"A6:D6\"/><mergeCell ref=\"E4:E6\"></mergeCell></mergeCells>\
         <conditionalFormatting sqref=\"A5:A5\"><cfRule type=\"expression\" priority=\"1\"><formula>AND($B5&gt;SUM(B5:D5),$A$6)</formula></cfRule></conditionalFormatting>\
         <dataValidations count=\"1\"><dataValidation type=\"list\" sqref=\"C5 C6\"><formula1>$A$6:$A$7</formula1></dataValidation></dataValidations>\
         <hyperlinks><hyperlink ref=\"B5\" location=\"Bill!A6\"/><hyperlink ref=\"A6\" r:id=\"rId1\"/></hyperlinks>\
         <rowBreaks count=\"1\" manualBreakCount=\"1\"><brk id=\"6\" max=\"16383\" man=\"1\"/></rowBreaks>\
         <extLst><ext><x:sparkline xmlns:x=\"x\" xmlns:m=\"m\"><m:f>Bill!B5:D5</m:f><m:sqref>E5</m:sqref></x:sparkline>\
         <x:dataValidation xmlns:x=\"x\" xmlns:m=\"m\"><x:formula1><m:f>Other!A6+B5+SUM(B5:B5)+A6</m:f></x:formula1><m:sqref>C5:C6</m:sqref></x:dataValidation></ext></extLst>",
        text_cell("A6", "Sum")
    );
    let template =
        with_relation(&workbook(&[("Bill", &sheet)]), "xl/worksheets/_rels/sheet1.xml.rels", "hyperlink", "a", "");
    let template = with_part(
        &template,
        "xl/worksheets/_rels/sheet1.xml.rels",
        part(&template, "xl/worksheets/_rels/sheet1.xml.rels").replace("rId900", "rId1").as_bytes(),
    );
    let template = with_part(&template, "xl/worksheets/a", b"");
    let made = filled(OfficeFormat::Xlsx, &template, &letter()).unwrap();
    assert_has(
        &part(&made.bytes, "xl/worksheets/sheet1.xml"),
        &[
            "<dimension ref=\"A5:D7\"/>",
            "activeCell=\"A7\" sqref=\"A7\"",
            "<mergeCells count=\"4\"><mergeCell ref=\"B5:D5\"/><mergeCell ref=\"B6:D6\"/><mergeCell ref=\"A7:D7\"/><mergeCell ref=\"E4:E7\">",
            "sqref=\"A5:A6\"",
            "<formula>AND($B5&gt;SUM(B5:D5),$A$7)</formula>",
            "sqref=\"C5:C6 C7\"><formula1>$A$7:$A$8</formula1>",
            "<hyperlink ref=\"B5\" location=\"Bill!A7\"/><hyperlink ref=\"B6\" location=\"Bill!A7\"/><hyperlink ref=\"A7\" r:id=\"rId1\"/>",
            "<brk id=\"7\"",
            "<m:f>Bill!B5:D5</m:f><m:sqref>E5</m:sqref></x:sparkline><x:sparkline xmlns:x=\"x\" xmlns:m=\"m\"><m:f>Bill!B6:D6</m:f><m:sqref>E6</m:sqref>",
            "<x:formula1><m:f>Other!A6+B5+SUM(B5:B5)+A7</m:f></x:formula1><m:sqref>C5:C7</m:sqref>",
        ],
    );
}

#[test]
fn formulas_names_and_charts_follow_the_sheet_that_they_mean() {
    let bill = format!(
        "<sheetData>{NAME_ROW}<c r=\"B5\"><f t=\"array\" ref=\"B5\">A5</f></c></row>\
         <row r=\"6\"><c r=\"A6\"><f>SUM(Other!A6:A9)+'Other Bill'!A6+SUM(B5:B5)</f><v>1</v></c></row></sheetData>"
    );
    let other = "<sheetData><row r=\"6\"><c r=\"A6\"><f>SUM(Bill!B5:B5)+A6+'Other Bill'!A6&amp;\"Bill!A6\"</f><v>1</v></c>\
                 <c r=\"B6\"><f>A6&gt;1</f><v>1</v></c><c r=\"C6\"><f t=\"shared\" ref=\"C6:C7\" si=\"0\">Bill!A4</f></c></row>\
                 <row r=\"7\"><c r=\"C7\"><f t=\"shared\" si=\"0\"/></c></row><row r=\"8\"><c r=\"C8\"><f t=\"shared\" si=\"0\"/></c></row></sheetData>";
    let template = workbook(&[("Bill", &bill), ("Other", other), ("Other Bill", "<sheetData/>")]);
    let main = part(&template, "xl/workbook.xml").replace(
        "</sheets>",
        "</sheets><definedNames><definedName name=\"_xlnm.Print_Area\" localSheetId=\"0\">Bill!$A$1:$B$5,Other!$A$1:$A$5</definedName></definedNames>",
    );
    let template = with_part(&template, "xl/workbook.xml", main.as_bytes());
    let chart = "<c:chart xmlns:c=\"c\"><c:f>Bill!$B$5:$B$5</c:f><c:f>Other!$B$5:$B$6</c:f></c:chart>";
    let template = with_part(&template, "xl/charts/chart1.xml", chart.as_bytes());
    let made = filled(OfficeFormat::Xlsx, &template, &letter()).unwrap();
    assert_has(
        &part(&made.bytes, "xl/worksheets/sheet1.xml"),
        &[
            "<f t=\"array\" ref=\"B5\">A5</f>",
            "<f t=\"array\" ref=\"B6\">A6</f>",
            "<c r=\"A7\"><f>SUM(Other!A6:A9)+'Other Bill'!A6+SUM(B5:B6)</f></c>",
        ],
    );
    assert_has(
        &part(&made.bytes, "xl/worksheets/sheet2.xml"),
        &[
            "<c r=\"A6\"><f>SUM(Bill!B5:B6)+A6+'Other Bill'!A6&amp;\"Bill!A6\"</f></c>",
            "<c r=\"B6\"><f>A6&gt;1</f><v>1</v></c>",
            "<c r=\"C6\"><f>Bill!A4</f></c>",
            "<c r=\"C7\"><f>Bill!A5</f></c>",
            "<c r=\"C8\"><f>Bill!A7</f></c>",
        ],
    );
    assert_has(&part(&made.bytes, "xl/workbook.xml"), &["Bill!$A$1:$B$6,Other!$A$1:$A$5"]);
    assert_has(&part(&made.bytes, "xl/charts/chart1.xml"), &["Bill!$B$5:$B$6", "Other!$B$5:$B$6"]);
}

#[test]
fn cells_that_share_a_formula_get_their_own_when_rows_are_inserted_between_them() {
    let sheet = format!(
        "<sheetData>{NAME_ROW}<c r=\"B5\"><f t=\"shared\" ref=\"B5:C5\" si=\"1\">E5*2</f></c><c r=\"C5\"><f t=\"shared\" si=\"1\"/></c></row>\
         <row r=\"7\"><c r=\"B7\"><f t=\"shared\" ref=\"B7:B9\" si=\"0\">A4</f></c></row>\
         <row r=\"9\"><c r=\"B9\"><f t=\"shared\" si=\"0\"/></c></row></sheetData>"
    );
    let made = filled(OfficeFormat::Xlsx, &workbook(&[("Bill", &sheet)]), &letter()).unwrap();
    assert_has(
        &part(&made.bytes, "xl/worksheets/sheet1.xml"),
        &[
            "<c r=\"B6\"><f>E6*2</f></c><c r=\"C6\"><f>F6*2</f></c>",
            "<c r=\"B8\"><f>A4</f></c>",
            "<c r=\"B10\"><f>A7</f></c>",
        ],
    );
}

#[test]
fn without_rows_one_empty_row_is_kept() {
    let sheet = format!(
        "<sheetData>{NAME_ROW}</row><row r=\"6\"><c r=\"C6\"><f>SUM(C5:C5)</f></c></row></sheetData><mergeCells count=\"1\"><mergeCell ref=\"B5:D5\"/></mergeCells>"
    );
    let mut none = letter();
    none.rows.rows.clear();
    let made = filled(OfficeFormat::Xlsx, &workbook(&[("Bill", &sheet)]), &none).unwrap();
    assert_has(
        &part(&made.bytes, "xl/worksheets/sheet1.xml"),
        &["<row r=\"5\"><c r=\"A5\"/></row><row r=\"6\"><c r=\"C6\"><f>SUM(C5:C5)</f></c></row>", "ref=\"B5:D5\""],
    );
    assert_eq!(made.rows, 0);
    let made = filled(OfficeFormat::Docx, &docx("| {{rows.name}} |\n|---|\n"), &none).unwrap();
    let main = part(&made.bytes, "word/document.xml");
    assert!(main.contains("<w:tr>") && !main.contains("rows.name"), "{main}");
}

#[test]
fn a_sheet_keeps_the_prefix_of_its_elements() {
    let sheet = format!("<sheetData>{NAME_ROW}<c r=\"B5\"><v>1</v></c></row></sheetData>");
    let book = workbook(&[("Bill", &sheet)]);
    let prefixed = part(&book, "xl/worksheets/sheet1.xml")
        .replace("</", "</x:")
        .replace('<', "<x:")
        .replace("<x:/x:", "</x:")
        .replace("xmlns=", "xmlns:x=");
    let made =
        filled(OfficeFormat::Xlsx, &with_part(&book, "xl/worksheets/sheet1.xml", prefixed.as_bytes()), &letter());
    let sheet = part(&made.unwrap().bytes, "xl/worksheets/sheet1.xml");
    assert_has(&sheet, &["<x:c r=\"A6\" t=\"inlineStr\"><x:is><x:t xml:space=\"preserve\">=Jet</x:t></x:is></x:c>"]);
}

#[test]
fn a_slide_is_not_repeated_for_a_placeholder_among_other_words() {
    let template = pptx("# {{title}}\n\n## Topic: {{slide.title}}\n\nAbout {{content}} here\n\n## End\n\nBye\n");
    let filling = TemplateFilling { body: body("# One\n\na\n\n# Two\n\nb\n\n# Three\n\nc\n"), ..letter() };
    let made = filled(OfficeFormat::Pptx, &template, &filling).unwrap();
    assert_whole(&made.bytes);
    assert_eq!((made.slides, made.filled), (3, 1));
    assert_eq!(made.unknown, ["slide.title", "content"]);
}

/// A document whose parts are in another folder, under other names.
fn renamed(bytes: &[u8], names: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (mut name, content) in parts(bytes) {
        let mut content = content;
        for (from, to) in names {
            name = name.replace(from, to);
            if name.ends_with(".rels") || name.starts_with('[') {
                content = String::from_utf8(content).unwrap().replace(from, to).into_bytes();
            }
        }
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(&content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn the_names_of_parts_are_those_that_the_document_says() {
    let note = "# {{title}}\n\n{{content}}\n\n1. list\n";
    let template =
        renamed(&docx(note), &[("word/", "text/"), ("document.xml", "main2.xml"), ("styles.xml", "looks.xml")]);
    let made = filled(OfficeFormat::Docx, &template, &letter()).unwrap();
    assert_whole(&made.bytes);
    let main = part(&made.bytes, "text/main2.xml");
    assert_has(&main, &["<w:drawing>", "w:val=\"Heading2\"", "Slate &amp;"]);
    assert!(parts(&made.bytes).keys().any(|name| name.starts_with("text/media/image")));
    let template = pptx("# {{title}}\n\n## {{slide.title}}\n\n{{content}}\n");
    let names = [("ppt/", "deck/"), ("presentation.xml", "main.xml"), ("slides/", "pages/")];
    let filling = TemplateFilling { body: body("# One\n\na\n\n# Two\n\nb\n"), ..letter() };
    let made = filled(OfficeFormat::Pptx, &renamed(&template, &names), &filling).unwrap();
    assert_whole(&made.bytes);
    assert_eq!(made.slides, 3);
    assert_has(&part(&made.bytes, "deck/pages/slide3.xml"), &[">Two<"]);
    let template = workbook(&[("Bill", &format!("<sheetData>{NAME_ROW}</row></sheetData>"))]);
    let names = [("xl/", "book/"), ("workbook.xml", "main.xml"), ("worksheets/", "pages/")];
    let made = filled(OfficeFormat::Xlsx, &renamed(&template, &names), &letter()).unwrap();
    assert_whole(&made.bytes);
    assert_has(&part(&made.bytes, "book/pages/sheet1.xml"), &[">=Jet<"]);
}

#[test]
fn line_ends_are_those_of_word_only_in_texts_of_word() {
    let word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let template = docx("{{address}}\n\nMATH\n\nDRAWING\n");
    let main = part(&template, "word/document.xml")
        .replace("<w:r><w:t xml:space=\"preserve\">MATH</w:t></w:r>", "<m:r xmlns:m=\"m\"><m:t>{{address}}</m:t></m:r>")
        .replace(
            "<w:r><w:t xml:space=\"preserve\">DRAWING</w:t></w:r>",
            "<a:p xmlns:a=\"a\"><a:r><a:t>{{address}}</a:t></a:r></a:p><a:p xmlns:a=\"a\"><a:r><a:t>{{content}}</a:t></a:r></a:p>",
        );
    assert!(main.contains("<m:t>") && main.contains("<a:t>"), "{main}");
    let mut template = with_part(&template, "word/document.xml", main.as_bytes());
    for (name, prefix) in [("header1.xml", "w:"), ("header2.xml", "h:"), ("header3.xml", "")] {
        let colon = prefix.trim_end_matches(':');
        let bound = if colon.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{colon}") };
        let header = format!(
            "<{prefix}hdr {bound}=\"{word}\"><{prefix}p><{prefix}r><{prefix}t>{{{{address}}}}</{prefix}t></{prefix}r></{prefix}p></{prefix}hdr>"
        );
        template = with_part(&template, &format!("word/{name}"), header.as_bytes());
        template = with_relation(&template, "word/_rels/document.xml.rels", "header", name, "");
    }
    let mut filling = letter();
    filling.properties.push(("address".to_owned(), CellValue::text("one\ntwo")));
    let made = filled(OfficeFormat::Docx, &template, &filling).unwrap();
    let lines = "<w:t xml:space=\"preserve\">one</w:t><w:br/><w:t xml:space=\"preserve\">two</w:t>";
    assert_has(
        &part(&made.bytes, "word/document.xml"),
        &[lines, "<m:t>one two</m:t>", "<a:t>one two</a:t>", "<a:t>{{content}}</a:t>"],
    );
    assert_has(&part(&made.bytes, "word/header1.xml"), &[lines]);
    assert_has(&part(&made.bytes, "word/header2.xml"), &["<h:t>one two</h:t>"]);
    assert_has(&part(&made.bytes, "word/header3.xml"), &["<t>one two</t>"]);
    assert_eq!(made.unknown, ["content"]);
}
