//! Settings, the self-test and failures of the first GPU, and kernels that others compiled (run by engine_tests.zig).

const std = @import("std");
const mlxrocm = @import("mlxrocm");
const shared = @import("engine_tests.zig");
const engine = mlxrocm.engine;
const testing = std.testing;
const allocator = testing.allocator;

/// The software GPU, where it is the driver.
fn software() ?std.DynLib {
    var driver = std.DynLib.open(std.posix.getenv("MLXROCM_HIP_LIBRARY") orelse return null) catch return null;
    if (driver.lookup(Fail, "softgpu_fault") != null) return driver;
    driver.close();
    return null;
}

const Fail = *const fn (what: [*:0]const u8) callconv(.c) c_int;

test "why there is no GPU" {
    const gpu = try mlxrocm.Device.open(1);
    defer gpu.deinit();
    const kind: mlxrocm.GpuKind = @enumFromInt((try gpu.info()).kind);
    const nothing = try mlxrocm.whyNoGpu(allocator, kind);
    defer allocator.free(nothing);
    try testing.expectEqualStrings("", nothing);
    const library = std.posix.getenv("MLXROCM_CUDA_LIBRARY") orelse return error.SkipZigTest;
    const why = try mlxrocm.whyNoGpu(allocator, .cuda);
    defer allocator.free(why);
    try testing.expect(std.mem.indexOf(u8, why, library) != null);
}

test "the highest use of memory" {
    const gpu = try mlxrocm.Device.open(1);
    defer gpu.deinit();
    var large = try engine.Buffer.init(gpu, 1 << 20, .device);
    large.deinit();
    const before = try gpu.memory();
    try testing.expect(before.peak >= before.active + (1 << 20));
    try gpu.resetPeakMemory();
    try testing.expectEqual(before.active, (try gpu.memory()).peak);
}

/// Hears lines of a report.
const Heard = struct {
    text: std.ArrayList(u8),
    lines: usize = 0,
    most: usize,

    fn hear(context: ?*anyopaque, line: []const u8) bool {
        const self: *Heard = @ptrCast(@alignCast(context.?));
        self.lines += 1;
        self.text.appendSlice(line) catch return false;
        self.text.append('\n') catch return false;
        return self.lines < self.most;
    }

    fn has(self: Heard, part: []const u8) bool {
        return std.mem.indexOf(u8, self.text.items, part) != null;
    }
};

test "self-test" {
    const gpu = try mlxrocm.Device.open(1);
    defer gpu.deinit();
    for ([_]bool{ false, true }) |measure| {
        var heard: Heard = .{ .text = .init(allocator), .most = 1000 };
        defer heard.text.deinit();
        const report: mlxrocm.Device.Report = .{ .context = &heard, .hear = Heard.hear };
        try gpu.selftest(.{ .report = report, .quick = true, .measure = measure, .seed = 20261129 });
        try testing.expect(heard.has("seed: 20261129\n") and heard.has(" passed in "));
        try testing.expect(heard.has("ok    mlxrocm_vector_add_f32"));
        try testing.expectEqual(measure, heard.has("measured:"));
        // Longer measurements copy more.
        try testing.expectEqual(measure, heard.has("(1 MiB in "));
    }
    var heard: Heard = .{ .text = .init(allocator), .most = 1 };
    defer heard.text.deinit();
    const report: mlxrocm.Device.Report = .{ .context = &heard, .hear = Heard.hear };
    try testing.expectError(error.Cancelled, gpu.selftest(.{ .report = report }));
    try testing.expectEqual(1, heard.lines);
    const cpu = try mlxrocm.Device.open(0);
    defer cpu.deinit();
    try testing.expectError(error.Unsupported, cpu.selftest(.{}));
}

test "the library's own kernels" {
    var ready = try shared.Ready.init();
    defer ready.deinit();
    const add = try engine.Kernel.ofLibrary(ready.gpu, "mlxrocm_vector_add_f32");
    defer add.deinit();
    const to, const from = .{ engine.Out{ .buffer = ready.c }, engine.In{ .buffer = ready.a } };
    try ready.stream.launch(add, shared.grid, .{ to, from, engine.In{ .buffer = ready.b }, @as(u32, shared.count) });
    try ready.stream.wait(null);
    try ready.expect(0.25);
    try testing.expectError(error.Unsupported, engine.Kernel.ofLibrary(ready.gpu, "none"));
}

test "code that was compiled elsewhere" {
    var ready = try shared.Ready.init();
    defer ready.deinit();
    try testing.expectError(error.InvalidFile, engine.Module.load(ready.gpu, "no code"));
    try testing.expectError(error.InvalidArgument, engine.Module.load(ready.gpu, ""));
    var driver = software() orelse return error.SkipZigTest; // it has a clang that makes code for it
    driver.close();
    const source =
        \\extern "C" __attribute__((amdgpu_kernel)) void add_one(__attribute__((address_space(1))) float *x) {
        \\    x[__builtin_amdgcn_workitem_id_x()] += 1;
        \\}
    ;
    var folder = testing.tmpDir(.{});
    defer folder.cleanup();
    try folder.dir.writeFile(.{ .sub_path = "add_one.cpp", .data = source });
    const facts = try ready.gpu.info();
    const target = try std.fmt.allocPrint(allocator, "-mcpu={s}", .{facts.isa[0..facts.isa_length]});
    defer allocator.free(target);
    const compiler = std.posix.getenv("SOFTGPU_CLANG") orelse "clang++-19";
    var compile = std.process.Child.init(&.{
        compiler, "--target=amdgcn-amd-amdhsa", target, "-O2", "-nogpulib", "add_one.cpp", "-o", "add_one.co",
    }, allocator);
    compile.cwd_dir = folder.dir;
    try testing.expectEqual(std.process.Child.Term{ .Exited = 0 }, try compile.spawnAndWait());
    const code = try folder.dir.readFileAlloc(allocator, "add_one.co", 1 << 20);
    defer allocator.free(code);
    const module = try engine.Module.load(ready.gpu, code);
    @memset(code, 0); // it was copied
    const kernel = try module.kernel("add_one");
    defer kernel.deinit();
    module.deinit();
    try ready.stream.launch(kernel, .line(1, 4), .{ready.a});
    var found: [5]f32 = undefined;
    try ready.stream.read(f32, .{ .buffer = ready.a }, &found);
    try testing.expectEqualSlices(f32, &.{ 1, 2, 3, 4, 4 }, &found);
}

test "the driver's numbers" {
    var driver = software() orelse return error.SkipZigTest; // which fails when it is told to
    defer driver.close();
    var ready = try shared.Ready.init();
    defer ready.deinit();
    try testing.expectEqual(0, driver.lookup(Fail, "softgpu_fault").?("copy@1"));
    try testing.expectError(error.DeviceFailed, ready.stream.fill(.{ .buffer = ready.c }, 4, 0));
    try testing.expectEqual(999, mlxrocm.lastVendorCode()); // hipErrorUnknown
    try testing.expectEqual(mlxrocm.c.MLXROCM_ERROR_DEVICE_FAILED, mlxrocm.lastStatus());
    try testing.expectError(error.InvalidArgument, ready.stream.fill(.{ .buffer = ready.c, .offset = 1 << 40 }, 4, 0));
    try testing.expectEqual(0, mlxrocm.lastVendorCode());
}
