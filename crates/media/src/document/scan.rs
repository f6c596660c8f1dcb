//! Pages of a PDF that are one picture, as scanners make them: the picture of a page.

use std::collections::HashSet;

use image::{DynamicImage, GrayImage, RgbImage};
use lapidary_operation::ScaledPicture;
use lapidary_vault::DecodeFault;
use lopdf::{Dictionary, Document, Object, ObjectId, Stream, content::Content};

use super::pdf;
use crate::{
    limits::{LONGEST_SIDE, MOST_DECODED},
    picture,
};

/// A smaller picture is a logo or a signature.
const SHORTEST_SCAN: u32 = 300;
/// Forms in forms are followed this far, and at most this many of them: each is read once.
const DEEPEST_FORM: usize = 3;
const MOST_FORMS: usize = 100;
/// Where a page may inherit from.
const DEEPEST_TREE: usize = 32;
/// The colours of a palette.
const MOST_COLOURS: usize = 256;

/// The picture that a page is, upright and within limits. `Blank` if it draws none.
pub(crate) fn page_picture(
    bytes: &[u8],
    page: u32,
    longest_side: u32,
    most_bytes: usize,
) -> Result<ScaledPicture, DecodeFault> {
    let document = pdf::open(bytes)?;
    let page = *document.get_pages().get(&page).ok_or(DecodeFault::Broken)?;
    let scan = largest_picture(&document, page).ok_or(DecodeFault::Blank)?;
    let turned = match inherited(&document, page, b"Rotate").and_then(|turn| turn.as_i64().ok()).unwrap_or(0) {
        turn if turn.rem_euclid(360) == 90 => decoded(&document, scan)?.rotate90(),
        turn if turn.rem_euclid(360) == 180 => decoded(&document, scan)?.rotate180(),
        turn if turn.rem_euclid(360) == 270 => decoded(&document, scan)?.rotate270(),
        _ => decoded(&document, scan)?,
    };
    picture::of_page(turned, longest_side, most_bytes)
}

/// Of the pictures that a page draws, the one with the most pixels.
fn largest_picture(document: &Document, page: ObjectId) -> Option<&Stream> {
    let resources = resolved(document, inherited(document, page, b"Resources")?).as_dict().ok()?;
    let drawn = drawn_names(&document.get_page_content(page).ok()?);
    let mut search = PictureSearch { document, seen: HashSet::new(), largest: None };
    search.look(resources, &drawn, 0);
    search.largest.map(|(_, stream)| stream)
}

/// What a page or form draws by name. Its resources do not tell: many programs share one list among all pages.
fn drawn_names(content: &[u8]) -> Vec<Vec<u8>> {
    // What cannot be read draws nothing.
    let operations = Content::decode(content).map_or_else(|_| Vec::new(), |content| content.operations);
    let drawn = operations.iter().filter(|operation| operation.operator == "Do");
    let mut names: Vec<Vec<u8>> =
        drawn.filter_map(|operation| Some(operation.operands.first()?.as_name().ok()?.to_vec())).collect();
    // A picture that is drawn twice is looked at once.
    names.sort_unstable();
    names.dedup();
    names
}

/// Looks for the largest picture of a page, also in the forms that it draws.
struct PictureSearch<'d> {
    document: &'d Document,
    /// The forms that were looked at. Forms that draw each other would be read again by every way that leads to them.
    seen: HashSet<*const Stream>,
    largest: Option<(u64, &'d Stream)>,
}

