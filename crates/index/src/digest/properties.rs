//! The properties in a digest, packed and read as query values.

use lapidary_note::{Note, YamlNode, YamlValue};
use lapidary_query::{FrontmatterState, Number, Value};

use crate::packed::{BytePacker, ByteUnpacker};

/// Deeper values are left out. YAML allows more only by repeating parts of itself.
const MAX_DEPTH: usize = 128;

/// An unread value.
#[derive(Clone, Debug)]
pub(crate) struct PackedValue<'a>(ByteUnpacker<'a>);

impl PackedValue<'_> {
    pub(crate) fn read(&self) -> Value {
        // Whole or nothing: the checksum of the cache was verified, so anything else is a bug of ours.
        unpack_value(&mut self.0.clone(), 0).unwrap_or_default()
    }
}

pub(super) fn pack(note: &Note<'_>, packer: &mut BytePacker<'_>) {
    match &note.properties {
        // Told apart from a note without properties: a query may ask for either.
        Err(_) => packer.byte(2),
        Ok(_) if note.frontmatter.is_none() => packer.byte(0),
        Ok(properties) => {
            packer.byte(1);
            for property in properties {
                packer.text(&property.key);
                pack_value(&YamlNode::to_value(&property.value), packer, 0);
            }
        }
    }
}

/// The one place where a YAML value becomes a query value: it is packed as the one and read as the other.
fn pack_value(value: &YamlValue, packer: &mut BytePacker<'_>, depth: usize) {
    match value {
        YamlValue::Null => packer.byte(0),
        // One byte for both, as the kind and the value.
        YamlValue::Bool(value) => packer.byte(1 + u8::from(*value)),
        YamlValue::Integer(value) => {
            packer.byte(3);
            packer.fixed(value.cast_unsigned());
        }
        YamlValue::Float(value) => {
            packer.byte(4);
            packer.fixed(value.to_bits());
        }
        YamlValue::Text(text) => {
            packer.byte(5);
            packer.text(text);
        }
        // Reading it back recurses as deep, so deeper values are kept as nothing.
        YamlValue::List(_) | YamlValue::Map(_) if depth == MAX_DEPTH => packer.byte(0),
        YamlValue::List(items) => {
            packer.byte(6);
            packer.length(items.len());
            items.iter().for_each(|item| pack_value(item, packer, depth + 1));
        }
        YamlValue::Map(entries) => {
            packer.byte(7);
            packer.length(entries.len());
            for (key, value) in entries {
                packer.text(key);
                pack_value(value, packer, depth + 1);
            }
        }
    }
}

pub(super) fn state(mut unpacker: ByteUnpacker<'_>) -> FrontmatterState {
    match unpacker.byte() {
        Some(1) => FrontmatterState::Read,
        Some(2) => FrontmatterState::Unreadable,
        _ => FrontmatterState::Absent,
    }
}

pub(super) fn entries<'a>(
    mut unpacker: ByteUnpacker<'a>,
) -> impl Iterator<Item = (&'a str, PackedValue<'a>)> + use<'a> {
    let readable = unpacker.byte() == Some(1);
    std::iter::from_fn(move || {
        let key = readable.then(|| unpacker.text())??;
        // Remembered and skipped; most queries read one or two properties of a note.
        let value = PackedValue(unpacker.clone());
        skip_value(&mut unpacker, 0)?;
        Some((key, value))
    })
}

fn skip_value(unpacker: &mut ByteUnpacker<'_>, depth: usize) -> Option<()> {
    match unpacker.byte()? {
        0..=2 => {}
        3 | 4 => drop(unpacker.fixed()?),
        5 => drop(unpacker.text()?),
        // Deeper values are never packed, so these bytes would not be ours.
        6 if depth < MAX_DEPTH => {
            for _ in 0..unpacker.length()? {
                skip_value(unpacker, depth + 1)?;
            }
        }
        7 if depth < MAX_DEPTH => {
            for _ in 0..unpacker.length()? {
                unpacker.text()?;
                skip_value(unpacker, depth + 1)?;
            }
        }
        _ => return None,
    }
    Some(())
}

fn unpack_value(unpacker: &mut ByteUnpacker<'_>, depth: usize) -> Option<Value> {
    Some(match unpacker.byte()? {
        0 => Value::Null,
        1 => Value::Boolean(false),
        2 => Value::Boolean(true),
        3 => Value::Number(Number::Integer(unpacker.fixed()?.cast_signed())),
        4 => Value::Number(Number::Float(f64::from_bits(unpacker.fixed()?))),
        5 => Value::from(unpacker.text()?),
        6 if depth < MAX_DEPTH => {
            let count = unpacker.length()?;
            Value::List((0..count).map(|_| unpack_value(unpacker, depth + 1)).collect::<Option<_>>()?)
        }
        7 if depth < MAX_DEPTH => {
            let count = unpacker.length()?;
            let entry = |_| Some((unpacker.text()?.to_owned(), unpack_value(unpacker, depth + 1)?));
            Value::Object((0..count).map(entry).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
