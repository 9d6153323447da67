//! Real code objects: compilation, loading, launches, kernel faults.

use std::ffi::CString;

use crate::support::*;
use crate::support_kernels::*;
use softgpu::hip::launch::hipModuleLaunchKernel;
use softgpu::hip::module::*;

const TARGETS: [&str; 9] = [
    "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201",
];

#[test]
fn kernels_compile_and_run_on_every_target() {
    for arch in TARGETS {
        let gpu = gpu(&format!("devices={arch}"));
        let module = load(arch);
        let stream = new_stream();
        let n = 1000u32;
        let (a, b, c) = (malloc(4000), malloc(4000), malloc(4000));
        put(a, &floats(&(0..n).map(|i| i as f32).collect::<Vec<_>>()));
        put(
            b,
            &floats(&(0..n).map(|i| 0.5 * i as f32).collect::<Vec<_>>()),
        );
        let add: [&[u8]; 4] = [&address(a), &address(b), &address(c), &n.to_ne_bytes()];
        ok(launch(function(module, "vadd"), 4, 256, stream, &add));
        let scale: [&[u8]; 3] = [&address(c), &n.to_ne_bytes(), &2f32.to_ne_bytes()];
        ok(launch(function(module, "scale"), 8, 128, stream, &scale));
        sync(stream);
        let expected: Vec<f32> = (0..n).map(|i| 3.0 * i as f32).collect();
        assert_eq!(get_floats(c, 1000), expected, "{arch}");
        let words = malloc(512);
        put(
            words,
            &(0..128u32).flat_map(u32::to_ne_bytes).collect::<Vec<_>>(),
        );
        ok(launch(
            function(module, "reverse"),
            2,
            64,
            stream,
            &[&address(words)],
        ));
        sync(stream);
        let reversed: Vec<u8> = (0..64u32)
            .rev()
            .chain((64..128).rev())
            .flat_map(u32::to_ne_bytes)
            .collect();
        assert_eq!(get(words, 512), reversed, "{arch}");
        gpu.clean();
        let report = gpu.report();
        assert_eq!(report["kernels"]["vadd"]["launches"], 1);
        assert_eq!(report["kernels"]["vadd"]["workgroups"], 4);
        assert_eq!(report["executed"]["kernels"], 3);
        ok(unsafe { hipModuleUnload(module) });
        assert_eq!(gpu.report()["live"]["modules"], 0);
    }
}

#[test]
fn compiler_messages_are_in_the_log() {
    let gpu = gpu("devices=gfx1100");
    let (code, log, _) = compile("extern \"C\" __global__ void k() { int x = y; }", &[]);
    assert_eq!(code, 6);
    assert!(log.contains("use of undeclared identifier 'y'"), "{log}");
    let (code, log, _) = compile(
        "extern \"C\" __global__ void k() {}",
        &["--offload-arch=gfx9999"],
    );
    assert_eq!(code, 6, "{log}");
    // Without a target the thread's device counts; defines reach the source.
    let (code, log, object) = compile(
        "extern \"C\" __global__ void k(int* a) { *a = VALUE + __AMDGCN_WAVEFRONT_SIZE; }",
        &["-DVALUE=3"],
    );
    assert_eq!(code, 0, "{log}");
    let mut module = NULL;
    ok(unsafe { hipModuleLoadData(&raw mut module, object.as_ptr().cast()) });
    gpu.fault("compile");
    let (code, _, _) = compile("", &[]);
    assert_eq!(code, 11);
    assert_eq!(gpu.report()["live"]["programs"], 0);
    gpu.clean();
}

