//! The driver's functions as methods.

use super::facts::{DeviceFacts, Platform};
use super::loader::Refusal;
use super::status::{self, Code};
use super::sys::hip;
use super::table::*;
use super::{cuda, hip as hip_part};
use crate::{Error, Result};
use libloading::Library;
use std::ffi::{CStr, CString, OsStr, c_int, c_void};

/// What the platforms have apart.
pub(super) enum Vendor {
    Hip(HipFunctions, Option<HipErrorName>),
    Cuda(CudaFunctions, Option<LaunchEx>, Option<AddEdges>),
}

/// An opened driver. Immutable: any thread.
pub struct Api {
    pub(super) functions: Functions,
    pub(super) vendor: Vendor,
    /// As the driver says it.
    pub(super) version: u32,
    /// Keeps the functions in place.
    _library: Library,
}

/// One device of a driver as the calls need it.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    pub(super) ordinal: c_int,
    pub(super) primary: ContextHandle,
}

/// What can be asked about a kernel. The numbers are the same on both platforms (a test checks).
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum FunctionAttribute {
    /// Work items that one block may have.
    MaxBlockThreads = hip::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    /// Static local memory in bytes.
    LdsBytes = hip::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    /// Private memory a work item in bytes.
    ScratchBytes = hip::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    /// Registers a work item.
    Registers = hip::HIP_FUNC_ATTRIBUTE_NUM_REGS,
}

impl Api {
    /// Opens the library and asks it for its devices.
    pub(super) fn load(platform: Platform, name: &OsStr) -> Result<Api, Refusal> {
        // SAFETY: the vendor's library runs its initialisers, as in every program that links it.
        let library = unsafe { Library::new(name) }
            .map_err(|error| Refusal::NotFound(loader_words(&error)))?;
        let functions = Functions::load(&library, platform).map_err(Refusal::TooOld)?;
        // SAFETY: the optional functions have the signatures of their types.
        let vendor = unsafe {
            match platform {
                Platform::Hip => Vendor::Hip(
                    HipFunctions::load(&library, platform).map_err(Refusal::TooOld)?,
                    find(&library, &["hipGetErrorName"]),
                ),
                Platform::Cuda => Vendor::Cuda(
                    CudaFunctions::load(&library, platform).map_err(Refusal::TooOld)?,
                    find(&library, &["cuLaunchKernelEx"]),
                    find(&library, &["cuGraphAddDependencies_v2"]),
                ),
            }
        };
        let mut api = Api {
            functions,
            vendor,
            version: 0,
            _library: library,
        };
        api.start()?;
        Ok(api)
    }

    /// Initialises the driver and checks that its answers make sense before they are relied on.
    fn start(&mut self) -> Result<(), Refusal> {
        let unusable = |error: Error| Refusal::Unusable(error.to_string());
        // SAFETY: init takes no pointers.
        let code = Code(unsafe { (self.functions.init)(0) });
        if code.is_no_device() {
            return Err(Refusal::Unusable(self.no_device()));
        }
        self.check(code, || "starting the driver".into())
            .map_err(unusable)?;
        let mut version = 0;
        // SAFETY: the driver writes one integer.
        let code = Code(unsafe { (self.functions.driver_version)(&mut version) });
        self.check(code, || "asking for the driver's version".into())
            .map_err(unusable)?;
        self.version = u32::try_from(version).unwrap_or(0);
        self.device_count().map_err(unusable)?;
        // Numbers of attributes could change with a major version that nobody has seen yet.
        let facts = self.facts(0).map_err(unusable)?;
        if ![32, 64].contains(&facts.wave_size) || facts.compute_units == 0 {
            return Err(Refusal::Unusable(format!(
                "the {} driver (version {}) answers in an unknown way (wave size {}, {} compute \
                 units); this library is too old for it",
                self.platform().name(),
                self.version,
                facts.wave_size,
                facts.compute_units
            )));
        }
        Ok(())
    }

