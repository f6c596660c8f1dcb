//! How much each feature of a request says for and against each tool, learnt from known requests: an averaged perceptron.
//! A word that occurs with many tools (`note`) ends up saying little, and one that misleads is corrected by the others.

/// A request: its features with their weights, and its tools.
pub(super) struct LearntRequest {
    pub(super) features: Vec<(usize, f32)>,
    pub(super) tools: Vec<usize>,
}

/// How often all requests are gone through.
const ROUNDS: usize = 8;
/// How far each right tool has to be before all others.
const MARGIN: f32 = 1.0;
/// Requests for one tool follow each other in the list, so it is gone through in strides.
const STRIDE: usize = 997;
const SHIFT: usize = 31;

/// For each feature, the tools that it speaks for or against.
pub(super) struct ToolWeights(Vec<Vec<ToolWeight>>);

struct ToolWeight {
    tool: usize,
    weight: f32,
    /// The sum of all corrections, each times the step in which it was made: what is to be taken off for the average.
    early: f32,
}

impl ToolWeights {
    /// The same requests give the same weights.
    pub(super) fn learn(requests: &[LearntRequest], features: usize, tools: usize) -> Self {
        let mut learnt = Self((0..features).map(|_| Vec::new()).collect());
        let mut step = 1.0_f32;
        let mut scores = Vec::new();
        for round in 0..ROUNDS {
            for place in 0..requests.len() {
                let LearntRequest { features, tools: right } =
                    &requests[(place * STRIDE + round * SHIFT) % requests.len()];
                learnt.score(features, tools, &mut scores);
                let by_score = |one: &usize, other: &usize| scores[*one].total_cmp(&scores[*other]);
                let lowest = right.iter().copied().min_by(by_score);
                let highest = (0..tools).filter(|tool| !right.contains(tool)).max_by(by_score);
                if let (Some(lowest), Some(highest)) = (lowest, highest)
                    && scores[lowest] < scores[highest] + MARGIN
                {
                    for (feature, weight) in features {
                        learnt.correct(*feature, lowest, *weight, step);
                        learnt.correct(*feature, highest, -weight, step);
                    }
                }
                step += 1.0;
            }
        }
        // The average over all steps depends less on the last requests than the final weights do.
        for weight in learnt.0.iter_mut().flatten() {
            weight.weight -= weight.early / step;
        }
        learnt
    }

    /// What these features say for each tool.
    pub(super) fn score(&self, features: &[(usize, f32)], tools: usize, scores: &mut Vec<f32>) {
        scores.clear();
        scores.resize(tools, 0.0);
        for (feature, weight) in features {
            self.0[*feature].iter().for_each(|row| scores[row.tool] += weight * row.weight);
        }
    }

    fn correct(&mut self, feature: usize, tool: usize, by: f32, step: f32) {
        let row = &mut self.0[feature];
        let at = row.iter().position(|row| row.tool == tool).unwrap_or_else(|| {
            row.push(ToolWeight { tool, weight: 0.0, early: 0.0 });
            row.len() - 1
        });
        row[at].weight += by;
        row[at].early += by * step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_tools_share_says_less_than_what_one_has() {
        // `tag` is in both; `rename` and `list` decide.
        let request = |features: &[usize], tool| LearntRequest {
            features: features.iter().map(|feature| (*feature, 0.7)).collect(),
            tools: vec![tool],
        };
        let requests = [request(&[0, 1], 0), request(&[0, 2], 1), request(&[1], 0), request(&[2], 1)];
        let learnt = ToolWeights::learn(&requests, 3, 2);
        let mut scores = Vec::new();
        for (features, best) in [(vec![(0, 0.7), (1, 0.7)], 0), (vec![(0, 0.7), (2, 0.7)], 1)] {
            learnt.score(&features, 2, &mut scores);
            assert!(scores[best] > scores[1 - best], "{scores:?}");
        }
        learnt.score(&[(0, 1.0)], 2, &mut scores);
        assert!((scores[0] - scores[1]).abs() < 1.0, "{scores:?}");
    }
}
