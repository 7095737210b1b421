use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};

use regreen_redaction::{Filter, Masks};

use crate::{Chunk, Observer, Stream};

/// One stream of the child's output on its way to the observer.
#[derive(Debug)]
pub(crate) struct Source {
    stream: Stream,
    /// `None` at its end.
    pipe: Option<PipeReader>,
    filter: Option<Filter>,
    masked: Vec<u8>,
    bytes: u64,
}

impl Source {
    pub(crate) fn new(stream: Stream, pipe: PipeReader, masks: Option<&Masks>) -> Self {
        Self {
            stream,
            pipe: Some(pipe),
            filter: masks.map(Masks::filter),
            masked: Vec::new(),
            bytes: 0,
        }
    }

    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Passes on what is there, up to a buffer full; whether there was anything.
    pub(crate) fn pump(&mut self, buffer: &mut [u8], observer: &mut dyn Observer) -> bool {
        let Some(pipe) = &mut self.pipe else {
            return false;
        };
        match pipe.read(buffer) {
            Ok(len @ 1..) => {
                self.bytes += len as u64;
                self.pass_on(&buffer[..len], observer);
                true
            }
            Err(error) if is_for_now(&error) => false,
            Ok(0) | Err(_) => {
                self.close(observer);
                false
            }
        }
    }

    /// Nothing more is wanted: passes on what was held back.
    pub(crate) fn close(&mut self, observer: &mut dyn Observer) {
        self.pipe = None;
        if let Some(mut filter) = self.filter.take() {
            self.masked.clear();
            filter.finish(&mut self.masked);
            show(self.stream, &self.masked, observer);
        }
    }

    fn pass_on(&mut self, bytes: &[u8], observer: &mut dyn Observer) {
        let Some(filter) = &mut self.filter else {
            return show(self.stream, bytes, observer);
        };
        self.masked.clear();
        filter.feed(bytes, &mut self.masked);
        show(self.stream, &self.masked, observer);
    }
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn show(stream: Stream, bytes: &[u8], observer: &mut dyn Observer) {
    if !bytes.is_empty() {
        observer.output(Chunk { stream, bytes });
    }
}
