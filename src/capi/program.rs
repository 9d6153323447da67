//! Programs: recorded launches that are replayed.

use super::boundary::{boundary_free, boundary_on};
use super::buffer::{BufferObject, mlxrocm_buffer};
use super::device::{DeviceObject, mlxrocm_device};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::kernel::{KernelObject, mlxrocm_kernel};
use super::launch::{self, mlxrocm_launch};
use super::options::OutputStruct;
use super::outputs::{Buffer, Output};
use super::program_info::{explanation, facts, mlxrocm_program_info};
use super::status::mlxrocm_status;
use super::stream::{StreamObject, mlxrocm_stream};
use super::symbols::since_0_1;
use crate::gpu::{Encoder, Program};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::ffi::c_char;
use std::sync::Arc;

/// A list of launches, copies and fills that is recorded once and run often. Internally locked: any
/// thread.
///
/// It begins in recording: what is added to it is ordered by what each launch reads and writes.
/// mlxrocm_program_end ends the recording; from then on it can be run. It keeps its buffers and
/// kernels. Runs of one program follow each other, also on different streams.
pub struct mlxrocm_program {
    _private: [u8; 0],
}

enum Phase {
    Recording(Box<Encoder>),
    Ready(Arc<Program>),
    /// Between the two, where a panic left it.
    Nothing,
}

struct ProgramObject {
    phase: Mutex<Phase>,
}

impl Object for ProgramObject {
    type Opaque = mlxrocm_program;
    const NOUN: &'static str = "mlxrocm_program";
}

impl ProgramObject {
    fn record(&self, add: impl FnOnce(&mut Encoder) -> Result<()>) -> Result<()> {
        match &mut *self.phase.lock() {
            Phase::Recording(encoder) => add(encoder),
            _ => Err(Error::InvalidArgument(
                "the program's recording has ended: make a new program".into(),
            )),
        }
    }

    fn end(&self) -> Result<()> {
        let mut phase = self.phase.lock();
        if !matches!(*phase, Phase::Recording(_)) {
            return Err(Error::InvalidArgument(
                "the program's recording has ended before".into(),
            ));
        }
        if let Phase::Recording(encoder) = std::mem::replace(&mut *phase, Phase::Nothing) {
            *phase = Phase::Ready(Arc::new(encoder.finish()));
        }
        Ok(())
    }

    fn ready(&self) -> Result<Arc<Program>> {
        match &*self.phase.lock() {
            Phase::Ready(program) => Ok(program.clone()),
            _ => Err(Error::InvalidArgument(
                "the program is being recorded: call mlxrocm_program_end first".into(),
            )),
        }
    }
}

/// Begins to record a program.
///
/// - `device`: borrowed; a GPU. The program keeps it alive.
/// - `program`: receives the program, owned: free it with mlxrocm_program_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_new(
    device: *const mlxrocm_device,
    program: *mut *mut mlxrocm_program,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(program, "program") }?;
        let encoder = object.gpu()?.device.encoder()?;
        output.write(handle::publish(ProgramObject {
            phase: Mutex::new(Phase::Recording(Box::new(encoder))),
        }));
        Ok(())
    })
}

/// Records one launch. It runs after the earlier ones that write what it touches or touch what it
/// writes, by the `access` of its arguments; one without buffers runs after all earlier and before
/// all later ones.
///
/// - `program`: borrowed; in recording.
/// - `kernel`: borrowed; of the same device.
/// - `launch`: borrowed for the call.
/// - `error`: nullable; receives an owned error object on failure. The program stays as it was.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (as mlxrocm_stream_launch; not in recording). Any thread.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_launch(
    program: *const mlxrocm_program,
    kernel: *const mlxrocm_kernel,
    launch: *const mlxrocm_launch,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(program, "program", error, |object: &ProgramObject| {
        handle::get::<KernelObject>(kernel, "kernel")?.run(|kernel| {
            // SAFETY: the caller's struct and what it points to, as documented.
            let launch = unsafe { launch::read(launch) }?;
            object.record(|encoder| {
                encoder.launch(
                    &kernel.kernel,
                    launch.grid,
                    launch.block,
                    launch.dynamic_lds,
                    launch.args,
                    &launch.reads,
                    &launch.writes,
                )
            })
        })
    })
}

