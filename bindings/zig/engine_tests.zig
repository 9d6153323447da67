//! A kernel of one's own, and arrays, on the first GPU: run by test.sh with the software GPU, or by hand with a real one.

const std = @import("std");
const mlxrocm = @import("mlxrocm");
const engine = mlxrocm.engine;
const testing = std.testing;

const source =
    \\extern "C" __global__ void scaled_sum(float *c, const float *a, const float *b, float scale, unsigned count) {
    \\    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    \\    if (i < count) c[i] = a[i] + scale * b[i];
    \\}
;
pub const count = 1000;
pub const grid = engine.Grid.line((count + 255) / 256, 256);

test {
    _ = @import("device_tests.zig");
    _ = @import("stream_tests.zig");
    testing.refAllDeclsRecursive(engine);
}

/// What a test needs: a = 0, 1, 2 …, b = 0.25.
pub const Ready = struct {
    gpu: mlxrocm.Device,
    kernel: engine.Kernel,
    stream: engine.Stream,
    a: engine.Buffer,
    b: engine.Buffer,
    c: engine.Buffer,

    pub fn init() !Ready {
        const gpu = try mlxrocm.Device.open(1);
        const module = try engine.Module.compile(gpu, source, .{ .flags = &.{"-DUNUSED=1"}, .name = "sum.hip" });
        defer module.deinit();
        var self: Ready = .{
            .gpu = gpu,
            .kernel = try module.kernel("scaled_sum"),
            .stream = try engine.Stream.init(gpu),
            .a = try engine.Buffer.init(gpu, 4 * count, .device),
            .b = try engine.Buffer.init(gpu, 4 * count, .device),
            .c = try engine.Buffer.init(gpu, 4 * count, .device),
        };
        try self.a.write(f32, 0, &numbers(0));
        try self.b.write(f32, 0, &([_]f32{0.25} ** count));
        return self;
    }

    pub fn deinit(self: *Ready) void {
        inline for (.{ &self.a, &self.b, &self.c }) |buffer| buffer.deinit();
        self.stream.deinit();
        self.kernel.deinit();
        self.gpu.deinit();
    }

    const Arguments = struct { engine.Out, engine.In, engine.In, f32, u32 };

    /// c = from + scale * b.
    pub fn arguments(self: Ready, from: engine.Buffer, scale: f32) Arguments {
        return .{ .{ .buffer = self.c }, .{ .buffer = from }, .{ .buffer = self.b }, scale, count };
    }

    pub fn expect(self: Ready, added: f32) !void {
        var found: [count]f32 = undefined;
        try self.c.read(f32, 0, &found);
        try testing.expectEqualSlices(f32, &numbers(added), &found);
    }
};

pub fn numbers(added: f32) [count]f32 {
    var made: [count]f32 = undefined;
    for (&made, 0..) |*number, i| number.* = @as(f32, @floatFromInt(i)) + added;
    return made;
}

test "launch" {
    var ready = try Ready.init();
    defer ready.deinit();
    try ready.stream.launch(ready.kernel, grid, ready.arguments(ready.a, 2));
    try ready.stream.wait(60 * std.time.ns_per_s);
    try ready.expect(0.5);
    const info = try ready.kernel.info();
    try testing.expectEqualStrings("scaled_sum", info.name[0..info.name_length]);
    const device = try ready.gpu.info();
    try testing.expectEqual(device.wave_size, info.wave_size);
    try testing.expectEqual(mlxrocm.c.MLXROCM_DEVICE_HIP, @as(c_int, @intCast(device.kind)));
}

test "program" {
    var ready = try Ready.init();
    defer ready.deinit();
    const program = try engine.Program.init(ready.gpu);
    defer program.deinit();
    try program.launch(ready.kernel, grid, ready.arguments(ready.a, 2));
    try program.launch(ready.kernel, grid, ready.arguments(ready.c, 4));
    try program.end();
    const said = try program.explain(testing.allocator);
    defer testing.allocator.free(said);
    try testing.expect(std.mem.indexOf(u8, said, "2 launches") != null);
    for (0..2) |_| try ready.stream.run(program);
    try ready.stream.wait(null);
    try ready.expect(1.5);
}