    fn no_device(&self) -> String {
        match self.platform() {
            Platform::Hip => format!(
                "no AMD GPU: {}",
                super::loader::hip_remedy(super::loader::access(c"/dev/kfd"))
            ),
            Platform::Cuda => "no NVIDIA GPU: the driver finds none; see `nvidia-smi`, check \
                               CUDA_VISIBLE_DEVICES, and give the container its GPUs (--gpus all)"
                .into(),
        }
    }

    /// The platform.
    pub fn platform(&self) -> Platform {
        match self.vendor {
            Vendor::Hip(..) => Platform::Hip,
            Vendor::Cuda(..) => Platform::Cuda,
        }
    }

    /// Whether this driver is the one that another library was linked with.
    pub(super) fn is_behind(&self, library: &Library) -> bool {
        type Init = unsafe extern "C" fn(std::ffi::c_uint) -> c_int;
        let name = match self.platform() {
            Platform::Hip => "hipInit",
            Platform::Cuda => "cuInit",
        };
        // SAFETY: the vendor's header declares the function with this signature.
        let theirs: Option<Init> = unsafe { find(library, &[name]) };
        theirs.is_some_and(|theirs| theirs as *const () == self.functions.init as *const ())
    }

    /// The number of devices, at least 1.
    ///
    /// # Errors
    /// `NoDevice` with what to do about it.
    pub fn device_count(&self) -> Result<u32> {
        let mut count = 0;
        // SAFETY: the driver writes one integer.
        let code = Code(unsafe { (self.functions.device_count)(&mut count) });
        if code.is_no_device() || (code == Code::OK && count <= 0) {
            return Err(Error::NoDevice(self.no_device()));
        }
        self.check(code, || "asking for the number of devices".into())?;
        Ok(u32::try_from(count).unwrap_or(0).min(1024))
    }

    /// An error for every code but success.
    pub fn check(&self, code: Code, what: impl FnOnce() -> String) -> Result<()> {
        if code == Code::OK {
            return Ok(());
        }
        Err(self.error(code, &what()))
    }

    /// The error for a code.
    pub fn error(&self, code: Code, what: &str) -> Error {
        status::error(self.platform(), code, &self.error_name(code), what)
    }

    fn error_name(&self, code: Code) -> String {
        let mut name = std::ptr::null();
        match &self.vendor {
            // SAFETY: returns a static string.
            Vendor::Hip(_, Some(function)) => name = unsafe { function(code.0) },
            Vendor::Hip(_, None) => {}
            // SAFETY: writes a pointer to a static string.
            Vendor::Cuda(functions, ..) => unsafe {
                (functions.error_name)(code.0, &mut name);
            },
        }
        if name.is_null() {
            return "unknown error".into();
        }
        // SAFETY: not null, static.
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned()
    }

    /// What device `ordinal` is.
    pub fn facts(&self, ordinal: u32) -> Result<DeviceFacts> {
        match &self.vendor {
            Vendor::Hip(functions, _) => hip_part::facts(self, functions, ordinal),
            Vendor::Cuda(..) => cuda::facts(self, ordinal),
        }
    }

    /// Gets device `ordinal` ready for calls.
    pub fn context(&self, ordinal: u32) -> Result<Context> {
        let what = || format!("opening {} device {ordinal}", self.platform().name());
        let ordinal = c_int::try_from(ordinal)
            .map_err(|_| Error::InvalidArgument(format!("there is no GPU {ordinal}")))?;
        let mut primary = ContextHandle::NULL;
        if let Vendor::Cuda(functions, ..) = &self.vendor {
            let mut device = 0;
            // SAFETY: the driver writes one integer.
            let code = Code(unsafe { (self.functions.device_get)(&mut device, ordinal) });
            self.check(code, what)?;
            // SAFETY: the driver writes one handle. It stays retained as long as the process.
            let code = Code(unsafe { (functions.context_retain)(&mut primary, device) });
            self.check(code, what)?;
        }
        let context = Context { ordinal, primary };
        self.check(self.enter(context), what)?;
        Ok(context)
    }