/// Records a copy between two buffers in device memory.
///
/// - `program`: borrowed; in recording.
/// - `target`: borrowed; device memory.
/// - `target_offset`: byte of the target to begin at.
/// - `source`: borrowed; device memory; may be the target, if the two parts do not overlap.
/// - `source_offset`: byte of the source to begin at.
/// - `size`: bytes to copy; 0 records nothing.
/// - `error`: nullable; receives an owned error object on failure. The program stays as it was.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside a buffer, overlapping parts, pinned memory, a target
/// that is memory of an array, another device; not in recording). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_copy(
    program: *const mlxrocm_program,
    target: *const mlxrocm_buffer,
    target_offset: u64,
    source: *const mlxrocm_buffer,
    source_offset: u64,
    size: u64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(program, "program", error, |object: &ProgramObject| {
        let target = handle::get::<BufferObject>(target, "target")?;
        let source = handle::get::<BufferObject>(source, "source")?;
        target.value().writable("target")?;
        let to = target.value().device("target")?;
        let from = source.value().device("source")?;
        object.record(|encoder| encoder.copy(from, source_offset, to, target_offset, size))
    })
}

/// Records a fill of device memory with one byte value.
///
/// - `program`: borrowed; in recording.
/// - `buffer`: borrowed; device memory.
/// - `offset`: byte of the buffer to begin at.
/// - `size`: bytes to fill; 0 records nothing.
/// - `value`: each byte's value.
/// - `error`: nullable; receives an owned error object on failure. The program stays as it was.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, memory of an array, another
/// device; not in recording). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_fill(
    program: *const mlxrocm_program,
    buffer: *const mlxrocm_buffer,
    offset: u64,
    size: u64,
    value: u8,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(program, "program", error, |object: &ProgramObject| {
        let buffer = handle::get::<BufferObject>(buffer, "buffer")?;
        buffer.value().writable("buffer")?;
        let target = buffer.value().device("buffer")?;
        object.record(|encoder| encoder.fill(target, offset, size, value))
    })
}

/// Records that everything after this runs after everything before it.
///
/// - `program`: borrowed; in recording.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (not in recording). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_barrier(
    program: *const mlxrocm_program,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(program, "program", error, |object: &ProgramObject| {
        object.record(|encoder| {
            encoder.barrier();
            Ok(())
        })
    })
}

/// Ends the recording. Nothing runs yet.
///
/// - `program`: borrowed; in recording.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (not in recording). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_end(
    program: *const mlxrocm_program,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(program, "program", error, |object: &ProgramObject| {
        object.end()
    })
}

/// Queues one run of a program. The first one on a device whose graphs were not compared yet may
/// wait while it compares them; every other one returns at once.
///
/// - `program`: borrowed; its recording has ended.
/// - `stream`: borrowed; of the same device.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (in recording; another device), OUT_OF_MEMORY, TIMEOUT,
/// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_run(
    program: *const mlxrocm_program,
    stream: *const mlxrocm_stream,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(program, "program", error, |object: &ProgramObject| {
        handle::get::<StreamObject>(stream, "stream")?.run(|stream| {
            let program = object.ready()?;
            program.run(&stream.stream)?;
            program.note_uses();
            Ok(())
        })
    })
}

/// Tells facts about a program, and how it runs.
///
/// - `program`: borrowed; its recording has ended.
/// - `info`: receives the facts; its `struct_size` must be set.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (in recording). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_get_info(
    program: *const mlxrocm_program,
    info: *mut mlxrocm_program_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(program, "program", error, |object: &ProgramObject| {
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { OutputStruct::new(info, "info") }?;
        output.write(facts(&*object.ready()?));
        Ok(())
    })
}

/// Says how the next run of a program goes and why, in words, for a log or a bug report.
///
/// - `program`: borrowed; its recording has ended.
/// - `text`: receives one line of UTF-8 and its NUL.
/// - `capacity`: bytes of room in `text`; 0: only measure.
/// - `needed`: receives the bytes of the text and its NUL, also when they do not fit; nullable
///   unless measuring. The text may change between two calls.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (in recording), BUFFER_TOO_SMALL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_explain(
    program: *const mlxrocm_program,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(program, "program", error, |object: &ProgramObject| {
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(text, capacity, needed, "text") }?;
        buffer.fill_text(explanation(&*object.ready()?).as_bytes())
    })
}

/// Frees a program. Runs that were queued still end.
///
/// - `program`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_program_free(program: *mut mlxrocm_program) {
    boundary_free::<ProgramObject>(program)
}

since_0_1! {
    mlxrocm_program_new mlxrocm_program_launch mlxrocm_program_copy mlxrocm_program_fill
    mlxrocm_program_barrier mlxrocm_program_end mlxrocm_program_run mlxrocm_program_get_info
    mlxrocm_program_explain mlxrocm_program_free
}
