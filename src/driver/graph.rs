//! Launches, and graphs of them.

use super::api::{Api, Pointers, Vendor};
use super::clusters::cluster_attribute;
use super::status::Code;
use super::sys::{cuda, hip};
use super::table::*;
use crate::{Error, Result};
use std::ffi::c_void;

/// The arguments of a launch at fixed addresses: the drivers want an array of pointers to them, and
/// some HIP runtimes keep the pointers of a graph's nodes instead of the values.
pub struct Packed {
    /// The values, one 8-byte slot each, then as many pointers to them. Never resized.
    slots: Box<[u64]>,
}

impl Packed {
    /// One 8-byte slot an argument.
    pub fn new(values: &[u64]) -> Self {
        const { assert!(size_of::<*mut c_void>() == size_of::<u64>()) };
        let mut slots = vec![0_u64; values.len() * 2].into_boxed_slice();
        let (own, pointers) = slots.split_at_mut(values.len());
        own.copy_from_slice(values);
        for (value, pointer) in own.iter_mut().zip(pointers) {
            *pointer = std::ptr::from_mut(value).expose_provenance() as u64;
        }
        Packed { slots }
    }

    fn pointers(&self) -> Pointers {
        // The drivers only read them.
        let pointers = self.slots.get(self.slots.len() / 2..).unwrap_or_default();
        pointers.as_ptr().cast_mut().cast()
    }
}

/// Which launches in front a launch may begin under, while they drain (CUDA). The kernel waits for all of them itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overlap {
    /// None.
    #[default]
    None,
    /// The last one.
    Last,
    /// All that it follows.
    All,
}

/// One kernel launch.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    /// The kernel.
    pub function: FunctionHandle,
    /// Blocks in each direction.
    pub grid: [u32; 3],
    /// Work items of a block in each direction.
    pub block: [u32; 3],
    /// Dynamic local memory in bytes.
    pub lds_bytes: u32,
    /// What it may begin under.
    pub overlap: Overlap,
    /// Blocks of a cluster, along x (NVIDIA alone has them); up to 1: no clusters.
    pub cluster: u32,
}

impl Launch {
    /// The launch as CUDA takes it, which reads the attributes as long as it is used.
    pub(super) fn cuda_config(
        &self,
        attributes: &mut [cuda::CUlaunchAttribute],
        stream: cuda::CUstream,
    ) -> cuda::CUlaunchConfig {
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        cuda::CUlaunchConfig {
            gridDimX: gx,
            gridDimY: gy,
            gridDimZ: gz,
            blockDimX: bx,
            blockDimY: by,
            blockDimZ: bz,
            sharedMemBytes: self.lds_bytes,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        }
    }
}