impl<'d> PictureSearch<'d> {
    fn look(&mut self, resources: &'d Dictionary, drawn: &[Vec<u8>], depth: usize) {
        let document = self.document;
        let Some(named) = entry(document, resources, b"XObject").and_then(|named| named.as_dict().ok()) else {
            return;
        };
        for entry in drawn.iter().filter_map(|name| named.get(name).ok()) {
            let Ok(stream) = resolved(document, entry).as_stream() else { continue };
            match stream.dict.get(b"Subtype").and_then(Object::as_name) {
                Ok(b"Image") => {
                    let Some((width, height)) = dimensions(document, &stream.dict) else { continue };
                    let pixels = u64::from(width) * u64::from(height);
                    let is_page = width.max(height) >= SHORTEST_SCAN;
                    if is_page && self.largest.as_ref().is_none_or(|(most, _)| pixels > *most) {
                        self.largest = Some((pixels, stream));
                    }
                }
                // Some programs draw the picture of a page by way of a form.
                Ok(b"Form") if depth < DEEPEST_FORM && self.seen.len() < MOST_FORMS => {
                    if !self.seen.insert(std::ptr::from_ref(stream)) {
                        continue;
                    }
                    let inner = stream.dict.get(b"Resources").ok().map(|inner| resolved(document, inner));
                    let content = stream.get_plain_content().ok();
                    if let (Some(inner), Some(content)) = (inner.and_then(|inner| inner.as_dict().ok()), content) {
                        self.look(inner, &drawn_names(&content), depth + 1);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The object that a reference leads to.
fn resolved<'d>(document: &'d Document, object: &'d Object) -> &'d Object {
    document.dereference(object).map_or(object, |(_, object)| object)
}

fn entry<'d>(document: &'d Document, of: &'d Dictionary, key: &[u8]) -> Option<&'d Object> {
    of.get(key).ok().map(|object| resolved(document, object))
}

/// What a page says itself, or what it inherits.
fn inherited<'d>(document: &'d Document, page: ObjectId, key: &[u8]) -> Option<&'d Object> {
    let mut node = document.get_dictionary(page).ok()?;
    for _ in 0..DEEPEST_TREE {
        if let Some(found) = entry(document, node, key) {
            return Some(found);
        }
        node = entry(document, node, b"Parent")?.as_dict().ok()?;
    }
    None
}

fn number(document: &Document, of: &Dictionary, key: &[u8]) -> Option<u32> {
    u32::try_from(entry(document, of, key)?.as_i64().ok()?).ok()
}

fn dimensions(document: &Document, picture: &Dictionary) -> Option<(u32, u32)> {
    Some((number(document, picture, b"Width")?, number(document, picture, b"Height")?))
}

fn decoded(document: &Document, scan: &Stream) -> Result<DynamicImage, DecodeFault> {
    let (width, height) = dimensions(document, &scan.dict).ok_or(DecodeFault::Broken)?;
    // By what the file says, before memory is taken for it.
    if width > LONGEST_SIDE || height > LONGEST_SIDE || u64::from(width) * u64::from(height) * 3 > MOST_DECODED {
        return Err(DecodeFault::TooManyPixels);
    }
    let filters: Vec<&[u8]> = match entry(document, &scan.dict, b"Filter") {
        None => Vec::new(),
        Some(Object::Array(filters)) => {
            filters.iter().filter_map(|filter| resolved(document, filter).as_name().ok()).collect()
        }
        Some(filter) => vec![filter.as_name().map_err(|_| DecodeFault::Broken)?],
    };
    match filters.split_last().map(|(last, before)| (*last, before)) {
        // A whole JPEG file, with its own size in it, which is checked again.
        Some((b"DCTDecode", before)) => picture::decoded(&unpacked(document, scan, before)?),
        Some((b"CCITTFaxDecode", before)) => fax(document, scan, &unpacked(document, scan, before)?, (width, height)),
        _ => samples(document, scan, &unpacked(document, scan, &filters)?, (width, height)),
    }
}

/// The bytes of a stream after these filters, which the reader of PDFs knows.
fn unpacked(document: &Document, scan: &Stream, filters: &[&[u8]]) -> Result<Vec<u8>, DecodeFault> {
    if filters.is_empty() {
        return Ok(scan.content.clone());
    }
    let mut dictionary = Dictionary::new();
    dictionary.set("Filter", filters.iter().map(|name| Object::Name(name.to_vec())).collect::<Vec<Object>>());
    if let Some(parameters) = parameters(document, scan, 0) {
        dictionary.set("DecodeParms", parameters.clone());
    }
    Stream::new(dictionary, scan.content.clone()).decompressed_content().map_err(|_| DecodeFault::Broken)
}

/// What a stream says about the filter with this number.
fn parameters<'d>(document: &'d Document, scan: &'d Stream, filter: usize) -> Option<&'d Dictionary> {
    match entry(document, &scan.dict, b"DecodeParms")? {
        Object::Array(all) => resolved(document, all.get(filter)?).as_dict().ok(),
        one => one.as_dict().ok(),
    }
}

/// What fax machines and many scanners write: black and white, by the changes of each line.
fn fax(
    document: &Document,
    scan: &Stream,
    bytes: &[u8],
    (width, height): (u32, u32),
) -> Result<DynamicImage, DecodeFault> {
    // Of the last filter.
    let before = match entry(document, &scan.dict, b"Filter") {
        Some(Object::Array(filters)) => filters.len().saturating_sub(1),
        _ => 0,
    };
    let parameters = parameters(document, scan, before);
    let said = |key: &[u8]| parameters.and_then(|parameters| entry(document, parameters, key));
    let of_kind = said(b"K").and_then(|kind| kind.as_i64().ok()).unwrap_or(0);
    let columns = said(b"Columns").and_then(|columns| columns.as_i64().ok()).unwrap_or(1_728);
    let columns = u32::try_from(columns).ok().filter(|columns| (1..=LONGEST_SIDE).contains(columns));
    // The other kinds are those of old fax machines.
    let (true, Some(columns)) = (of_kind < 0, columns) else { return Err(DecodeFault::Broken) };
    let is_true = |key: &[u8]| said(key).and_then(|given| given.as_bool().ok()).unwrap_or(false);
    let (is_inverted, black_is_one) = (is_inverted(document, &scan.dict), is_true(b"BlackIs1"));
    let paper = if is_inverted == black_is_one { u8::MAX } else { 0 };
    let mut pixels = GrayImage::from_pixel(width, height, image::Luma([u8::MAX]));
    let mut rows = pixels.rows_mut();
    // A line that cannot be read ends the picture; those before it are there.
    let mut lines = 0;
    fax::decoder::decode_g4(bytes.iter().copied(), columns, Some(height), |line| {
        lines += 1;
        if let Some(row) = rows.next() {
            for (pixel, colour) in row.zip(fax::decoder::pels(line, columns)) {
                let is_paper = colour == fax::Color::White;
                pixel.0[0] = if is_paper { paper } else { u8::MAX - paper };
            }
        }
    });
    if lines == 0 { Err(DecodeFault::Broken) } else { Ok(DynamicImage::ImageLuma8(pixels)) }
}

/// Whether black and white are exchanged.
fn is_inverted(document: &Document, picture: &Dictionary) -> bool {
    let range = entry(document, picture, b"Decode").and_then(|range| range.as_array().ok());
    range.and_then(|range| range.first()?.as_float().ok()).is_some_and(|first| first > 0.5)
}

/// What the samples of a picture stand for.
enum SampleColours {
    Grey,
    Rgb,
    Cmyk,
    Palette(Vec<[u8; 3]>),
}

impl SampleColours {
    fn of(document: &Document, picture: &Dictionary) -> Option<Self> {
        if entry(document, picture, b"ImageMask").and_then(|mask| mask.as_bool().ok()) == Some(true) {
            return Some(Self::Grey);
        }
        Self::named(document, entry(document, picture, b"ColorSpace")?, true)
    }

    fn named(document: &Document, space: &Object, may_be_palette: bool) -> Option<Self> {
        let parts = match space {
            Object::Name(name) => return Self::simple(name),
            space => space.as_array().ok()?,
        };
        let part = |at: usize| parts.get(at).map(|part| resolved(document, part));
        match part(0)?.as_name().ok()? {
            // The profile is not applied: how many samples it has is enough to read a text.
            b"ICCBased" => {
                let profile = part(1)?.as_stream().ok()?;
                match number(document, &profile.dict, b"N")? {
                    1 => Some(Self::Grey),
                    3 => Some(Self::Rgb),
                    4 => Some(Self::Cmyk),
                    _ => None,
                }
            }
            // A palette of palettes has no meaning, and could go on without end.
            b"Indexed" | b"I" if may_be_palette => {
                let base = Self::named(document, part(1)?, false)?;
                let table = match part(3)? {
                    Object::String(bytes, _) => bytes.clone(),
                    Object::Stream(stream) => stream.get_plain_content().ok()?,
                    _ => return None,
                };
                let colours = table.chunks_exact(base.samples()).take(MOST_COLOURS).map(|colour| base.rgb(colour));
                Some(Self::Palette(colours.collect()))
            }
            name => Self::simple(name),
        }
    }

    fn simple(name: &[u8]) -> Option<Self> {
        match name {
            b"DeviceGray" | b"CalGray" | b"G" => Some(Self::Grey),
            b"DeviceRGB" | b"CalRGB" | b"RGB" => Some(Self::Rgb),
            b"DeviceCMYK" | b"CMYK" => Some(Self::Cmyk),
            _ => None,
        }
    }

    fn samples(&self) -> usize {
        match self {
            Self::Grey | Self::Palette(_) => 1,
            Self::Rgb => 3,
            Self::Cmyk => 4,
        }
    }

    /// Samples from 0 to 255, or the number of a colour.
    fn rgb(&self, samples: &[u8]) -> [u8; 3] {
        match (self, samples) {
            (Self::Grey, [grey, ..]) => [*grey; 3],
            (Self::Rgb, [red, green, blue, ..]) => [*red, *green, *blue],
            (Self::Cmyk, [cyan, magenta, yellow, black, ..]) => [cyan, magenta, yellow].map(|ink| {
                // Without a profile: ink and black each take their share of the light.
                let light = u16::from(u8::MAX - ink) * u16::from(u8::MAX - black) / u16::from(u8::MAX);
                u8::try_from(light).unwrap_or(u8::MAX)
            }),
            (Self::Palette(colours), [number, ..]) => {
                colours.get(usize::from(*number)).copied().unwrap_or([u8::MAX; 3])
            }
            _ => [u8::MAX; 3],
        }
    }
}

/// A picture that is stored as samples alone. Each row begins with a whole byte.
fn samples(
    document: &Document,
    scan: &Stream,
    bytes: &[u8],
    (width, height): (u32, u32),
) -> Result<DynamicImage, DecodeFault> {
    let colours = SampleColours::of(document, &scan.dict).ok_or(DecodeFault::Broken)?;
    let is_mask = entry(document, &scan.dict, b"ImageMask").and_then(|mask| mask.as_bool().ok()) == Some(true);
    let bits = if is_mask { 1 } else { number(document, &scan.dict, b"BitsPerComponent").unwrap_or(8) };
    let bits @ (1 | 2 | 4 | 8 | 16) = bits as usize else { return Err(DecodeFault::Broken) };
    let (in_row, is_palette) = (width as usize * colours.samples(), matches!(colours, SampleColours::Palette(_)));
    let row_bytes = (in_row * bits).div_ceil(8);
    let is_inverted = is_inverted(document, &scan.dict) && !is_palette;
    let mut pixels = RgbImage::from_pixel(width, height, image::Rgb([u8::MAX; 3]));
    let mut row = vec![0; in_row];
    // What is missing at the end stays paper.
    for (line, packed) in pixels.rows_mut().zip(bytes.chunks_exact(row_bytes.max(1))) {
        for (at, sample) in row.iter_mut().enumerate() {
            let bit = at * bits;
            let value = match bits {
                8 => packed[at],
                16 => packed[2 * at],
                bits => (packed[bit / 8] >> (8 - bits - bit % 8)) & ((1 << bits) - 1),
            };
            // The largest value is the brightest.
            let whole = if is_palette || bits >= 8 { value } else { value * (u8::MAX / ((1 << bits) - 1)) };
            *sample = if is_inverted { u8::MAX - whole } else { whole };
        }
        for (pixel, samples) in line.zip(row.chunks_exact(colours.samples())) {
            pixel.0 = colours.rgb(samples);
        }
    }
    Ok(DynamicImage::ImageRgb8(pixels))
}
