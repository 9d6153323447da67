//! The table of driver functions.
//!
//! HIP's driver-level functions have the signatures of CUDA's (a device pointer is 64 bits wide in
//! both), so one table serves both platforms and only the names differ. The few that differ in more
//! than their name are in the `hip` and `cuda` parts.

use super::facts::Platform;
use super::sys;
use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// A vendor's handle as a number: handles of drivers may be used from any thread.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(pub(super) usize);

        impl $name {
            /// No handle.
            pub(super) const NULL: $name = $name(0);
        }
    )*};
}

handles! {
    /// A stream.
    StreamHandle
    /// An event.
    EventHandle
    /// A loaded code object.
    ModuleHandle
    /// A kernel of a loaded code object.
    FunctionHandle
    /// A graph under construction.
    GraphHandle
    /// A node of a graph.
    NodeHandle
    /// An executable graph.
    ExecutableHandle
    /// A CUDA context.
    ContextHandle
    /// A handle of a BLAS.
    BlasHandle
}

/// Declares the table and how it is filled: each function with its names on HIP and CUDA; the first
/// that the library has is taken.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident {
        $($field:ident($($argument:ty),*) = $hip:expr, $cuda:expr;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $table {
            $(pub $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl $table {
            /// Finds every function; on failure the first name that is missing.
            pub fn load(library: &Library, platform: Platform) -> Result<Self, &'static str> {
                Ok($table {$(
                    $field: {
                        let names: &[&'static str] = match platform {
                            Platform::Hip => &$hip,
                            Platform::Cuda => &$cuda,
                        };
                        // SAFETY: the vendor's header declares the function with this signature.
                        unsafe { find(library, names) }
                            .ok_or(names.first().copied().unwrap_or(stringify!($field)))?
                    },
                )*})
            }
        }
    };
}

/// The first of the functions named that the library has.
///
/// # Safety
/// `F` must be the type of a function pointer with the signature of the functions named.
pub(super) unsafe fn find<F: Copy>(library: &Library, names: &[&str]) -> Option<F> {
    names.iter().find_map(|name| {
        // SAFETY: forwarded to the caller.
        unsafe { library.get::<F>(name.as_bytes()) }
            .ok()
            .map(|symbol| *symbol)
    })
}

functions! {
    /// What both platforms have in the same form.
    Functions {
        init(c_uint) = ["hipInit"], ["cuInit"];
        driver_version(*mut c_int) = ["hipDriverGetVersion"], ["cuDriverGetVersion"];
        device_count(*mut c_int) = ["hipGetDeviceCount"], ["cuDeviceGetCount"];
        device_get(*mut c_int, c_int) = ["hipDeviceGet"], ["cuDeviceGet"];
        device_name(*mut c_char, c_int, c_int) = ["hipDeviceGetName"], ["cuDeviceGetName"];
        device_attribute(*mut c_int, c_uint, c_int)
            = ["hipDeviceGetAttribute"], ["cuDeviceGetAttribute"];
        device_pci(*mut c_char, c_int, c_int) = ["hipDeviceGetPCIBusId"], ["cuDeviceGetPCIBusId"];
        device_memory(*mut usize, c_int) = ["hipDeviceTotalMem"], ["cuDeviceTotalMem_v2"];

        memory_info(*mut usize, *mut usize) = ["hipMemGetInfo"], ["cuMemGetInfo_v2"];
        alloc(*mut u64, usize) = ["hipMalloc"], ["cuMemAlloc_v2"];
        free(u64) = ["hipFree"], ["cuMemFree_v2"];
        host_alloc(*mut usize, usize, c_uint) = ["hipHostMalloc"], ["cuMemHostAlloc"];
        host_free(usize) = ["hipHostFree"], ["cuMemFreeHost"];
        host_address(*mut u64, usize, c_uint)
            = ["hipHostGetDevicePointer"], ["cuMemHostGetDevicePointer_v2"];
        copy_to_device(u64, *const c_void, usize, StreamHandle)
            = ["hipMemcpyHtoDAsync"], ["cuMemcpyHtoDAsync_v2"];
        copy_to_host(*mut c_void, u64, usize, StreamHandle)
            = ["hipMemcpyDtoHAsync"], ["cuMemcpyDtoHAsync_v2"];
        copy_on_device(u64, u64, usize, StreamHandle)
            = ["hipMemcpyDtoDAsync"], ["cuMemcpyDtoDAsync_v2"];
        fill(u64, u8, usize, StreamHandle) = ["hipMemsetD8Async"], ["cuMemsetD8Async"];

        stream_create(*mut StreamHandle, c_uint)
            = ["hipStreamCreateWithFlags"], ["cuStreamCreate"];
        stream_destroy(StreamHandle) = ["hipStreamDestroy"], ["cuStreamDestroy_v2"];
        stream_query(StreamHandle) = ["hipStreamQuery"], ["cuStreamQuery"];
        stream_wait_event(StreamHandle, EventHandle, c_uint)
            = ["hipStreamWaitEvent"], ["cuStreamWaitEvent"];
        event_create(*mut EventHandle, c_uint) = ["hipEventCreateWithFlags"], ["cuEventCreate"];
        event_destroy(EventHandle) = ["hipEventDestroy"], ["cuEventDestroy_v2"];
        event_record(EventHandle, StreamHandle) = ["hipEventRecord"], ["cuEventRecord"];
        event_query(EventHandle) = ["hipEventQuery"], ["cuEventQuery"];
        event_synchronize(EventHandle) = ["hipEventSynchronize"], ["cuEventSynchronize"];
        event_elapsed(*mut f32, EventHandle, EventHandle)
            = ["hipEventElapsedTime"], ["cuEventElapsedTime"];

        module_load(*mut ModuleHandle, *const c_void)
            = ["hipModuleLoadData"], ["cuModuleLoadData"];
        module_unload(ModuleHandle) = ["hipModuleUnload"], ["cuModuleUnload"];
        module_function(*mut FunctionHandle, ModuleHandle, *const c_char)
            = ["hipModuleGetFunction"], ["cuModuleGetFunction"];
        function_attribute(*mut c_int, c_uint, FunctionHandle)
            = ["hipFuncGetAttribute"], ["cuFuncGetAttribute"];
        launch(
            FunctionHandle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, StreamHandle,
            *mut *mut c_void, *mut *mut c_void
        ) = ["hipModuleLaunchKernel"], ["cuLaunchKernel"];

        graph_create(*mut GraphHandle, c_uint) = ["hipGraphCreate"], ["cuGraphCreate"];
        graph_destroy(GraphHandle) = ["hipGraphDestroy"], ["cuGraphDestroy"];
        graph_add_kernel(*mut NodeHandle, GraphHandle, *const NodeHandle, usize, *const c_void)
            = ["hipGraphAddKernelNode"], ["cuGraphAddKernelNode_v2"];
        executable_destroy(ExecutableHandle) = ["hipGraphExecDestroy"], ["cuGraphExecDestroy"];
        executable_launch(ExecutableHandle, StreamHandle) = ["hipGraphLaunch"], ["cuGraphLaunch"];
    }
}

