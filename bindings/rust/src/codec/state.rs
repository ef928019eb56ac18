// SPDX-License-Identifier: MIT
//! What decides the bytes of codes, kept and read again.

use crate::error::check;
use crate::handle::Handle;
use crate::{Codec, Result};
use polarquant_sys as sys;

impl Codec {
    /// Everything that decides the bytes of codes, to be kept beside them.
    pub fn save_state(&self) -> Result<Vec<u8>> {
        let mut needed = 0;
        // SAFETY: without a buffer the size alone is written.
        check(unsafe {
            sys::polar_codec_save_state(self.raw(), std::ptr::null_mut(), 0, &mut needed)
        })?;
        let mut state = vec![0; needed];
        // SAFETY: there is memory for the size.
        check(unsafe {
            let (buffer, cap) = (state.as_mut_ptr(), state.len());
            sys::polar_codec_save_state(self.raw(), buffer, cap, &mut needed)
        })?;
        Ok(state)
    }

    /// A codec with the state of [`save_state`](Codec::save_state). CorruptData for damaged bytes,
    /// NewerFormat for those of a newer library.
    pub fn load_state(state: &[u8]) -> Result<Codec> {
        // SAFETY: state lives as long as the call.
        let handle = Handle::create(|out| unsafe {
            sys::polar_codec_load_state(state.as_ptr(), state.len(), out)
        })?;
        Codec::from_handle(handle)
    }

    /// StateMismatch, with a text that names what differs, unless codes of both mix.
    pub fn check_same_state(&self, other: &Codec) -> Result<()> {
        // SAFETY: both live as long as the call.
        check(unsafe { sys::polar_codec_check_same_state(self.raw(), other.raw()) })
    }
}
