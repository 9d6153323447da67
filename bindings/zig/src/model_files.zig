//! Model files: what is in them, and quantized ones made of them.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const model = @import("model.zig");
const check = errors.check;
const Error = errors.Error;

/// What a GGUF file, a safetensors file or a model folder holds, without loading it: also models that do not run here.
pub const ModelFile = struct {
    handle: *c.mlxrocm_model_file,

    pub const Tensor = struct {
        name: []const u8,
        /// As the file spells it: "Q4_K", "BF16", "U32" …
        format: []const u8,
        /// Outermost first.
        shape: []const i64,
        bytes: u64,
    };

    pub fn open(path: []const u8) Error!ModelFile {
        var handle: ?*c.mlxrocm_model_file = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_model_file_open(path.ptr, path.len, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: ModelFile) void {
        c.mlxrocm_model_file_free(self.handle);
    }

    /// The number of tensors.
    pub fn count(self: ModelFile) usize {
        return c.mlxrocm_model_file_tensor_count(self.handle);
    }

    /// A tensor, in the file's order; slices in it live as long as the model file.
    pub fn tensor(self: ModelFile, index: usize) Error!Tensor {
        var facts = std.mem.zeroes(c.mlxrocm_tensor_info);
        facts.struct_size = @sizeOf(c.mlxrocm_tensor_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_model_file_get_tensor(self.handle, index, &facts, &failure), failure);
        return .{
            .name = facts.name[0..facts.name_length],
            .format = facts.format[0..facts.format_length],
            .shape = facts.shape[0..facts.rank],
            .bytes = facts.bytes,
        };
    }
};

/// How to quantize a model; zero and null are the defaults: affine, 4 bits in groups of 64.
pub const QuantizeOptions = struct {
    bits: u32 = 0,
    /// Weights that share a scale.
    group_size: u32 = 0,
    /// "affine", "mxfp4", "mxfp8" or "nvfp4".
    mode: ?[]const u8 = null,
    /// One of mlx-lm's, like "mixed_4_6".
    recipe: ?[]const u8 = null,
    /// The type of scales and of what is not quantized: "float16", "bfloat16" or "float32".
    dtype: ?[]const u8 = null,
    /// What modules become by their paths, like "*.v_proj=6" or "lm_head=8:32"; the first that matches counts.
    rules: []const []const u8 = &.{},
    /// CPU threads; 0: one for each CPU.
    threads: u32 = 0,
    /// Hears how many of how many bytes of the source are done; false ends it with error.Cancelled, and the same call goes on
    /// there.
    progress: ?model.Progress = null,
};

/// Quantizes a model folder or a GGUF file of 16- or 32-bit floats into a new folder in MLX's format, as mlx-lm does.
pub fn quantize(source: []const u8, destination: []const u8, options: QuantizeOptions) Error!c.mlxrocm_quantize_result {
    var arena = std.heap.ArenaAllocator.init(std.heap.c_allocator);
    defer arena.deinit();
    var how = std.mem.zeroes(c.mlxrocm_quantize_options);
    how.struct_size = @sizeOf(c.mlxrocm_quantize_options);
    inline for (.{ "bits", "group_size", "threads" }) |name| @field(how, name) = @field(options, name);
    inline for (.{ "mode", "recipe", "dtype" }) |name| if (@field(options, name)) |text| {
        @field(how, name) = model.field(text);
        @field(how, name ++ "_length") = text.len;
    };
    const rules = try model.Texts.of(arena.allocator(), options.rules);
    how.rules = rules.starts.ptr;
    how.rules_lengths = rules.lengths.ptr;
    how.rules_count = options.rules.len;
    if (options.progress) |*progress| {
        how.progress = model.Progress.report;
        how.user_data = @constCast(progress);
    }
    var made = std.mem.zeroes(c.mlxrocm_quantize_result);
    made.struct_size = @sizeOf(c.mlxrocm_quantize_result);
    var failure: ?*c.mlxrocm_error = null;
    const run = c.mlxrocm_model_quantize;
    try check(run(source.ptr, source.len, destination.ptr, destination.len, &how, &made, &failure), failure);
    return made;
}
