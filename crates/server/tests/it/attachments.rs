//! Pictures and sounds over the wire: what a model gets, decoded by the real process beside the server.

use std::io::{Cursor, Write};

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgb, RgbImage};
use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::harness::{Server, Vault};

fn written(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn sample(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| Rgb([(x % 256) as u8, (y % 256) as u8, 90]))
}

fn read(server: &mut Server, path: &str) -> Value {
    let result = server.call("attachment_read", json!({ "path": path }));
    assert_ne!(result["isError"], true, "{}", result["structuredContent"]);
    result
}

#[test]
fn a_model_sees_a_picture_of_every_format() {
    let formats = [
        ("png", ImageFormat::Png),
        ("jpg", ImageFormat::Jpeg),
        ("gif", ImageFormat::Gif),
        ("webp", ImageFormat::WebP),
        ("bmp", ImageFormat::Bmp),
    ];
    let files: Vec<(String, Vec<u8>)> = formats
        .iter()
        .map(|(ending, format)| (format!("Files/large.{ending}"), written(sample(1800, 900), *format)))
        .collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&files);
    let mut server = vault.spawn();
    for (ending, format) in formats {
        let result = read(&mut server, &format!("large.{ending}"));
        let facts = &result["structuredContent"];
        assert_eq!((&facts["width"], &facts["height"]), (&json!(1800), &json!(900)), "{facts}");
        assert_eq!(facts["mediaType"], format.to_mime_type());
        let [text, block] = &result["content"].as_array().unwrap()[..] else { panic!("{facts}") };
        assert_eq!((&text["type"], &block["type"]), (&json!("text"), &json!("image")));
        assert_eq!(block["mimeType"], facts["shown"]["mediaType"]);
        let bytes = BASE64_STANDARD.decode(block["data"].as_str().unwrap()).unwrap();
        assert_eq!(facts["shown"]["bytes"], bytes.len());
        let seen = image::load_from_memory(&bytes).unwrap();
        assert_eq!((seen.width(), seen.height()), (1568, 784));
        // The middle of the picture is what it was.
        let [_, _, blue] = seen.to_rgb8().get_pixel(700, 300).0;
        assert!(blue.abs_diff(90) < 20, "{ending} {blue}");
        assert!(!text.to_string().contains("base64") && text.to_string().len() < 500);
    }
}

#[test]
fn a_broken_picture_costs_a_process_and_not_the_server() {
    let whole = written(sample(400, 300), ImageFormat::Png);
    let mut huge = written(GrayImage::new(10, 10), ImageFormat::Png);
    // The header promises 30,000 × 30,000 pixels.
    huge[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    let checksum = !huge[12..29].iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    });
    huge[29..33].copy_from_slice(&checksum.to_be_bytes());
    // A sound file of 48 kilobytes with 19,999 × 19,999 pixels of one bit, which become 400 megabytes.
    let many: &[u8] = include_bytes!("../../../../fixtures/pictures/many-pixels.png");
    let vault = Vault::new(&[
        ("cut.png", &whole[..whole.len() / 2]),
        ("huge.png", &huge),
        ("many.png", many),
        ("ok.png", &whole),
    ]);
    let mut server = vault.spawn();
    let fault = |server: &mut Server, path: &str| {
        let result = server.call("attachment_read", json!({ "path": path }));
        result["structuredContent"]["error"]["data"]["fault"].clone()
    };
    assert_eq!(fault(&mut server, "cut.png"), "broken");
    assert_eq!(fault(&mut server, "huge.png"), "pixels");
    assert_eq!(fault(&mut server, "many.png"), "pixels");
    read(&mut server, "ok.png");
}

/// What the server itself needs for a picture is the file and the answer.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_the_server_stays_flat() {
    let peak = |server: &Server| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    // A few kilobytes that become 36 megabytes.
    let bomb = written(GrayImage::from_pixel(6_000, 6_000, Luma([3])), ImageFormat::Png);
    assert!(bomb.len() < 1 << 20);
    let small = written(sample(40, 40), ImageFormat::Png);
    // And some that become 60 in a template.
    let document = template(&vec![b' '; 60 << 20], &[]);
    let vault = Vault::new(&[("bomb.png", &bomb), ("small.png", &small), ("bomb.docx", &document)]);
    let mut server = vault.spawn();
    read(&mut server, "small.png");
    let before = peak(&server);
    read(&mut server, "bomb.png");
    let refused = server.call("document_create", json!({ "path": "a.docx", "content": "a", "template": "bomb.docx" }));
    assert_eq!(refused["structuredContent"]["error"]["data"]["fault"], "unpacked");
    let grown = peak(&server) - before;
    assert!(grown < 32 << 10, "{grown} KiB");
}

