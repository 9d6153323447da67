//! Chat templates. They never change; any thread may use them.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const filled = @import("filled.zig");
const model = @import("model.zig");
const check = errors.check;
const Error = errors.Error;

/// A compiled chat template (Jinja): a model's, from Model.chatTemplate, or one's own.
pub const ChatTemplate = struct {
    handle: *c.mlxrocm_chat_template,

    /// How the tokens that begin and end a text are spelled.
    pub const Special = struct { bos: []const u8 = "", eos: []const u8 = "" };

    /// Compiles a source, which is copied; error.InvalidFile if its syntax is wrong.
    pub fn init(of: []const u8, special: Special) Error!ChatTemplate {
        const bos, const eos = .{ special.bos, special.eos };
        var handle: ?*c.mlxrocm_chat_template = null;
        var failure: ?*c.mlxrocm_error = null;
        const new = c.mlxrocm_chat_template_new;
        try check(new(of.ptr, of.len, bos.ptr, bos.len, eos.ptr, eos.len, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// Frees it, before or after its model.
    pub fn deinit(self: ChatTemplate) void {
        c.mlxrocm_chat_template_free(self.handle);
    }

    /// What a chat is rendered with.
    pub const RenderOptions = struct {
        /// End with what begins the model's answer.
        generation_prompt: bool = true,
        /// A JSON object: messages (where none are given) and tools as OpenAI's API writes them, and further variables of the
        /// template.
        chat_json: ?[]const u8 = null,
    };

    /// A chat as the text of a prompt, owned; encode it with parse_special and without add_special. What the template refuses
    /// is error.InvalidArgument.
    pub fn render(
        self: ChatTemplate,
        allocator: std.mem.Allocator,
        messages: []const model.Message,
        options: RenderOptions,
    ) ![]u8 {
        const list = try model.borrowed(allocator, messages);
        defer allocator.free(list);
        const flags: u32 = if (options.generation_prompt) c.MLXROCM_RENDER_GENERATION_PROMPT else 0;
        const json: [*c]const u8 = if (options.chat_json) |text| text.ptr else null;
        const length = if (options.chat_json) |text| text.len else 0;
        const given = .{ self.handle, list.ptr, list.len, flags, json, length };
        return filled.text(allocator, c.mlxrocm_chat_template_render, given);
    }

    /// Its source, owned.
    pub fn source(self: ChatTemplate, allocator: std.mem.Allocator) ![]u8 {
        return filled.text(allocator, c.mlxrocm_chat_template_source, .{self.handle});
    }
};
