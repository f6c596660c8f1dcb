//! The main directions of many vectors: principal components.

use ndarray::{Array2, Axis};

const SWEEPS: usize = 12;

/// The `count` directions with the largest variance, as columns. The vectors are centred.
pub(crate) fn main_directions(vectors: &Array2<f32>, count: usize) -> Array2<f32> {
    let wide = vectors.mapv(f64::from);
    let mut matrix = wide.t().dot(&wide) / vectors.nrows() as f64;
    let mut turned = Array2::<f64>::eye(vectors.ncols());
    for _ in 0..SWEEPS {
        sweep(&mut matrix, &mut turned);
    }
    let mut order: Vec<usize> = (0..vectors.ncols()).collect();
    order.sort_by(|one, other| matrix[[*other, *other]].total_cmp(&matrix[[*one, *one]]));
    order.truncate(count);
    let mut directions = turned.select(Axis(1), &order);
    // Either sign is right; always the same one makes the result the same.
    for mut direction in directions.columns_mut() {
        let largest = direction.iter().copied().max_by(|one, other| one.abs().total_cmp(&other.abs()));
        if largest.is_some_and(|largest| largest < 0.0) {
            direction *= -1.0;
        }
    }
    directions.mapv(|value| value as f32)
}

/// Jacobi's method: turns every pair of axes so that nothing is left between them.
fn sweep(matrix: &mut Array2<f64>, turned: &mut Array2<f64>) {
    let size = matrix.nrows();
    for one in 0..size {
        for other in one + 1..size {
            let between = matrix[[one, other]];
            if between.abs() < 1e-18 {
                continue;
            }
            let half = (matrix[[other, other]] - matrix[[one, one]]) / (2.0 * between);
            let tangent = half.signum() / (half.abs() + (half * half + 1.0).sqrt());
            let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
            let sine = tangent * cosine;
            turn(matrix.view_mut().reversed_axes(), one, other, cosine, sine);
            turn(matrix.view_mut(), one, other, cosine, sine);
            turn(turned.view_mut().reversed_axes(), one, other, cosine, sine);
        }
    }
}

/// Turns two rows into each other.
fn turn(mut matrix: ndarray::ArrayViewMut2<'_, f64>, one: usize, other: usize, cosine: f64, sine: f64) {
    let (mut first, mut second) = matrix.multi_slice_rows(one, other);
    ndarray::Zip::from(&mut first).and(&mut second).for_each(|first, second| {
        let (before, beside) = (*first, *second);
        *first = cosine * before - sine * beside;
        *second = sine * before + cosine * beside;
    });
}

/// Two rows at once.
trait TwoRows {
    fn multi_slice_rows(
        &mut self,
        one: usize,
        other: usize,
    ) -> (ndarray::ArrayViewMut1<'_, f64>, ndarray::ArrayViewMut1<'_, f64>);
}

impl TwoRows for ndarray::ArrayViewMut2<'_, f64> {
    fn multi_slice_rows(
        &mut self,
        one: usize,
        other: usize,
    ) -> (ndarray::ArrayViewMut1<'_, f64>, ndarray::ArrayViewMut1<'_, f64>) {
        let (before, after) = self.view_mut().split_at(Axis(0), other);
        (before.index_axis_move(Axis(0), one), after.index_axis_move(Axis(0), 0))
    }
}
