//! Pictures: what they are, and a smaller one for a model.

use std::io::Cursor;

use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageError, ImageFormat, ImageReader, Limits,
    codecs::{jpeg::JpegEncoder, png::PngEncoder},
    imageops::FilterType,
    metadata::Orientation,
};
use lapidary_operation::{PictureFacts, ScaledPicture};
use lapidary_vault::DecodeFault;

use crate::limits::{LONGEST_SIDE, MOST_DECODED};

/// Of everything that is read or written here.
pub(crate) const MEDIA_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];

/// Good enough to read text in a screenshot.
const QUALITIES: [u8; 3] = [80, 65, 50];
/// A picture with few colours is sharper and often smaller as PNG; a larger one is a photograph.
const SMALL_PNG: usize = 256 << 10;
/// Smaller than this, nothing can be recognised.
const SHORTEST_SIDE: u32 = 64;

/// A picture of a known format, not decoded yet.
struct OpenedPicture<'b> {
    decoder: Box<dyn ImageDecoder + 'b>,
    format: ImageFormat,
}

impl<'b> OpenedPicture<'b> {
    fn of(bytes: &'b [u8]) -> Result<Self, DecodeFault> {
        let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|_| DecodeFault::Broken)?;
        // By the first bytes and not by the name, which a caller may have chosen.
        let format = reader.format().ok_or(DecodeFault::Broken)?;
        let mut limits = Limits::default();
        limits.max_alloc = Some(MOST_DECODED);
        limits.max_image_width = Some(LONGEST_SIDE);
        limits.max_image_height = Some(LONGEST_SIDE);
        // Decoders check them before they take memory.
        reader.limits(limits);
        let decoder = reader.into_decoder().map_err(|error| fault(&error))?;
        let (width, height) = decoder.dimensions();
        // The limits above bind the decoder alone; the picture that it fills is not counted.
        if width > LONGEST_SIDE || height > LONGEST_SIDE || decoder.total_bytes() > MOST_DECODED {
            return Err(DecodeFault::TooManyPixels);
        }
        Ok(Self { decoder: Box::new(decoder), format })
    }
}

/// The pixels of a picture as they are stored.
pub(crate) fn decoded(bytes: &[u8]) -> Result<DynamicImage, DecodeFault> {
    DynamicImage::from_decoder(OpenedPicture::of(bytes)?.decoder).map_err(|error| fault(&error))
}

/// A picture that was found on a page, encoded within the limits.
pub(crate) fn of_page(page: DynamicImage, longest_side: u32, most_bytes: usize) -> Result<ScaledPicture, DecodeFault> {
    let (width, height) = (page.width(), page.height());
    let shown = encoded(page, longest_side, most_bytes)?;
    let facts = PictureFacts {
        media_type: shown.media_type.to_owned(),
        width,
        height,
        shown_media_type: shown.media_type.to_owned(),
        shown_width: shown.width,
        shown_height: shown.height,
        is_animated: false,
        is_incomplete: false,
    };
    Ok(ScaledPicture { facts, bytes: shown.bytes })
}

/// A picture that fits into the limits.
pub(crate) fn scaled(bytes: &[u8], longest_side: u32, most_bytes: usize) -> Result<ScaledPicture, DecodeFault> {
    let OpenedPicture { mut decoder, format } = OpenedPicture::of(bytes)?;
    let media_type = media_type(format).ok_or(DecodeFault::Broken)?;
    // Broken metadata is not worth a refusal.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let (mut picture, is_incomplete) = match DynamicImage::from_decoder(decoder) {
        Ok(picture) => (picture, is_cut_off(format, bytes)),
        Err(error) => return Err(fault(&error)),
    };
    // Cameras store pictures as the sensor was held, and clients do not all turn them.
    picture.apply_orientation(orientation);
    let upright = (picture.width(), picture.height());
    // Before the picture is scaled, because only the file knows.
    let is_animated = is_animated(format, bytes);
    let facts = |shown: &EncodedPicture| PictureFacts {
        media_type: media_type.to_owned(),
        width: upright.0,
        height: upright.1,
        shown_media_type: shown.media_type.to_owned(),
        shown_width: shown.width,
        shown_height: shown.height,
        is_animated,
        is_incomplete,
    };
    // The file itself, if it is fine as it is: nothing is lost, and its type is one that every client shows.
    let fits = upright.0.max(upright.1) <= longest_side && bytes.len() <= most_bytes;
    let is_plain = matches!(format, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP | ImageFormat::Gif);
    if fits && is_plain && !is_animated && !is_incomplete && orientation == Orientation::NoTransforms {
        let same = EncodedPicture { media_type, width: upright.0, height: upright.1, bytes: bytes.to_vec() };
        return Ok(ScaledPicture { facts: facts(&same), bytes: same.bytes });
    }
    let shown = encoded(picture, longest_side, most_bytes)?;
    Ok(ScaledPicture { facts: facts(&shown), bytes: shown.bytes })
}

