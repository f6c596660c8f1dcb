//! Documents of every kind, broken ones among them.

use std::io::{Cursor, Write};

use lapidary_operation::{DecodeJob, DecodedAttachment};
use lapidary_vault::MOST_DOCUMENT_TEXT;
use lopdf::{Document, Object, Stream, content::Content, content::Operation, dictionary};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::*;

fn read(kind: DocumentKind, bytes: &[u8]) -> DocumentText {
    text(kind, bytes, MOST_DOCUMENT_TEXT).unwrap()
}

fn texts(document: &DocumentText) -> Vec<(u32, Option<&str>, &str)> {
    document.parts.iter().map(|part| (part.number, part.label.as_deref(), part.text.as_str())).collect()
}

/// An archive with these parts.
fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, text) in parts {
        writer.start_file(*name, options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// How the text of a page is encoded.
#[derive(Clone, Copy)]
enum PdfFont {
    /// Letters of Western Europe.
    Western,
    /// Those of the first Macintosh.
    Macintosh,
    /// Each letter by its name, ligatures too.
    Named,
    /// Two bytes a letter, with a table of what they mean.
    Wide,
}

/// A PDF with these pages, each a list of lines.
fn pdf(pages: &[(PdfFont, &[&[u8]])]) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let mut kids = Vec::new();
    for (font, lines) in pages {
        let font = font_object(&mut document, *font);
        let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
        let mut operations = vec![
            Operation::new("BT", vec![]),
            Operation::new("Tf", vec!["F1".into(), 12.into()]),
            Operation::new("TL", vec![16.into()]),
            Operation::new("Td", vec![50.into(), 700.into()]),
        ];
        for line in *lines {
            operations.push(Operation::new("Tj", vec![Object::string_literal(line.to_vec())]));
            operations.push(Operation::new("T*", vec![]));
        }
        operations.push(Operation::new("ET", vec![]));
        let content = document.add_object(Stream::new(dictionary! {}, Content { operations }.encode().unwrap()));
        kids.push(Object::from(document.add_object(dictionary! {
            "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
            "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        })));
    }
    let count = i64::try_from(kids.len()).unwrap();
    document.objects.insert(tree, dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count }.into());
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    let information = document.add_object(dictionary! {
        "Title" => Object::string_literal("On slate"), "Author" => Object::string_literal("Ada"),
    });
    document.trailer.set("Info", information);
    document.compress();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn font_object(document: &mut Document, font: PdfFont) -> lopdf::ObjectId {
    let simple = |encoding: Object| {
        dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => encoding,
        }
    };
    match font {
        PdfFont::Western => document.add_object(simple("WinAnsiEncoding".into())),
        PdfFont::Macintosh => document.add_object(simple("MacRomanEncoding".into())),
        PdfFont::Named => {
            let names = vec![1.into(), "fi".into(), "eacute".into(), "s".into(), "h".into()];
            let encoding = document.add_object(dictionary! { "Type" => "Encoding", "Differences" => names });
            document.add_object(simple(encoding.into()))
        }
        PdfFont::Wide => {
            let table = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n\
                /CMapName /X def 1 begincodespacerange <0000> <ffff> endcodespacerange\n\
                3 beginbfchar <0001> <77f3> <0002> <677f> <0003> <00660069> endbfchar\n\
                endcmap end end";
            let table = document.add_object(Stream::new(dictionary! {}, table.as_bytes().to_vec()));
            let descriptor = document.add_object(dictionary! { "Type" => "FontDescriptor", "FontName" => "X" });
            let descendant = document.add_object(dictionary! {
                "Type" => "Font", "Subtype" => "CIDFontType2", "BaseFont" => "X", "DW" => 1000,
                "FontDescriptor" => descriptor,
                "CIDSystemInfo" => dictionary! {
                    "Registry" => Object::string_literal("Adobe"), "Ordering" => Object::string_literal("Identity"),
                    "Supplement" => 0,
                },
            });
            document.add_object(dictionary! {
                "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "X", "Encoding" => "Identity-H",
                "DescendantFonts" => vec![descendant.into()], "ToUnicode" => table,
            })
        }
    }
}

fn sample_pdf() -> Vec<u8> {
    pdf(&[
        (PdfFont::Western, &[b"Slate is a fine-grained, foli-", b"ated rock. Caf\xe9 \x93quoted\x94"]),
        (PdfFont::Macintosh, &[b"Gar\x8don"]),
        (PdfFont::Named, &[&[1, 3, 4, b' ', 2]]),
        (PdfFont::Wide, &[&[0, 1, 0, 2, 0, 3]]),
        (PdfFont::Western, &[]),
    ])
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn sample_docx() -> Vec<u8> {
    archive(&[
        (
            "_rels/.rels",
            &format!(
                "<Relationships><Relationship Id='r1' Type='{RELATIONS}/officeDocument' Target='word/document.xml'/></Relationships>"
            ),
        ),
        ("docProps/core.xml", "<cp><dc:title>On slate</dc:title><dc:creator>Ada &amp; Bob</dc:creator></cp>"),
        (
            "word/document.xml",
            "<w:document><w:body>\
             <w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>Roofs</w:t></w:r></w:p>\
             <w:p><w:r><w:t xml:space='preserve'>Slate &lt;lasts&gt; </w:t></w:r><w:del><w:r><w:t>never</w:t></w:r></w:del><w:r><w:t>&#x61; century.</w:t></w:r></w:p>\
             <w:moveFrom><w:r><w:t>Moved away.</w:t></w:r></w:moveFrom>\
             <w:p><w:pPr><w:pStyle w:val='berschrift2'/></w:pPr><w:r><w:t>Farben</w:t></w:r></w:p>\
             <w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>grey</w:t></w:r></w:p>\
             <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Kind</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Years</w:t></w:r></w:p></w:tc></w:tr>\
             <w:tr><w:tc><w:p><w:r><w:t>Slate</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>100</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
             <w:p><w:r><w:br w:type='page'/></w:r></w:p>\
             <w:p><w:r><w:lastRenderedPageBreak/><w:t>Second page</w:t></w:r></w:p>\
             </w:body></w:document>",
        ),
        (
            "word/styles.xml",
            "<w:styles><w:style w:type='paragraph' w:styleId='berschrift2'><w:name w:val='heading 2'/></w:style></w:styles>",
        ),
        (
            "word/footnotes.xml",
            "<w:footnotes><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>",
        ),
    ])
}

fn sample_pptx() -> Vec<u8> {
    let slide = |title: &str, text: &str| {
        format!(
            "<p:sld><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:txBody></p:sp>\
             <p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>\
             <p:sp><p:nvSpPr><p:nvPr><p:ph type='sldNum'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>7</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
        )
    };
    archive(&[
        // Not in the order of their names.
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId id='1' r:id='b'/><p:sldId id='2' r:id='a'/></p:sldIdLst></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            "<Relationships><Relationship Id='a' Type='x/slide' Target='slides/slide1.xml'/><Relationship Id='b' Type='x/slide' Target='slides/slide2.xml'/></Relationships>",
        ),
        ("ppt/slides/slide1.xml", &slide("Prices", "Per square metre")),
        ("ppt/slides/slide2.xml", &slide("Slate", "Lasts a century")),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            "<Relationships><Relationship Id='n' Type='x/notesSlide' Target='../notesSlides/n1.xml'/></Relationships>",
        ),
        ("ppt/notesSlides/n1.xml", "<p:notes><a:p><a:r><a:t>Say it slowly</a:t></a:r></a:p></p:notes>"),
    ])
}

fn sample_xlsx() -> Vec<u8> {
    let sheet = |cells: &str| format!("<worksheet><sheetData>{cells}</sheetData></worksheet>");
    archive(&[
        (
            "[Content_Types].xml",
            "<Types><Override PartName='/xl/workbook.xml' ContentType='application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml'/></Types>",
        ),
        (
            "_rels/.rels",
            &format!(
                "<Relationships><Relationship Id='r' Type='{RELATIONS}/officeDocument' Target='xl/workbook.xml'/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            &format!(
                "<workbook xmlns:r='{RELATIONS}'><sheets><sheet name='Roofs' sheetId='1' r:id='a'/><sheet name='Secret' sheetId='2' state='hidden' r:id='b'/><sheet name='Far' sheetId='3' r:id='c'/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            &format!(
                "<Relationships><Relationship Id='a' Type='{RELATIONS}/worksheet' Target='worksheets/s1.xml'/><Relationship Id='b' Type='{RELATIONS}/worksheet' Target='worksheets/s2.xml'/><Relationship Id='c' Type='{RELATIONS}/worksheet' Target='worksheets/s3.xml'/><Relationship Id='t' Type='{RELATIONS}/styles' Target='styles.xml'/><Relationship Id='u' Type='{RELATIONS}/sharedStrings' Target='sharedStrings.xml'/></Relationships>"
            ),
        ),
        ("xl/sharedStrings.xml", "<sst><si><t>Kind</t></si><si><r><t>Sl</t></r><r><t>ate</t></r></si></sst>"),
        ("xl/styles.xml", "<styleSheet><cellXfs><xf numFmtId='0'/><xf numFmtId='14'/></cellXfs></styleSheet>"),
        (
            "xl/worksheets/s1.xml",
            &sheet(
                "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='inlineStr'><is><t>Price</t></is></c></row>\
                 <row r='2'><c r='A2' t='s'><v>1</v></c><c r='B2'><v>12.5</v></c><c r='D2' s='1'><v>46127</v></c></row>\
                 <row r='3'><c r='A3' t='b'><v>1</v></c><c r='B3'><f>SUM(B2)</f><v>12.5</v></c></row>",
            ),
        ),
        ("xl/worksheets/s2.xml", &sheet("<row r='1'><c r='A1' t='inlineStr'><is><t>hidden</t></is></c></row>")),
        // Two cells at the ends of the largest possible sheet.
        (
            "xl/worksheets/s3.xml",
            &sheet(
                "<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r='A1048576'><v>2</v></c><c r='XFD1048576'><v>3</v></c></row>",
            ),
        ),
    ])
}

fn sample_epub() -> Vec<u8> {
    archive(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles></container>",
        ),
        (
            "OEBPS/book.opf",
            "<package><metadata><dc:title>On slate</dc:title><dc:creator>Ada</dc:creator></metadata>\
             <manifest><item id='nav' href='nav.xhtml' media-type='application/xhtml+xml' properties='nav'/>\
             <item id='two' href='text/two%20b.xhtml' media-type='application/xhtml+xml'/>\
             <item id='one' href='text/one.xhtml' media-type='application/xhtml+xml'/><item id='css' href='a.css' media-type='text/css'/></manifest>\
             <spine><itemref idref='nav'/><itemref idref='one'/><itemref idref='two'/><itemref idref='lost'/></spine></package>",
        ),
        ("OEBPS/nav.xhtml", "<html><body>contents</body></html>"),
        (
            "OEBPS/text/one.xhtml",
            "<html><head><title>x</title></head><body><h1>Roofs</h1><p>Slate <b>lasts</b>.</p></body></html>",
        ),
        ("OEBPS/text/two b.xhtml", "<html><head><title>Floors</title></head><body><p>Stone.</p></body></html>"),
    ])
}

/// A clean file of each kind.
fn samples() -> Vec<(DocumentKind, Vec<u8>)> {
    vec![
        (DocumentKind::Pdf, sample_pdf()),
        (DocumentKind::Docx, sample_docx()),
        (DocumentKind::Pptx, sample_pptx()),
        (DocumentKind::Xlsx, sample_xlsx()),
        (DocumentKind::Epub, sample_epub()),
        (DocumentKind::Html, b"<html><title>On slate</title><body><h1>Roofs</h1><p>Slate &amp; stone.".to_vec()),
        (DocumentKind::Plain, "Schiefer hält.\r\nLange.".as_bytes().to_vec()),
    ]
}

#[test]
fn a_pdf_is_read_by_pages_whatever_its_fonts() {
    let document = read(DocumentKind::Pdf, &sample_pdf());
    assert_eq!(
        (document.total, document.title.as_deref(), document.author.as_deref()),
        (5, Some("On slate"), Some("Ada"))
    );
    assert_eq!(
        texts(&document),
        [
            (1, None, "Slate is a fine-grained, foliated rock. Café “quoted”"),
            (2, None, "Garçon"),
            (3, None, "fish é"),
            (4, None, "石板fi"),
        ]
    );
}

/// The first reader panics on a page without a size.
#[test]
fn a_page_that_one_reader_cannot_read_is_read_by_the_other() {
    let mut document = Document::load_mem(&sample_pdf()).unwrap();
    let page = document.get_pages()[&1];
    document.get_dictionary_mut(page).unwrap().remove(b"MediaBox");
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    let document = read(DocumentKind::Pdf, &bytes);
    assert!(document.parts[0].text.contains("fine-grained"), "{:?}", document.parts[0]);
    assert_eq!(document.parts[1].text, "Garçon");
}

/// As of a download that was interrupted, or of an editor that counts lines differently.
#[test]
fn a_pdf_with_a_wrong_table_or_without_one_is_read() {
    let whole = sample_pdf();
    let table = whole.windows(4).rposition(|four| four == b"xref").unwrap();
    let table = whole[..table].windows(4).rposition(|four| four == b"xref").unwrap_or(table);
    let no_end = whole[..table].to_vec();
    let moved = [b"%PDF-1.5\n% one more line\n", &whole[b"%PDF-1.5".len()..]].concat();
    let no_start = [&whole[..whole.len() - 20], b"\nstartxref\n999999999\n%%EOF"].concat();
    for broken in [no_end, moved, no_start] {
        let document = read(DocumentKind::Pdf, &broken);
        assert_eq!(texts(&document)[0].2, "Slate is a fine-grained, foliated rock. Café “quoted”");
        assert_eq!(document.total, 5);
    }
}

#[test]
fn a_scan_has_pages_and_no_text() {
    let document = read(DocumentKind::Pdf, &pdf(&[(PdfFont::Western, &[]), (PdfFont::Western, &[])]));
    assert_eq!((document.total, document.has_text()), (2, false));
}

#[test]
fn damaged_styles_cost_headings_and_no_text() {
    let text = "<w:document><w:body><w:p><w:r><w:t>Slate</w:t></w:r></w:p></w:body></w:document>";
    for styles in ["<w:styles><w:style", "<w:styles></w:body>", "\u{0}"] {
        let bytes = archive(&[("word/document.xml", text), ("word/styles.xml", styles)]);
        assert_eq!(texts(&read(DocumentKind::Docx, &bytes)), [(1, None, "Slate")], "{styles}");
    }
}

#[test]
fn a_word_document_is_markdown() {
    let document = read(DocumentKind::Docx, &sample_docx());
    assert_eq!(document.author.as_deref(), Some("Ada & Bob"));
    assert_eq!(
        texts(&document),
        [
            (
                1,
                None,
                "# Roofs\n\nSlate <lasts> a century.\n\n## Farben\n\n- grey\n\n| Kind | Years |\n| Slate | 100 |"
            ),
            (2, None, "Second page\n\n\n\n[footnotes]\nA note."),
        ]
    );
}

#[test]
fn a_presentation_without_slides_is_empty_and_not_broken() {
    let empty = archive(&[("ppt/presentation.xml", "<p:presentation><p:sldMasterIdLst/></p:presentation>")]);
    let document = read(DocumentKind::Pptx, &empty);
    assert_eq!((document.total, document.has_text()), (0, false));
}

/// With a password, an office document is a file of the old format instead of an archive.
#[test]
fn an_office_document_with_a_password_is_locked() {
    let mut locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    locked.resize(1024, 0);
    for kind in [DocumentKind::Docx, DocumentKind::Pptx, DocumentKind::Xlsx] {
        assert_eq!(text(kind, &locked, 9).unwrap_err(), DecodeFault::Broken, "an old document");
    }
    locked.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    locked.resize(4096, 0);
    for kind in [DocumentKind::Docx, DocumentKind::Pptx, DocumentKind::Xlsx] {
        assert_eq!(text(kind, &locked, 9).unwrap_err(), DecodeFault::Locked, "{kind:?}");
    }
}

#[test]
fn slides_are_in_their_order_with_the_notes_of_the_speaker() {
    let document = read(DocumentKind::Pptx, &sample_pptx());
    assert_eq!(
        texts(&document),
        [
            (1, Some("Slate"), "Slate\n\nLasts a century"),
            (2, Some("Prices"), "Prices\n\nPer square metre\n\n\n\n[notes]\nSay it slowly"),
        ]
    );
}

#[test]
fn sheets_are_lines_and_hidden_ones_stay_hidden() {
    let document = read(DocumentKind::Xlsx, &sample_xlsx());
    assert_eq!(
        texts(&document),
        [
            (1, Some("Roofs"), "Kind\tPrice\nSlate\t12.5\t\t2026-04-15\nTRUE\t12.5"),
            (3, Some("Far"), "1\n2\t\t\t\t\t\t\t\t3"),
        ]
    );
}

#[test]
fn a_book_is_read_in_the_order_of_its_chapters() {
    let document = read(DocumentKind::Epub, &sample_epub());
    assert_eq!((document.title.as_deref(), document.total), (Some("On slate"), 2));
    assert_eq!(texts(&document), [(1, Some("Roofs"), "# Roofs\n\nSlate **lasts**."), (2, Some("Floors"), "Stone.")]);
}

#[test]
fn texts_and_pages_are_one_part_in_any_encoding() {
    let plain = |bytes: &[u8]| read(DocumentKind::Plain, bytes).parts[0].text.clone();
    assert_eq!(plain("Schiefer hält.\r\nLange.".as_bytes()), "Schiefer hält.\nLange.");
    assert_eq!(plain(b"h\xe4lt \x80"), "hält €");
    assert_eq!(plain(b"\xff\xfeh\0\xe4\0"), "hä");
    assert_eq!(plain(b"a\x1b[31m\tb"), "a[31m\tb");
    let page = read(DocumentKind::Html, b"<title>On slate</title><h1>Roofs</h1><p>Slate &amp; stone.");
    assert_eq!(texts(&page), [(1, None, "# Roofs\n\nSlate & stone.")]);
    assert_eq!(text(DocumentKind::Plain, b"a\0b", 9).unwrap_err(), DecodeFault::Broken);
}

#[test]
fn long_texts_are_cut_and_say_so() {
    for (kind, bytes) in samples() {
        let whole = read(kind, &bytes);
        let all: usize = whole.parts.iter().map(|part| part.text.len()).sum();
        for most in [1, all / 2, all - 1] {
            let cut = text(kind, &bytes, most).unwrap();
            assert!(cut.is_cut, "{kind:?} {most}");
            assert!(cut.parts.iter().map(|part| part.text.len()).sum::<usize>() <= most, "{kind:?}");
        }
        assert!(!text(kind, &bytes, all).unwrap().is_cut, "{kind:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_document_that_takes_long_is_read_in_part() {
    let started = text_within(DocumentKind::Pdf, &sample_pdf(), MOST_DOCUMENT_TEXT, Duration::ZERO).unwrap();
    assert!(started.is_cut);
    assert_eq!((started.total, texts(&started).len()), (5, 1), "the first page");
}

/// What the parent would see.
fn decoded(kind: DocumentKind, bytes: &[u8]) -> Result<DocumentText, DecodeFault> {
    let job = DecodeJob::Text { kind, most_bytes: 10_000 };
    let result = crate::child::decode(job, bytes);
    let mut sent = Vec::new();
    crate::wire::write_result(&mut sent, &result).unwrap();
    // Whatever the bytes were, the parent understands the answer and believes it.
    match crate::wire::read_result(&sent).expect("an answer that is believed") {
        Ok(DecodedAttachment::Text(text)) => Ok(text),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => Err(fault),
    }
}

#[test]
fn a_document_that_is_cut_off_is_a_fault_or_part_of_its_text() {
    for (kind, bytes) in samples() {
        assert!(decoded(kind, &bytes).is_ok());
        for end in (0..bytes.len()).step_by(if bytes.len() > 1024 { 256 } else { 16 }) {
            match decoded(kind, &bytes[..end]) {
                Ok(text) => assert_eq!(text.kind, kind),
                Err(fault) => {
                    assert!(matches!(fault, DecodeFault::Broken | DecodeFault::Crashed), "{kind:?} {fault:?}")
                }
            }
        }
    }
}

#[test]
fn flipped_bytes_never_get_out() {
    // The same numbers every time.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 1).unwrap_or_default()
    };
    for (kind, bytes) in samples() {
        for _ in 0..150 {
            let mut broken = bytes.clone();
            for _ in 0..1 + random() % 4 {
                let at = random() % broken.len();
                broken[at] = (random() & 0xff) as u8;
            }
            drop(decoded(kind, &broken));
        }
    }
}

#[test]
fn one_kind_with_the_name_of_another_is_broken() {
    for (kind, _) in samples() {
        for (other, bytes) in samples() {
            let is_text = matches!(kind, DocumentKind::Html | DocumentKind::Plain);
            if other != kind && !is_text {
                assert!(matches!(decoded(kind, &bytes), Err(DecodeFault::Broken)), "{other:?} as {kind:?}");
            }
        }
    }
}

#[test]
fn deep_nesting_ends_at_a_limit() {
    let deep = format!("<w:document>{}", "<w:p>".repeat(100_000));
    let bytes = archive(&[("word/document.xml", &deep)]);
    assert_eq!(decoded(DocumentKind::Docx, &bytes).unwrap_err(), DecodeFault::Unpacked);
    let deep = "<div>".repeat(100_000) + "text";
    assert!(decoded(DocumentKind::Html, deep.as_bytes()).is_ok());
}

#[test]
fn entities_do_not_grow() {
    let bomb = "<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>]>\
                <w:document><w:p><w:r><w:t>x&b;&b;y</w:t></w:r></w:p></w:document>";
    let document = read(DocumentKind::Docx, &archive(&[("word/document.xml", bomb)]));
    assert_eq!(texts(&document), [(1, None, "xy")]);
}

#[test]
fn bombs_are_not_unpacked() {
    let zeros = " ".repeat(70 << 20);
    let large = archive(&[("word/document.xml", &zeros)]);
    assert!(large.len() < 200 << 10);
    assert_eq!(decoded(DocumentKind::Docx, &large).unwrap_err(), DecodeFault::Unpacked);
    let sheet = archive(&[("xl/workbook.xml", "<workbook/>"), ("xl/sharedStrings.xml", &zeros)]);
    assert_eq!(decoded(DocumentKind::Xlsx, &sheet).unwrap_err(), DecodeFault::Unpacked);
    // Smaller, and suspect by how well it is packed.
    let zeros = &zeros[..8 << 20];
    let relations = "<Relationships><Relationship Id='a' Type='x/slide' Target='slides/slide1.xml'/></Relationships>";
    let slides = archive(&[
        ("ppt/presentation.xml", "<p:presentation><p:sldIdLst><p:sldId r:id='a'/></p:sldIdLst></p:presentation>"),
        ("ppt/_rels/presentation.xml.rels", relations),
        ("ppt/slides/slide1.xml", zeros),
    ]);
    assert_eq!(decoded(DocumentKind::Pptx, &slides).unwrap_err(), DecodeFault::Unpacked);
    let book = archive(&[
        ("META-INF/container.xml", "<container><rootfile full-path='b.opf'/></container>"),
        (
            "b.opf",
            "<package><manifest><item id='a' href='a.xhtml' media-type='application/xhtml+xml'/></manifest><spine><itemref idref='a'/></spine></package>",
        ),
        ("a.xhtml", zeros),
    ]);
    assert_eq!(decoded(DocumentKind::Epub, &book).unwrap_err(), DecodeFault::Unpacked);
    let many: Vec<(String, &str)> = (0..20_001).map(|number| (format!("{number}"), "")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    assert_eq!(decoded(DocumentKind::Epub, &archive(&many)).unwrap_err(), DecodeFault::Unpacked);
}

#[test]
fn a_locked_document_says_so() {
    let mut document = Document::load_mem(&sample_pdf()).unwrap();
    document
        .trailer
        .set("ID", vec![Object::string_literal("0123456789abcdef"), Object::string_literal("0123456789abcdef")]);
    let version = lopdf::EncryptionVersion::V2 {
        document: &document,
        owner_password: "owner",
        user_password: "user",
        key_length: 128,
        permissions: lopdf::Permissions::all(),
    };
    let state = lopdf::EncryptionState::try_from(version).unwrap();
    document.encrypt(&state).unwrap();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    assert_eq!(decoded(DocumentKind::Pdf, &bytes).unwrap_err(), DecodeFault::Locked);
}

#[test]
fn what_a_child_says_is_not_believed() {
    let honest = read(DocumentKind::Pdf, &sample_pdf());
    let change = |change: fn(&mut DocumentText)| {
        let mut text = honest.clone();
        change(&mut text);
        text.believed(DocumentKind::Pdf)
    };
    assert!(change(|_| ()).is_some());
    assert!(change(|text| text.kind = DocumentKind::Docx).is_none());
    assert!(change(|text| text.total = 1).is_none());
    assert!(change(|text| text.parts[0].number = 0).is_none());
    assert!(change(|text| text.parts.swap(0, 1)).is_none());
    assert!(change(|text| text.parts[0].text = "x".repeat(3 << 20)).is_none());
    let cleaned = change(|text| {
        text.title = Some("a\u{1b}\nb".to_owned());
        text.parts[0].text = "a\u{7}b\u{0}".to_owned();
    });
    let cleaned = cleaned.unwrap();
    assert_eq!((cleaned.title.as_deref(), &*cleaned.parts[0].text), (Some("a b"), "ab"));
}

/// How the picture of a scanned page is packed.
#[derive(Clone, Copy, Debug)]
enum ScanForm {
    Jpeg,
    Grey,
    Palette,
    /// One bit a pixel, black where it is 0.
    Mask,
    Fax,
    /// What black is, turned around twice.
    FaxOfOnes,
}

const SCAN_FORMS: [ScanForm; 6] =
    [ScanForm::Jpeg, ScanForm::Grey, ScanForm::Palette, ScanForm::Mask, ScanForm::Fax, ScanForm::FaxOfOnes];

/// A page of paper, 401 × 320, with a black square in the upper left corner.
fn is_ink(x: u32, y: u32) -> bool {
    x < 100 && y < 100
}

fn scan(form: ScanForm) -> Stream {
    let (width, height) = (401_u32, 320_u32);
    let pixels = || (0..height).flat_map(|y| (0..width).map(move |x| is_ink(x, y)));
    let mut dictionary = dictionary! {
        "Type" => "XObject", "Subtype" => "Image", "Width" => width, "Height" => height,
        "ColorSpace" => "DeviceGray", "BitsPerComponent" => 8,
    };
    let bits = || {
        let row = |y: u32| {
            (0..width.div_ceil(8))
                .map(move |byte| (0..8).fold(0_u8, |bits, bit| bits << 1 | u8::from(!is_ink(byte * 8 + bit, y))))
        };
        (0..height).flat_map(row).collect::<Vec<u8>>()
    };
    let fax = || {
        let mut encoder = fax::encoder::Encoder::new(fax::VecWriter::new());
        for y in 0..height {
            let colour = |x| if is_ink(x, y) { fax::Color::Black } else { fax::Color::White };
            encoder.encode_line((0..width).map(colour), width).unwrap();
        }
        encoder.finish().unwrap().finish()
    };
    let bytes = match form {
        ScanForm::Jpeg => {
            let grey =
                image::GrayImage::from_fn(width, height, |x, y| image::Luma([if is_ink(x, y) { 0 } else { 255 }]));
            let mut bytes = Cursor::new(Vec::new());
            grey.write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
            dictionary.set("Filter", "DCTDecode");
            bytes.into_inner()
        }
        ScanForm::Grey => pixels().map(|ink| if ink { 0 } else { 255 }).collect(),
        ScanForm::Palette => {
            let colours = Object::string_literal(vec![250, 250, 240, 10, 0, 20]);
            dictionary.set("ColorSpace", vec!["Indexed".into(), "DeviceRGB".into(), 1.into(), colours]);
            pixels().map(u8::from).collect()
        }
        ScanForm::Mask => {
            dictionary.remove(b"ColorSpace");
            dictionary.remove(b"BitsPerComponent");
            dictionary.set("ImageMask", true);
            bits()
        }
        ScanForm::Fax | ScanForm::FaxOfOnes => {
            let is_ones = matches!(form, ScanForm::FaxOfOnes);
            let parameters = dictionary! { "K" => -1, "Columns" => width, "Rows" => height, "BlackIs1" => is_ones };
            dictionary.set("BitsPerComponent", 1);
            dictionary.set("Filter", vec!["CCITTFaxDecode".into()]);
            dictionary.set("DecodeParms", vec![parameters.into()]);
            if is_ones {
                dictionary.set("Decode", vec![1.into(), 0.into()]);
            }
            fax()
        }
    };
    Stream::new(dictionary, bytes)
}

/// A PDF with a page for each of these pictures, turned by these degrees. All pages share one list of pictures, as those of many
/// programs do, and every other one draws its picture in a form.
pub(crate) fn scanned_pdf(pages: &[(Stream, i64)]) -> Vec<u8> {
    let mut document = Document::load_mem(&pdf(&vec![(PdfFont::Western, &[] as &[&[u8]]); pages.len()])).unwrap();
    let resources = document.new_object_id();
    let mut named = lopdf::Dictionary::new();
    for (number, ((_, page), (scan, turn))) in document.get_pages().into_iter().zip(pages).enumerate() {
        let draws = |name: String| format!("q 400 0 0 300 0 0 cm /{name} Do Q").into_bytes();
        named.set(format!("Im{number}"), document.add_object(scan.clone()));
        let mut content = draws(format!("Im{number}"));
        if number % 2 == 1 {
            let form = dictionary! { "Type" => "XObject", "Subtype" => "Form", "Resources" => resources };
            named.set(format!("Fm{number}"), document.add_object(Stream::new(form, content)));
            content = draws(format!("Fm{number}"));
        }
        let content = Stream::new(dictionary! {}, content);
        let content = document.add_object(content);
        let page = document.get_dictionary_mut(page).unwrap();
        page.set("Contents", content);
        page.set("Resources", resources);
        page.set("Rotate", *turn);
    }
    document.objects.insert(resources, dictionary! { "XObject" => named }.into());
    document.compress();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

/// Two scanned pages.
pub(crate) fn sample_scan() -> Vec<u8> {
    scanned_pdf(&[(scan(ScanForm::Jpeg), 0), (scan(ScanForm::Fax), 0)])
}

pub(crate) fn sample_scans(pages: usize) -> Vec<u8> {
    scanned_pdf(&vec![(scan(ScanForm::Fax), 0); pages])
}

#[test]
fn a_page_is_the_picture_that_it_draws_and_not_the_largest_of_the_file() {
    let mut small = scan(ScanForm::Grey);
    small.dict.set("Height", 310);
    let bytes = scanned_pdf(&[(scan(ScanForm::Grey), 0), (small.clone(), 0), (small, 0)]);
    let heights = [1, 2, 3].map(|page| {
        let shown = page_picture(&bytes, page, 3_000, 1 << 20).unwrap();
        image::load_from_memory(&shown.bytes).unwrap().height()
    });
    assert_eq!(heights, [320, 310, 310]);
}

#[test]
fn a_fax_that_ends_early_has_the_lines_before() {
    let mut cut = scan(ScanForm::Fax);
    let half = cut.content[..cut.content.len() / 2].to_vec();
    cut.set_content(half);
    let shown = page_picture(&scanned_pdf(&[(cut, 0)]), 1, 3_000, 1 << 20).unwrap();
    let picture = image::load_from_memory(&shown.bytes).unwrap().to_luma8();
    assert!(picture.get_pixel(50, 20).0[0] < 60 && picture.get_pixel(350, 300).0[0] > 200);
}

#[test]
fn the_picture_of_a_scanned_page_is_found_however_it_is_packed() {
    for form in SCAN_FORMS {
        let bytes = scanned_pdf(&[(scan(form), 0), (scan(form), 90), (scan(form), -180), (scan(form), 270)]);
        for (page, corner) in [(1, (50, 50)), (2, (320 - 50, 50)), (3, (401 - 50, 320 - 50)), (4, (50, 401 - 50))] {
            let shown = page_picture(&bytes, page, 3_000, 1 << 20).unwrap();
            let picture = image::load_from_memory(&shown.bytes).unwrap().to_luma8();
            let is_turned = page % 2 == 0;
            assert_eq!(picture.dimensions(), if is_turned { (320, 401) } else { (401, 320) }, "{form:?}");
            let (width, height) = picture.dimensions();
            for at in
                [(50, 50), (width - 50, 50), (50, height - 50), (width - 50, height - 50), (width / 2, height / 2)]
            {
                let is_dark = picture.get_pixel(at.0, at.1).0[0] < 60;
                let is_light = picture.get_pixel(at.0, at.1).0[0] > 200;
                assert!(if at == corner { is_dark } else { is_light }, "{form:?} {page} {at:?}");
            }
        }
        assert_eq!(page_picture(&bytes, 5, 3_000, 1 << 20).unwrap_err(), DecodeFault::Broken);
    }
    // A page of text, and one with a logo.
    assert_eq!(page_picture(&sample_pdf(), 1, 3_000, 1 << 20).unwrap_err(), DecodeFault::Blank);
    let mut logo = scan(ScanForm::Grey);
    logo.dict.set("Width", 90);
    logo.dict.set("Height", 90);
    assert_eq!(page_picture(&scanned_pdf(&[(logo, 0)]), 1, 3_000, 1 << 20).unwrap_err(), DecodeFault::Blank);
    let mut huge = scan(ScanForm::Grey);
    huge.dict.set("Width", 30_000);
    huge.dict.set("Height", 30_000);
    assert_eq!(page_picture(&scanned_pdf(&[(huge, 0)]), 1, 3_000, 1 << 20).unwrap_err(), DecodeFault::TooManyPixels);
}

#[test]
fn broken_scans_are_faults_or_pictures() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 1).unwrap_or_default()
    };
    for form in SCAN_FORMS {
        let bytes = scanned_pdf(&[(scan(form), 90)]);
        for round in 0..20 {
            let mut broken = bytes.clone();
            if round % 3 == 0 {
                broken.truncate(random() % bytes.len());
            } else {
                for _ in 0..1 + random() % 4 {
                    let at = random() % broken.len();
                    broken[at] = (random() & 0xff) as u8;
                }
            }
            let job = DecodeJob::Page { page: 1, longest_side: 500, most_bytes: 1 << 20 };
            match crate::child::decode(job, &broken) {
                Ok(DecodedAttachment::Picture(picture)) => assert!(picture.facts.shown_width <= 500),
                Ok(other) => panic!("not a picture: {other:?}"),
                Err(_) => {}
            }
        }
    }
}
