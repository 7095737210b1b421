use std::collections::VecDeque;

use regreen_engine::{Command, Issued};

/// What the engine has asked for and is not done yet, in the order to do it.
///
/// The state file is written when something is about to be done that takes its time. Where
/// the plan is read first, what comes of that says the state anew a moment later.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    queue: VecDeque<Issued>,
    state: Option<Issued>,
}

impl Agenda {
    pub(crate) fn add(&mut self, asked: Vec<Issued>) {
        self.queue.extend(asked);
    }

    pub(crate) fn next(&mut self) -> Option<Issued> {
        while let Some(issued) = self.queue.pop_front() {
            match &issued.command {
                Command::SaveState(_) => self.state = Some(issued),
                Command::ReadPlan { .. } => return Some(issued),
                _ => match self.state.take() {
                    None => return Some(issued),
                    state => {
                        self.queue.push_front(issued);
                        return state;
                    }
                },
            }
        }
        self.state.take()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use regreen_engine::StateFile;

    use super::*;

    fn issued(seq: u64, command: Command) -> Issued {
        Issued { seq, command }
    }

    fn save(seq: u64) -> Issued {
        issued(seq, Command::SaveState(StateFile::default()))
    }

    fn read(seq: u64) -> Issued {
        let command = Command::ReadPlan {
            include_optional: false,
            only: None,
            passed_over: Default::default(),
            originals_first: None,
        };
        issued(seq, command)
    }

    fn order(asked: Vec<Issued>) -> Vec<u64> {
        let mut agenda = Agenda::default();
        agenda.add(asked);
        std::iter::from_fn(|| agenda.next().map(|issued| issued.seq)).collect()
    }

    #[test]
    fn a_state_that_is_said_anew_is_written_once() {
        let finish = issued(5, Command::Finish);
        let asked = vec![save(1), read(2), save(3), finish];
        assert_eq!(order(asked), [2, 3, 5]);
    }

    #[test]
    fn a_state_is_written_before_anything_is_done() {
        let finish = issued(3, Command::Finish);
        assert_eq!(order(vec![save(1), read(2), finish]), [2, 1, 3]);
        assert_eq!(order(vec![save(1)]), [1]);
    }
}
