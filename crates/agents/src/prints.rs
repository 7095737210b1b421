/// What an agent's output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prints {
    /// Messages of a protocol: its words are told apart from all else.
    #[default]
    Messages,
    /// What commands print, and no words of its own.
    WhatCommandsPrint,
    /// Its words and what commands print; nobody tells them apart.
    Anything,
}
