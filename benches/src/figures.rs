//! Figures of several equal things.

use std::time::Duration;

/// Milliseconds, with two digits after the point.
#[must_use]
pub fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 100_000.0).round() / 100.0
}

/// The value below which a share of all lie, `0.5` being the median; 0 where there are none.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a length is a length"
)]
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_are_there() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        let found = [0.0, 0.5, 0.9, 1.0].map(|share| quantile(&values, share));
        assert!(found.iter().zip([1.0, 3.0, 5.0, 5.0]).all(|(found, value)| (found - value).abs() < 1e-9), "{found:?}");
        assert!(quantile(&[], 0.5).abs() < 1e-9);
        assert!((millis(Duration::from_micros(1_234_567)) - 1_234.57).abs() < 1e-9);
    }
}
