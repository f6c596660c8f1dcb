//! A text as a vector, and the same at 8 bits a value.

/// A text as a vector of length 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Vec<f32>);

impl Embedding {
    /// `None` if the vector has no direction.
    pub fn of(mut values: Vec<f32>) -> Option<Self> {
        // In 64 bits: a sum of hundreds of squares would lose digits in 32.
        let length = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        // Scaled up to length 1, so short a vector would be noise.
        if !length.is_finite() || length < 1e-12 {
            return None;
        }
        values.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
        Some(Self(values))
    }

    pub fn values(&self) -> &[f32] {
        &self.0
    }

    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// How alike two texts are, from -1 to 1; 0 for vectors of different models.
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.dimension() != other.dimension() {
            return 0.0;
        }
        // Both have length 1.
        self.0.iter().zip(&other.0).map(|(one, other)| one * other).sum()
    }
}

/// An embedding at 8 bits a value. Its scale follows from the values, because the length is 1: nothing else is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteVector(Vec<i8>);

impl ByteVector {
    pub fn of(embedding: &Embedding) -> Self {
        // Every vector uses the whole range: where one value is large and the others are small, a common scale would round them away.
        let largest = embedding.0.iter().fold(0.0f32, |most, value| most.max(value.abs()));
        // `largest` is not 0, because the length is 1.
        Self(embedding.0.iter().map(|value| (value / largest * 127.0).round() as i8).collect())
    }

    /// As `to_bytes` made them. `None` if the length is not that of the model, or if there is no direction.
    pub fn from_bytes(bytes: &[u8], dimension: usize) -> Option<Self> {
        let sound = bytes.len() == dimension && bytes.iter().any(|byte| *byte != 0);
        sound.then(|| Self(bytes.iter().map(|byte| byte.cast_signed()).collect()))
    }

    /// One byte a value.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|value| value.cast_unsigned()).collect()
    }

    pub fn values(&self) -> &[i8] {
        &self.0
    }

    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// What makes the values a vector of length 1.
    pub(crate) fn scale(&self) -> f32 {
        scale_of(&self.0)
    }

    /// How alike two texts are, from -1 to 1; 0 for vectors of different models.
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.dimension() != other.dimension() {
            return 0.0;
        }
        let sum: i64 = self.0.iter().zip(&other.0).map(|(one, other)| i64::from(*one) * i64::from(*other)).sum();
        sum as f32 * self.scale() * other.scale()
    }
}

/// One over the length of the values.
pub(crate) fn scale_of(values: &[i8]) -> f32 {
    // Whole numbers, so that the scale is the same on every platform and in whatever order they are added.
    let squares: i64 = values.iter().map(|value| i64::from(*value).pow(2)).sum();
    if squares == 0 { 0.0 } else { (1.0 / (squares as f64).sqrt()) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(dimension: usize, step: f32) -> Embedding {
        Embedding::of((0..dimension).map(|at| (at as f32 * step).sin()).collect()).unwrap()
    }

    #[test]
    fn eight_bits_keep_the_cosine() {
        let (one, other) = (wave(256, 0.3), wave(256, 0.31));
        let bytes = ByteVector::of(&one).cosine(&ByteVector::of(&other));
        assert!((bytes - one.cosine(&other)).abs() < 0.01, "{bytes} {}", one.cosine(&other));
        assert!((ByteVector::of(&one).cosine(&ByteVector::of(&one)) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn bytes_come_back_and_others_are_refused() {
        let vector = ByteVector::of(&wave(64, 0.7));
        assert_eq!(ByteVector::from_bytes(&vector.to_bytes(), 64), Some(vector.clone()));
        assert_eq!(ByteVector::from_bytes(&vector.to_bytes(), 65), None);
        assert_eq!(ByteVector::from_bytes(&[0; 64], 64), None);
    }

    #[test]
    fn a_vector_without_direction_is_none() {
        assert_eq!(Embedding::of(vec![0.0; 4]), None);
        assert_eq!(Embedding::of(vec![f32::NAN, 1.0]), None);
        assert_eq!(Embedding::of(vec![f32::INFINITY, 1.0]), None);
        assert_eq!(Embedding::of(Vec::new()), None);
    }
}
