//! The C library: what it exports, and what it must not.

use std::path::PathBuf;

fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let name = "libsoftgpu.so";
    [folder.join(name), folder.parent().unwrap().join(name)]
        .into_iter()
        .find(|path| path.exists())
        .expect("libsoftgpu.so is built with the tests")
}

#[test]
fn the_library_has_what_an_engine_opens_and_no_stubs() {
    let library = unsafe { libloading::Library::new(library()) }.unwrap();
    let has = |name: &str| {
        unsafe { library.get::<unsafe extern "C" fn()>(format!("{name}\0").as_bytes()) }.is_ok()
    };
    let modelled = "hipInit hipDriverGetVersion hipRuntimeGetVersion hipGetDeviceCount hipSetDevice \
        hipGetDevice hipDeviceGetAttribute hipDeviceGetName hipGetDeviceProperties \
        hipGetDevicePropertiesR0600 hipDeviceGetPCIBusId hipDeviceTotalMem hipMemGetInfo hipMalloc \
        hipFree hipExtMallocWithFlags hipHostMalloc hipHostFree hipHostGetDevicePointer hipMemcpy \
        hipMemcpyAsync hipMemcpyHtoD hipMemcpyDtoH hipMemcpyDtoD hipMemcpyHtoDAsync \
        hipMemcpyDtoHAsync hipMemcpyDtoDAsync hipMemset hipMemsetAsync hipMemsetD8 hipMemsetD8Async \
        hipMemsetD32 hipMemsetD32Async hipStreamCreate hipStreamCreateWithFlags \
        hipStreamCreateWithPriority hipStreamDestroy hipStreamQuery hipStreamSynchronize \
        hipStreamWaitEvent hipEventCreate hipEventCreateWithFlags hipEventRecord hipEventQuery \
        hipEventSynchronize hipEventElapsedTime hipEventDestroy hipModuleLoadData hipModuleUnload \
        hipModuleGetFunction hipFuncGetAttribute hipModuleLaunchKernel hipDeviceSynchronize \
        hipGraphCreate hipGraphDestroy hipGraphAddKernelNode hipGraphAddMemcpyNode1D \
        hipGraphAddMemsetNode hipGraphAddDependencies hipGraphInstantiate \
        hipGraphInstantiateWithFlags hipGraphLaunch hipGraphExecKernelNodeSetParams \
        hipGraphExecUpdate hipGraphExecDestroy hipStreamBeginCapture hipStreamEndCapture \
        hipGetErrorName hipGetErrorString hipGetLastError hipLaunchHostFunc \
        hiprtcCreateProgram hiprtcCompileProgram hiprtcGetCode hiprtcGetCodeSize \
        hiprtcGetProgramLog hiprtcGetProgramLogSize hiprtcDestroyProgram hiprtcVersion \
        hiprtcGetErrorString softgpu_configure softgpu_fault softgpu_report softgpu_reset \
        softgpu_clear";
    for name in modelled.split_whitespace() {
        assert!(has(name), "{name} is missing");
    }
    for name in [
        "hipMallocAsync",
        "hipFreeAsync",
        "hipMallocManaged",
        "hipStreamWaitValue64",
    ] {
        assert!(!has(name), "{name} is not modelled and must be absent");
    }
}

#[test]
fn a_program_may_close_the_library_while_its_thread_lives() {
    type Fill = unsafe extern "C" fn(*mut u8, i32, usize, *mut u8) -> i32;
    for _ in 0..2 {
        let library = unsafe { libloading::Library::new(library()) }.unwrap();
        let mut address = std::ptr::null_mut();
        unsafe {
            let malloc =
                library.get::<unsafe extern "C" fn(*mut *mut u8, usize) -> i32>(b"hipMalloc\0");
            assert_eq!(malloc.unwrap()(&raw mut address, 64), 0);
            let fill = library.get::<Fill>(b"hipMemsetAsync\0").unwrap();
            assert_eq!(fill(address, 0, 64, std::ptr::null_mut()), 0);
        }
        library.close().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
