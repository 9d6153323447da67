//! Faults of runs, whichever way.

use crate::{chain, expected, gpu, set};
use mlxrocm::Error;
use mlxrocm::gpu::ProgramMode;

/// Every fault that can be injected into a run comes out as its documented error, leaks nothing, and
/// leaves the device usable where it can be.
#[test]
fn faults_of_a_run_are_errors_and_leave_the_device_usable() {
    for (fault, modes) in [
        ("launch@1", &[ProgramMode::Direct, ProgramMode::Graph][..]),
        ("launch@5", &[ProgramMode::Direct]),
    ] {
        for mode in modes {
            let gpu = gpu::soft("devices=gfx1151;integrated=0");
            let set = set(&gpu);
            let program = chain(&set.device, &set.kernel, &set.buffer, 12);
            gpu.fault(fault);
            let error = program.run_as(&set.stream, *mode).unwrap_err();
            assert_eq!((error.status(), error.vendor_code()), (-11, 701), "{error}");
            assert!(error.to_string().contains("launching"), "{error}");
            set.stream.wait(gpu::PATIENCE).unwrap();
            let reset = gpu::bytes_of(&[1; 64]);
            set.stream.copy_to_device(&set.buffer, 0, &reset).unwrap();
            program.run_as(&set.stream, *mode).unwrap();
            assert_eq!(gpu::values(&set.stream, &set.buffer), expected(1, 12));
            drop((program, set));
            gpu.clean();
            gpu.no_leaks();
        }
    }
}

/// A kernel that fails while it runs: the next wait says so, once if the driver recovers.
#[test]
fn faults_of_queued_work_come_out_of_the_next_wait() {
    for mode in [ProgramMode::Direct, ProgramMode::Graph] {
        let gpu = gpu::soft("devices=gfx1151;integrated=0;sticky=0");
        let set = set(&gpu);
        let program = chain(&set.device, &set.kernel, &set.buffer, 12);
        set.stream.wait(gpu::PATIENCE).unwrap();
        gpu.fault("kernel@3");
        program.run_as(&set.stream, mode).unwrap();
        let error = set.stream.wait(gpu::PATIENCE).unwrap_err();
        assert_eq!((error.status(), error.vendor_code()), (-11, 700), "{error}");
        assert_eq!(set.stream.wait(gpu::PATIENCE), Ok(()));
        let reset = gpu::bytes_of(&[1; 64]);
        set.stream.copy_to_device(&set.buffer, 0, &reset).unwrap();
        program.run_as(&set.stream, mode).unwrap();
        assert_eq!(gpu::values(&set.stream, &set.buffer), expected(1, 12));
        drop((program, set));
        gpu.no_leaks();
    }
    // A fault that stays is a lost device.
    let gpu = gpu::soft("devices=gfx1151;integrated=0;sticky=1");
    let set = set(&gpu);
    let program = chain(&set.device, &set.kernel, &set.buffer, 12);
    gpu.fault("kernel@3");
    // It may come out of a later launch already.
    let queued = program.run_as(&set.stream, ProgramMode::Direct);
    let error = queued
        .and_then(|()| set.stream.wait(gpu::PATIENCE))
        .unwrap_err();
    assert!(
        matches!(&error, Error::DeviceLost(text) if text.contains("700")),
        "{error}"
    );
    assert_eq!(program.run(&set.stream), Err(error));
    drop((program, set));
    gpu.reset();
}
