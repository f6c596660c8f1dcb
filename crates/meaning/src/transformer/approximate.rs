//! Functions of the forward pass, as polynomials: compilers make wide instructions of them, and they give the same bits on every platform.

#[cfg(not(feature = "narrow"))]
use multiversion::multiversion;

/// Replaces every value by `x · Φ(x)`, the activation of BERT.
#[cfg_attr(not(feature = "narrow"), multiversion(targets("x86_64+avx2+fma")))]
pub(super) fn gelu(values: &mut [f32]) {
    for value in values {
        *value = 0.5 * *value * (1.0 + error_function(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// Replaces every value by its share: positive, and one in sum.
#[cfg_attr(not(feature = "narrow"), multiversion(targets("x86_64+avx2+fma")))]
pub(super) fn softmax(values: &mut [f32], factor: f32) {
    // Relative to the largest, so that no power overflows.
    let largest = values.iter().fold(f32::NEG_INFINITY, |most, value| most.max(*value));
    for value in &mut *values {
        *value = exponential((*value - largest) * factor);
    }
    // The sum is at least 1, which the largest value contributes.
    let share = 1.0 / values.iter().sum::<f32>();
    for value in values {
        *value *= share;
    }
}

/// To 2e-7 (Abramowitz and Stegun, 7.1.26).
// Wide instructions are only made of what is inlined into the functions above.
#[inline(always)]
fn error_function(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let series = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    (1.0 - series * exponential(-x * x)).copysign(x)
}

/// `e^x`, to 2e-7 of the result: two to a whole power, times a polynomial for the rest.
#[inline(always)]
fn exponential(x: f32) -> f32 {
    // Beyond these, the result is not a normal number of 32 bits.
    let x = x.clamp(-87.0, 88.0);
    // Adding a number so large leaves no place for a fraction, which rounds.
    const ROUNDER: f32 = 12_582_912.0;
    let power = (x * std::f32::consts::LOG2_E + ROUNDER) - ROUNDER;
    // The logarithm of 2 in two parts: the first has few digits, so its product is exact.
    let rest = x - power * 0.693_359_4 + power * 2.121_944_4e-4;
    let square = rest * rest;
    let tail = ((((1.987_569_2e-4 * rest + 1.398_199_9e-3) * rest + 8.333_452e-3) * rest + 4.166_579_6e-2) * rest
        + 1.666_666_5e-1)
        * rest
        + 0.5;
    let polynomial = tail * square + rest + 1.0;
    // The power of two is made by writing its exponent.
    polynomial * f32::from_bits(((power as i32 + 127) << 23).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomials_are_close() {
        for step in -2_000..2_000 {
            let x = step as f32 / 100.0;
            assert!((exponential(x) / x.exp() - 1.0).abs() < 1e-6, "{x}");
        }
        // Values of a table.
        for (x, expected) in [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (-2.0, -0.995_322_3), (5.0, 1.0)] {
            assert!((error_function(x) - expected).abs() < 1e-6, "{x}");
        }
    }
}