#[test]
fn wrong_images_are_refused() {
    let gpu = gpu("devices=gfx1100");
    let mut module = NULL;
    let foreign = object("gfx942");
    let code = unsafe { hipModuleLoadData(&raw mut module, foreign.as_ptr().cast()) };
    assert_eq!(code, 209);
    let garbage = vec![0x5Au8; 4096];
    assert_eq!(
        unsafe { hipModuleLoadData(&raw mut module, garbage.as_ptr().cast()) },
        200
    );
    let mut cut = object("gfx1100");
    cut[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(
        unsafe { hipModuleLoadData(&raw mut module, cut.as_ptr().cast()) },
        200
    );
    assert_eq!(module, NULL);
    gpu.fault("module");
    let good = object("gfx1100");
    assert_eq!(
        unsafe { hipModuleLoadData(&raw mut module, good.as_ptr().cast()) },
        2
    );
    let module = load("gfx1100");
    let mut handle = NULL;
    let name = CString::new("absent").unwrap();
    assert_eq!(
        unsafe { hipModuleGetFunction(&raw mut handle, module, name.as_ptr()) },
        500
    );
    let vadd = function(module, "vadd");
    let mut threads = 0;
    ok(unsafe { hipFuncGetAttribute(&raw mut threads, 0, vadd) });
    assert_eq!(threads, 1024);
    ok(unsafe { hipModuleUnload(module) });
    assert_eq!(launch(vadd, 1, 64, NULL, &[]), 98);
    assert_eq!(unsafe { hipModuleUnload(module) }, 400);
    assert_eq!(gpu.found("bad_handle"), 2);
}

#[test]
fn offload_bundles_give_the_device_its_code() {
    let gpu = gpu("devices=gfx1151");
    let entries = ["gfx942", "gfx1151"].map(|arch| (arch, object(arch)));
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend(3u64.to_le_bytes());
    let name_of = |arch: &str| format!("hipv4-amdgcn-amd-amdhsa--{arch}");
    let mut offset = 4096u64;
    let host = "host-x86_64-unknown-linux--";
    let mut table = vec![(offset, 0u64, host.to_owned())];
    for (arch, code) in &entries {
        table.push((offset, code.len() as u64, name_of(arch)));
        offset += (code.len() as u64).next_multiple_of(4096);
    }
    for (offset, size, name) in &table {
        bundle.extend(offset.to_le_bytes());
        bundle.extend(size.to_le_bytes());
        bundle.extend((name.len() as u64).to_le_bytes());
        bundle.extend(name.as_bytes());
    }
    for ((offset, _, _), (_, code)) in table[1..].iter().zip(&entries) {
        bundle.resize(*offset as usize, 0);
        bundle.extend(code);
    }
    let mut module = NULL;
    ok(unsafe { hipModuleLoadData(&raw mut module, bundle.as_ptr().cast()) });
    function(module, "vadd");
    gpu.clean();
}

#[test]
fn packed_arguments_and_pointer_arrays_agree() {
    let gpu = gpu("devices=gfx1100");
    let module = load("gfx1100");
    let block = malloc(16);
    put(block, &[0; 16]);
    let mut packed = Vec::new();
    packed.extend(address(block));
    packed.extend(2u64.to_ne_bytes());
    packed.extend(77u32.to_ne_bytes());
    let mut size = packed.len();
    let mut extra = [
        1 as Handle,
        packed.as_mut_ptr().cast(),
        2 as Handle,
        (&raw mut size).cast(),
        3 as Handle,
    ];
    let poke = function(module, "poke");
    let mut by_extra = || unsafe {
        hipModuleLaunchKernel(
            poke,
            1,
            1,
            1,
            64,
            1,
            1,
            0,
            NULL,
            NULL.cast(),
            extra.as_mut_ptr(),
        )
    };
    ok(by_extra());
    sync(NULL);
    assert_eq!(get(block, 16)[8..12], 77u32.to_ne_bytes());
    unsafe { (&raw mut size).write_volatile(12) };
    assert_eq!(by_extra(), 1);
    assert_eq!(gpu.found("bad_launch"), 1);
}

#[test]
fn impossible_launches_are_refused_at_the_call() {
    let gpu = gpu("devices=gfx1100");
    let module = load("gfx1100");
    let reverse = function(module, "reverse");
    let block = malloc(256);
    let arguments: [&[u8]; 1] = [&address(block)];
    assert_eq!(launch(reverse, 0, 64, NULL, &arguments), 9);
    assert_eq!(launch(reverse, 1, 0, NULL, &arguments), 9);
    assert_eq!(launch(reverse, 1, 1025, NULL, &arguments), 9);
    let mut pack = pack(&arguments);
    let params = pack.pointers.as_mut_ptr();
    let lds = |bytes| unsafe {
        hipModuleLaunchKernel(reverse, 1, 1, 1, 64, 1, 1, bytes, NULL, params, NULL.cast())
    };
    assert_eq!(lds(65536), 9);
    let tall = unsafe {
        hipModuleLaunchKernel(reverse, 1, 70000, 1, 64, 1, 1, 0, NULL, params, NULL.cast())
    };
    assert_eq!(tall, 9);
    let none = unsafe {
        hipModuleLaunchKernel(
            reverse,
            1,
            1,
            1,
            64,
            1,
            1,
            0,
            NULL,
            NULL.cast(),
            NULL.cast(),
        )
    };
    assert_eq!(none, 1);
    gpu.fault("launch@1");
    assert_eq!(launch(reverse, 1, 64, NULL, &arguments), 701);
    assert_eq!(gpu.found("bad_launch"), 6);
    assert_eq!(gpu.report()["pending"], 0);
}

#[test]
fn a_kernel_fault_comes_out_of_the_next_wait_and_stays_until_the_device_is_reset() {
    let gpu = gpu("devices=gfx1100,gfx1100");
    let module = load("gfx1100");
    let poke = function(module, "poke");
    let stream = new_stream();
    let block = malloc(64);
    put(block, &[1; 64]);
    let outside: [&[u8]; 3] = [&address(block), &16u64.to_ne_bytes(), &5u32.to_ne_bytes()];
    ok(launch(poke, 1, 64, stream, &outside));
    // Work queued behind the fault is dropped; it is refused where the fault has happened already.
    let queued = unsafe { softgpu::hip::copy::hipMemsetAsync(block, 9, 64, stream) };
    assert!([0, 700].contains(&queued), "{queued}");
    assert_eq!(
        unsafe { softgpu::hip::stream::hipStreamSynchronize(stream) },
        700
    );
    assert_eq!(gpu.found("kernel_fault"), 1);
    assert!(gpu.messages().contains("poke"), "{}", gpu.messages());
    assert_eq!(unsafe { softgpu::hip::stream::hipStreamQuery(stream) }, 700);
    assert_eq!(launch(poke, 1, 64, stream, &outside), 700);
    let mut handle = NULL;
    assert_eq!(
        unsafe { softgpu::hip::memory_api::hipMalloc(&raw mut handle, 16) },
        700
    );
    assert_eq!(
        gpu.report()["devices"][0]["fault"],
        "hipErrorIllegalAddress"
    );
    // The other device is well.
    ok(unsafe { softgpu::hip::device::hipSetDevice(1) });
    put(malloc(4), &[0; 4]);
    ok(unsafe { softgpu::hip::device::hipSetDevice(0) });
    ok(unsafe { softgpu::hip::device::hipDeviceReset() });
    assert_eq!(gpu.report()["live"]["modules"], 0);
    put(malloc(4), &[0; 4]);
}

#[test]
fn a_fault_that_does_not_stay_is_given_once() {
    let gpu = gpu("devices=gfx1100;sticky=0");
    let module = load("gfx1100");
    let scale = function(module, "scale");
    let block = malloc(64);
    put(block, &floats(&[1.0; 16]));
    gpu.fault("kernel@2");
    let arguments: [&[u8]; 3] = [&address(block), &16u32.to_ne_bytes(), &2f32.to_ne_bytes()];
    for _ in 0..3 {
        ok(launch(scale, 1, 64, NULL, &arguments));
    }
    assert_eq!(unsafe { softgpu::hip::device::hipDeviceSynchronize() }, 700);
    ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
    assert_eq!(get_floats(block, 16), [4.0; 16]);
    assert_eq!(gpu.found("injected_fault"), 1);
}

#[test]
fn kernels_read_only_what_was_written() {
    let gpu = gpu("devices=gfx1100;sticky=0");
    let module = load("gfx1100");
    let peek = function(module, "peek");
    let (block, out) = (malloc(64), malloc(4));
    put(block, &[1; 32]);
    let read = |index: u64| {
        launch(
            peek,
            1,
            64,
            NULL,
            &[&address(block), &address(out), &index.to_ne_bytes()],
        )
    };
    ok(read(7));
    sync(NULL);
    gpu.clean();
    ok(read(8));
    assert_ne!(
        unsafe { softgpu::hip::stream::hipStreamSynchronize(NULL) },
        0
    );
    assert!(gpu.messages().contains("initialised"), "{}", gpu.messages());
}

#[test]
fn kernels_that_are_named_read_whatever_is_there() {
    let gpu = gpu("devices=gfx1100;unwritten=pee");
    let peek = function(load("gfx1100"), "peek");
    let (block, out) = (malloc(64), malloc(4));
    let values: [&[u8]; 3] = [&address(block), &address(out), &8u64.to_ne_bytes()];
    ok(launch(peek, 1, 64, NULL, &values));
    sync(NULL);
    assert_eq!(get(out, 4), [0xcd; 4]);
    gpu.clean();
}

#[test]
fn freeing_what_a_queued_kernel_points_to_is_reported() {
    let gpu = gpu("devices=gfx1100;delay_us=1000000");
    let module = load("gfx1100");
    let stream = new_stream();
    let block = malloc(64);
    put(block, &floats(&[1.0; 16]));
    let arguments: [&[u8]; 3] = [&address(block), &16u32.to_ne_bytes(), &2f32.to_ne_bytes()];
    ok(launch(function(module, "scale"), 1, 64, stream, &arguments));
    free(block);
    assert!(
        gpu.messages().contains("argument 0 of kernel scale"),
        "{}",
        gpu.messages()
    );
    assert_eq!(gpu.found("free_in_flight"), 1);
    // The next launch points to freed memory.
    ok(launch(function(module, "scale"), 1, 64, stream, &arguments));
    ok(unsafe { hipModuleUnload(module) });
    assert_eq!(
        unsafe { softgpu::hip::stream::hipStreamSynchronize(stream) },
        700
    );
    assert_eq!(gpu.found("use_after_free"), 1);
    assert_eq!(gpu.found("free_in_flight"), 2);
}

#[test]
fn a_forked_child_can_compile_while_the_parent_works() {
    let gpu = gpu("devices=gfx1100;delay_us=0");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let block = malloc(64);
    std::thread::scope(|scope| {
        let stop = &stop;
        let number = block as usize;
        scope.spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fill(number as Handle, 1, 64, NULL);
                sync(NULL);
            }
        });
        for _ in 0..3 {
            let child = unsafe { libc::fork() };
            if child == 0 {
                let source = "extern \"C\" __global__ void k() {}";
                let (code, _, object) = compile(source, &["--offload-arch=gfx1100"]);
                let good = code == 0 && !object.is_empty();
                unsafe { libc::_exit(if good { 7 } else { 1 }) };
            }
            let mut status = 0;
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert!(
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7,
                "{status:#x}"
            );
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    gpu.clean();
}

#[test]
fn direct_launches_can_be_made_slow_or_endless() {
    let gpu = gpu("devices=gfx1100");
    let module = load("gfx1100");
    let stream = new_stream();
    let block = malloc(64);
    put(block, &floats(&[1.0; 16]));
    let arguments: [&[u8]; 3] = [&address(block), &16u32.to_ne_bytes(), &2f32.to_ne_bytes()];
    let scale = function(module, "scale");
    let time = || {
        let (start, stop) = (new_event(), new_event());
        let mut time = 0f32;
        unsafe {
            ok(softgpu::hip::event::hipEventRecord(start, stream));
            ok(launch(scale, 1, 64, stream, &arguments));
            ok(softgpu::hip::event::hipEventRecord(stop, stream));
            sync(stream);
            ok(softgpu::hip::event::hipEventElapsedTime(
                &raw mut time,
                start,
                stop,
            ));
        }
        time
    };
    time();
    gpu.fault("direct_slow=40000");
    assert!(time() >= 40.0);
    gpu.fault("none;hang@2");
    ok(launch(scale, 1, 64, stream, &arguments));
    let done = new_event();
    ok(unsafe { softgpu::hip::event::hipEventRecord(done, stream) });
    ok(launch(scale, 1, 64, stream, &arguments));
    ok(unsafe { softgpu::hip::event::hipEventSynchronize(done) });
    assert_eq!(
        unsafe { softgpu::hip::stream::hipStreamQuery(stream) },
        NOT_READY
    );
    assert_eq!(gpu.report()["hung"], 1);
    // A device reset ends it.
    ok(unsafe { softgpu::hip::device::hipDeviceReset() });
    assert_eq!(gpu.report()["hung"], 0);
    gpu.clean();
}

#[test]
fn a_kernel_cannot_touch_another_devices_memory() {
    let gpu = gpu("devices=gfx1100,gfx1100");
    let module = load("gfx1100");
    ok(unsafe { softgpu::hip::device::hipSetDevice(1) });
    let there = malloc(64);
    let stream_there = new_stream();
    ok(unsafe { softgpu::hip::device::hipSetDevice(0) });
    let values: [&[u8]; 3] = [&address(there), &0u64.to_ne_bytes(), &1u32.to_ne_bytes()];
    let poke = function(module, "poke");
    assert_eq!(
        launch(poke, 1, 64, stream_there, &values),
        98,
        "a kernel of another device"
    );
    assert_eq!(gpu.found("wrong_device"), 1);
    ok(launch(poke, 1, 64, NULL, &values));
    assert_eq!(
        unsafe { softgpu::hip::stream::hipStreamSynchronize(NULL) },
        700
    );
    assert!(
        gpu.messages().contains("near no allocation"),
        "{}",
        gpu.messages()
    );
}

#[test]
fn headers_reach_the_compiler() {
    let gpu = gpu("devices=gfx1100");
    let source = CString::new(
        "#include \"sub/value.h\"\nextern \"C\" __global__ void k(int* a) { *a = VALUE; }",
    );
    let (source, header) = (source.unwrap(), CString::new("#define VALUE 5").unwrap());
    let compile_with = |name: &str| unsafe {
        let name = CString::new(name).unwrap();
        let (headers, names) = ([header.as_ptr()], [name.as_ptr()]);
        let mut program = NULL;
        let code = softgpu::hip::hiprtc::hiprtcCreateProgram(
            &raw mut program,
            source.as_ptr(),
            std::ptr::null(),
            1,
            headers.as_ptr(),
            names.as_ptr(),
        );
        if code != 0 {
            return (code, 0);
        }
        let compiled = softgpu::hip::hiprtc::hiprtcCompileProgram(program, 0, std::ptr::null());
        ok(softgpu::hip::hiprtc::hiprtcDestroyProgram(&raw mut program));
        (code, compiled)
    };
    assert_eq!(compile_with("sub/value.h"), (0, 0));
    assert_eq!(compile_with("other.h"), (0, 6));
    assert_eq!(compile_with("../outside.h").0, 2);
    gpu.clean();
}
