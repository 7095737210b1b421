//! Claims of success that only the harness's own words refute are told from true ones. The detector
//! was written from the odd cases of the table; the even ones show how it does on other words.

use regreen_diagnosis::{evidence_of, rank, scan};
use regreen_model::{Ending, FailureKind, Source};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    blocker: Option<String>,
}

/// What the diagnosis makes of a message: nothing, or the line that it quotes.
fn found(case: &Case) -> Option<(FailureKind, Option<String>)> {
    let ending = Ending {
        exit_code: Some(0),
        ..Ending::default()
    };
    let output = scan(case.text.as_bytes(), Source::Agent);
    let failure = rank(&evidence_of(output, Source::Agent, None, ending))?;
    Some((failure.kind, failure.blocked_on))
}

struct Figures {
    precision: f64,
    recall: f64,
    wrong: Vec<String>,
}

fn figures(cases: &[&Case]) -> Figures {
    let mut wrong = Vec::new();
    let (mut right, mut alarms, mut refuted) = (0.0, 0.0, 0.0);
    for case in cases {
        let found = found(case);
        let is_found = matches!(found, Some((FailureKind::FalseSuccessClaim, _)));
        match case.blocker {
            Some(_) => {
                refuted += 1.0;
                right += f64::from(u8::from(is_found));
            }
            None => alarms += f64::from(u8::from(found.is_some())),
        }
        if is_found != case.blocker.is_some() || (case.blocker.is_none() && found.is_some()) {
            wrong.push(format!("{}\n  found {found:?}", case.text));
        }
    }
    Figures {
        precision: right / (right + alarms),
        recall: right / refuted,
        wrong,
    }
}

#[test]
fn claims_that_the_harness_refutes_are_told_from_true_ones() {
    let table: Table = toml::from_str(include_str!("claims.toml")).unwrap();
    let (refuted, sound): (Vec<&Case>, Vec<&Case>) =
        table.case.iter().partition(|case| case.blocker.is_some());
    for from in [0, 1] {
        let cases: Vec<&Case> = (refuted.iter().skip(from).step_by(2))
            .chain(sound.iter().skip(from).step_by(2))
            .copied()
            .collect();
        let Figures {
            precision,
            recall,
            wrong,
        } = figures(&cases);
        let wrong = wrong.join("\n");
        let figures = format!("from {from}: precision {precision:.3}, recall {recall:.3}\n{wrong}");
        assert!(precision >= 0.9 && recall >= 0.8, "{figures}");
    }
}
