//! How regreen and a keeper talk: one socket, the order and the child's stdin first.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::order::Order;

/// Sent to a keeper: end everything.
pub(crate) const END: u8 = b'E';

const LEN_BYTES: usize = size_of::<u64>();

/// Sends the order and, if there is one, the file descriptor that becomes the child's stdin.
pub(crate) fn send_order(
    mut to: &UnixStream,
    order: &Order,
    stdin: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let body = order.encode();
    let len = (body.len() as u64).to_le_bytes();
    let descriptors: Vec<BorrowedFd<'_>> = stdin.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let sent = sendmsg(to, &[IoSlice::new(&len)], &mut control, SendFlags::empty())?;
    to.write_all(&len[sent..])?;
    to.write_all(&body)
}

pub(crate) fn receive_order(mut from: &UnixStream) -> io::Result<(Order, Option<OwnedFd>)> {
    let mut len = [0; LEN_BYTES];
    let (got, stdin) = receive_with_descriptor(from, &mut len)?;
    from.read_exact(&mut len[got..])?;
    let mut body = Vec::new();
    let len = u64::from_le_bytes(len);
    from.take(len).read_to_end(&mut body)?;
    let order =
        Order::decode(&body).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok((order, stdin))
}

fn receive_with_descriptor(
    from: &UnixStream,
    bytes: &mut [u8],
) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(bytes)];
    let received = recvmsg(from, &mut parts, &mut control, CLOSE_ON_EXEC)?;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok((received.bytes, descriptor))
}

#[cfg(target_os = "linux")]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;
/// The descriptor is the child's stdin, and the keeper starts nothing but the child.
#[cfg(not(target_os = "linux"))]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::empty();
