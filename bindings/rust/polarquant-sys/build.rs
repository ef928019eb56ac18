// SPDX-License-Identifier: MIT
//! Finds libpolarquant, or builds it, and tells cargo where it is. README.md has the order.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LEAST_VERSION: &str = "0.1";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in [
        "POLARQUANT_LIB_DIR",
        "POLARQUANT_SOURCE_DIR",
        "PKG_CONFIG",
        "PKG_CONFIG_PATH",
        "PKG_CONFIG_LIBDIR",
        "PKG_CONFIG_SYSROOT_DIR",
        "DOCS_RS",
    ] {
        println!("cargo:rerun-if-env-changed={}", name);
    }
    // Pages of documentation are made where there is no library, and need none.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    match find_library() {
        Ok(folders) => link(&folders),
        Err(reason) => {
            eprintln!("{}", reason);
            std::process::exit(1);
        }
    }
}

/// The folders in which the linker is to look; none where it looks anyway.
fn find_library() -> Result<Vec<PathBuf>, String> {
    if let Some(folder) = env::var_os("POLARQUANT_LIB_DIR").map(PathBuf::from) {
        return if has_library(&folder) {
            Ok(vec![folder])
        } else {
            Err(format!("POLARQUANT_LIB_DIR: no libpolarquant in {}", folder.display()))
        };
    }
    if env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return build_library().map(|folder| vec![folder]);
    }
    let not_installed = match ask_pkg_config() {
        Ok(folders) => return Ok(folders),
        Err(reason) => reason,
    };
    let built = repository().map(|root| root.join("build").join("lib"));
    match built {
        Some(folder) if has_library(&folder) => Ok(vec![folder]),
        _ => Err(format!(
            "libpolarquant was not found.\n{}\nInstall it so that pkg-config finds polarquant.pc, \
             set POLARQUANT_LIB_DIR to its folder, or, in a checkout, build it (build/lib) or use \
             the feature `vendored`.",
            not_installed
        )),
    }
}

fn link(folders: &[PathBuf]) {
    println!("cargo:rustc-link-lib=dylib=polarquant");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    for folder in folders {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:lib_dir={}", folder.display());
        lend(folder, &out);
    }
    // `cargo run` and `cargo test` give programs the folders below `target` alone.
    println!("cargo:rustc-link-search=native={}", out.display());
}

/// Links to the libraries of a folder, so that programs find them while cargo runs them.
fn lend(folder: &Path, out: &Path) {
    #[cfg(unix)]
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        let is_shared = text.contains(".so") || text.ends_with(".dylib");
        if is_shared && text.starts_with("libpolarquant") {
            let place = out.join(&name);
            let _ = fs::remove_file(&place);
            let _ = std::os::unix::fs::symlink(entry.path(), &place);
        }
    }
    #[cfg(not(unix))]
    let _ = (folder, out, fs::read_dir("."));
}

fn has_library(folder: &Path) -> bool {
    ["libpolarquant.so", "libpolarquant.dylib", "polarquant.lib"]
        .iter()
        .any(|name| folder.join(name).exists())
}

/// Folders of the installed library, by the program pkg-config; none where the system looks anyway.
fn ask_pkg_config() -> Result<Vec<PathBuf>, String> {
    let target = env::var("TARGET").unwrap_or_default();
    if target != env::var("HOST").unwrap_or_default() && env::var_os("PKG_CONFIG").is_none() {
        return Err(format!(
            "pkg-config is not asked for {}; set PKG_CONFIG to one for it",
            target
        ));
    }
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let version = format!("polarquant >= {}", LEAST_VERSION);
    let asked = Command::new(&program)
        .args(["--print-errors", "--libs-only-L", &version])
        .output()
        .map_err(|error| format!("{}: {}", program.to_string_lossy(), error))?;
    if !asked.status.success() {
        return Err(String::from_utf8_lossy(&asked.stderr).trim().to_string());
    }
    let flags = String::from_utf8_lossy(&asked.stdout).into_owned();
    Ok(split_flags(&flags)
        .iter()
        .filter_map(|flag| flag.strip_prefix("-L"))
        .map(PathBuf::from)
        .collect())
}

/// Words of a line of flags; a backslash keeps a space in a word.
fn split_flags(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut letters = line.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => words.last_mut().unwrap().extend(letters.next()),
            ' ' => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

/// The repository that this crate lies in.
fn repository() -> Option<PathBuf> {
    if let Some(given) = env::var_os("POLARQUANT_SOURCE_DIR") {
        return Some(PathBuf::from(given));
    }
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let root = own.ancestors().nth(3)?;
    root.join("include/polarquant/polarquant.h").exists().then(|| root.to_path_buf())
}

/// Builds the library from its source by cmake; its folder.
fn build_library() -> Result<PathBuf, String> {
    let source = repository().ok_or(
        "vendored: this crate does not lie in a checkout of polarquant; depend on it by git, or set \
         POLARQUANT_SOURCE_DIR to a checkout",
    )?;
    for part in ["CMakeLists.txt", "cmake", "include", "src"] {
        println!("cargo:rerun-if-changed={}", source.join(part).display());
    }
    let build = PathBuf::from(env::var_os("OUT_DIR").unwrap()).join("build");
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".into());
    run(Command::new("cmake").arg("-S").arg(&source).arg("-B").arg(&build).args([
        "-DCMAKE_BUILD_TYPE=Release",
        "-DPOLARQUANT_TESTS=OFF",
        "-DPOLARQUANT_BENCH=OFF",
        "-DPOLARQUANT_CUDA=OFF",
    ]))?;
    run(Command::new("cmake").arg("--build").arg(&build).args([
        "--target",
        "polarquant",
        "--parallel",
        &jobs,
    ]))?;
    Ok(build.join("lib"))
}

fn run(command: &mut Command) -> Result<(), String> {
    let status =
        command.status().map_err(|error| format!("vendored: cannot start cmake: {}", error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("vendored: {:?} failed: {}", command, status))
    }
}
