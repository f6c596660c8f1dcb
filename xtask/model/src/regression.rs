//! Ridge regression: the vectors of tokens are moved as little as possible so that their means are the teacher's vectors.

use ndarray::Array2;

/// How much staying near the start counts, for each token. Much less fits the definitions too closely.
const STAYING: f32 = 0.02;
const ROUNDS: usize = 60;
/// Of the residual, relative to the first.
const CLOSE_ENOUGH: f64 = 1e-3;

/// Texts as rows of tokens; the matrix of means that they stand for has one over the length for each token of a text.
pub(crate) struct TokenMeans<'t> {
    pub(crate) texts: &'t [Vec<u32>],
    pub(crate) tokens: usize,
}

impl TokenMeans<'_> {
    /// The mean of the tokens' vectors, for each text.
    pub(crate) fn means(&self, vectors: &Array2<f32>) -> Array2<f32> {
        let mut means = Array2::zeros((self.texts.len(), vectors.ncols()));
        for (mut mean, text) in means.rows_mut().into_iter().zip(self.texts) {
            let share = 1.0 / text.len() as f32;
            for token in text {
                mean.scaled_add(share, &vectors.row(*token as usize));
            }
        }
        means
    }

    /// What each text has goes back to its tokens: the transposed product.
    fn spread(&self, values: &Array2<f32>) -> Array2<f32> {
        let mut spread = Array2::zeros((self.tokens, values.ncols()));
        for (value, text) in values.rows().into_iter().zip(self.texts) {
            let share = 1.0 / text.len() as f32;
            for token in text {
                spread.row_mut(*token as usize).scaled_add(share, &value);
            }
        }
        spread
    }

    /// The diagonal of the system, which evens out tokens in every text and tokens in one.
    fn diagonal(&self) -> Vec<f32> {
        let mut diagonal = vec![STAYING; self.tokens];
        for text in self.texts {
            let share = 1.0 / text.len() as f32;
            for token in text {
                let times = text.iter().filter(|other| *other == token).count() as f32;
                diagonal[*token as usize] += share * share * times;
            }
        }
        diagonal
    }

    /// Moves `vectors` toward means that are `wanted`, by conjugate gradients.
    pub(crate) fn fit(&self, vectors: &mut Array2<f32>, wanted: &Array2<f32>) {
        let diagonal = self.diagonal();
        let conditioned = |residual: &Array2<f32>| {
            let mut scaled = residual.clone();
            scaled.rows_mut().into_iter().zip(&diagonal).for_each(|(mut row, scale)| row /= *scale);
            scaled
        };
        let mut residual = self.spread(&(wanted - &self.means(vectors)));
        let mut scaled = conditioned(&residual);
        let mut direction = scaled.clone();
        let mut size = product(&residual, &scaled);
        let first = size;
        for round in 0..ROUNDS {
            let mut image = self.spread(&self.means(&direction));
            image.scaled_add(STAYING, &direction);
            let step = (size / product(&direction, &image)) as f32;
            vectors.scaled_add(step, &direction);
            residual.scaled_add(-step, &image);
            scaled = conditioned(&residual);
            let next = product(&residual, &scaled);
            if next < first * CLOSE_ENOUGH * CLOSE_ENOUGH {
                eprintln!("regression: close enough after {} rounds", round + 1);
                return;
            }
            direction *= (next / size) as f32;
            direction += &scaled;
            size = next;
        }
        eprintln!("regression: residual {:e} of the first after {ROUNDS} rounds", (size / first).sqrt());
    }
}

fn product(one: &Array2<f32>, other: &Array2<f32>) -> f64 {
    one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
}
