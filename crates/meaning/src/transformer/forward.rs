//! The forward pass. Texts of any length lie one below the other in one matrix, without padding: only attention looks at each alone.

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Slice, linalg::general_mat_mul};

use super::{
    EncoderLayer, LayerNorm, LinearMap, PoolingMode, TransformerModel,
    approximate::{gelu, softmax},
};

impl LinearMap {
    fn apply(&self, input: &Array2<f32>) -> Array2<f32> {
        let mut output = Array2::zeros((input.nrows(), self.bias.len()));
        // The product is added to what is in the output, so the bias comes first.
        output.rows_mut().into_iter().for_each(|mut row| row.assign(&self.bias));
        general_mat_mul(1.0, input, &self.weights.t(), 1.0, &mut output);
        output
    }
}

impl LayerNorm {
    /// Every row gets mean 0 and variance 1, then weights and bias.
    fn apply(&self, values: &mut Array2<f32>, epsilon: f32) {
        let width = self.weights.len() as f32;
        for mut row in values.rows_mut() {
            let mean = row.sum() / width;
            let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / width;
            // Without epsilon, a row of equal values would be divided by 0.
            let scale = 1.0 / (variance + epsilon).sqrt();
            for ((value, weight), bias) in row.iter_mut().zip(&self.weights).zip(&self.bias) {
                *value = (*value - mean) * scale * weight + bias;
            }
        }
    }
}

impl TransformerModel {
    /// One vector for each text, which is tokens with their marks.
    pub(super) fn forward(&self, texts: &[Vec<u32>]) -> Vec<Array1<f32>> {
        let total = texts.iter().map(Vec::len).sum();
        let mut values = Array2::zeros((total, self.dimension()));
        let places = texts.iter().flat_map(|text| text.iter().enumerate());
        for (mut row, (position, token)) in values.rows_mut().into_iter().zip(places) {
            row += &self.tokens.row(*token as usize);
            row += &self.positions.row(position);
        }
        self.input_norm.apply(&mut values, self.norm_epsilon);
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        for layer in &self.layers {
            values = self.layer(layer, &values, &lengths);
        }
        let mut start = 0;
        let pool = |length: &usize| {
            let text = values.slice_axis(Axis(0), Slice::from(start..start + length));
            start += length;
            match self.pooling {
                // With both marks, which the reference counts as well.
                PoolingMode::Mean => text.sum_axis(Axis(0)) / *length as f32,
                PoolingMode::FirstToken => text.row(0).to_owned(),
            }
        };
        lengths.iter().map(pool).collect()
    }

    fn layer(&self, layer: &EncoderLayer, input: &Array2<f32>, lengths: &[usize]) -> Array2<f32> {
        let seen = self.attention(&layer.attention.apply(input), lengths);
        let mut middle = layer.attention_output.apply(&seen);
        // What goes in is added to what comes out, here and below, as in BERT.
        middle += input;
        layer.attention_norm.apply(&mut middle, self.norm_epsilon);
        let mut wide = layer.widening.apply(&middle);
        // Always there: a product is made in one run of memory.
        if let Some(values) = wide.as_slice_mut() {
            gelu(values);
        }
        let mut output = layer.narrowing.apply(&wide);
        output += &middle;
        layer.output_norm.apply(&mut output, self.norm_epsilon);
        output
    }

    /// What each token takes from the others of its text. `mixed` has query, key and value side by side.
    fn attention(&self, mixed: &Array2<f32>, lengths: &[usize]) -> Array2<f32> {
        let (hidden, width) = (self.dimension(), self.dimension() / self.heads);
        // Products grow with the width, and softmax would then only see the largest.
        let factor = 1.0 / (width as f32).sqrt();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut seen = Array2::zeros((mixed.nrows(), hidden));
        let mut scores = Array2::zeros((longest, longest));
        let mut start = 0;
        for length in lengths {
            let text = start..start + length;
            start = text.end;
            // Scores take a part of one matrix, in one run of memory where the text is the longest.
            let mut scores = block_mut(&mut scores, 0..*length, 0..*length);
            for head in 0..self.heads {
                // Query, key or value: the columns of this head in its third of the matrix.
                let part = |third: usize| {
                    let first = third * hidden + head * width;
                    block(mixed, text.clone(), first..first + width)
                };
                general_mat_mul(1.0, &part(0), &part(1).t(), 0.0, &mut scores);
                for mut row in scores.rows_mut() {
                    if let Some(row) = row.as_slice_mut() {
                        softmax(row, factor);
                    }
                }
                let mut output = block_mut(&mut seen, text.clone(), head * width..(head + 1) * width);
                general_mat_mul(1.0, &scores, &part(2), 0.0, &mut output);
            }
        }
        seen
    }
}

// The macro of `ndarray` for this has unsafe code, which is forbidden here.
fn block(matrix: &Array2<f32>, rows: Range<usize>, columns: Range<usize>) -> ArrayView2<'_, f32> {
    let mut view = matrix.view();
    view.slice_axis_inplace(Axis(0), Slice::from(rows));
    view.slice_axis_inplace(Axis(1), Slice::from(columns));
    view
}

fn block_mut(matrix: &mut Array2<f32>, rows: Range<usize>, columns: Range<usize>) -> ArrayViewMut2<'_, f32> {
    let mut view = matrix.view_mut();
    view.slice_axis_inplace(Axis(0), Slice::from(rows));
    view.slice_axis_inplace(Axis(1), Slice::from(columns));
    view
}