struct EncodedPicture {
    media_type: &'static str,
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

/// Smaller, and smaller again, until it has few enough bytes.
fn encoded(picture: DynamicImage, longest_side: u32, most_bytes: usize) -> Result<EncodedPicture, DecodeFault> {
    let mut side = longest_side;
    let mut picture = resized(picture, side);
    loop {
        let (width, height) = (picture.width(), picture.height());
        let done = |media_type, bytes| EncodedPicture { media_type, width, height, bytes };
        // Many files have a channel for transparency and no transparent pixel.
        let is_clear = picture.color().has_alpha() && has_clear_pixels(&picture);
        if is_clear {
            let bytes = png(&picture)?;
            if bytes.len() <= most_bytes.min(SMALL_PNG) {
                return Ok(done("image/png", bytes));
            }
        }
        let flat = if is_clear { on_white(&picture) } else { DynamicImage::ImageRgb8(picture.to_rgb8()) };
        // From the best on: the first that fits is taken.
        for quality in QUALITIES {
            let bytes = jpeg(&flat, quality)?;
            if bytes.len() <= most_bytes {
                return Ok(done("image/jpeg", bytes));
            }
        }
        // In steps, as the size of the file depends on what is in the picture.
        side = width.max(height) * 3 / 4;
        if side < SHORTEST_SIDE {
            return Err(DecodeFault::Output);
        }
        picture = resized(picture, side);
    }
}

fn resized(picture: DynamicImage, longest_side: u32) -> DynamicImage {
    if picture.width().max(picture.height()) <= longest_side {
        return picture;
    }
    // Eight bits a channel first: a filter over floats would take four times the memory.
    let picture = match picture.color().has_alpha() {
        true => DynamicImage::ImageRgba8(picture.into_rgba8()),
        false => DynamicImage::ImageRgb8(picture.into_rgb8()),
    };
    // Smooth enough for text, and much faster than wider filters.
    picture.resize(longest_side, longest_side, FilterType::Triangle)
}

fn has_clear_pixels(picture: &DynamicImage) -> bool {
    picture.to_rgba8().pixels().any(|pixel| pixel.0[3] < u8::MAX)
}

/// JPEG has no transparency; without this, clear parts would become black.
fn on_white(picture: &DynamicImage) -> DynamicImage {
    let rgba = picture.to_rgba8();
    let mut flat = image::RgbImage::new(rgba.width(), rgba.height());
    for (to, from) in flat.pixels_mut().zip(rgba.pixels()) {
        let [red, green, blue, alpha] = from.0.map(u16::from);
        // At most 255 times 255, which fits into 16 bits.
        let over = |channel: u16| u8::try_from((channel * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX);
        to.0 = [over(red), over(green), over(blue)];
    }
    DynamicImage::ImageRgb8(flat)
}

fn png(picture: &DynamicImage) -> Result<Vec<u8>, DecodeFault> {
    let rgba = picture.to_rgba8();
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes)
        .write_image(&rgba, rgba.width(), rgba.height(), ExtendedColorType::Rgba8)
        .map_err(|error| fault(&error))?;
    Ok(bytes)
}

fn jpeg(flat: &DynamicImage, quality: u8) -> Result<Vec<u8>, DecodeFault> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(flat).map_err(|error| fault(&error))?;
    Ok(bytes)
}

fn media_type(format: ImageFormat) -> Option<&'static str> {
    let media_type = format.to_mime_type();
    MEDIA_TYPES.contains(&media_type).then_some(media_type)
}

fn fault(error: &ImageError) -> DecodeFault {
    match error {
        ImageError::Limits(_) => DecodeFault::TooManyPixels,
        _ => DecodeFault::Broken,
    }
}

/// Whether a JPEG ends before its end mark. Its decoder fills the rest with grey and says nothing; the decoders of the other
/// formats refuse.
fn is_cut_off(format: ImageFormat, bytes: &[u8]) -> bool {
    const LAST: usize = 64 << 10;
    // The mark is at the end, so that a large file is not searched as a whole.
    let tail = &bytes[bytes.len().saturating_sub(LAST)..];
    // Some programs write more after the mark.
    format == ImageFormat::Jpeg && !tail.windows(2).any(|pair| pair == [0xff, 0xd9])
}

/// Whether a GIF or a WebP has more pictures than the first.
fn is_animated(format: ImageFormat, bytes: &[u8]) -> bool {
    match format {
        ImageFormat::Gif => image::codecs::gif::GifDecoder::new(Cursor::new(bytes)).is_ok_and(|decoder| {
            use image::AnimationDecoder;
            // Two are enough to know; the others are not decoded.
            decoder.into_frames().take(2).filter(Result::is_ok).count() == 2
        }),
        ImageFormat::WebP => {
            image::codecs::webp::WebPDecoder::new(Cursor::new(bytes)).is_ok_and(|decoder| decoder.has_animation())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
