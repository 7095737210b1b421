/// Sees what a child does while it runs.
pub trait Observer {
    /// Bytes the child wrote, masked if the spec has masks, in the order of their stream.
    fn output(&mut self, chunk: Chunk<'_>);

    /// Whether files the child works on have changed since this was last asked. Asked only
    /// when nothing else speaks against the idle limit.
    fn files_changed(&mut self) -> bool {
        false
    }
}

/// A piece of output, cut wherever the pipe cut it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    pub stream: Stream,
    pub bytes: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl<F: FnMut(Chunk<'_>)> Observer for F {
    fn output(&mut self, chunk: Chunk<'_>) {
        self(chunk);
    }
}
