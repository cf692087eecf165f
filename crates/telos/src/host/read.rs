//! Reading from outside: chunk by chunk, so that neither an endless source nor a silent one holds the machine. Owns how
//! much a program may take in at once and what ends a wait.

use super::Shared;
use super::file::{fail, path_of};
use super::open::{open_at_once, stream_of, with_descriptors};
use super::stream::Stream;
use language::{Args, Halt, Interrupt, Outcome, Signal, Value, Vm};
use object::sequence::{SIZE_LIMIT_BYTES, Sequence};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::OpenOptions;
use std::io;
use std::time::Duration;

/// How soon a program that waits notices that it should stop.
pub const WAIT_SLICE: Duration = Duration::from_millis(20);

/// What an object and its place in a list weigh beside the bytes of a line.
const LINE_BYTES: usize = 128;

/// Where a reading ends, unless the source ends before.
#[derive(Clone, Copy)]
pub enum Until {
    End,
    Count(u64),
    /// After a line's end.
    Line,
}

impl Until {
    /// How much of a chunk belongs to what is read, and whether that is the last of it.
    fn part(self, chunk: &[u8], held: usize) -> (usize, bool) {
        match self {
            Until::End => (chunk.len(), false),
            Until::Count(count) => {
                let left = usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(held);
                (left.min(chunk.len()), left <= chunk.len())
            }
            Until::Line => match chunk.iter().position(|&byte| byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (chunk.len(), false),
            },
        }
    }
}

/// Bytes that came in and that the heap does not hold yet: they count against the machine's memory all the same.
#[derive(Default)]
pub struct Gathered {
    pub bytes: Vec<u8>,
}

impl Gathered {
    /// Takes a chunk in, if the machine has room for it. `beside` is what the same primitive holds elsewhere.
    pub fn take(&mut self, vm: &mut Vm, chunk: &[u8], beside: usize) -> Result<(), Signal> {
        let held = self.bytes.len() + beside;
        if held + chunk.len() > SIZE_LIMIT_BYTES {
            return Err(
                vm.raise(format!("there is more to read than the {SIZE_LIMIT_BYTES} bytes that a Sequence holds"))
            );
        }
        vm.reserve_beside(held, chunk.len())?;
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }
}

/// Reads from the stream of a File that is open.
pub fn read(vm: &mut Vm, args: &Args, until: Until) -> Result<Vec<u8>, Signal> {
    let Some(stream) = stream_of(vm, args.target) else {
        return Err(fail(vm, args, "read", &io::Error::other("it is not open")));
    };
    let mut stream = stream.borrow_mut();
    read_stream(vm, args, &mut stream, until)
}

fn read_stream(vm: &mut Vm, args: &Args, stream: &mut Stream, until: Until) -> Result<Vec<u8>, Signal> {
    let mut gathered = Gathered::default();
    if matches!(until, Until::Count(0)) {
        return Ok(gathered.bytes);
    }
    loop {
        wait(vm, args, stream)?;
        let taken = stream.next(|chunk| {
            let (count, is_last) = until.part(chunk, gathered.bytes.len());
            match gathered.take(vm, &chunk[..count], 0) {
                Ok(()) => (count, Ok(is_last || chunk.is_empty())),
                Err(signal) => (0, Err(signal)),
            }
        });
        match taken {
            Ok(Ok(false)) => {}
            Ok(Ok(true)) => return Ok(gathered.bytes),
            Ok(Err(signal)) => return Err(signal),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(fail(vm, args, "read", &error)),
        }
    }
}

/// The next line without its end, or none at the end.
pub fn read_line(vm: &mut Vm, args: &Args) -> Result<Option<Vec<u8>>, Signal> {
    let mut line = read(vm, args, Until::Line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
    Ok(Some(line))
}

/// All lines that are left. The list is retained meanwhile: making room for a line may collect.
pub fn read_lines(vm: &mut Vm, args: &Args) -> Outcome {
    let list = vm.list([]);
    vm.retain(list);
    let result = append_lines(vm, args, list);
    vm.release(list);
    result.map(|()| list)
}

fn append_lines(vm: &mut Vm, args: &Args, list: Value) -> Result<(), Signal> {
    let mut total_bytes = 0;
    loop {
        let Some(line) = read_line(vm, args)? else { return Ok(()) };
        total_bytes += line.len() + LINE_BYTES;
        if total_bytes > SIZE_LIMIT_BYTES {
            return Err(vm.raise(format!("there are more lines to read than {SIZE_LIMIT_BYTES} bytes hold")));
        }
        vm.reserve(LINE_BYTES)?;
        let line = vm.buffer(Sequence::from_vec(line));
        vm.list_push(list, line);
    }
}

/// All that is in the file at the path, whether it is open or not.
pub fn read_path(vm: &mut Vm, args: &Args) -> Result<Vec<u8>, Signal> {
    let path = path_of(vm, args)?;
    let file = with_descriptors(vm, || open_at_once(OpenOptions::new().read(true), &path));
    let file = file.map_err(|error| fail(vm, args, "read", &error))?;
    // Of what is not a plain file, the size says nothing; and nothing is kept for a size that could not be read.
    let bytes = file.metadata().map_or(0, |metadata| metadata.len()) as usize;
    if bytes > SIZE_LIMIT_BYTES {
        let path = path.display();
        let why = format!("cannot read \"{path}\": it has {bytes} bytes, and a Sequence holds {SIZE_LIMIT_BYTES}");
        return Err(vm.raise(why));
    }
    vm.reserve_beside(bytes, 0)?;
    read_stream(vm, args, &mut Stream::whole_file(file), Until::End)
}

/// Waits until there is something to read, or the end.
pub fn wait(vm: &mut Vm, args: &Args, stream: &mut Stream) -> Result<(), Signal> {
    stream.flush().map_err(|error| fail(vm, args, "write to", &error))?;
    let Some(descriptor) = stream.awaited() else { return Ok(()) };
    let Some(shared) = vm.extra::<Shared>() else { return Ok(()) };
    if matches!(stream, Stream::Input) {
        // Whoever types the answer must have seen the question.
        shared.output.flush();
    }
    let interrupt = shared.interrupt.clone();
    let mut descriptors = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
    while wait_slice(&mut descriptors, &interrupt)? == 0 {}
    Ok(())
}

/// How many of the descriptors can be read from, after a short wait at most.
pub fn wait_slice(descriptors: &mut [PollFd<'_>], interrupt: &Interrupt) -> Result<usize, Signal> {
    if interrupt.take() {
        return Err(Halt::Interrupted.into());
    }
    let slice = Timespec { tv_sec: 0, tv_nsec: WAIT_SLICE.as_nanos() as _ };
    match poll(descriptors, Some(&slice)) {
        Ok(ready) => Ok(ready),
        Err(Errno::INTR) => Ok(0),
        // What cannot be waited for is read at once, and says itself what is wrong.
        Err(_) => Ok(descriptors.len()),
    }
}
