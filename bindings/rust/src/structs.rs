// SPDX-License-Identifier: MIT
//! The library's structs of options and infos, which begin with their size.

use crate::error::{check, Result};
use polarquant_sys as sys;
use std::mem::{size_of, MaybeUninit};

/// A struct that begins with `struct_size`, and for which all zeros are values of its members.
pub(crate) trait Struct: Copy {
    fn set_size(&mut self);
}

/// One that has a function which fills in defaults.
pub(crate) trait Options: Struct {
    const INIT: unsafe extern "C" fn(*mut Self, usize);
}

macro_rules! structs {
    ($($name:ident)*) => {$(
        impl Struct for sys::$name {
            fn set_size(&mut self) {
                self.struct_size = size_of::<Self>() as u32;
            }
        }
    )*};
}

macro_rules! options {
    ($($name:ident: $init:ident;)*) => {
        structs! { $($name)* }
        $(impl Options for sys::$name {
            const INIT: unsafe extern "C" fn(*mut Self, usize) = sys::$init;
        })*
    };
}

options! {
    polar_work_options: polar_work_options_init_sized;
    polar_search_options: polar_search_options_init_sized;
    polar_filter: polar_filter_init_sized;
    polar_codec_options: polar_codec_options_init_sized;
    polar_load_options: polar_load_options_init_sized;
    polar_save_options: polar_save_options_init_sized;
    polar_builder_options: polar_builder_options_init_sized;
    polar_advice_options: polar_advice_options_init_sized;
    polar_cuda_options: polar_cuda_options_init_sized;
}

structs! {
    polar_codec_info
    polar_codec_plan
    polar_index_info
    polar_advice_info
    polar_advice_row
    polar_cuda_device_info
}

/// Options with the library's defaults.
pub(crate) fn defaults<T: Options>() -> T {
    let mut filled = MaybeUninit::uninit();
    // SAFETY: the function fills as many bytes as it is told.
    unsafe {
        T::INIT(filled.as_mut_ptr(), size_of::<T>());
        filled.assume_init()
    }
}

/// An info that `fill` fills.
pub(crate) fn read<T: Struct>(fill: impl FnOnce(*mut T) -> sys::polar_status) -> Result<T> {
    // SAFETY: all zeros are a T.
    let mut info: T = unsafe { MaybeUninit::zeroed().assume_init() };
    info.set_size();
    check(fill(&mut info))?;
    Ok(info)
}
