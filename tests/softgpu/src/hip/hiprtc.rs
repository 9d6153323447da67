//! Run-time compilation: the `hiprtc` functions over a clang of the machine.
//!
//! `SOFTGPU_CLANG` names the compiler, else `clang++-19`. The source sees what the real hiprtc gives
//! without any include: the HIP keywords and the index built-ins (`prelude.h`).
//!
//! Engines compile in a forked child to be safe from compilers that abort. The child has one thread,
//! so what it needs here is behind a lock of its own that no fork can find held, and the runtime's
//! lock is left alone there.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, Once, PoisonError};

use parking_lot::Mutex;

use super::clang::clang_options;
use super::faults::Site;
use super::handles::{HandleKind, program_handle};
use super::host_read;
use super::runtime::runtime;

const SUCCESS: c_int = 0;
const PROGRAM_CREATION_FAILURE: c_int = 2;
const INVALID_INPUT: c_int = 3;
const INVALID_PROGRAM: c_int = 4;
pub(super) const INVALID_OPTION: c_int = 5;
const COMPILATION: c_int = 6;
const INTERNAL_ERROR: c_int = 11;

/// A program being compiled.
#[derive(Debug, Default)]
pub struct Program {
    pub(super) source: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) log: String,
    pub(super) code: Vec<u8>,
}

pub(super) type Answer<T = ()> = Result<T, c_int>;
type Programs = BTreeMap<u64, Arc<Mutex<Program>>>;

static PROGRAMS: std::sync::Mutex<Programs> = std::sync::Mutex::new(BTreeMap::new());

/// Numbers programs.
pub(super) static NUMBER: AtomicU64 = AtomicU64::new(1);

/// This process was forked from the one that uses the runtime.
static FORKED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static HELD_OVER_FORK: RefCell<Option<MutexGuard<'static, Programs>>> =
        const { RefCell::new(None) };
}

/// Prepares for forks; called before the first lock of the runtime can be taken.
pub fn watch_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers take no argument and only use this module's lock.
        unsafe {
            libc::pthread_atfork(
                Some(before_fork),
                Some(after_fork),
                Some(after_fork_in_child),
            );
        }
    });
}

unsafe extern "C" fn before_fork() {
    HELD_OVER_FORK.with(|held| *held.borrow_mut() = Some(programs()));
}

unsafe extern "C" fn after_fork() {
    HELD_OVER_FORK.with(|held| drop(held.borrow_mut().take()));
}

unsafe extern "C" fn after_fork_in_child() {
    FORKED.store(true, Ordering::Relaxed);
    HELD_OVER_FORK.with(|held| drop(held.borrow_mut().take()));
}

fn programs() -> MutexGuard<'static, Programs> {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Programs that were not destroyed.
pub fn program_count() -> usize {
    programs().len()
}

/// Drops all programs: their handles are dead.
pub fn forget_programs() {
    programs().clear();
}

pub(super) fn forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

fn guard(name: &'static str, body: impl FnOnce() -> Answer) -> c_int {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        if !forked() {
            watch_forks();
            runtime().lock().report.count_call(name);
        }
        body()
    }));
    match outcome {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => INTERNAL_ERROR,
    }
}

fn text(pointer: *const c_char) -> Answer<String> {
    if pointer.is_null() {
        return Err(INVALID_INPUT);
    }
    // SAFETY: not null; the contract of hiprtc gives a C string.
    Ok(unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned())
}

fn texts(array: *const *const c_char, count: c_int) -> Answer<Vec<String>> {
    (0..u64::try_from(count).map_err(|_| INVALID_INPUT)?)
        .map(|index| {
            let pointer = host_read::read_u64(array as u64 + 8 * index).ok_or(INVALID_INPUT)?;
            text(pointer as *const c_char)
        })
        .collect()
}

fn program(handle: *mut c_void) -> Answer<Arc<Mutex<Program>>> {
    let found = programs().get(&(handle as u64)).cloned();
    found.ok_or_else(|| {
        if !forked() {
            runtime()
                .lock()
                .bad_handle(HandleKind::Program, handle as u64);
        }
        INVALID_PROGRAM
    })
}

fn write<T>(pointer: *mut T, value: T) -> Answer {
    if pointer.is_null() {
        return Err(INVALID_INPUT);
    }
    // SAFETY: not null; the contract of hiprtc gives a place for one value.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Version of the compiler: that of the runtime.
///
/// # Safety
/// The pointers are null or places for an int.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> c_int {
    guard("hiprtcVersion", || {
        let version = runtime().lock().config.version;
        write(major, version / 10_000_000)?;
        write(minor, version / 100_000 % 100)
    })
}

