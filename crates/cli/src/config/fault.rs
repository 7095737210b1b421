use std::ops::Range;

/// Something in a configuration file that cannot stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub message: String,
    /// Which bytes of the file it is about.
    pub span: Range<usize>,
    /// What is to be said right there.
    pub label: String,
    /// What to do about it.
    pub way_out: String,
}
