//! How regreen and a keeper talk: one socket, one order after the other.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::order::Order;

/// Sent to a keeper: end everything.
pub(crate) const END: u8 = b'E';
/// Sent to a keeper: an order follows.
const ORDER: u8 = b'O';

const LEN_BYTES: usize = size_of::<u64>();
/// Stdout, stderr and stdin.
const MAX_DESCRIPTORS: usize = 3;

/// An order as it arrives, with the descriptors that become the program's.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) order: Order,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// `None` means none: end of file at once.
    pub(crate) stdin: Option<OwnedFd>,
}

/// Sends an order, and stdout, stderr and perhaps stdin with it.
pub(crate) fn send_order(
    mut to: &UnixStream,
    order: &Order,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(descriptors));
    // The descriptors come with this very byte.
    let word = [IoSlice::new(&[ORDER])];
    sendmsg(to, &word, &mut control, SendFlags::empty())?;
    let body = order.encode();
    to.write_all(&(body.len() as u64).to_le_bytes())?;
    to.write_all(&body)
}

/// Waits for the next order; `None` if regreen is gone.
pub(crate) fn receive_order(mut from: &UnixStream) -> io::Result<Option<Received>> {
    let descriptors = loop {
        match receive_word(from)? {
            None => return Ok(None),
            Some((ORDER, descriptors)) => break descriptors,
            // It crossed with the end of what it was about.
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

fn receive_word(from: &UnixStream) -> io::Result<Option<(u8, Vec<OwnedFd>)>> {
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
/// The descriptors are the child's, and the keeper starts nothing but the child.
#[cfg(not(target_os = "linux"))]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::empty();

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::time::Duration;

    use super::*;

    fn order(word: &str) -> Order {
        Order {
            argv: vec![word.into()],
            cwd: "/".into(),
            env: Vec::new(),
            grace: Duration::ZERO,
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
    fn a_word_that_came_too_late_is_passed_over() {
        let (mut regreen, keeper) = UnixStream::pair().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        regreen.write_all(&[END]).unwrap();
        send_order(&regreen, &order("next"), &[null.as_fd(); 2]).unwrap();
        let next = receive_order(&keeper).unwrap().unwrap();
        assert_eq!(next.order, order("next"));
    }
}
