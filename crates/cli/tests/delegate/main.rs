//! `regreen delegate` and `regreen failures` as a person or a script uses them.

mod asking;
mod claude;
mod diagnosis;
mod failure_log;
mod good_practice;
mod hostile;
mod parts;
mod stopping;
mod strategies;