impl Api {
    /// Whether launches can overlap in graphs as [`Launch::overlap`] asks.
    pub fn overlaps_in_graphs(&self) -> bool {
        matches!(self.vendor, Vendor::Cuda(_, Some(_)))
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// The handles are live, the arguments are what the kernel takes, and what it uses lives until
    /// it is done.
    pub unsafe fn launch(&self, launch: &Launch, args: &Packed, stream: StreamHandle) -> Code {
        // SAFETY: the caller's.
        unsafe { self.launch_pointers(launch, args.pointers(), stream) }
    }

    /// Launches a kernel with arguments that are read before this returns.
    ///
    /// # Safety
    /// As [`Self::launch`].
    pub unsafe fn launch_once(&self, launch: &Launch, args: &[u64], stream: StreamHandle) -> Code {
        let mut pointers = [std::ptr::null_mut::<c_void>(); 64];
        for (pointer, arg) in pointers.iter_mut().zip(args) {
            *pointer = std::ptr::from_ref(arg).cast_mut().cast();
        }
        // SAFETY: the caller's.
        unsafe { self.launch_pointers(launch, pointers.as_mut_ptr(), stream) }
    }

    unsafe fn launch_pointers(
        &self,
        launch: &Launch,
        args: Pointers,
        stream: StreamHandle,
    ) -> Code {
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        if (launch.overlap != Overlap::None || launch.cluster > 1)
            && let Vendor::Cuda(CudaFunctions { launch_ex, .. }, _) = &self.vendor
        {
            let mut attributes = [cuda::CUlaunchAttribute {
                id: cuda::CU_LAUNCH_ATTRIBUTE_IGNORE,
                pad: [0; 4],
                value: cuda::CUlaunchAttributeValue { pad: [0; 64] },
            }; 2];
            let [overlap, cluster] = &mut attributes;
            if launch.overlap != Overlap::None {
                overlap.id = cuda::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
                overlap.value.programmaticStreamSerializationAllowed = 1;
            }
            if launch.cluster > 1 {
                *cluster = cluster_attribute(launch.cluster);
            }
            let config = launch.cuda_config(&mut attributes, stream.0 as cuda::CUstream);
            let none = std::ptr::null_mut();
            // SAFETY: the caller's; the driver reads the configuration during the call.
            return Code(unsafe { launch_ex(&config, launch.function, args, none) });
        }
        let (function, none) = (launch.function, std::ptr::null_mut());
        // SAFETY: the caller's.
        Code(unsafe {
            (self.functions.launch)(
                function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                launch.lds_bytes,
                stream,
                args,
                none,
            )
        })
    }

    /// A new, empty graph.
    pub fn graph_create(&self) -> Result<GraphHandle> {
        let mut graph = GraphHandle::NULL;
        // SAFETY: the driver writes one handle.
        let code = Code(unsafe { (self.functions.graph_create)(&mut graph, 0) });
        self.check(code, || "creating a graph".into())?;
        Ok(graph)
    }

    /// Destroys a graph; what was instantiated from it lives on.
    ///
    /// # Safety
    /// The handle is live and not used afterwards.
    pub unsafe fn graph_destroy(&self, graph: GraphHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.graph_destroy)(graph) })
    }

    /// Adds a kernel node after `after`.
    ///
    /// # Safety
    /// As [`Self::launch`], and `args` outlives what is instantiated from the graph.
    pub unsafe fn graph_add_kernel(
        &self,
        graph: GraphHandle,
        after: &[NodeHandle],
        launch: &Launch,
        args: &Packed,
    ) -> Result<NodeHandle> {
        let mut node = NodeHandle::NULL;
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        let hip_params;
        let cuda_params;
        let params: *const c_void = match &self.vendor {
            Vendor::Hip(..) => {
                hip_params = hip::hipKernelNodeParams {
                    blockDim: hip::dim3 {
                        x: bx,
                        y: by,
                        z: bz,
                    },
                    extra: std::ptr::null_mut(),
                    func: launch.function.0 as *mut c_void,
                    gridDim: hip::dim3 {
                        x: gx,
                        y: gy,
                        z: gz,
                    },
                    kernelParams: args.pointers(),
                    sharedMemBytes: launch.lds_bytes,
                };
                std::ptr::from_ref(&hip_params).cast()
            }
            Vendor::Cuda(..) => {
                cuda_params = cuda::CUDA_KERNEL_NODE_PARAMS_v2 {
                    func: launch.function.0 as cuda::CUfunction,
                    gridDimX: gx,
                    gridDimY: gy,
                    gridDimZ: gz,
                    blockDimX: bx,
                    blockDimY: by,
                    blockDimZ: bz,
                    sharedMemBytes: launch.lds_bytes,
                    kernelParams: args.pointers(),
                    extra: std::ptr::null_mut(),
                    kern: std::ptr::null_mut(),
                    ctx: std::ptr::null_mut(),
                };
                std::ptr::from_ref(&cuda_params).cast()
            }
        };
        // SAFETY: the caller's; the parameters are the platform's structure.
        let code = Code(unsafe {
            (self.functions.graph_add_kernel)(&mut node, graph, after.as_ptr(), after.len(), params)
        });
        self.check(code, || "adding a kernel to a graph".into())?;
        // SAFETY: a kernel node that was just made.
        unsafe { self.graph_set_cluster(node, launch.cluster)? };
        Ok(node)
    }

    /// Adds an edge over which the later kernel may begin while the earlier one drains (CUDA).
    ///
    /// # Safety
    /// The handles are live kernel nodes of the graph.
    pub unsafe fn graph_add_overlap(
        &self,
        graph: GraphHandle,
        from: NodeHandle,
        to: NodeHandle,
    ) -> Result<()> {
        let Vendor::Cuda(_, Some(add)) = &self.vendor else {
            return Err(Error::Unsupported(
                "this driver has no programmatic graph edges".into(),
            ));
        };
        let edge = cuda::CUgraphEdgeData {
            from_port: u8::try_from(cuda::CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC).unwrap_or(1),
            to_port: 0,
            type_: u8::try_from(cuda::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC).unwrap_or(1),
            reserved: [0; 5],
        };
        // SAFETY: the caller's; one element each.
        let code = Code(unsafe { add(graph, &from, &to, &edge, 1) });
        self.check(code, || "adding an overlapping edge to a graph".into())
    }

    /// Adds a copy between device memory.
    ///
    /// # Safety
    /// Both are `bytes` of device memory that live as long as what is instantiated from the graph.
    pub unsafe fn graph_add_copy(
        &self,
        graph: GraphHandle,
        after: &[NodeHandle],
        target: u64,
        source: u64,
        bytes: usize,
        context: super::Context,
    ) -> Result<NodeHandle> {
        let mut node = NodeHandle::NULL;
        let code = match &self.vendor {
            // SAFETY: the caller's.
            Vendor::Hip(functions, _) => unsafe {
                (functions.graph_add_copy)(
                    &mut node,
                    graph,
                    after.as_ptr(),
                    after.len(),
                    target,
                    source,
                    bytes,
                    hip::hipMemcpyDeviceToDevice,
                )
            },
            Vendor::Cuda(functions, ..) => {
                // SAFETY: a C structure of numbers and pointers, for which zero is a value.
                let mut copy: cuda::CUDA_MEMCPY3D = unsafe { std::mem::zeroed() };
                copy.srcMemoryType = cuda::CU_MEMORYTYPE_DEVICE;
                copy.srcDevice = source;
                copy.dstMemoryType = cuda::CU_MEMORYTYPE_DEVICE;
                copy.dstDevice = target;
                (copy.WidthInBytes, copy.Height, copy.Depth) = (bytes, 1, 1);
                // SAFETY: the caller's.
                unsafe {
                    (functions.graph_add_copy)(
                        &mut node,
                        graph,
                        after.as_ptr(),
                        after.len(),
                        &copy,
                        context.primary,
                    )
                }
            }
        };
        self.check(Code(code), || {
            format!("adding a copy of {bytes} bytes to a graph")
        })?;
        Ok(node)
    }

    /// Adds a fill with one byte.
    ///
    /// # Safety
    /// The target is `bytes` of device memory that lives as long as what is instantiated from the
    /// graph.
    pub unsafe fn graph_add_fill(
        &self,
        graph: GraphHandle,
        after: &[NodeHandle],
        target: u64,
        value: u8,
        bytes: usize,
        context: super::Context,
    ) -> Result<NodeHandle> {
        let mut node = NodeHandle::NULL;
        let (first, count) = (after.as_ptr(), after.len());
        let code = match &self.vendor {
            Vendor::Hip(functions, _) => {
                let fill = hip::hipMemsetParams {
                    dst: target as *mut c_void,
                    elementSize: 1,
                    height: 1,
                    pitch: bytes,
                    value: u32::from(value),
                    width: bytes,
                };
                // SAFETY: the caller's.
                unsafe { (functions.graph_add_fill)(&mut node, graph, first, count, &fill) }
            }
            Vendor::Cuda(functions, ..) => {
                let fill = cuda::CUDA_MEMSET_NODE_PARAMS {
                    dst: target,
                    pitch: 0,
                    value: u32::from(value),
                    elementSize: 1,
                    width: bytes,
                    height: 1,
                };
                // SAFETY: the caller's.
                unsafe {
                    (functions.graph_add_fill)(
                        &mut node,
                        graph,
                        first,
                        count,
                        &fill,
                        context.primary,
                    )
                }
            }
        };
        self.check(Code(code), || {
            format!("adding a fill of {bytes} bytes to a graph")
        })?;
        Ok(node)
    }

    /// Makes a graph executable.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn graph_instantiate(&self, graph: GraphHandle) -> Result<ExecutableHandle> {
        let mut executable = ExecutableHandle::NULL;
        let code = match &self.vendor {
            Vendor::Hip(functions, _) => {
                let mut node = NodeHandle::NULL;
                let mut log = [0_u8; 1024];
                // SAFETY: the caller's; the driver writes a handle and at most 1024 bytes.
                unsafe {
                    (functions.graph_instantiate)(
                        &mut executable,
                        graph,
                        &mut node,
                        log.as_mut_ptr().cast(),
                        log.len(),
                    )
                }
            }
            // SAFETY: the caller's.
            Vendor::Cuda(functions, ..) => unsafe {
                (functions.graph_instantiate)(&mut executable, graph, 0)
            },
        };
        self.check(Code(code), || "instantiating a graph".into())?;
        Ok(executable)
    }
}