/// A Word document with this part, and others.
fn template(document: &[u8], more: &[(&str, &[u8])]) -> Vec<u8> {
    let types = b"<Types><Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [&[("[Content_Types].xml", &types[..]), ("word/document.xml", document)], more].concat() {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The values and the template go to a process and come back as a document; a bomb stays there.
#[test]
fn a_template_is_filled_in_a_process_and_a_hostile_one_costs_only_that() {
    let root = "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>";
    let plain =
        format!("{root}<w:p><w:r><w:t>For {{{{client}}}} in {{{{date:YYYY}}}}</w:t></w:r></w:p></w:body></w:document>");
    let bomb = vec![b' '; 60 << 20];
    let entities = format!("<!DOCTYPE w [<!ENTITY a \"{}\">]>{plain}", "&a;".repeat(1_000));
    let picture = written(sample(300, 200), ImageFormat::WebP);
    let vault = Vault::new(&[
        ("Note.md", b"---\nclient: Ada\n---\n# A\n\n![[a.webp]] ![[cut.png]]\n"),
        ("a.webp", &picture),
        ("cut.png", b"\x89PNG"),
        ("plain.docx", &template(plain.as_bytes(), &[])),
        ("bomb.docx", &template(&bomb, &[])),
        ("entities.docx", &template(entities.as_bytes(), &[])),
        ("macros.docx", &template(plain.as_bytes(), &[("word/vbaProject.bin", b"x")])),
        ("cut.docx", &template(plain.as_bytes(), &[])[..200]),
    ]);
    let mut server = vault.spawn();
    let mut make = |call: Value| server.call("document_create", call)["structuredContent"].clone();
    let made = make(json!({ "path": "Out.docx", "note": "Note" }));
    assert_eq!(made["notice"], "Left out, because there is nothing to show for them: `![[cut.png]]`.", "{made}");
    assert_eq!(make(json!({ "path": "A.docx", "note": "Note", "template": "plain.docx" }))["filled"], 2);
    for (name, fault) in [("bomb", "unpacked"), ("entities", "broken"), ("macros", "macros"), ("cut", "broken")] {
        let refused = make(json!({ "path": "B.docx", "note": "Note", "template": format!("{name}.docx") }));
        assert_eq!(refused["error"]["data"]["fault"], fault, "{name}: {refused}");
    }
    let text = &read(&mut server, "A.docx")["structuredContent"]["document"]["parts"][0]["text"];
    assert!(text.as_str().unwrap().starts_with("For Ada in 2"), "{text}");
}

#[test]
fn a_sound_is_heard_and_what_is_neither_is_refused() {
    let vault = Vault::new(&[("a.wav", b"RIFFxxxxWAVE"), ("a.psd", b"8BPS"), ("a.svg", b"<svg/>")]);
    let mut server = vault.serve();
    let result = read(&mut server, "a.wav");
    assert_eq!(result["content"][1]["type"], "audio");
    assert_eq!(result["content"][1]["mimeType"], "audio/wav");
    assert_eq!(read(&mut server, "a.svg")["structuredContent"]["text"], "<svg/>");
    assert_eq!(server.refused("attachment_read", json!({ "path": "a.psd" })), "attachment_unsupported");
    assert_eq!(server.refused("attachment_read", json!({ "path": "none.png" })), "note_missing");
}

const DOCUMENTS: &[(&str, &[u8])] = &[
    ("Files/slate.pdf", include_bytes!("../../../../fixtures/documents/slate.pdf")),
    ("Files/slate.docx", include_bytes!("../../../../fixtures/documents/slate.docx")),
    ("Files/slate.pptx", include_bytes!("../../../../fixtures/documents/slate.pptx")),
    ("Files/slate.xlsx", include_bytes!("../../../../fixtures/documents/slate.xlsx")),
    ("Files/slate.epub", include_bytes!("../../../../fixtures/documents/slate.epub")),
    ("Files/slate.html", b"<h1>Roofs</h1><p>Slate &amp; stone."),
    ("Files/slate.csv", b"kind,years\nslate,100\n"),
];

#[test]
fn a_document_of_every_kind_is_text_by_parts() {
    let vault = Vault::new(DOCUMENTS);
    let mut server = vault.spawn();
    let mut parts = |name: &str| {
        let facts = read(&mut server, name)["structuredContent"].clone();
        let document = &facts["document"];
        let text = document["parts"].as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap().to_owned());
        (document["unit"].as_str().unwrap().to_owned(), document["total"].as_u64().unwrap(), text.collect::<Vec<_>>())
    };
    let (unit, total, texts) = parts("slate.pdf");
    assert_eq!((&*unit, total, texts.len()), ("page", 5, 4));
    assert_eq!(texts[0], "Slate is a fine-grained, foliated rock. Café “quoted”");
    let (unit, total, texts) = parts("slate.docx");
    assert_eq!((&*unit, total), ("page", 2));
    assert!(texts[0].starts_with("# Roofs\n\nSlate <lasts> a century."), "{texts:?}");
    assert_eq!(parts("slate.pptx").0, "slide");
    let (unit, total, texts) = parts("slate.xlsx");
    assert_eq!((&*unit, total, texts.len()), ("sheet", 3, 2), "a hidden sheet stays hidden");
    assert_eq!(parts("slate.epub").2, ["# Roofs\n\nSlate **lasts**.", "Stone."]);
    assert_eq!(parts("slate.html").2, ["# Roofs\n\nSlate & stone."]);
    assert_eq!(parts("slate.csv").2, ["kind,years\nslate,100"]);
}