functions! {
    /// What only HIP has in this form.
    HipFunctions {
        set_device(c_int) = ["hipSetDevice"], [];
        // The structure changed with HIP 6; both forms keep the target as text.
        device_properties(*mut c_void, c_int)
            = ["hipGetDevicePropertiesR0600", "hipGetDeviceProperties"], [];
        graph_instantiate(*mut ExecutableHandle, GraphHandle, *mut NodeHandle, *mut c_char, usize)
            = ["hipGraphInstantiate"], [];
        graph_add_copy(
            *mut NodeHandle, GraphHandle, *const NodeHandle, usize, u64, u64, usize, c_uint
        ) = ["hipGraphAddMemcpyNode1D"], [];
        graph_add_fill(
            *mut NodeHandle, GraphHandle, *const NodeHandle, usize, *const sys::hip::hipMemsetParams
        ) = ["hipGraphAddMemsetNode"], [];
    }
}

functions! {
    /// What only CUDA has in this form.
    CudaFunctions {
        context_retain(*mut ContextHandle, c_int) = [], ["cuDevicePrimaryCtxRetain"];
        context_release(c_int) = [], ["cuDevicePrimaryCtxRelease_v2"];
        context_set(ContextHandle) = [], ["cuCtxSetCurrent"];
        error_name(c_int, *mut *const c_char) = [], ["cuGetErrorName"];
        function_set_attribute(FunctionHandle, c_uint, c_int) = [], ["cuFuncSetAttribute"];
        launch_ex(
            *const sys::cuda::CUlaunchConfig, FunctionHandle, *mut *mut c_void, *mut *mut c_void
        ) = [], ["cuLaunchKernelEx"];
        most_clusters(*mut c_int, FunctionHandle, *const sys::cuda::CUlaunchConfig)
            = [], ["cuOccupancyMaxActiveClusters"];
        graph_set_attribute(NodeHandle, c_uint, *const sys::cuda::CUlaunchAttributeValue)
            = [], ["cuGraphKernelNodeSetAttribute"];
        graph_instantiate(*mut ExecutableHandle, GraphHandle, u64)
            = [], ["cuGraphInstantiateWithFlags"];
        graph_add_copy(
            *mut NodeHandle, GraphHandle, *const NodeHandle, usize,
            *const sys::cuda::CUDA_MEMCPY3D, ContextHandle
        ) = [], ["cuGraphAddMemcpyNode"];
        graph_add_fill(
            *mut NodeHandle, GraphHandle, *const NodeHandle, usize,
            *const sys::cuda::CUDA_MEMSET_NODE_PARAMS, ContextHandle
        ) = [], ["cuGraphAddMemsetNode"];
    }
}

/// `cuGraphAddDependencies_v2`, of drivers since CUDA 12.3.
pub(super) type AddEdges = unsafe extern "C" fn(
    GraphHandle,
    *const NodeHandle,
    *const NodeHandle,
    *const sys::cuda::CUgraphEdgeData,
    usize,
) -> c_int;

/// `hipGetErrorName`, which returns a string where CUDA's fills one in.
pub(super) type HipErrorName = unsafe extern "C" fn(c_int) -> *const c_char;
