//! What really ran: the walk along the candidates, made of the requests that ended.

use std::time::Duration;

use sortie_protocol::{
    Attempt, BudgetKind, Budgets, Candidate, Ended, EndedStatus, ModelReceipt, Thinking, Usage,
};

/// The requests of one child so far.
#[derive(Debug)]
pub(crate) struct Receipt {
    candidates: Vec<(String, Option<Thinking>, sortie_protocol::Api)>,
    legs: Vec<Leg>,
    usage: Usage,
    requests: u64,
}

/// Consecutive requests to one candidate.
#[derive(Debug)]
struct Leg {
    candidate: usize,
    requests: u64,
    answered: bool,
    /// What the last failure was.
    left: String,
}

impl Receipt {
    pub(crate) fn new(candidates: &[Candidate]) -> Self {
        let candidates = candidates
            .iter()
            .map(|candidate| (candidate.selector.clone(), candidate.effort, candidate.api))
            .collect();
        Self {
            candidates,
            legs: Vec::new(),
            usage: Usage::default(),
            requests: 0,
        }
    }

    /// A request is over.
    pub(crate) fn ended(&mut self, ended: &Ended) {
        self.requests += 1;
        self.usage += ended.usage;
        let leg = self.leg(ended.candidate);
        leg.requests += 1;
        match &ended.status {
            EndedStatus::Answered => {
                leg.answered = true;
                leg.left.clear();
            }
            EndedStatus::Refused { http, message } => {
                leg.left = format!("answered {http}: {message}");
            }
            EndedStatus::Broken { message } => leg.left.clone_from(message),
            EndedStatus::Abandoned => "stopped".clone_into(&mut leg.left),
        }
    }

    /// A candidate was not let out. What a provider said itself tells more, and stays.
    pub(crate) fn skipped(&mut self, candidate: usize, why: &str) {
        let left = &mut self.leg(candidate).left;
        if left.is_empty() {
            why.clone_into(left);
        }
    }

    fn leg(&mut self, candidate: usize) -> &mut Leg {
        if self
            .legs
            .last()
            .is_none_or(|leg| leg.candidate != candidate)
        {
            self.legs.push(Leg {
                candidate,
                requests: 0,
                answered: false,
                left: String::new(),
            });
        }
        let last = self.legs.len() - 1;
        &mut self.legs[last]
    }

    /// How many requests there were.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    /// What they used.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// The budget that is used up, if one is. Nothing left is nothing left, not no limit.
    pub(crate) fn spent(&self, budgets: &Budgets) -> Option<BudgetKind> {
        if budgets.requests.is_some_and(|limit| self.requests >= limit) {
            return Some(BudgetKind::Requests);
        }
        if budgets
            .tokens
            .is_some_and(|limit| self.usage.total() >= limit)
        {
            return Some(BudgetKind::Tokens);
        }
        let cost = self.usage.cost.unwrap_or(0.0);
        budgets
            .cost
            .is_some_and(|limit| cost >= limit)
            .then_some(BudgetKind::Cost)
    }

    /// The receipt. `unfit` are candidates that policy left out, before the first of the plan.
    pub(crate) fn model(&self, requested: Option<&str>, unfit: &[Attempt]) -> ModelReceipt {
        let served = self.legs.iter().rposition(|leg| leg.answered);
        let end = served.unwrap_or(self.legs.len());
        let walked = self.legs[..end].iter().filter_map(|leg| {
            let (selector, effort, _) = self.candidates.get(leg.candidate)?;
            Some(Attempt {
                selector: selector.clone(),
                effort: *effort,
                requests: leg.requests,
                left: leg.left.clone(),
            })
        });
        let attempts = unfit.iter().cloned().chain(walked).collect();
        // Where nothing answered, the one that was asked last is named; where nothing was asked, the first.
        let at = served
            .map(|leg| self.legs[leg].candidate)
            .or_else(|| self.legs.last().map(|leg| leg.candidate));
        let (selector, effort, api) = self
            .candidates
            .get(at.unwrap_or(0))
            .cloned()
            .unwrap_or_else(|| (String::new(), None, sortie_protocol::Api::Script));
        ModelReceipt {
            requested: requested.map(str::to_owned),
            selector,
            effort,
            api,
            attempts,
        }
    }
}