#[test]
fn pages_are_chosen_linked_and_shown_as_text() {
    let vault = Vault::new(DOCUMENTS);
    let mut server = vault.spawn();
    let result = server.call("attachment_read", json!({ "path": "slate.pdf", "pages": "2-3" }));
    let document = &result["structuredContent"]["document"];
    assert_eq!(
        document["parts"],
        json!([
            { "number": 2, "link": "[[slate.pdf#page=2]]", "text": "Garçon" },
            { "number": 3, "link": "[[slate.pdf#page=3]]", "text": "fish é" },
        ])
    );
    assert!(document.get("next").is_none());
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("5 pages, `On slate` by `Ada`"), "{text}");
    assert!(text.contains("page 2 `[[slate.pdf#page=2]]`\n```\nGarçon\n```"), "{text}");
    assert_eq!(server.refused("attachment_read", json!({ "path": "slate.pdf", "pages": "6" })), "invalid_arguments");
    // A tool for notes says who reads it.
    let refused = server.call("obsidian_get_note", json!({ "target": { "type": "path", "path": "Files/slate.pdf" } }));
    assert!(refused.to_string().contains("attachment_read"), "{refused}");
}

#[test]
fn the_process_that_decodes_has_nothing_else_to_offer() {
    let vault = Vault::new(&[]);
    let ended = vault.command().arg("__decode-attachment").stdin(std::process::Stdio::null()).output().unwrap();
    assert!(!ended.status.success() && ended.stdout.is_empty() && ended.stderr.is_empty());
    let help = vault.run(&["--help"]);
    assert!(!String::from_utf8_lossy(&help.stdout).contains("__decode"));
}

#[test]
fn a_file_is_added_from_the_folder_for_imports() {
    let imports = tempfile::tempdir().unwrap();
    std::fs::write(imports.path().join("scan.png"), b"bytes").unwrap();
    let vault = Vault::new(&[("Note.md", b"")]);
    let folder = imports.path().to_str().unwrap();
    let mut server = vault.serve_with(&[], &[("LAPIDARY_IMPORT_FOLDER", folder)]);
    let done = server.done("attachment_add", json!({ "source": "scan.png", "note": "Note" }));
    assert_eq!((&done["path"], &done["link"]), (&json!("scan.png"), &json!("![[scan.png]]")));
    assert_eq!(vault.read("scan.png"), b"bytes");
    assert_eq!(server.refused("attachment_add", json!({ "source": "../scan.png" })), "import_unavailable");
    server.done("undo", json!({}));
    assert!(!vault.path().join("scan.png").exists());
}
