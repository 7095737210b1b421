use serde::{Deserialize, Serialize};

use crate::{PlainLine, RepairAction};

/// How many characters of a note are kept.
pub const NOTE_CHARS: usize = 300;
/// Fewer failures than this are not worth telling a person.
const WORTH_TELLING: u64 = 3;

/// How a step of a delegation says what an agent was told about.
const ADVISED: &str = "advised ";
const OR: &str = " or ";

/// What earlier failures with the same cause show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Experience {
    /// Whether the cause is only similar: the nearest known one of the same kind.
    pub similar: bool,
    /// How many such failures are known.
    pub failures: u64,
    /// In how many workspaces.
    pub workspaces: u64,
    /// What helped, best first.
    pub advice: Vec<Advice>,
    /// Repairs that were tried at least twice and never helped.
    pub useless: Vec<String>,
    /// Whether nothing that was done about them has helped.
    pub nothing_helped: bool,
}

/// Something that helped against a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Advice {
    /// What was done, in words that say nothing about a project.
    pub response: String,
    /// In how many runs it helped.
    pub helped: u64,
    /// In how many runs it was tried, of which the result is known.
    pub tried: u64,
    /// In how many workspaces it helped.
    pub workspaces: u64,
    /// Whether it helped in this workspace.
    pub here: bool,
    /// What the agent or the person said then, latest first. Untrusted.
    pub notes: Vec<String>,
}

impl Experience {
    /// Whether a repair has been tried often enough to know that it doesn't help.
    #[must_use]
    pub fn refuses(&self, repair: &RepairAction) -> bool {
        self.useless.contains(&repair.response())
    }

    /// Says which responses an agent is told about, in words that [`advised_in`](Self::advised_in)
    /// reads; `None` if there are none.
    #[must_use]
    pub fn advised(&self) -> Option<String> {
        let responses: Vec<&str> = self
            .advice
            .iter()
            .map(|one| one.response.as_str())
            .collect();
        (!responses.is_empty()).then(|| format!("{ADVISED}{}", responses.join(OR)))
    }

    /// Returns the responses that a step of a delegation told the agent about; `None` if it is
    /// another step.
    #[must_use]
    pub fn advised_in(step: &str) -> Option<Vec<String>> {
        let responses = step.trim().strip_prefix(ADVISED)?.split(OR);
        Some(responses.map(str::to_owned).collect())
    }

    /// Says that nothing has ever helped, if that is worth telling a person.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let (failures, workspaces) = (self.failures, self.workspaces);
        let repositories = match workspaces {
            1 => "1 repository".to_owned(),
            more => format!("{more} repositories"),
        };
        (self.nothing_helped && !self.similar && failures >= WORTH_TELLING).then(|| {
            format!("this has failed {failures} times in {repositories}, and nothing helped")
        })
    }
}

impl Advice {
    /// Describes what helped, in one line. The numbers are the source.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { helped, tried, .. } = self;
        let place = match (self.here, self.workspaces) {
            (true, ..=1) => "in this repository".to_owned(),
            (true, more) => format!("in this repository and {} more", more - 1),
            (false, 1) => "in another repository".to_owned(),
            (false, more) => format!("in {more} other repositories"),
        };
        let response = PlainLine::flatten(&self.response, NOTE_CHARS);
        format!("{response} — helped in {helped} of {tried} runs, {place}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_of_failures_against_which_nothing_helped() {
        let experience = Experience {
            failures: 7,
            workspaces: 3,
            nothing_helped: true,
            ..Experience::default()
        };
        assert_eq!(
            experience.warning().as_deref(),
            Some("this has failed 7 times in 3 repositories, and nothing helped")
        );
        let rare = Experience {
            failures: 2,
            ..experience.clone()
        };
        let similar = Experience {
            similar: true,
            ..experience.clone()
        };
        let helped = Experience {
            nothing_helped: false,
            ..experience
        };
        assert_eq!(
            [rare, similar, helped].map(|one| one.warning()),
            [None, None, None]
        );
    }

    #[test]
    fn advice_names_its_source_in_one_line() {
        let advice = Advice {
            response: "repair pip_install\nPyYAML".to_owned(),
            helped: 2,
            tried: 3,
            workspaces: 2,
            ..Advice::default()
        };
        assert_eq!(
            advice.words(),
            "repair pip_install PyYAML — helped in 2 of 3 runs, in 2 other repositories"
        );
        let here = Advice {
            here: true,
            ..advice
        };
        assert!(here.words().ends_with("in this repository and 1 more"));
    }

    #[test]
    fn a_repair_is_refused_by_what_is_public_about_it() {
        let useless = vec![
            "repair pip_install PyYAML".to_owned(),
            "repair chmod_x".to_owned(),
        ];
        let experience = Experience {
            useless,
            ..Experience::default()
        };
        let install = |package: &str| RepairAction::PipInstall {
            args: vec![package.to_owned()],
        };
        let path = "run.sh".to_owned();
        assert!(experience.refuses(&install("PyYAML")));
        assert!(!experience.refuses(&install("flask")));
        assert!(experience.refuses(&RepairAction::ChmodX { path }));
    }
}
