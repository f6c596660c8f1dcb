//! Reads safetensors files: a header of JSON that names tensors, and their bytes.

use std::collections::BTreeMap;

use ndarray::{Array1, Array2};
use serde::{Deserialize, de::IgnoredAny};

use crate::ModelError;

/// The header of a model with a thousand tensors has about 100 KB.
const LONGEST_HEADER: usize = 16 << 20;

/// A safetensors file whose header is checked: every tensor lies within it.
pub(crate) struct TensorFile<'b> {
    data: &'b [u8],
    tensors: BTreeMap<String, TensorPlace>,
}

#[derive(Deserialize)]
struct TensorPlace {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum HeaderEntry {
    Tensor(TensorPlace),
    /// `__metadata__`, which says nothing about tensors.
    Other(IgnoredAny),
}

fn broken(problem: impl Into<String>) -> ModelError {
    ModelError::malformed("model.safetensors", problem)
}

fn value_size(dtype: &str) -> Option<usize> {
    match dtype {
        "F64" | "I64" | "U64" => Some(8),
        "F32" | "I32" | "U32" => Some(4),
        "F16" | "BF16" | "I16" | "U16" => Some(2),
        "I8" | "U8" | "BOOL" => Some(1),
        _ => None,
    }
}

impl<'b> TensorFile<'b> {
    pub(crate) fn read(bytes: &'b [u8]) -> Result<Self, ModelError> {
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(|| broken("it is too short"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|length| *length <= LONGEST_HEADER);
        let (header, data) =
            length.and_then(|length| rest.split_at_checked(length)).ok_or_else(|| broken("its header is too long"))?;
        let entries: BTreeMap<String, HeaderEntry> =
            serde_json::from_slice(header).map_err(|error| broken(format!("its header: {error}")))?;
        let mut tensors = BTreeMap::new();
        for (name, entry) in entries {
            let HeaderEntry::Tensor(place) = entry else { continue };
            let (start, end) = place.data_offsets;
            // The shape is a foreign number: the product may overflow.
            let values = place.shape.iter().try_fold(1usize, |count, size| count.checked_mul(*size));
            let size = value_size(&place.dtype).zip(values).and_then(|(size, values)| size.checked_mul(values));
            if end > data.len() || size.is_none() || end.checked_sub(start) != size {
                return Err(broken(format!("tensor {name} has an impossible place, shape or type")));
            }
            tensors.insert(name, place);
        }
        Ok(Self { data, tensors })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    fn values(&self, name: &str) -> Result<(&[usize], Vec<f32>), ModelError> {
        let place = self.tensors.get(name).ok_or_else(|| broken(format!("there is no tensor {name}")))?;
        let bytes = self.data.get(place.data_offsets.0..place.data_offsets.1).unwrap_or_default();
        let values: Vec<f32> = match place.dtype.as_str() {
            "F32" => bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect(),
            "F16" => bytes.as_chunks().0.iter().map(|value| half(u16::from_le_bytes(*value))).collect(),
            "BF16" => {
                // The upper half of a number of 32 bits.
                let wide = |value: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*value)) << 16);
                bytes.as_chunks().0.iter().map(wide).collect()
            }
            "F64" => bytes.as_chunks().0.iter().map(|value| f64::from_le_bytes(*value) as f32).collect(),
            other => return Err(ModelError::Unsupported(format!("tensor {name} of type {other}"))),
        };
        // A single one would spread through every product.
        if values.iter().any(|value| !value.is_finite()) {
            return Err(broken(format!("tensor {name} has values that are not numbers")));
        }
        Ok((&place.shape, values))
    }

    /// A matrix, whatever its size.
    pub(crate) fn matrix(&self, name: &str) -> Result<Array2<f32>, ModelError> {
        let (shape, values) = self.values(name)?;
        let wrong = || broken(format!("tensor {name} has the shape {shape:?}"));
        let [rows, columns] = *shape else { return Err(wrong()) };
        Array2::from_shape_vec((rows, columns), values).map_err(|_| wrong())
    }

    /// A matrix of this size.
    pub(crate) fn matrix_of(&self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, ModelError> {
        let matrix = self.matrix(name)?;
        if matrix.dim() != (rows, columns) {
            return Err(broken(format!("tensor {name} is {:?} and should be {rows} × {columns}", matrix.dim())));
        }
        Ok(matrix)
    }

    /// A list of this length.
    pub(crate) fn list_of(&self, name: &str, length: usize) -> Result<Array1<f32>, ModelError> {
        let (shape, values) = self.values(name)?;
        if shape != [length] {
            return Err(broken(format!("tensor {name} has the shape {shape:?} and should have {length} values")));
        }
        Ok(values.into())
    }
}

/// A number of 16 bits as IEEE 754 defines it.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1F), f32::from(bits & 0x3FF) / 1024.0);
    sign * match exponent {
        // Subnormal: without the 1 in front of the fraction.
        0 => fraction * 2.0f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2.0f32.powi(exponent - 15),
    }
}
