//! PDFs that end too early, or whose table of objects is wrong: with a new table, made of the objects that are there.

use std::collections::BTreeMap;

/// More objects than long books have.
const MOST_OBJECTS: usize = 500_000;
/// How far into an object is looked for what it is.
const LOOK_INTO: usize = 1024;

/// A place in the file, and a generation.
type ObjectPlace = (usize, u32);

/// The same file with a table at its end; `None` if there is nothing to be found. Objects that are packed into others are not.
pub(super) fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    // Places are counted from the header on.
    let header = bytes.windows(5).position(|five| five == b"%PDF-")?;
    let bytes = &bytes[header..];
    // Without its own table, the key of an encrypted file is not known.
    if last(bytes, b"/Encrypt").is_some() {
        return None;
    }
    let objects = objects(bytes)?;
    let (root, generation) = root(bytes, &objects)?;
    let mut file = bytes.to_vec();
    let start = file.len() + 1;
    // Every object gets a section with one entry, since numbers may have gaps.
    file.extend_from_slice(b"\nxref\n0 1\n0000000000 65535 f \n");
    for (number, (place, generation)) in &objects {
        file.extend_from_slice(format!("{number} 1\n{place:010} {generation:05} n \n").as_bytes());
    }
    let size = objects.last_key_value()?.0 + 1;
    let trailer = format!("trailer\n<</Size {size}/Root {root} {generation} R>>\nstartxref\n{start}\n%%EOF\n");
    file.extend_from_slice(trailer.as_bytes());
    Some(file)
}

/// Where each object begins. Of several with a number, the last is the newest.
fn objects(bytes: &[u8]) -> Option<BTreeMap<u32, ObjectPlace>> {
    let mut objects = BTreeMap::new();
    for (at, _) in
        bytes.windows(4).enumerate().filter(|(_, four)| four[0].is_ascii_whitespace() && &four[1..] == b"obj")
    {
        let Some((generation, before)) = number_before(bytes, at) else { continue };
        let Some((number, start)) = number_before(bytes, before) else { continue };
        // Right behind other signs, a number is part of a longer word.
        let is_whole = start == 0 || bytes[start - 1].is_ascii_whitespace();
        // No larger numbers fit into the table.
        if is_whole && number > 0 && number < 9_999_999 && generation < 65_535 {
            objects.insert(number, (start, generation));
        }
        if objects.len() > MOST_OBJECTS {
            return None;
        }
    }
    Some(objects)
}

/// The number that ends before a place, with the place where it begins.
fn number_before(bytes: &[u8], end: usize) -> Option<(u32, usize)> {
    let blanks = bytes[..end].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    let end = end - blanks;
    let digits = bytes[..end].iter().rev().take(10).take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&bytes[end - digits..end]).ok()?.parse().ok()?;
    Some((number, end - digits))
}

/// Which object is the catalogue: as a trailer says, or the one that says so itself.
fn root(bytes: &[u8], objects: &BTreeMap<u32, ObjectPlace>) -> Option<(u32, u32)> {
    let named = last(bytes, b"/Root").and_then(|at| {
        let rest = &bytes[at + b"/Root".len()..];
        let text = String::from_utf8_lossy(&rest[..rest.len().min(40)]).into_owned();
        text.split_whitespace().next()?.parse::<u32>().ok()
    });
    let named = named.and_then(|number| Some((number, objects.get(&number)?.1)));
    named.or_else(|| {
        let is_catalog = |place: usize| {
            let object = &bytes[place..bytes.len().min(place + LOOK_INTO)];
            let end = object.windows(6).position(|six| six == b"endobj").unwrap_or(object.len());
            last(&object[..end], b"/Catalog").is_some()
        };
        let found = objects.iter().rev().find(|(_, (place, _))| is_catalog(*place));
        found.map(|(number, (_, generation))| (*number, *generation))
    })
}

fn last(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).rposition(|window| window == wanted)
}
