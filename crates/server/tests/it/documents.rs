//! Documents in the search, read by the real process beside the server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, patience};

const SEARCH: &str = "obsidian_search_notes";

/// A PDF with these pages of one line each.
pub(crate) fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), pages.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
    ];
    for (number, text) in pages.iter().enumerate() {
        let content = format!("BT /F 12 Tf 20 50 Td ({text}) Tj ET");
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 100]/Contents {} 0 R/Resources<</Font<</F 3 0 R>>>>>>",
            5 + 2 * number
        ));
        objects.push(format!("<</Length {}>>stream\n{content}\nendstream", content.len()));
    }
    let (mut file, mut table) = ("%PDF-1.4\n".to_owned(), String::new());
    for (number, object) in (1..).zip(&objects) {
        table += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{number} 0 obj{object} endobj\n");
    }
    let (start, count) = (file.len(), objects.len() + 1);
    file += &format!(
        "xref\n0 {count}\n0000000000 65535 f \n{table}trailer<</Size {count}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n"
    );
    file.into_bytes()
}

fn serve(vault: &Vault) -> Server {
    vault.spawn_with(&["--tools", "all"], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

/// Asks until all documents are read.
pub(crate) fn settled(server: &mut Server, arguments: &Value) -> Value {
    let started = Instant::now();
    loop {
        let answer = server.done(SEARCH, arguments.clone());
        if !answer["notice"].as_str().unwrap_or_default().contains("not read yet") {
            return answer;
        }
        assert!(started.elapsed() < patience(), "{answer}");
        // Reading pauses while calls come in.
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn places(answer: &Value) -> Vec<String> {
    let hits = answer["result"]["hits"].as_array().unwrap().iter();
    hits.map(|hit| match &hit["page"] {
        Value::Null => hit["filename"].as_str().unwrap().to_owned(),
        page => format!("{}#{page}", hit["filename"].as_str().unwrap()),
    })
    .collect()
}

#[test]
fn a_page_of_a_document_is_found_by_words_and_by_meaning_with_its_place() {
    let handbook =
        pdf(&["Contents", "Slates are split by hand.", "Droppings in the attic. Traps worked, poison did not."]);
    let vault = Vault::new(&[
        ("Roof.md", b"# Roof\nSlates for the roof.\n"),
        ("Files/Handbook.pdf", &handbook),
        ("Files/Prices.csv", b"copper;40\n"),
        ("Files/Page.html", b"<title>Copper</title><p>Gutters of copper last longer.</p>"),
        ("Files/Broken.pdf", b"%PDF-1.4 no"),
    ]);
    let mut server = serve(&vault);
    let found = settled(&mut server, &json!({ "query": "slates", "mode": "omnisearch" }));
    assert_eq!(places(&found), ["Roof.md", "Files/Handbook.pdf#2"], "{found}");
    assert_eq!(found["result"]["hits"][1]["excerpt"], "Slates are split by hand.");
    let result = server.call(SEARCH, json!({ "query": "split slates" }));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Files/Handbook.pdf#page=2"), "{text}");
    let found = settled(&mut server, &json!({ "query": "copper", "mode": "omnisearch" }));
    let mut both = places(&found);
    both.sort();
    assert_eq!(both, ["Files/Page.html", "Files/Prices.csv"]);
    let found = server.done(SEARCH, json!({ "query": "slates page:3" }));
    assert_eq!(places(&found), [] as [&str; 0]);
    // By meaning, with the hash of the file.
    let started = Instant::now();
    let passage = loop {
        let found = server.done("semantic_search", json!({ "query": "poison against rats in the attic" }));
        if found["notice"].is_null() {
            break found["passages"][0].clone();
        }
        assert!(started.elapsed() < patience(), "{found}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!((&passage["path"], &passage["page"]), (&json!("Files/Handbook.pdf"), &json!(3)), "{passage}");
    let read = server.done("attachment_read", json!({ "path": "Files/Handbook.pdf", "pages": "3" }));
    let hash = passage["contentHash"].as_str().unwrap();
    assert!(read["contentHash"].as_str().unwrap().contains(hash), "{read} {hash}");
    let result = server.call("answer_context", json!({ "question": "are there rodents in the attic?" }));
    assert!(result["content"][0]["text"].as_str().unwrap().contains("Files/Handbook.pdf#page=3"), "{result}");
    // What ChatGPT's connectors see.
    let found = server.done("search", json!({ "query": "split slates" }));
    let first = &found["results"][0];
    assert_eq!((&first["id"], &first["title"]), (&json!("Files/Handbook.pdf"), &json!("Handbook, page 2")), "{found}");
    let fetched = server.done("fetch", json!({ "id": first["id"] }));
    assert!(fetched["text"].as_str().unwrap().contains("[page 2]\nSlates are split by hand."), "{fetched}");
}

#[test]
fn the_command_line_reads_documents_before_it_answers() {
    let vault = Vault::new(&[("Files/Slate.pdf", &pdf(&["Contents", "Slate lasts a century."]))]);
    let output = vault.run(&["search", "century"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "Files/Slate.pdf#page=2\n  Slate lasts a century.\n");
    let output = vault.run(&["search", "--json", "century"]);
    let hits: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(hits["hits"][0]["page"], 2, "{hits}");
}

#[test]
fn the_owner_can_leave_documents_out() {
    let vault = Vault::new(&[("Files/Slate.pdf", &pdf(&["Slate lasts a century."]))]);
    let environment = [("LAPIDARY_DOCUMENT_TEXT_BYTES", "0"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.spawn_with(&[], &environment).open(Era::Modern);
    let found = server.done(SEARCH, json!({ "query": "century" }));
    assert_eq!(places(&found), [] as [&str; 0]);
    assert_eq!(found["notice"], "No note matches. Try other words, or fewer conditions.");
    assert_eq!(
        places(&server.done(SEARCH, json!({ "query": "ext:pdf" }))),
        ["Files/Slate.pdf"],
        "by its path, as before"
    );
    let read = server.done("attachment_read", json!({ "path": "Slate.pdf" }));
    assert_eq!(read["document"]["parts"][0]["text"], "Slate lasts a century.");
}

#[test]
fn a_server_that_is_killed_while_it_reads_loses_nothing_but_time() {
    let documents: Vec<(String, Vec<u8>)> = (0..40)
        .map(|number| (format!("d/{number}.pdf"), pdf(&["Contents", &format!("Chapter about stone{number}.")])))
        .collect();
    let files: Vec<(&str, &[u8])> = documents.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&files);
    let before = vault.everything();
    for _ in 0..3 {
        let mut server = serve(&vault);
        let found = server.done(SEARCH, json!({ "query": "chapter" }));
        // In the middle of it, most likely; dropping the server kills it.
        let unread = found["notice"].as_str().unwrap_or_default().to_owned();
        drop(server);
        if unread.is_empty() {
            break;
        }
    }
    let mut server = serve(&vault);
    let found = settled(&mut server, &json!({ "query": "chapter", "mode": "omnisearch" }));
    assert_eq!(found["result"]["totalCount"], 40, "{found}");
    for number in [0, 17, 39] {
        let found = server.done(SEARCH, json!({ "query": format!("stone{number}"), "mode": "omnisearch" }));
        assert_eq!(places(&found)[0], format!("d/{number}.pdf#2"));
    }
    assert_eq!(vault.everything(), before);
}

#[test]
fn people_read_and_keep_documents_on_the_command_line() {
    let slate = pdf(&["Contents", "Slate lasts a century."]);
    let vault = Vault::new(&[("Files/Slate.pdf", &slate), ("Files/Broken.pdf", b"%PDF-1.4 no")]);
    let said = |output: &std::process::Output| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&output.stdout), text(&output.stderr))
    };
    assert_eq!(said(&vault.run(&["read", "Slate.pdf"])).0, "[page 1]\nContents\n[page 2]\nSlate lasts a century.\n");
    let json: Value = serde_json::from_slice(&vault.run(&["read", "--json", "Slate.pdf"]).stdout).unwrap();
    assert_eq!(json["document"]["parts"][1]["text"], "Slate lasts a century.");
    assert!(!vault.run(&["read", "Broken.pdf"]).status.success());
    assert!(said(&vault.run(&["read", "--outline", "Slate.pdf"])).1.contains("a document has pages"));
    // In the vault, its note links to it.
    let kept = vault.run(&["ingest", vault.path().join("Files/Slate.pdf").to_str().unwrap()]);
    assert!(kept.status.success(), "{:?}", said(&kept));
    let (created, _) = said(&kept);
    let note = created.strip_prefix("Created ").unwrap().lines().next().unwrap().to_owned();
    assert!(String::from_utf8(vault.read(&note)).unwrap().contains("[[Slate.pdf"), "{note}");
    // Under another name it is known by its text.
    std::fs::rename(vault.path().join("Files/Slate.pdf"), vault.path().join("Files/Schist.pdf")).unwrap();
    let (known, _) = said(&vault.run(&["ingest", vault.path().join("Files/Schist.pdf").to_str().unwrap()]));
    assert_eq!(known, format!("Known already: {note}\n"));
    // From elsewhere, only the text is kept.
    let outside = vault.path().with_file_name("Report.pdf");
    std::fs::write(&outside, pdf(&["Marble is heavy."])).unwrap();
    let kept = vault.run(&["ingest", outside.to_str().unwrap()]);
    assert!(kept.status.success(), "{:?}", said(&kept));
    let note = String::from_utf8(vault.read("Sources/Report.md")).unwrap();
    assert!(note.contains("## Page 1\n\nMarble is heavy."), "{note}");
    let broken = vault.path().with_file_name("Broken.pdf");
    std::fs::write(&broken, b"%PDF-1.4 no").unwrap();
    let (_, why) = said(&vault.run(&["ingest", broken.to_str().unwrap()]));
    assert!(why.contains("damaged"), "{why}");
    // What is kept of it.
    vault.run(&["search", "slate"]);
    let (report, _) = said(&vault.run(&["doctor"]));
    assert!(report.contains("1 document read, 1 that cannot be") && report.contains("model "), "{report}");
    let status: Value = serde_json::from_slice(&vault.run(&["status", "--json"]).stdout).unwrap();
    assert_eq!(status["vaults"][0]["documents"], json!({ "read": 1, "failed": 1 }));
}

/// A grey picture.
fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::DynamicImage::from(image::GrayImage::new(width, height))
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

#[cfg(unix)]
#[test]
fn the_text_on_a_picture_is_read_by_the_program_that_the_owner_names() {
    let vault = Vault::new(&[("Roof.md", b"Slates.\n"), ("Files/Invoice.png", &picture(60, 30))]);
    let mut server = serve(&vault);
    let without = server.call("attachment_read", json!({ "path": "Invoice.png", "text": true }));
    assert!(without.to_string().contains("`ocr`"), "{without}");
    assert_eq!(places(&server.done(SEARCH, json!({ "query": "crates" }))), [] as [&str; 0]);
    drop(server);
    let config = vault.path().with_file_name("ocr.toml");
    let script = "head -c 4 | tail -c 3; echo ' Invoice for twelve crates of slate'";
    std::fs::write(&config, format!("ocr = [\"sh\", \"-c\", {script:?}]\n")).unwrap();
    let environment = [("LAPIDARY_CONFIG", config.to_str().unwrap()), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.spawn_with(&["--tools", "all"], &environment).open(Era::Modern);
    let read = server.done("attachment_read", json!({ "path": "Invoice.png", "text": true }));
    assert_eq!(read["text"], "PNG Invoice for twelve crates of slate");
    let found = settled(&mut server, &json!({ "query": "crates", "mode": "omnisearch" }));
    assert_eq!(places(&found), ["Files/Invoice.png"], "{found}");
    assert_eq!(found["result"]["hits"][0]["excerpt"], "PNG Invoice for twelve crates of slate");
    // The picture itself is shown as before.
    assert_eq!(server.done("attachment_read", json!({ "path": "Invoice.png" }))["width"], 60);
}

/// A PDF whose pages are white pictures without a word, as a scanner makes them.
fn scanned(pages: usize) -> Vec<u8> {
    let (width, height) = (400, 300);
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", 4 + page)).collect();
    let mut file = format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[{}]/Count {pages}>>endobj\n\
         3 0 obj<</Type/XObject/Subtype/Image/Width {width}/Height {height}/ColorSpace/DeviceGray/BitsPerComponent 8/Length {}>>stream\n",
        kids.join(" "),
        width * height
    )
    .into_bytes();
    file.resize(file.len() + width * height, u8::MAX);
    file.extend_from_slice(b"\nendstream endobj\n");
    let drawn = "q 400 0 0 300 0 0 cm /Im0 Do Q";
    let contents = 4 + pages;
    let length = drawn.len();
    file.extend_from_slice(
        format!("{contents} 0 obj<</Length {length}>>stream\n{drawn}\nendstream endobj\n").as_bytes(),
    );
    for page in 0..pages {
        let shown = format!("/Resources<</XObject<</Im0 3 0 R>>>>/Contents {contents} 0 R");
        file.extend_from_slice(
            format!("{} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]{shown}>>endobj\n", 4 + page).as_bytes(),
        );
    }
    // Without a table of its objects, which is made anew.
    file.extend_from_slice(b"trailer<</Root 1 0 R>>\n%%EOF\n");
    file
}

#[cfg(unix)]
#[test]
fn the_pages_of_a_scan_are_read_by_the_program_that_the_owner_names() {
    let vault = Vault::new(&[("Roof.md", b"Slates.\n"), ("Files/Lease.pdf", &scanned(2))]);
    let mut server = serve(&vault);
    let read = server.done("attachment_read", json!({ "path": "Lease.pdf" }));
    assert_eq!((&read["document"]["total"], &read["document"]["hasText"]), (&json!(2), &json!(false)), "{read}");
    assert!(read["notice"].as_str().unwrap().contains("its pages are pictures"), "{read}");
    assert_eq!(places(&settled(&mut server, &json!({ "query": "tenant", "mode": "omnisearch" }))), [] as [&str; 0]);
    drop(server);
    let (config, seen) = (vault.path().with_file_name("ocr.toml"), vault.path().with_file_name("seen"));
    let script = format!("cat > {0}; echo; echo 'The tenant pays on page' $(wc -c < {0} | tr -d 0-9)", seen.display());
    std::fs::write(&config, format!("ocr = [\"sh\", \"-c\", {script:?}]\n")).unwrap();
    let environment = [("LAPIDARY_CONFIG", config.to_str().unwrap()), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.spawn_with(&["--tools", "all"], &environment).open(Era::Modern);
    let read = server.done("attachment_read", json!({ "path": "Lease.pdf", "pages": "2" }));
    assert_eq!(read["document"]["parts"][0]["text"], "The tenant pays on page", "{read}");
    assert_eq!(read["document"]["parts"][0]["link"], "[[Lease.pdf#page=2]]");
    let found = settled(&mut server, &json!({ "query": "tenant", "mode": "omnisearch" }));
    assert_eq!(places(&found), ["Files/Lease.pdf#1"], "{found}");
    let shown = image::load_from_memory(&std::fs::read(&seen).unwrap()).unwrap();
    assert_eq!((shown.width(), shown.height()), (400, 300));
}

/// An archive with one part, which has this many blanks.
#[cfg(target_os = "linux")]
fn zeros(part: &str, bytes: usize) -> Vec<u8> {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file(part, zip::write::SimpleFileOptions::default()).unwrap();
    for _ in 0..bytes >> 20 {
        writer.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A PDF whose page has a content of 320 megabytes, more than its process can take in.
#[cfg(target_os = "linux")]
fn stream_bomb() -> Vec<u8> {
    // As DEFLATE has it: a block with the usual codes, a blank, and again and again the last 258 bytes.
    let (head, again) = ("110".to_owned() + "01010000", "1100010100000");
    let bits = head + &again.repeat(16);
    let bits: Vec<bool> = bits.bytes().map(|bit| bit == b'1').collect();
    let packed = |bits: &[bool]| bits.iter().rev().fold(0_u8, |byte, bit| byte << 1 | u8::from(*bit));
    let start: Vec<u8> = bits.chunks_exact(8).map(packed).collect();
    // After 104 bits, which is 13 bytes, it is the same again.
    let mut content = vec![0x78, 0x9c];
    content.extend_from_slice(&start[..2]);
    (0..(320 << 20) / (258 * 8)).for_each(|_| content.extend_from_slice(&start[2..15]));
    let mut file = format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
         3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n\
         4 0 obj<</Filter/FlateDecode/Length {}>>stream\n",
        content.len()
    )
    .into_bytes();
    file.extend_from_slice(&content);
    file.extend_from_slice(b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
    file
}

#[cfg(target_os = "linux")]
#[test]
fn broken_documents_of_every_kind_cost_the_server_nothing() {
    let good = pdf(&["Slate lasts a century.", &"Quarry ".repeat(400)]);
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for end in (0..good.len()).step_by(1024) {
        files.push((format!("cut/{end}.pdf"), good[..end].to_vec()));
    }
    let mut flipped = good.clone();
    for at in (7..flipped.len()).step_by(97) {
        flipped[at] ^= 0x5a;
    }
    // A kind with the bytes of another, of none, and with nothing.
    for ending in ["pdf", "docx", "pptx", "xlsx", "epub", "html", "csv"] {
        files.push((format!("flipped/a.{ending}"), flipped.clone()));
        files.push((format!("zip/a.{ending}"), b"PK\x03\x04 no archive".to_vec()));
        files.push((format!("empty/a.{ending}"), Vec::new()));
    }
    // Of each kind of archive: cut off, and one that unpacks to far more than it is.
    for (ending, part) in [
        ("docx", "word/document.xml"),
        ("pptx", "ppt/presentation.xml"),
        ("xlsx", "xl/sharedStrings.xml"),
        ("epub", "META-INF/container.xml"),
    ] {
        let bomb = zeros(part, 40 << 20);
        assert!(bomb.len() < 200 << 10, "{}", bomb.len());
        for end in (0..bomb.len()).step_by(bomb.len() / 3) {
            files.push((format!("cut/{end}.{ending}"), bomb[..end].to_vec()));
        }
        files.push((format!("bomb/a.{ending}"), bomb));
    }
    // A page whose content unpacks to more than its process may have.
    files.push(("bomb/stream.pdf".to_owned(), stream_bomb()));
    files.push(("bomb/deep.html".to_owned(), "<div>".repeat(200_000).into_bytes()));
    files.push(("bomb/wide.csv".to_owned(), ",".repeat(3 << 20).into_bytes()));
    files.push(("good.pdf".to_owned(), good));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&files);
    let mut server = serve(&vault);
    let found = settled(&mut server, &json!({ "query": "century", "mode": "omnisearch" }));
    assert!(places(&found).contains(&"good.pdf#1".to_owned()), "{found}");
    // The same files again cost nothing more, and reading them cost about what they are.
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let peak: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak < 150 << 10, "{peak} KiB");
}