/// How long a provider is left alone after a request ended so: the time it named, or `None` where it is not tired.
pub(crate) fn cooldown(ended: &Ended, default: Duration) -> Option<Duration> {
    let EndedStatus::Refused { http, .. } = ended.status else {
        return None;
    };
    // 529 is Anthropic's word for overloaded; a 503 that names a time means the same.
    let tired = matches!(http, 429 | 529) || (http == 503 && ended.retry_after_ms.is_some());
    tired.then(|| ended.retry_after_ms.map_or(default, Duration::from_millis))
}

#[cfg(test)]
mod tests {
    use sortie_protocol::{Api, Effort, script::Script};

    use super::*;

    fn candidate(selector: &str) -> Candidate {
        Candidate {
            selector: selector.into(),
            provider: "p".into(),
            api: Api::OpenaiCompletions,
            base_url: String::new(),
            url_secret: None,
            key: None,
            headers: std::collections::BTreeMap::default(),
            wire_name: selector.into(),
            effort: Some(Thinking::Level(Effort::Low)),
            wire_effort: None,
            context_window: None,
            max_tokens: None,
            price: None,
            script: Script::default(),
        }
    }

    fn ended(candidate: usize, status: EndedStatus) -> Ended {
        let usage = Usage {
            input: Some(10),
            output: Some(5),
            ..Usage::default()
        };
        Ended {
            admit: 1,
            candidate,
            status,
            retry_after_ms: None,
            usage,
        }
    }

    fn refused(http: u16) -> EndedStatus {
        EndedStatus::Refused {
            http,
            message: "no".into(),
        }
    }

    #[test]
    fn the_receipt_shows_the_walk() {
        let mut receipt = Receipt::new(&["p/a", "p/b", "p/c"].map(candidate));
        receipt.ended(&ended(0, EndedStatus::Answered));
        receipt.ended(&ended(0, refused(429)));
        receipt.skipped(0, "cooling down");
        receipt.skipped(1, "cooling down");
        receipt.ended(&ended(2, EndedStatus::Answered));
        let model = receipt.model(Some("@smol"), &[]);
        assert_eq!((model.selector.as_str(), receipt.requests()), ("p/c", 3));
        let walk: Vec<_> = model
            .attempts
            .iter()
            .map(|a| (a.selector.as_str(), a.requests, a.left.as_str()))
            .collect();
        assert_eq!(
            walk,
            [("p/a", 2, "answered 429: no"), ("p/b", 0, "cooling down")]
        );
        assert_eq!(receipt.usage().total(), 45);
    }

    #[test]
    fn where_nothing_answered_every_try_is_an_attempt() {
        let mut receipt = Receipt::new(&["p/a", "p/b"].map(candidate));
        receipt.ended(&ended(0, refused(401)));
        receipt.ended(&ended(
            1,
            EndedStatus::Broken {
                message: "cut".into(),
            },
        ));
        let model = receipt.model(None, &[]);
        assert_eq!(model.selector, "p/b");
        assert_eq!(model.attempts.len(), 2);
    }

    #[test]
    fn zero_left_is_zero_left() {
        let mut receipt = Receipt::new(&[candidate("p/a")]);
        let tokens = |limit| Budgets {
            tokens: Some(limit),
            ..Budgets::default()
        };
        assert_eq!(receipt.spent(&tokens(0)), Some(BudgetKind::Tokens));
        assert_eq!(receipt.spent(&tokens(15)), None);
        receipt.ended(&ended(0, EndedStatus::Answered));
        assert_eq!(receipt.spent(&tokens(15)), Some(BudgetKind::Tokens));
        let requests = Budgets {
            requests: Some(1),
            ..Budgets::default()
        };
        assert_eq!(receipt.spent(&requests), Some(BudgetKind::Requests));
        assert_eq!(receipt.spent(&Budgets::default()), None);
    }

    #[test]
    fn only_a_tired_provider_is_left_alone() {
        let default = Duration::from_secs(30);
        assert_eq!(cooldown(&ended(0, refused(429)), default), Some(default));
        assert_eq!(cooldown(&ended(0, refused(500)), default), None);
        let named = Ended {
            retry_after_ms: Some(1500),
            ..ended(0, refused(529))
        };
        assert_eq!(cooldown(&named, default), Some(Duration::from_millis(1500)));
    }
}
