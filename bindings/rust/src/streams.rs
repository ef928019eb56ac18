// SPDX-License-Identifier: MIT
//! Readers and writers that the C library calls. A panic must not cross C; it goes on after the call.

use crate::callbacks::Panic;
use crate::error::Result;
use polarquant_sys as sys;
use std::io::{self, Read, Write};
use std::os::raw::c_void;

/// What a reader or a writer did wrong, until the call returns.
#[derive(Default)]
struct Failure {
    error: Option<io::Error>,
    panic: Panic,
}

impl Failure {
    /// Goes on with a panic; an error of the stream becomes the source of the library's.
    fn finish<T>(self, result: Result<T>) -> Result<T> {
        self.panic.resume();
        match (result, self.error) {
            (Err(failed), Some(source)) => Err(failed.with_source(source)),
            (result, _) => result,
        }
    }
}

/// A writer for `polar_index_save_to`.
pub(crate) struct WriteStream<'a, W> {
    writer: &'a mut W,
    failure: Failure,
}

impl<'a, W: Write> WriteStream<'a, W> {
    pub(crate) fn new(writer: &'a mut W) -> Self {
        WriteStream { writer, failure: Failure::default() }
    }

    /// The function and its argument, for one call.
    pub(crate) fn as_callback(&mut self) -> (sys::polar_write_fn, *mut c_void) {
        (Some(write::<W>), self as *mut Self as *mut c_void)
    }

    pub(crate) fn finish<T>(self, result: Result<T>) -> Result<T> {
        self.failure.finish(result)
    }
}

unsafe extern "C" fn write<W: Write>(user: *mut c_void, data: *const c_void, bytes: usize) -> i32 {
    // SAFETY: `user` is what as_callback gave for a call that has not returned; data has `bytes`.
    let stream = &mut *(user as *mut WriteStream<'_, W>);
    let given = if bytes == 0 { &[] } else { std::slice::from_raw_parts(data as *const u8, bytes) };
    let writer = &mut *stream.writer;
    let stopped = Err(io::ErrorKind::Other.into());
    match stream.failure.panic.catch(stopped, || writer.write_all(given)) {
        Ok(()) => 0,
        Err(error) => {
            stream.failure.error = Some(error);
            1
        }
    }
}

/// A reader for `polar_index_load_from`.
pub(crate) struct ReadStream<'a, R> {
    reader: &'a mut R,
    failure: Failure,
}

impl<'a, R: Read> ReadStream<'a, R> {
    pub(crate) fn new(reader: &'a mut R) -> Self {
        ReadStream { reader, failure: Failure::default() }
    }

    /// The function and its argument, for one call.
    pub(crate) fn as_callback(&mut self) -> (sys::polar_read_fn, *mut c_void) {
        (Some(read::<R>), self as *mut Self as *mut c_void)
    }

    pub(crate) fn finish<T>(self, result: Result<T>) -> Result<T> {
        self.failure.finish(result)
    }
}

unsafe extern "C" fn read<R: Read>(user: *mut c_void, data: *mut c_void, bytes: usize) -> i64 {
    // SAFETY: `user` is what as_callback gave for a call that has not returned; data has `bytes`,
    // which are written here before a reader may look at them.
    let stream = &mut *(user as *mut ReadStream<'_, R>);
    let buffer: &mut [u8] = if bytes == 0 {
        &mut []
    } else {
        std::ptr::write_bytes(data as *mut u8, 0, bytes);
        std::slice::from_raw_parts_mut(data as *mut u8, bytes)
    };
    let reader = &mut *stream.reader;
    let stopped = Err(io::ErrorKind::Other.into());
    match stream.failure.panic.catch(stopped, || read_some(reader, buffer)) {
        Ok(count) if count <= bytes => count as i64,
        Ok(_) => {
            let text = "the reader says that it read more than there was memory for";
            stream.failure.error = Some(io::Error::new(io::ErrorKind::Other, text));
            -1
        }
        Err(error) => {
            stream.failure.error = Some(error);
            -1
        }
    }
}

fn read_some(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => return result,
        }
    }
}
