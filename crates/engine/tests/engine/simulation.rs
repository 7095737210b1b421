//! Runs in a world made of numbers: agents that pass, fail, lie, time out and vanish,
//! crashes between any two steps, people who have their say, and what must hold whatever
//! happens.

use std::collections::BTreeMap;

use regreen_engine::{Input, State, decide};
use regreen_model::Event;

use crate::promises::check;
use crate::world::World;

#[test]
fn whatever_happens_a_run_ends_and_tells_the_truth() {
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..2_000 {
        let world = World::new(seed).run();
        check(seed, &world);
        let end = format!("{:?}", world.state.outcome);
        *ends.entry(end.chars().take(12).collect()).or_default() += 1;
    }
    // A world in which nothing ever succeeds, or nothing ever fails, would show nothing.
    assert!(ends.len() >= 4, "{ends:?}");
}

#[test]
fn deciding_again_gives_the_same_events() {
    for seed in 0..1_000 {
        let world = World::new(seed).run();
        let mut state = State::default();
        for (now, input, events) in &world.journal {
            let text = serde_json::to_string(input).unwrap_or_default();
            let stored: Input =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let decision = decide(&state, *now, &stored);
            assert_eq!(&decision.events, events, "seed {seed}");
            for event in events {
                let text = serde_json::to_string(event).unwrap_or_default();
                let stored: Event =
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                state.apply(&stored);
            }
        }
        let text = serde_json::to_string(&state).unwrap_or_default();
        let stored: State = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(stored, state);
    }
}
