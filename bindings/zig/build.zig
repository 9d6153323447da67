const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const include = b.option([]const u8, "include", "the folder of mlxrocm.h, if it is not the system's");
    const library = b.option([]const u8, "library", "the folder of libmlxrocm.so, if it is not the system's");

    const module = b.addModule("mlxrocm", .{
        .root_source_file = b.path("src/mlxrocm.zig"),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
    });
    if (include) |folder| module.addIncludePath(.{ .cwd_relative = folder });
    if (library) |folder| {
        module.addLibraryPath(.{ .cwd_relative = folder });
        module.addRPath(.{ .cwd_relative = folder });
    }
    module.linkSystemLibrary("mlxrocm", .{});

    for ([_][3][]const u8{
        .{ "test", "tests.zig", "Run the tests; MLXROCM_DEMO_MODEL names the model" },
        .{ "engine", "engine_tests.zig", "Run the tests of kernels on the first GPU" },
    }) |step| {
        const tests = b.createModule(.{ .root_source_file = b.path(step[1]), .target = target, .optimize = optimize });
        tests.addImport("mlxrocm", module);
        const run = b.addRunArtifact(b.addTest(.{ .root_module = tests }));
        run.has_side_effects = true; // the library and the model are not the build's
        b.step(step[0], step[2]).dependOn(&run.step);
    }
}
