//! The protocol between regreen and a keeper: one socket, one order after the other.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::{LastCopy, ProcessSpec};

/// A program for a keeper to run. regreen and its keeper are the same binary, so the format has no
/// version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) argv: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) grace: Duration,
    pub(crate) last_copy: Option<LastCopy>,
}

/// The error for bytes that aren't a complete order.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an order for a keeper")]
pub(crate) struct InvalidOrder;

impl Order {
    pub(crate) fn of(spec: &ProcessSpec) -> Self {
        let (name, value) = spec.marker.variable();
        let mut env = spec.env.clone();
        env.push((name, Some(value)));
        Self {
            argv: spec.argv.clone(),
            cwd: spec.cwd.clone(),
            env,
            grace: spec.limits.grace,
            last_copy: spec.last_copy.clone(),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_number(
            &mut out,
            self.grace.as_millis().try_into().unwrap_or(u64::MAX),
        );
        put_text(&mut out, self.cwd.as_os_str().as_bytes());
        put_number(&mut out, self.argv.len() as u64);
        for argument in &self.argv {
            put_text(&mut out, argument.as_bytes());
        }
        put_number(&mut out, self.env.len() as u64);
        for (name, value) in &self.env {
            put_text(&mut out, name.as_bytes());
            put_number(&mut out, u64::from(value.is_some()));
            put_text(&mut out, value.as_deref().unwrap_or_default().as_bytes());
        }
        let paths = self
            .last_copy
            .iter()
            .flat_map(|last| [&last.file, &last.copy]);
        let paths: Vec<&PathBuf> = paths.collect();
        put_number(&mut out, paths.len() as u64);
        for path in paths {
            put_text(&mut out, path.as_os_str().as_bytes());
        }
        out
    }

    pub(crate) fn decode(mut bytes: &[u8]) -> Result<Self, InvalidOrder> {
        let from = &mut bytes;
        Ok(Self {
            grace: Duration::from_millis(take_number(from)?),
            cwd: take_text(from)?.into(),
            argv: take_list(from, take_text)?,
            env: take_list(from, take_change)?,
            last_copy: take_last_copy(from)?,
        })
    }
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text);
}

fn take_number(from: &mut &[u8]) -> Result<u64, InvalidOrder> {
    let (number, rest) = from.split_first_chunk().ok_or(InvalidOrder)?;
    *from = rest;
    Ok(u64::from_le_bytes(*number))
}

fn take_text(from: &mut &[u8]) -> Result<OsString, InvalidOrder> {
    let len = usize::try_from(take_number(from)?).map_err(|_| InvalidOrder)?;
    let (text, rest) = from.split_at_checked(len).ok_or(InvalidOrder)?;
    *from = rest;
    Ok(OsString::from_vec(text.to_vec()))
}

fn take_change(from: &mut &[u8]) -> Result<(OsString, Option<OsString>), InvalidOrder> {
    let name = take_text(from)?;
    let is_set = take_number(from)? == 1;
    let value = take_text(from)?;
    Ok((name, is_set.then_some(value)))
}

fn take_last_copy(from: &mut &[u8]) -> Result<Option<LastCopy>, InvalidOrder> {
    let mut paths = take_list(from, take_text)?.into_iter().map(PathBuf::from);
    match (paths.next(), paths.next()) {
        (None, _) => Ok(None),
        (Some(file), Some(copy)) => Ok(Some(LastCopy { file, copy })),
        (Some(_), None) => Err(InvalidOrder),
    }
}

fn take_list<T>(
    from: &mut &[u8],
    mut take: impl FnMut(&mut &[u8]) -> Result<T, InvalidOrder>,
) -> Result<Vec<T>, InvalidOrder> {
    let len = take_number(from)?;
    (0..len).map(|_| take(from)).collect()
}

/// Sent to a keeper: end everything.
pub(crate) const END: u8 = b'E';
/// Sent to a keeper: an order follows.
const ORDER: u8 = b'O';

const LEN_BYTES: usize = size_of::<u64>();
/// Stdout, stderr and stdin.
const MAX_DESCRIPTORS: usize = 3;

/// An order as it arrives, with the descriptors for the program.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) order: Order,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// `None` means end of file at once.
    pub(crate) stdin: Option<OwnedFd>,
}

