//! What the library says about itself and about failures, chat templates, and generations in event loops.

const std = @import("std");
const mlxrocm = @import("mlxrocm");
const c = mlxrocm.c;
const testing = std.testing;
const allocator = testing.allocator;

fn load() !mlxrocm.Model {
    const cpu = try mlxrocm.Device.open(0);
    defer cpu.deinit();
    const path = std.posix.getenv("MLXROCM_DEMO_MODEL") orelse return error.MLXROCM_DEMO_MODEL_names_the_demo_model;
    return mlxrocm.Model.load(path, .{ .device = cpu });
}

fn expectOwned(wanted: []const u8, found: []u8) !void {
    defer allocator.free(found);
    try testing.expectEqualStrings(wanted, found);
}

test "version and build" {
    const number = c.mlxrocm_version();
    var room: [32]u8 = undefined;
    const wanted = try std.fmt.bufPrint(&room, "{d}.{d}.{d}", .{ number / 10000, number / 100 % 100, number % 100 });
    try testing.expectEqualStrings(wanted, mlxrocm.version());
    try testing.expect(std.mem.indexOf(u8, mlxrocm.buildInfo(), wanted) != null);
    try testing.expect(mlxrocm.buildInfo().len > wanted.len);
    try testing.expect(std.mem.indexOfAny(u8, mlxrocm.buildInfo(), "\n\x00") == null);
}

test "statuses" {
    try testing.expectEqualStrings("MLXROCM_OK", mlxrocm.statusName(c.MLXROCM_OK));
    try testing.expectEqualStrings("MLXROCM_ERROR_SELFTEST_FAILED", mlxrocm.statusName(-16));
    try testing.expectEqualStrings("MLXROCM_STATUS_UNKNOWN", mlxrocm.statusName(-1000));
    try testing.expectError(error.Io, mlxrocm.Model.load("/nowhere/model.gguf", .{}));
    try testing.expectEqualStrings("MLXROCM_ERROR_IO", mlxrocm.statusName(mlxrocm.lastStatus()));
    try testing.expectEqual(0, mlxrocm.lastVendorCode());
    // What the package itself refuses.
    try testing.expectError(error.InvalidArgument, mlxrocm.Array.init(f32, &.{1}, &.{-1}));
    try testing.expectEqual(c.MLXROCM_ERROR_INVALID_ARGUMENT, mlxrocm.lastStatus());
}

test "chat templates" {
    const source =
        \\{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}
        \\{%- if mood %}({{ mood }}){% endif %}{% if add_generation_prompt %}bot:{% endif %}
    ;
    const template = try mlxrocm.ChatTemplate.init(source, .{ .bos = "<s>", .eos = "</s>" });
    defer template.deinit();
    try expectOwned(source, try template.source(allocator));
    const messages = [_]mlxrocm.Message{ .{ .role = "user", .content = "Hi" }, .{ .role = "bot", .content = "" } };
    try expectOwned("<s>user: Hi</s>bot: </s>bot:", try template.render(allocator, &messages, .{}));
    const more: mlxrocm.ChatTemplate.RenderOptions = .{ .generation_prompt = false, .chat_json = "{\"mood\": \"Zoë\"}" };
    try expectOwned("<s>user: Hi</s>bot: </s>(Zoë)", try template.render(allocator, &messages, more));
    const bare = try mlxrocm.ChatTemplate.init(source, .{});
    defer bare.deinit();
    const json = "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}";
    try expectOwned("user: Hibot:", try bare.render(allocator, &.{}, .{ .chat_json = json }));

    try testing.expectError(error.InvalidFile, mlxrocm.ChatTemplate.init("{% for %}", .{}));
    const refuses = try mlxrocm.ChatTemplate.init("{{ raise_exception('no roles') }}", .{});
    defer refuses.deinit();
    try testing.expectError(error.InvalidArgument, refuses.render(allocator, &messages, .{}));
    try testing.expect(std.mem.indexOf(u8, mlxrocm.lastMessage(), "no roles") != null);
}

test "a model's chat template" {
    const model = try load();
    const messages = [_]mlxrocm.Message{.{ .role = "user", .content = "What is the capital of France?" }};
    const rendered = try model.renderChat(allocator, &messages);
    defer allocator.free(rendered);
    const template = try model.chatTemplate();
    defer template.deinit();
    model.deinit();
    const source = try template.source(allocator);
    defer allocator.free(source);
    try testing.expect(std.mem.indexOf(u8, source, "<|im_start|>") != null);
    const again = try mlxrocm.ChatTemplate.init(source, .{ .bos = "<|im_start|>", .eos = "<|im_end|>" });
    defer again.deinit();
    try expectOwned(rendered, try template.render(allocator, &messages, .{}));
    try expectOwned(rendered, try again.render(allocator, &messages, .{}));
}

/// Whether a descriptor is readable within so many milliseconds.
fn readable(fd: std.posix.fd_t, timeout_ms: i32) !bool {
    var polled = [_]std.posix.pollfd{.{ .fd = fd, .events = std.posix.POLL.IN, .revents = 0 }};
    return try std.posix.poll(&polled, timeout_ms) == 1 and polled[0].revents == std.posix.POLL.IN;
}

test "generations in an event loop" {
    const model = try load();
    defer model.deinit();
    const session = try mlxrocm.Session.init(model, .{ .context = 512 });
    defer session.deinit();
    const generation = try session.submit(.{ .text = "The capital of France is", .max_tokens = 4 });
    defer generation.deinit();
    const fd = try generation.fd();
    try testing.expectEqual(fd, try generation.fd());
    var tokens: usize = 0;
    var finished = false;
    while (!finished) {
        try testing.expect(try readable(fd, 60_000));
        try testing.expectEqual(mlxrocm.Waited{ .event = 0 }, try mlxrocm.waitAny(&.{generation}, 0));
        switch ((try generation.next()).?) {
            .token => tokens += 1,
            .finished => finished = true,
            .prompt => {},
        }
    }
    try testing.expectEqual(4, tokens);
    try testing.expect(!try readable(fd, 0));
    try testing.expectEqual(null, try generation.next());
}
