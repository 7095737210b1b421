//! What follows from the signs in the changes of an attempt.

use std::collections::BTreeSet;

use regreen_model::TamperPolicy;

use crate::CheckContext;
use crate::sign::TamperSign;

/// What follows from the signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Nothing.
    Accepted,
    /// People are told.
    Warned,
    /// The attempt has failed.
    Failed,
}

/// How many kinds of signs an attempt fails with. One alone has honest reasons too often.
const FAILING_KINDS: usize = 2;

/// Decides what follows from the signs. An attempt fails only with different signs in files that
/// its task does not name as its own.
#[must_use]
pub fn judge(policy: TamperPolicy, signs: &[TamperSign], context: &CheckContext<'_>) -> Judgement {
    if signs.is_empty() || policy == TamperPolicy::Off {
        return Judgement::Accepted;
    }
    let foreign = signs.iter().filter(|sign| !context.is_own(&sign.path));
    let kinds: BTreeSet<_> = foreign.map(|sign| sign.sign).collect();
    if policy == TamperPolicy::Fail && kinds.len() >= FAILING_KINDS {
        return Judgement::Failed;
    }
    Judgement::Warned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign::Sign;

    fn sign(path: &str, sign: Sign) -> TamperSign {
        TamperSign {
            path: path.to_owned(),
            line: None,
            sign,
            text: String::new(),
        }
    }

    #[test]
    fn two_kinds_of_signs_in_files_of_others_fail_an_attempt() {
        let skipped = sign("tests/a.py", Sign::TestSkipped);
        let trivial = sign("tests/a.py", Sign::AssertionTrivial);
        let both = [skipped.clone(), trivial];
        let context = CheckContext::default();
        assert_eq!(
            judge(TamperPolicy::Fail, &both, &context),
            Judgement::Failed
        );
        assert_eq!(
            judge(TamperPolicy::Warn, &both, &context),
            Judgement::Warned
        );
        assert_eq!(
            judge(TamperPolicy::Off, &both, &context),
            Judgement::Accepted
        );
        let twice = [skipped.clone(), skipped];
        assert_eq!(
            judge(TamperPolicy::Fail, &twice, &context),
            Judgement::Warned
        );
        assert_eq!(
            judge(TamperPolicy::Fail, &[], &context),
            Judgement::Accepted
        );
    }

    #[test]
    fn a_task_may_change_the_tests_that_it_names() {
        let own = ["tests/a.py".to_owned()];
        let context = CheckContext {
            own_files: &own,
            ..CheckContext::default()
        };
        let both = [
            sign("tests/a.py", Sign::TestSkipped),
            sign("tests/a.py", Sign::TestRemoved),
        ];
        assert_eq!(
            judge(TamperPolicy::Fail, &both, &context),
            Judgement::Warned
        );
    }
}
