//! Events, queued and recorded copies on the first GPU (run by engine_tests.zig).

const std = @import("std");
const mlxrocm = @import("mlxrocm");
const shared = @import("engine_tests.zig");
const engine = mlxrocm.engine;
const testing = std.testing;
const count = shared.count;
const patience = 60 * std.time.ns_per_s;

/// A kernel that is at work for a while: x[0] goes `rounds` steps on, as `stepped` does.
const Slow = struct {
    const source =
        \\extern "C" __global__ void step(unsigned *x, unsigned rounds) {
        \\    unsigned v = x[0];
        \\    for (unsigned i = 0; i < rounds; i++) v = v * 1664525u + 1013904223u;
        \\    x[0] = v;
        \\}
    ;
    const rounds: u32 = 1 << 21;

    kernel: engine.Kernel,
    x: engine.Buffer,

    fn init(gpu: mlxrocm.Device) !Slow {
        const module = try engine.Module.compile(gpu, source, .{ .name = "step.hip" });
        defer module.deinit();
        const self: Slow = .{ .kernel = try module.kernel("step"), .x = try engine.Buffer.init(gpu, 4, .device) };
        try self.x.write(u32, 0, &.{1});
        return self;
    }

    fn deinit(self: *Slow) void {
        self.x.deinit();
        self.kernel.deinit();
    }

    fn launch(self: Slow, stream: engine.Stream) !void {
        try stream.launch(self.kernel, .line(1, 1), .{ self.x, rounds });
    }

    fn stepped() u32 {
        var v: u32 = 1;
        for (0..rounds) |_| v = v *% 1664525 +% 1013904223;
        return v;
    }
};

test "events" {
    var ready = try shared.Ready.init();
    defer ready.deinit();
    var slow = try Slow.init(ready.gpu);
    defer slow.deinit();
    const first = try engine.Event.init(ready.gpu);
    defer first.deinit();
    const last = try engine.Event.init(ready.gpu);
    defer last.deinit();
    try testing.expect(try last.isDone());
    try last.wait(0);
    try testing.expectError(error.InvalidArgument, last.millisecondsSince(first));

    var timer = try std.time.Timer.start();
    try ready.stream.record(first);
    try slow.launch(ready.stream);
    try ready.stream.record(last);
    try testing.expect(!try last.isDone());
    try testing.expect(!try ready.stream.isDone());
    try testing.expectError(error.Timeout, last.wait(0));
    try last.wait(patience);
    try testing.expect(try last.isDone());
    // A read of a buffer waits for nothing that is queued.
    var found: [1]u32 = undefined;
    try slow.x.read(u32, 0, &found);
    try testing.expectEqual(Slow.stepped(), found[0]);
    try ready.stream.wait(patience);
    try testing.expect(try ready.stream.isDone());
    const passed = @as(f64, @floatFromInt(timer.read())) / std.time.ns_per_ms;
    const milliseconds = try last.millisecondsSince(first);
    try testing.expect(milliseconds > 0 and milliseconds < passed);
    const cpu = try mlxrocm.Device.open(0);
    defer cpu.deinit();
    try testing.expectError(error.Unsupported, engine.Event.init(cpu));
}

test "queued writes and reads, and streams that wait for events" {
    var ready = try shared.Ready.init();
    defer ready.deinit();
    var slow = try Slow.init(ready.gpu);
    defer slow.deinit();
    const other = try engine.Stream.init(ready.gpu);
    defer other.deinit();
    const done = try engine.Event.init(ready.gpu);
    try ready.c.write(f32, 0, &([_]f32{0} ** count));
    var given = shared.numbers(0);
    try slow.launch(ready.stream);
    try ready.stream.write(f32, .{ .buffer = ready.a }, &shared.numbers(3));
    try ready.stream.write(f32, .{ .buffer = ready.a, .offset = 4 }, given[0..2]);
    given = @splat(-1); // they were taken
    try ready.stream.launch(ready.kernel, shared.grid, ready.arguments(ready.a, 2));
    try ready.stream.record(done);
    try other.waitFor(done);
    done.deinit(); // the stream waits for it nevertheless
    var found: [3]f32 = undefined;
    try other.read(f32, .{ .buffer = ready.c, .offset = 4 }, &found);
    try testing.expectEqualSlices(f32, &.{ 0.5, 1.5, 6.5 }, &found);
    const end: engine.Out = .{ .buffer = ready.a, .offset = 4 * count };
    try testing.expectError(error.InvalidArgument, ready.stream.write(f32, end, &found));
    try testing.expectError(error.InvalidArgument, ready.stream.read(f32, .{ .buffer = ready.a, .offset = end.offset }, &found));
    try ready.stream.wait(patience);
}

test "recorded copies and fills" {
    var ready = try shared.Ready.init();
    defer ready.deinit();
    var target = try engine.Buffer.init(ready.gpu, 16, .device);
    defer target.deinit();
    const program = try engine.Program.init(ready.gpu);
    defer program.deinit();
    try program.fill(.{ .buffer = target, .offset = 4 }, 12, 7);
    try program.fill(.{ .buffer = target }, 4, 1);
    try program.copy(.{ .buffer = target, .offset = 8 }, .{ .buffer = ready.b, .offset = 8 }, 4);
    try testing.expectError(error.InvalidArgument, program.fill(.{ .buffer = target }, 17, 7));
    try testing.expectError(error.InvalidArgument, program.info());
    try program.end();
    try testing.expectError(error.InvalidArgument, program.barrier());
    try testing.expectEqual(3, (try program.info()).nodes);
    try ready.stream.run(program);
    const quarter: [4]u8 = @bitCast(@as(f32, 0.25));
    var found: [16]u8 = undefined;
    try ready.stream.read(u8, .{ .buffer = target }, &found);
    try testing.expectEqualSlices(u8, &([_]u8{1} ** 4 ++ [_]u8{7} ** 4 ++ quarter ++ [_]u8{7} ** 4), &found);
}

test "barriers, and how programs run" {
    var ready = try shared.Ready.init();
    defer ready.deinit();
    defer ready.gpu.setGraphs(.auto) catch unreachable;
    for ([_]bool{ false, true }) |barrier| {
        const program = try engine.Program.init(ready.gpu);
        defer program.deinit();
        // Nothing else orders these.
        try program.fill(.{ .buffer = ready.a }, 4, 7);
        if (barrier) try program.barrier();
        try program.fill(.{ .buffer = ready.b }, 4, 7);
        try program.end();
        for ([_]mlxrocm.Device.Graphs{ .on, .off }, [_]engine.Program.Mode{ .graph, .direct }) |graphs, mode| {
            try ready.gpu.setGraphs(graphs);
            const info = try program.info();
            try testing.expectEqual(2, info.nodes);
            try testing.expectEqual(@intFromBool(barrier), info.edges);
            try testing.expectEqual(mode, info.mode);
            try testing.expectEqual(.setting, info.reason);
            try testing.expect(!info.same_bits and info.direct_ns == 0 and info.graph_ns == 0);
        }
        try ready.gpu.setGraphs(.auto);
        if (std.posix.getenv("MLXROCM_GRAPHS") == null) try testing.expect((try program.info()).reason != .setting);
    }
    const cpu = try mlxrocm.Device.open(0);
    defer cpu.deinit();
    try testing.expectError(error.Unsupported, cpu.setGraphs(.on));
}
