// SPDX-License-Identifier: MIT
//! Sizes, offsets and numbers of the declarations are those that a C compiler finds in the header.

use polarquant_sys::*;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Lines "struct size alignment" and "struct.member offset" as Rust has them, and the C program
/// that prints the same.
struct Layout {
    found: String,
    program: String,
}

macro_rules! describe {
    ($layout:ident, $($name:ident { $($member:ident),* })*) => {$({
        let made = std::mem::MaybeUninit::<$name>::uninit();
        let place = made.as_ptr();
        let name = stringify!($name);
        let (size, alignment) = (std::mem::size_of::<$name>(), std::mem::align_of::<$name>());
        writeln!($layout.found, "{} {} {}", name, size, alignment).unwrap();
        writeln!(
            $layout.program,
            "printf(\"{} %zu %zu\\n\", sizeof({}), _Alignof({}));", name, name, name
        ).unwrap();
        $({
            let member = stringify!($member);
            // SAFETY: addr_of! makes an address within `made`, and reads nothing.
            let offset = unsafe { std::ptr::addr_of!((*place).$member) } as usize - place as usize;
            writeln!($layout.found, "{}.{} {}", name, member, offset).unwrap();
            writeln!(
                $layout.program,
                "printf(\"{}.{} %zu\\n\", offsetof({}, {}));", name, member, name, member
            ).unwrap();
        })*
    })*};
}

macro_rules! print_numbers {
    ($layout:ident, $($name:ident)*) => {$(
        writeln!($layout.found, "{} {}", stringify!($name), $name).unwrap();
        writeln!(
            $layout.program,
            "printf(\"{} %d\\n\", (int){});", stringify!($name), stringify!($name)
        ).unwrap();
    )*};
}

fn describe_all() -> Layout {
    let mut layout = Layout {
        found: String::new(),
        program: "#include <stdio.h>\n#include \"polarquant/polarquant.h\"\nint main(void) {\n"
            .into(),
    };
    describe! { layout,
        polar_work_options { struct_size, num_threads, progress, progress_user }
        polar_bitset { words, num_bits }
        polar_id_list { ids, count }
        polar_id_range { first, end }
        polar_id_callback { keep, user }
        polar_filter { struct_size, kind, bitset, ids, range, callback, prepared }
        polar_search_options { struct_size, num_threads, exactness, reserved, filter, progress,
            progress_user, nprobe, ef_search, k_factor }
        polar_codec_options { struct_size, learn_centre, seed, centre, norm_unit }
        polar_codec_info { struct_size, dim, metric, is_trained, state_origin, group_rows, seed,
            code_bytes, factor_bytes, tail_row_bytes, bits_per_dim, mse, centre_norm, norm_unit,
            state_id }
        polar_segment { first, dim, bits, scale }
        polar_codec_plan { struct_size, has_basis, segments, error, untrained_error }
        polar_blocks { rows, data, bytes }
        polar_index_info { struct_size, dim, metric, is_trained, ntotal }
        polar_load_options { struct_size, memory_map, trust_faiss, reserved }
        polar_save_options { struct_size, verify }
        polar_builder_options { struct_size, replace, memory_bytes }
        polar_advice_options { struct_size, num_threads, seed, k, wanted_recall, allowed_bytes,
            max_rows, max_queries, total_rows, specs, num_specs, progress, progress_user }
        polar_advice_info { struct_size, held_out_queries, rows, recommended, reason, queries,
            base_rows, train_rows }
        polar_advice_row { struct_size, needs_training, spec, problem, bytes_per_vector, recall,
            recall_margin, quarter_recall, expected_recall, error, gain, gain_margin, codec_bytes,
            pays, is_recommended }
        polar_cuda_device_info { struct_size, compute_major, compute_minor, multiprocessors,
            total_bytes, free_bytes, name }
        polar_cuda_options { struct_size, num_threads, device, num_devices, devices, layout,
            reserved }
    }
    print_numbers! { layout,
        POLAR_VERSION_MAJOR POLAR_VERSION_MINOR POLAR_VERSION_PATCH POLAR_OK
        POLAR_ERROR_BAD_ARGUMENT POLAR_ERROR_UNSUPPORTED POLAR_ERROR_NOT_TRAINED
        POLAR_ERROR_NOT_FOUND POLAR_ERROR_STATE_MISMATCH POLAR_ERROR_OUT_OF_MEMORY
        POLAR_ERROR_CORRUPT_DATA POLAR_ERROR_NEWER_FORMAT POLAR_ERROR_IO POLAR_ERROR_CUDA
        POLAR_ERROR_CANCELLED POLAR_ERROR_INTERNAL POLAR_METRIC_INNER_PRODUCT POLAR_METRIC_L2
        POLAR_METRIC_COSINE POLAR_FILTER_NONE POLAR_FILTER_BITSET POLAR_FILTER_IDS
        POLAR_FILTER_RANGE POLAR_FILTER_CALLBACK POLAR_FILTER_PREPARED
        POLAR_RECONSTRUCTION_LEAST_ERROR POLAR_RECONSTRUCTION_UNBIASED POLAR_CUDA_SHARDED
        POLAR_CUDA_REPLICATED
    }
    layout.program.push_str("return 0;\n}\n");
    layout
}

/// The folder of the C headers; none beside a packaged crate.
fn headers() -> Option<PathBuf> {
    let given = std::env::var_os("POLARQUANT_INCLUDE_DIR").map(PathBuf::from);
    let own = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../include"));
    let folder = given.unwrap_or(own);
    folder.join("polarquant/polarquant.h").exists().then_some(folder)
}

#[test]
fn structs_and_numbers_are_those_of_the_header() {
    let include = match headers() {
        Some(folder) => folder,
        None => return,
    };
    let layout = describe_all();
    let program = std::env::temp_dir().join(format!("polarquant_layout_{}", std::process::id()));
    let mut compiler = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Werror", "-x", "c", "-", "-o"])
        .arg(&program)
        .arg("-I")
        .arg(&include)
        .stdin(Stdio::piped())
        .spawn()
        .expect("cc");
    let source = compiler.stdin.take().unwrap();
    { source }.write_all(layout.program.as_bytes()).unwrap();
    assert!(compiler.wait().unwrap().success());
    let printed = Command::new(&program).output().unwrap();
    std::fs::remove_file(&program).unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), layout.found);
}

#[test]
fn the_library_is_of_the_version_of_the_declarations() {
    let declared = POLAR_VERSION_MAJOR * 10000 + POLAR_VERSION_MINOR * 100 + POLAR_VERSION_PATCH;
    // SAFETY: takes nothing.
    assert_eq!(unsafe { polar_version() }, declared);
}

#[test]
fn all_structs_are_compared() {
    // Structs of the generated file: opaque ones have `_unused` alone.
    let bindings = include_str!("../src/bindings.rs");
    let layout = describe_all();
    for part in bindings.split("pub struct ").skip(1) {
        let name = part.split(' ').next().unwrap();
        let body = &part[..part.find("\n}").unwrap()];
        let is_opaque = body.contains("_unused");
        let is_compared = layout.found.contains(&format!("{} ", name));
        assert_eq!(is_compared, !is_opaque, "{}", name);
        let members = body.matches("\n    pub ").count();
        let compared = layout.found.matches(&format!("\n{}.", name)).count();
        assert_eq!(members, if is_opaque { 0 } else { compared }, "{}", name);
    }
    for line in bindings.lines().filter(|line| line.starts_with("pub const ")) {
        let name = line["pub const ".len()..].split(':').next().unwrap();
        assert!(layout.found.contains(&format!("\n{} ", name)), "{}", name);
    }
}
