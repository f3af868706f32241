//! What a model's provider said it counted.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens and money, as reported. A figure that nobody reported is `None`, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens sent, without those read from the provider's cache.
    pub input: Option<u64>,
    /// Tokens received, thinking included.
    pub output: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the provider's cache.
    pub cache_write: Option<u64>,
    /// Of `output`, the tokens spent on thinking.
    pub reasoning: Option<u64>,
    /// US dollars, by the catalogue's list prices.
    pub cost: Option<f64>,
}

impl Usage {
    /// Input, output, and cache writes, as far as they were reported; `None` when none of them was.
    pub fn tokens(&self) -> Option<u64> {
        [self.input, self.output, self.cache_write]
            .into_iter()
            .flatten()
            .reduce(u64::saturating_add)
    }

    /// What a token budget counts: [`tokens`](Self::tokens), and 0 for what nobody reported.
    pub fn total(&self) -> u64 {
        self.tokens().unwrap_or_default()
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        fn add<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            }
        }
        *self = Self {
            input: add(self.input, other.input),
            output: add(self.output, other.output),
            cache_read: add(self.cache_read, other.cache_read),
            cache_write: add(self.cache_write, other.cache_write),
            reasoning: add(self.reasoning, other.reasoning),
            cost: add(self.cost, other.cost),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reported_stays_unknown() {
        let mut sum = Usage::default();
        sum += Usage {
            input: Some(3),
            ..Usage::default()
        };
        sum += Usage {
            input: Some(4),
            cost: Some(0.5),
            ..Usage::default()
        };
        assert_eq!(
            sum,
            Usage {
                input: Some(7),
                cost: Some(0.5),
                ..Usage::default()
            }
        );
        assert_eq!(sum.output, None);
        assert_eq!(sum.tokens(), Some(7));
        assert_eq!(Usage::default().tokens(), None);
    }
}
