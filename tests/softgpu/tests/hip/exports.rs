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
        hiprtcGetErrorString rocblas_create_handle rocblas_destroy_handle rocblas_set_stream \
        rocblas_set_workspace rocblas_set_atomics_mode rocblas_gemm_ex rocblas_get_version_string \
        hipblasLtCreate hipblasLtDestroy hipblasLtMatmulDescCreate hipblasLtMatmulDescDestroy \
        hipblasLtMatmulDescSetAttribute hipblasLtMatrixLayoutCreate hipblasLtMatrixLayoutDestroy \
        hipblasLtMatmulPreferenceCreate hipblasLtMatmulPreferenceDestroy \
        hipblasLtMatmulPreferenceSetAttribute hipblasLtMatmulAlgoGetHeuristic hipblasLtMatmul \
        softgpu_configure softgpu_fault softgpu_report softgpu_reset \
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

/// Runs itself again with the variable set: the library reads it once a process.
#[test]
fn the_environment_configures_the_library() {
    let name = "exports::the_environment_configures_the_library";
    if std::env::var_os("SOFTGPU_CONFIG").is_none() {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env("SOFTGPU_CONFIG", "devices=gfx942,gfx1201;seed=5")
            .output()
            .unwrap();
        assert!(
            child.status.success(),
            "{}",
            String::from_utf8_lossy(&child.stdout)
        );
        assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
        return;
    }
    let library = unsafe { libloading::Library::new(library()) }.unwrap();
    let mut count = 0;
    let call =
        unsafe { library.get::<unsafe extern "C" fn(*mut i32) -> i32>(b"hipGetDeviceCount\0") };
    assert_eq!(unsafe { call.unwrap()(&raw mut count) }, 0);
    assert_eq!(count, 2);
    let report = unsafe {
        library.get::<unsafe extern "C" fn(*mut u8, usize) -> usize>(b"softgpu_report\0")
    };
    let mut text = vec![0u8; 4096];
    unsafe { report.unwrap()(text.as_mut_ptr(), text.len()) };
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(
        text.contains("\"seed\":5") && text.contains("gfx1201"),
        "{text}"
    );
}