/// Name of a result code, static.
#[unsafe(no_mangle)]
pub extern "C" fn hiprtcGetErrorString(code: c_int) -> *const c_char {
    let name: &CStr = match code {
        SUCCESS => c"HIPRTC_SUCCESS",
        1 => c"HIPRTC_ERROR_OUT_OF_MEMORY",
        PROGRAM_CREATION_FAILURE => c"HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
        INVALID_INPUT => c"HIPRTC_ERROR_INVALID_INPUT",
        INVALID_PROGRAM => c"HIPRTC_ERROR_INVALID_PROGRAM",
        INVALID_OPTION => c"HIPRTC_ERROR_INVALID_OPTION",
        COMPILATION => c"HIPRTC_ERROR_COMPILATION",
        INTERNAL_ERROR => c"HIPRTC_ERROR_INTERNAL_ERROR",
        _ => c"Invalid HIPRTC error code",
    };
    name.as_ptr()
}

/// Creates a program from source and headers.
///
/// # Safety
/// The strings are C strings and the arrays have `header_count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCreateProgram(
    program: *mut *mut c_void,
    source: *const c_char,
    _name: *const c_char,
    header_count: c_int,
    headers: *const *const c_char,
    header_names: *const *const c_char,
) -> c_int {
    guard("hiprtcCreateProgram", || {
        if program.is_null() {
            return Err(INVALID_INPUT);
        }
        let source = text(source)?;
        let names = texts(header_names, header_count)?;
        if names
            .iter()
            .any(|name| name.starts_with('/') || name.contains(".."))
        {
            return Err(PROGRAM_CREATION_FAILURE);
        }
        let headers = names
            .into_iter()
            .zip(texts(headers, header_count)?)
            .collect();
        let handle = program_handle(NUMBER.fetch_add(1, Ordering::Relaxed));
        let fresh = Program {
            source,
            headers,
            ..Program::default()
        };
        programs().insert(handle, Arc::new(Mutex::new(fresh)));
        write(program, handle as *mut c_void)
    })
}

/// Destroys a program and clears its handle.
///
/// # Safety
/// `handle` is null or points to a program handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcDestroyProgram(handle: *mut *mut c_void) -> c_int {
    guard("hiprtcDestroyProgram", || {
        if handle.is_null() {
            return Err(INVALID_INPUT);
        }
        // SAFETY: not null; the caller points to a handle.
        let value = unsafe { handle.read() };
        program(value)?;
        programs().remove(&(value as u64));
        write(handle, std::ptr::null_mut())
    })
}

/// Compiles a program; the messages go to its log.
///
/// # Safety
/// `options` has `count` C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCompileProgram(
    handle: *mut c_void,
    count: c_int,
    options: *const *const c_char,
) -> c_int {
    guard("hiprtcCompileProgram", || {
        let program = program(handle)?;
        let options = clang_options(&texts(options, count)?)?;
        if !forked() && runtime().lock().faults.strikes(Site::Compile) {
            program.lock().log = "injected fault".to_owned();
            return Err(INTERNAL_ERROR);
        }
        match program.lock().compile(&options) {
            Ok(true) => Ok(()),
            Ok(false) => Err(COMPILATION),
            Err(_) => Err(INTERNAL_ERROR),
        }
    })
}

/// Bytes of a program's log, with its NUL.
///
/// # Safety
/// `size` is null or a place for a size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLogSize(handle: *mut c_void, size: *mut usize) -> c_int {
    guard("hiprtcGetProgramLogSize", || {
        let bytes = program(handle)?.lock().log.len() + 1;
        write(size, bytes)
    })
}

/// A program's log, ended by a NUL.
///
/// # Safety
/// `log` has the bytes that `hiprtcGetProgramLogSize` said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLog(handle: *mut c_void, log: *mut c_char) -> c_int {
    guard("hiprtcGetProgramLog", || {
        let mut bytes = program(handle)?.lock().log.clone().into_bytes();
        bytes.push(0);
        copy_out(log, &bytes)
    })
}

/// Bytes of a program's code; an error before it was compiled.
///
/// # Safety
/// `size` is null or a place for a size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCodeSize(handle: *mut c_void, size: *mut usize) -> c_int {
    guard("hiprtcGetCodeSize", || {
        match program(handle)?.lock().code.len() {
            0 => Err(INVALID_PROGRAM),
            bytes => write(size, bytes),
        }
    })
}

/// A program's code.
///
/// # Safety
/// `code` has the bytes that `hiprtcGetCodeSize` said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCode(handle: *mut c_void, code: *mut c_char) -> c_int {
    guard("hiprtcGetCode", || {
        let bytes = program(handle)?.lock().code.clone();
        if bytes.is_empty() {
            Err(INVALID_PROGRAM)
        } else {
            copy_out(code, &bytes)
        }
    })
}

fn copy_out(to: *mut c_char, bytes: &[u8]) -> Answer {
    if to.is_null() {
        return Err(INVALID_INPUT);
    }
    // SAFETY: not null; the contract of hiprtc gives as many bytes as the size function said.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast::<u8>(), bytes.len()) };
    Ok(())
}