    /// Gives a context back.
    ///
    /// # Safety
    /// Nothing of the device is used afterwards.
    pub unsafe fn leave(&self, context: Context) {
        if let Vendor::Cuda(functions, ..) = &self.vendor {
            // SAFETY: the caller's; the context came from retain.
            unsafe { (functions.context_release)(context.ordinal) };
        }
    }

    /// Makes the device current on this thread. Each entry of the engine begins with it, since the
    /// application may use the driver on the same thread.
    pub fn enter(&self, context: Context) -> Code {
        match &self.vendor {
            // SAFETY: takes an integer.
            Vendor::Hip(functions, _) => Code(unsafe { (functions.set_device)(context.ordinal) }),
            Vendor::Cuda(functions, ..) => {
                // SAFETY: the handle is of a retained context.
                Code(unsafe { (functions.context_set)(context.primary) })
            }
        }
    }

    /// Free and all memory of the current device in bytes.
    pub fn memory_info(&self) -> Result<(u64, u64)> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the driver writes two integers.
        let code = Code(unsafe { (self.functions.memory_info)(&mut free, &mut total) });
        self.check(code, || "asking for free memory".into())?;
        Ok((free as u64, total as u64))
    }

    /// Allocates device memory.
    pub fn alloc(&self, bytes: usize) -> Result<u64> {
        let mut address = 0;
        // SAFETY: the driver writes one address.
        let code = Code(unsafe { (self.functions.alloc)(&mut address, bytes) });
        self.check(code, || format!("allocating {bytes} bytes"))?;
        Ok(address)
    }

    /// Frees device memory; waits for the device.
    ///
    /// # Safety
    /// `address` came from [`Self::alloc`] and is not used afterwards.
    pub unsafe fn free(&self, address: u64) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.free)(address) })
    }

    /// Allocates pinned host memory that the device sees; returns its host and device addresses.
    pub fn host_alloc(&self, bytes: usize) -> Result<(usize, u64)> {
        let (mut host, mut address) = (0, 0);
        let flags = hip::hipHostMallocPortable | hip::hipHostMallocMapped;
        // SAFETY: the driver writes one address.
        let code = Code(unsafe { (self.functions.host_alloc)(&mut host, bytes, flags) });
        self.check(code, || {
            format!("allocating {bytes} bytes of pinned memory")
        })?;
        // SAFETY: the driver writes one address; the host address is its own.
        let code = Code(unsafe { (self.functions.host_address)(&mut address, host, 0) });
        if code != Code::OK {
            // SAFETY: just allocated.
            unsafe { self.host_free(host) };
            return Err(self.error(code, "mapping pinned memory"));
        }
        Ok((host, address))
    }

    /// Frees pinned memory.
    ///
    /// # Safety
    /// `host` came from [`Self::host_alloc`] and is not used afterwards.
    pub unsafe fn host_free(&self, host: usize) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.host_free)(host) })
    }

    /// Queues a copy from host memory.
    ///
    /// # Safety
    /// `source` stays valid until the copy is done (pinned) or this returns (pageable); the target
    /// is `bytes` of device memory.
    pub unsafe fn copy_to_device(
        &self,
        target: u64,
        source: *const u8,
        bytes: usize,
        stream: StreamHandle,
    ) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.copy_to_device)(target, source.cast(), bytes, stream) })
    }

    /// Queues a copy to host memory.
    ///
    /// # Safety
    /// `target` stays valid until the copy is done; the source is `bytes` of device memory.
    pub unsafe fn copy_to_host(
        &self,
        target: *mut u8,
        source: u64,
        bytes: usize,
        stream: StreamHandle,
    ) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.copy_to_host)(target.cast(), source, bytes, stream) })
    }

    /// Queues a copy between device memory.
    ///
    /// # Safety
    /// Both are `bytes` of device memory that live until the copy is done.
    pub unsafe fn copy_on_device(
        &self,
        target: u64,
        source: u64,
        bytes: usize,
        stream: StreamHandle,
    ) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.copy_on_device)(target, source, bytes, stream) })
    }

    /// Queues a fill with one byte.
    ///
    /// # Safety
    /// The target is `bytes` of device memory that lives until the fill is done.
    pub unsafe fn fill(&self, target: u64, value: u8, bytes: usize, stream: StreamHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.fill)(target, value, bytes, stream) })
    }

    /// A new stream that does not wait for the default one.
    pub fn stream_create(&self) -> Result<StreamHandle> {
        let mut stream = StreamHandle::NULL;
        let flags = hip::hipStreamNonBlocking;
        // SAFETY: the driver writes one handle.
        let code = Code(unsafe { (self.functions.stream_create)(&mut stream, flags) });
        self.check(code, || "creating a stream".into())?;
        Ok(stream)
    }

    /// Destroys a stream; queued work still runs.
    ///
    /// # Safety
    /// The handle is live and not used afterwards.
    pub unsafe fn stream_destroy(&self, stream: StreamHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.stream_destroy)(stream) })
    }

    /// Whether the queued work is done: success, not ready, or a fault of it.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn stream_query(&self, stream: StreamHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.stream_query)(stream) })
    }

    /// Later work of the stream waits for the event.
    ///
    /// # Safety
    /// The handles are live.
    pub unsafe fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.stream_wait_event)(stream, event, 0) })
    }

    /// A new event; `timing` costs a little at each record. Waits for it sleep.
    pub fn event_create(&self, timing: bool) -> std::result::Result<EventHandle, Code> {
        let mut event = EventHandle::NULL;
        let flags = hip::hipEventBlockingSync
            | if timing {
                0
            } else {
                hip::hipEventDisableTiming
            };
        // SAFETY: the driver writes one handle.
        let code = Code(unsafe { (self.functions.event_create)(&mut event, flags) });
        match code {
            Code::OK => Ok(event),
            code => Err(code),
        }
    }

    /// Destroys an event.
    ///
    /// # Safety
    /// The handle is live and not used afterwards.
    pub unsafe fn event_destroy(&self, event: EventHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.event_destroy)(event) })
    }

    /// Marks the end of the stream's queue.
    ///
    /// # Safety
    /// The handles are live.
    pub unsafe fn event_record(&self, event: EventHandle, stream: StreamHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.event_record)(event, stream) })
    }

    /// Whether the event's last record is done: success, not ready, or a fault.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn event_query(&self, event: EventHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.event_query)(event) })
    }

    /// Sleeps until the event's last record is done.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn event_synchronize(&self, event: EventHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.event_synchronize)(event) })
    }

    /// Milliseconds of device time from `from` to `to`.
    ///
    /// # Safety
    /// The handles are live.
    pub unsafe fn event_elapsed(&self, from: EventHandle, to: EventHandle) -> Result<f32, Code> {
        let mut milliseconds = 0.0;
        // SAFETY: the caller's; the driver writes one number.
        match Code(unsafe { (self.functions.event_elapsed)(&mut milliseconds, from, to) }) {
            Code::OK => Ok(milliseconds),
            code => Err(code),
        }
    }

    /// Loads a code object.
    ///
    /// # Errors
    /// `InvalidFile` if the driver refuses it.
    pub fn module_load(&self, code: &[u8]) -> Result<ModuleHandle> {
        // PTX is text that must end in a zero byte; of binaries the driver reads the length. The
        // copy also gives the alignment that some drivers want.
        let mut bytes = vec![0_u64; code.len() / 8 + 1];
        if let Some(target) = bytes_of(&mut bytes).get_mut(..code.len()) {
            target.copy_from_slice(code);
        }
        let mut module = ModuleHandle::NULL;
        // SAFETY: a zero-ended copy that outlives the call; the driver writes one handle.
        let status =
            Code(unsafe { (self.functions.module_load)(&mut module, bytes.as_ptr().cast()) });
        if status == Code::OK {
            return Ok(module);
        }
        match self.error(status, "loading a code object") {
            Error::Driver { message, .. } => Err(Error::InvalidFile(message)),
            other => Err(other),
        }
    }

    /// Unloads a code object.
    ///
    /// # Safety
    /// The handle is live; neither it nor its kernels are used afterwards.
    pub unsafe fn module_unload(&self, module: ModuleHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.module_unload)(module) })
    }

    /// The kernel `name` of a module; `None` if the module has none of this name.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn module_function(
        &self,
        module: ModuleHandle,
        name: &str,
    ) -> Result<Option<FunctionHandle>> {
        let Ok(text) = CString::new(name) else {
            return Ok(None);
        };
        let mut function = FunctionHandle::NULL;
        // SAFETY: the caller's; a C string; the driver writes one handle.
        let code =
            Code(unsafe { (self.functions.module_function)(&mut function, module, text.as_ptr()) });
        if u32::try_from(code.0) == Ok(hip::hipErrorNotFound) {
            return Ok(None);
        }
        self.check(code, || format!("finding the kernel '{name}'"))?;
        Ok(Some(function))
    }

    /// A fact of a kernel; 0 where the driver does not say.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn function_attribute(
        &self,
        function: FunctionHandle,
        attribute: FunctionAttribute,
    ) -> u32 {
        let mut value = 0;
        // SAFETY: the caller's; the driver writes one integer.
        let code = Code(unsafe {
            (self.functions.function_attribute)(&mut value, attribute as u32, function)
        });
        match code {
            Code::OK => u32::try_from(value).unwrap_or(0),
            _ => 0,
        }
    }

    /// Lets a kernel use more dynamic local memory than the default (CUDA; HIP needs no leave).
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn allow_dynamic_lds(&self, function: FunctionHandle, bytes: u32) -> Code {
        match &self.vendor {
            Vendor::Hip(..) => Code::OK,
            Vendor::Cuda(functions, ..) => {
                let attribute = super::sys::cuda::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
                // SAFETY: the caller's.
                Code(unsafe { (functions.function_set_attribute)(function, attribute, bytes) })
            }
        }
    }

    /// Launches an executable graph.
    ///
    /// # Safety
    /// The handles are live, and so is all that the graph's kernels use.
    pub unsafe fn executable_launch(
        &self,
        executable: ExecutableHandle,
        stream: StreamHandle,
    ) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.executable_launch)(executable, stream) })
    }

    /// Destroys an executable graph.
    ///
    /// # Safety
    /// The handle is live, no launch of it is under way, and it is not used afterwards.
    pub unsafe fn executable_destroy(&self, executable: ExecutableHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.executable_destroy)(executable) })
    }

    /// An attribute of a device.
    pub(super) fn attribute(&self, device: c_int, attribute: u32) -> Result<u32, Code> {
        let mut value = 0;
        // SAFETY: the driver writes one integer.
        match Code(unsafe { (self.functions.device_attribute)(&mut value, attribute, device) }) {
            Code::OK => Ok(u32::try_from(value).unwrap_or(0)),
            code => Err(code),
        }
    }

    /// A string that the driver writes into a buffer of the given length.
    pub(super) fn text(
        &self,
        what: &str,
        call: impl FnOnce(*mut std::ffi::c_char, c_int) -> c_int,
    ) -> Result<String> {
        let mut bytes = [0_u8; 256];
        let code = Code(call(bytes.as_mut_ptr().cast(), 255));
        self.check(code, || format!("asking for {what}"))?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(255);
        Ok(String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned())
    }
}

fn bytes_of(words: &mut [u64]) -> &mut [u8] {
    let len = size_of_val(words);
    // SAFETY: the same memory; every byte of an integer is initialised.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), len) }
}

/// The loader's reason in one line.
pub(super) fn loader_words(error: &libloading::Error) -> String {
    use std::error::Error as _;
    let words = error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string);
    words.lines().next().unwrap_or_default().to_owned()
}

/// Pointers as the launch functions want them.
pub(super) type Pointers = *mut *mut c_void;
