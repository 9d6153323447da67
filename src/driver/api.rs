//! The driver's functions as methods.

use super::facts::{DeviceFacts, Platform};
use super::loader::Refusal;
use super::status::{self, Code};
use super::table::*;
use super::{cuda, hip as hip_part};
use crate::{Error, Result};
use libloading::Library;
use std::ffi::{CStr, OsStr, c_int, c_void};

/// What the platforms have apart.
pub(super) enum Vendor {
    Hip(HipFunctions, Option<HipErrorName>),
    Cuda(CudaFunctions, Option<AddEdges>),
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
