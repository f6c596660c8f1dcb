//! Pictures of every format, broken ones among them.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

use super::*;

/// A picture with edges and slopes.
fn sample(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let [x, y] = [x % 256, y % 256].map(|part| u8::try_from(part).unwrap());
        Rgb([x, y, if x > y { 255 } else { x ^ y }])
    })
}

fn written(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

const FORMATS: [ImageFormat; 5] =
    [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp];

#[test]
fn a_large_picture_of_every_format_becomes_small() {
    for format in FORMATS {
        let bytes = written(sample(600, 300), format);
        let shown = scaled(&bytes, 200, 100_000).unwrap();
        assert_eq!(shown.facts.media_type, format.to_mime_type());
        assert_eq!((shown.facts.width, shown.facts.height), (600, 300));
        assert_eq!((shown.facts.shown_width, shown.facts.shown_height), (200, 100));
        let seen = image::load_from_memory(&shown.bytes).unwrap();
        assert_eq!((seen.width(), seen.height()), (200, 100), "{format:?}");
        assert!(!shown.facts.is_animated && !shown.facts.is_incomplete, "{format:?}");
        // The same picture, apart from what JPEG loses.
        let expected = DynamicImage::ImageRgb8(sample(600, 300)).resize(200, 100, FilterType::Triangle).to_rgb8();
        let apart: u64 =
            expected.iter().zip(seen.to_rgb8().iter()).map(|(one, other)| u64::from(one.abs_diff(*other))).sum();
        assert!(apart / (200 * 100 * 3) < 24, "{format:?} {apart}");
    }
}

#[test]
fn a_small_picture_is_sent_as_it_is() {
    let bytes = written(sample(40, 30), ImageFormat::Png);
    let shown = scaled(&bytes, 1568, 100_000).unwrap();
    assert_eq!(shown.bytes, bytes);
    assert_eq!(shown.facts.shown_media_type, "image/png");
    // Not every client shows a bitmap.
    let shown = scaled(&written(sample(40, 30), ImageFormat::Bmp), 1568, 100_000).unwrap();
    assert_eq!(shown.facts.shown_media_type, "image/jpeg");
}

#[test]
fn the_bytes_stay_within_the_limit() {
    let bytes = written(sample(900, 900), ImageFormat::Png);
    for most in [200_000, 20_000, 5_000] {
        let shown = scaled(&bytes, 1568, most).unwrap();
        assert!(shown.bytes.len() <= most);
        assert!(image::load_from_memory(&shown.bytes).is_ok());
    }
    assert_eq!(scaled(&bytes, 1568, 100).unwrap_err(), DecodeFault::Output);
}

#[test]
fn transparency_is_kept_or_becomes_white() {
    let clear = RgbaImage::from_fn(300, 300, |x, y| {
        if x < 150 {
            Rgba([0, 0, 0, 0])
        } else {
            Rgba([((x * 7919) ^ (y * 104_729)) as u8, ((x * 31) ^ (y * 7)) as u8, 7, 255])
        }
    });
    let bytes = written(clear, ImageFormat::Png);
    let shown = scaled(&bytes, 100, 200_000).unwrap();
    assert_eq!(shown.facts.shown_media_type, "image/png");
    assert_eq!(image::load_from_memory(&shown.bytes).unwrap().to_rgba8().get_pixel(3, 3).0[3], 0);
    let shown = scaled(&bytes, 100, 8_000).unwrap();
    assert_eq!(shown.facts.shown_media_type, "image/jpeg");
    let corner = image::load_from_memory(&shown.bytes).unwrap().to_rgb8().get_pixel(1, 1).0;
    assert!(corner.iter().all(|channel| *channel > 230), "{corner:?}");
}

#[test]
fn a_picture_that_is_cut_off_is_refused_or_says_so() {
    for format in FORMATS {
        let bytes = written(sample(160, 120), format);
        for end in (0..bytes.len()).step_by(1024) {
            match scaled(&bytes[..end], 1568, 100_000) {
                Ok(shown) => assert!(shown.facts.is_incomplete, "{format:?} {end}"),
                Err(fault) => assert_eq!(fault, DecodeFault::Broken, "{format:?} {end}"),
            }
        }
    }
}

#[test]
fn flipped_bytes_never_get_out() {
    for format in FORMATS {
        let bytes = written(sample(96, 64), format);
        let step = (bytes.len() / 200).max(1);
        for at in (0..bytes.len()).step_by(step) {
            let mut broken = bytes.clone();
            broken[at] ^= 0xff;
            let job = lapidary_operation::DecodeJob::Picture { longest_side: 1568, most_bytes: 100_000 };
            // A picture or a fault; a panic of a decoder is one.
            drop(crate::child::decode(job, &broken));
        }
    }
}

/// A PNG of one colour: a few kilobytes that want hundreds of megabytes.
fn bomb(side: u32) -> Vec<u8> {
    use image::codecs::png::{CompressionType, FilterType, PngEncoder};
    let mut bytes = Vec::new();
    let grey = vec![0; (side as usize) * (side as usize)];
    PngEncoder::new_with_quality(&mut bytes, CompressionType::Best, FilterType::NoFilter)
        .write_image(&grey, side, side, ExtendedColorType::L8)
        .unwrap();
    bytes
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    // The size is in the header, so the rest need not be there.
    let mut bytes = bomb(100);
    for (at, size) in [(16, 20_000_u32), (20, 20_000_u32)] {
        bytes[at..at + 4].copy_from_slice(&size.to_be_bytes());
    }
    let checksum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(scaled(&bytes, 1568, 100_000).unwrap_err(), DecodeFault::TooManyPixels);
}

/// The checksum of a chunk.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

#[test]
fn a_moving_picture_shows_its_first_frame_and_says_so() {
    use image::{Delay, Frame, codecs::gif::GifEncoder};
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new(&mut bytes);
    for color in [[255, 0, 0, 255], [0, 0, 255, 255]] {
        let frame = RgbaImage::from_pixel(20, 20, Rgba(color));
        encoder.encode_frame(Frame::from_parts(frame, 0, 0, Delay::from_numer_denom_ms(100, 1))).unwrap();
    }
    drop(encoder);
    let shown = scaled(&bytes, 1568, 100_000).unwrap();
    assert!(shown.facts.is_animated);
    let seen = image::load_from_memory(&shown.bytes).unwrap().to_rgb8().get_pixel(10, 10).0;
    assert!(seen[0] > 200 && seen[2] < 60, "{seen:?}");
}

#[test]
fn a_photograph_is_turned_upright() {
    // An orientation of 6 in EXIF: the camera was turned by a quarter.
    let jpeg = written(sample(60, 40), ImageFormat::Jpeg);
    let mut exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0".to_vec();
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xe1, length[0], length[1]];
    bytes.append(&mut exif);
    bytes.extend(&jpeg[2..]);
    let shown = scaled(&bytes, 1568, 100_000).unwrap();
    assert_eq!((shown.facts.width, shown.facts.height), (40, 60));
    let seen = image::load_from_memory(&shown.bytes).unwrap();
    assert_eq!((seen.width(), seen.height()), (40, 60));
}

#[test]
fn both_processes_understand_each_other() {
    use lapidary_operation::DecodedAttachment;
    let picture = scaled(&written(sample(30, 30), ImageFormat::Png), 1568, 100_000).unwrap();
    for result in [Ok(DecodedAttachment::Picture(picture)), Err(DecodeFault::TooManyPixels)] {
        let mut sent = Vec::new();
        crate::wire::write_result(&mut sent, &result).unwrap();
        assert_eq!(crate::wire::read_result(&sent), Some(result));
        // Cut off, or with more than was said.
        assert_eq!(crate::wire::read_result(&sent[..sent.len() - 1]), None);
        sent.push(b'x');
        assert_eq!(crate::wire::read_result(&sent), None);
    }
    let job = lapidary_operation::DecodeJob::Picture { longest_side: 7, most_bytes: 9 };
    let mut sent = Vec::new();
    crate::wire::write_job(&mut sent, job, b"bytes").unwrap();
    assert_eq!(crate::wire::read_job(&*sent).unwrap(), (job, b"bytes".to_vec()));
    assert!(crate::wire::read_job(&sent[..sent.len() - 1]).is_err());
}