/// Sends an order along with stdout, stderr and perhaps stdin.
pub(crate) fn send_order(
    mut to: &UnixStream,
    order: &Order,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(descriptors));
    // The descriptors travel with this byte.
    let message = [IoSlice::new(&[ORDER])];
    sendmsg(to, &message, &mut control, SendFlags::empty())?;
    let body = order.encode();
    to.write_all(&(body.len() as u64).to_le_bytes())?;
    to.write_all(&body)
}

/// Waits for the next order; `None` if regreen is gone.
pub(crate) fn receive_order(mut from: &UnixStream) -> io::Result<Option<Received>> {
    let descriptors = loop {
        match receive_byte(from)? {
            None => return Ok(None),
            Some((ORDER, descriptors)) => break descriptors,
            // It concerned a program that has since ended.
            Some(_) => {}
        }
    };
    let mut len = [0; LEN_BYTES];
    from.read_exact(&mut len)?;
    let mut body = Vec::new();
    from.take(u64::from_le_bytes(len)).read_to_end(&mut body)?;
    let order = Order::decode(&body).map_err(invalid)?;
    let mut descriptors = descriptors.into_iter();
    match (descriptors.next(), descriptors.next()) {
        (Some(stdout), Some(stderr)) => Ok(Some(Received {
            order,
            stdout,
            stderr,
            stdin: descriptors.next(),
        })),
        _ => Err(invalid("descriptors are missing")),
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn receive_byte(from: &UnixStream) -> io::Result<Option<(u8, Vec<OwnedFd>)>> {
    let mut word = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut parts = [IoSliceMut::new(&mut word)];
        match recvmsg(from, &mut parts, &mut control, CLOSE_ON_EXEC) {
            Err(Errno::INTR) => {}
            received => break received?,
        }
    };
    let descriptors = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    });
    let descriptors = descriptors.collect();
    Ok((received.bytes > 0).then_some((word[0], descriptors)))
}

#[cfg(target_os = "linux")]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;
/// The child inherits the descriptors, and the keeper starts nothing but the child.
#[cfg(not(target_os = "linux"))]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::empty();

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::time::Duration;

    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    fn text() -> impl Strategy<Value = OsString> {
        vec(any::<u8>(), 0..20).prop_map(OsString::from_vec)
    }

    prop_compose! {
        fn any_order()(
            argv in vec(text(), 0..5),
            cwd in text(),
            env in vec((text(), option::of(text())), 0..5),
            grace in 0..10_000_u64,
            last_copy in option::of((text(), text())),
        ) -> Order {
            let last_copy = last_copy.map(|(file, copy)| LastCopy { file: file.into(), copy: copy.into() });
            Order { argv, cwd: cwd.into(), env, grace: Duration::from_millis(grace), last_copy }
        }
    }

    proptest! {
        #[test]
        fn every_order_arrives_as_it_was_sent(order in any_order()) {
            prop_assert_eq!(Order::decode(&order.encode()), Ok(order));
        }

        #[test]
        fn a_truncated_order_is_invalid(order in any_order(), cut in any::<proptest::sample::Index>()) {
            let bytes = order.encode();
            prop_assert_eq!(Order::decode(&bytes[..cut.index(bytes.len())]), Err(InvalidOrder));
        }
    }

    fn order(word: &str) -> Order {
        Order {
            argv: vec![word.into()],
            cwd: "/".into(),
            env: Vec::new(),
            grace: Duration::ZERO,
            last_copy: None,
        }
    }

    #[test]
    fn orders_arrive_one_by_one_with_their_descriptors_and_then_the_end() {
        let (regreen, keeper) = UnixStream::pair().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        let three = [null.as_fd(); 3];
        send_order(&regreen, &order("one"), &three[..2]).unwrap();
        send_order(&regreen, &order("two"), &three).unwrap();
        drop(regreen);
        let one = receive_order(&keeper).unwrap().unwrap();
        assert_eq!((one.order, one.stdin.is_some()), (order("one"), false));
        let two = receive_order(&keeper).unwrap().unwrap();
        assert_eq!((two.order, two.stdin.is_some()), (order("two"), true));
        assert!(receive_order(&keeper).unwrap().is_none());
    }

    #[test]
    fn a_message_that_came_too_late_is_skipped() {
        let (mut regreen, keeper) = UnixStream::pair().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        regreen.write_all(&[END]).unwrap();
        send_order(&regreen, &order("next"), &[null.as_fd(); 2]).unwrap();
        let next = receive_order(&keeper).unwrap().unwrap();
        assert_eq!(next.order, order("next"));
    }
}
