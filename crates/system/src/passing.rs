//! Messages over unix sockets that have descriptors beside their bytes: the one way in which processes of ours hand them to each
//! other.

use rustix::io::{Errno, Result, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The kernel takes no more with one message.
pub const DESCRIPTORS_MAX: usize = 253;

/// So many bytes for so many descriptors.
const fn space_for(count: usize) -> usize {
    rustix::cmsg_space!(ScmRights(count))
}

/// Sends bytes, and descriptors beside the first of them; how many bytes went. Asks for no memory, so that it can be called
/// where nobody may.
pub fn send(socket: impl AsFd, bytes: &[IoSlice<'_>], descriptors: &[BorrowedFd<'_>]) -> Result<usize> {
    let mut room = [MaybeUninit::uninit(); space_for(DESCRIPTORS_MAX)];
    let mut control = SendAncillaryBuffer::new(&mut room);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::NOBUFS);
    }
    retry_on_intr(|| sendmsg(&socket, bytes, &mut control, SendFlags::NOSIGNAL))
}

/// What came at once.
pub struct Received {
    /// How many; none if the other end has gone.
    pub bytes: usize,
    pub descriptors: Vec<OwnedFd>,
}

/// Receives bytes, and the descriptors beside them, which no program that is started inherits. If there are more than `most`, the
/// kernel closes the rest.
pub fn receive(socket: impl AsFd, places: &mut [IoSliceMut<'_>], most: usize, flags: RecvFlags) -> Result<Received> {
    let mut room = [MaybeUninit::uninit(); space_for(DESCRIPTORS_MAX)];
    let room = room.get_mut(..space_for(most)).ok_or(Errno::INVAL)?;
    let mut control = RecvAncillaryBuffer::new(room);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let bytes = retry_on_intr(|| recvmsg(&socket, places, &mut control, flags))?.bytes;
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    Ok(Received { bytes, descriptors })
}

/// As `receive`, for who may not ask for memory: each descriptor is put in the next of these places, and how many bytes came is
/// told. What there is no place for is closed.
pub fn receive_into(socket: impl AsFd, bytes: &mut [u8], places: &mut [Option<OwnedFd>]) -> Result<usize> {
    let mut room = [MaybeUninit::uninit(); space_for(FEW)];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let count = retry_on_intr(|| recvmsg(&socket, &mut [IoSliceMut::new(bytes)], &mut control, flags))?.bytes;
    let mut places = places.iter_mut();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            received.for_each(|descriptor| places.next().map_or((), |place| *place = Some(descriptor)));
        }
    }
    Ok(count)
}

/// Descriptors that are expected without memory for them.
const FEW: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn pass(count: usize, most: usize) -> Result<Received> {
        let (one, other) = UnixStream::pair().unwrap();
        let descriptors = vec![one.as_fd(); count];
        send(&one, &[IoSlice::new(b"a"), IoSlice::new(b"bc")], &descriptors)?;
        let mut bytes = [0; 8];
        let received = receive(&other, &mut [IoSliceMut::new(&mut bytes)], most, RecvFlags::empty())?;
        assert_eq!(&bytes[..received.bytes], b"abc");
        Ok(received)
    }

    #[test]
    fn descriptors_arrive_beside_their_bytes_and_are_not_inherited() {
        for count in [0, 1, 3, DESCRIPTORS_MAX] {
            let received = pass(count, DESCRIPTORS_MAX).unwrap();
            assert_eq!(received.descriptors.len(), count);
            let is_inherited =
                |descriptor| !rustix::io::fcntl_getfd(descriptor).unwrap().contains(rustix::io::FdFlags::CLOEXEC);
            assert!(!received.descriptors.iter().any(is_inherited));
        }
        assert!(pass(DESCRIPTORS_MAX + 1, 1).is_err());
    }

    #[test]
    fn no_more_arrive_than_are_wanted() {
        let received = pass(50, 4).unwrap();
        // The kernel's room is a multiple of two.
        assert!(received.descriptors.len() < 8, "{}", received.descriptors.len());
    }

    #[test]
    fn descriptors_arrive_in_the_places_that_are_there() {
        let (one, other) = UnixStream::pair().unwrap();
        for (sent, places, found) in [(0, 2, 0), (2, 2, 2), (1, 2, 1), (3, 2, 2)] {
            send(&one, &[IoSlice::new(b"g")], &vec![one.as_fd(); sent]).unwrap();
            let (mut byte, mut descriptors) = ([0], [None, None]);
            assert_eq!(receive_into(&other, &mut byte, &mut descriptors[..places]).unwrap(), 1);
            assert_eq!((byte, descriptors.iter().flatten().count()), ([b'g'], found));
        }
    }

    #[test]
    fn whoever_has_gone_is_noticed() {
        let (one, other) = UnixStream::pair().unwrap();
        drop(one);
        let received = receive(&other, &mut [IoSliceMut::new(&mut [0])], 1, RecvFlags::empty()).unwrap();
        assert_eq!(received.bytes, 0);
        assert!(send(&other, &[IoSlice::new(b"x")], &[]).is_err());
    }
}