test "fill and copy" {
    var ready = try Ready.init();
    defer ready.deinit();
    var target = try engine.Buffer.init(ready.gpu, 16, .device);
    defer target.deinit();
    var pinned = try engine.Buffer.init(ready.gpu, 16, .pinned);
    defer pinned.deinit();
    try ready.stream.fill(.{ .buffer = target }, 16, 7);
    try ready.stream.copy(.{ .buffer = target, .offset = 8 }, .{ .buffer = ready.b }, 4);
    try ready.stream.copy(.{ .buffer = pinned }, .{ .buffer = target }, 16);
    try ready.stream.wait(null);
    const quarter: [4]u8 = @bitCast(@as(f32, 0.25));
    const wanted = [_]u8{7} ** 8 ++ quarter ++ [_]u8{7} ** 4;
    var found: [16]u8 = undefined;
    try target.read(u8, 0, &found);
    try testing.expectEqualSlices(u8, &wanted, &found);
    const facts = try pinned.info();
    const there: [*]const u8 = @ptrCast(facts.data.?);
    try testing.expectEqualSlices(u8, &wanted, there[0..facts.size]);
}

test "mistakes" {
    var ready = try Ready.init();
    defer ready.deinit();
    try testing.expectError(error.InvalidArgument, engine.Module.compile(ready.gpu, "nonsense", .{ .name = "wrong.hip" }));
    try testing.expect(std.mem.indexOf(u8, mlxrocm.lastDetails(), "error") != null);
    const one = .{engine.Out{ .buffer = ready.c }};
    try testing.expectError(error.InvalidArgument, ready.stream.launch(ready.kernel, grid, one));
    try testing.expect(std.mem.indexOf(u8, mlxrocm.lastMessage(), "5 arguments") != null);
    try testing.expectEqual(0, mlxrocm.lastDetails().len);
    try testing.expectError(error.InvalidArgument, ready.a.write(u8, 4 * count, "1234"));
    const cpu = try mlxrocm.Device.open(0);
    defer cpu.deinit();
    try testing.expectError(error.Unsupported, engine.Stream.init(cpu));
}

test "memory, and freed buffers" {
    var ready = try Ready.init();
    defer ready.deinit();
    const before = try ready.gpu.memory();
    var large = try engine.Buffer.init(ready.gpu, 1 << 20, .device);
    try testing.expect((try ready.gpu.memory()).active >= before.active + (1 << 20));
    large.deinit();
    large.deinit();
    try testing.expectEqual(before.active, (try ready.gpu.memory()).active);
    try ready.gpu.trim();
    try ready.gpu.setMemoryLimit(before.limit);
    var found: [1]u8 = undefined;
    try testing.expectError(error.NullArgument, large.read(u8, 0, &found));
    try testing.expectError(error.NullArgument, ready.stream.launch(ready.kernel, grid, ready.arguments(large, 2)));
    // What is queued keeps its memory.
    try ready.stream.launch(ready.kernel, grid, ready.arguments(ready.a, 2));
    ready.a.deinit();
    try ready.stream.wait(null);
    try ready.expect(0.5);
}

test "arrays" {
    const gpu = try mlxrocm.Device.open(1);
    defer gpu.deinit();
    const here = try mlxrocm.Array.init(f32, &.{ 1, 2, 3, 4 }, &.{ 2, 2 });
    defer here.deinit();
    const x = try here.toDevice(gpu);
    defer x.deinit();
    const square = try mlxrocm.ops.matmul(x, x);
    defer square.deinit();
    var found: [4]f32 = undefined;
    try square.read(f32, &found);
    try testing.expectEqualSlices(f32, &.{ 7, 10, 15, 22 }, &found);
}
