/* NULL, freed handles, handles of another type, and values out of range in every function of the
 * engine group: each is an error with a message, and outputs stay as they are. */
#include "gpu.h"

static char mark;
#define UNTOUCHED ((void *)&mark)
#define UNSUPPORTED(call) EXPECT(MLXROCM_ERROR_UNSUPPORTED, call)

static mlxrocm_device *gpu;

static void devices(void) {
    size_t count = 0, needed = 0;
    char text[256] = "x";
    OK(mlxrocm_device_count(&count, &error));
    CHECK(count == 3); /* the CPU and two GPUs */
    mlxrocm_device *device = UNTOUCHED;
    EXPECT_MESSAGE(MLXROCM_ERROR_NO_DEVICE, "says 3", mlxrocm_device_open(3, &device, &error));
    CHECK(device == UNTOUCHED);
    INVALID(mlxrocm_device_why_none(MLXROCM_DEVICE_CPU, text, sizeof text, &needed, &error));
    INVALID(mlxrocm_device_why_none(9, text, sizeof text, &needed, &error));
    NULL_ARGUMENT(mlxrocm_device_why_none(MLXROCM_DEVICE_HIP, NULL, 4, &needed, &error));
    NULL_ARGUMENT(mlxrocm_device_why_none(MLXROCM_DEVICE_HIP, NULL, 0, NULL, &error));
    OK(mlxrocm_device_why_none(MLXROCM_DEVICE_HIP, text, sizeof text, &needed, &error));
    CHECK(text[0] == '\0' && needed == 1); /* there are some */
    OK(mlxrocm_device_why_none(MLXROCM_DEVICE_CUDA, NULL, 0, &needed, &error));
    CHECK(needed > 20);
    EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
           mlxrocm_device_why_none(MLXROCM_DEVICE_CUDA, text, 4, &needed, &error));

    mlxrocm_device_info info = {0};
    NULL_ARGUMENT(mlxrocm_device_get_info(gpu, NULL, &error));
    INVALID(mlxrocm_device_get_info(gpu, &info, &error));
    info.struct_size = sizeof info;
    OK(mlxrocm_device_get_info(gpu, &info, &error));
    CHECK(info.kind == MLXROCM_DEVICE_HIP && strcmp(info.isa, "gfx1151") == 0);
    CHECK(strncmp(info.target, "gfx1151", 7) == 0 && strlen(info.pci_id) > 6 && info.name[0]);
    CHECK(info.wave_size == 32 && info.compute_units > 0 && info.lds_bytes == 65536);
    CHECK(info.max_block_threads == 1024 && info.memory_total == UINT64_C(2048) << 20);
    CHECK(info.integrated == 0 && info.driver_version > 0);
    /* A program compiled before the fields for GPUs came. */
    memset(&info, 0xff, sizeof info);
    info.struct_size = offsetof(mlxrocm_device_info, target);
    OK(mlxrocm_device_get_info(gpu, &info, &error));
    CHECK(info.kind == MLXROCM_DEVICE_HIP && info.wave_size == UINT32_MAX);

    mlxrocm_device_memory memory = {0};
    INVALID(mlxrocm_device_get_memory(gpu, &memory, &error));
    memory.struct_size = sizeof memory;
    NULL_ARGUMENT(mlxrocm_device_get_memory(NULL, &memory, &error));
    NULL_ARGUMENT(mlxrocm_device_get_memory(gpu, NULL, &error));
    INVALID(mlxrocm_device_get_memory(NO_HANDLE, &memory, &error));
    OK(mlxrocm_device_get_memory(gpu, &memory, &error));
    CHECK(memory.limit > memory.total / 2 && memory.limit < memory.total);
    NULL_ARGUMENT(mlxrocm_device_set_memory_limit(NULL, 1, &error));
    NULL_ARGUMENT(mlxrocm_device_reset_peak_memory(NULL, &error));
    NULL_ARGUMENT(mlxrocm_device_trim(NULL, &error));
    NULL_ARGUMENT(mlxrocm_device_set_graphs(NULL, MLXROCM_GRAPHS_AUTO, &error));
    INVALID(mlxrocm_device_set_graphs(gpu, 3, &error));
    OK(mlxrocm_device_set_graphs(gpu, MLXROCM_GRAPHS_AUTO, &error));

    mlxrocm_selftest_options options = {0};
    options.struct_size = sizeof options;
    options.flags = 4;
    NULL_ARGUMENT(mlxrocm_device_selftest(NULL, NULL, &error));
    INVALID(mlxrocm_device_selftest(gpu, &options, &error));
    options.struct_size = 3;
    INVALID(mlxrocm_device_selftest(gpu, &options, &error));
}

/* The CPU is a device without an engine. */
static void cpu(void) {
    mlxrocm_device *device = open_gpu(0);
    mlxrocm_device_memory memory = {0};
    memory.struct_size = sizeof memory;
    void *made = UNTOUCHED;
    OK(mlxrocm_device_get_memory(device, &memory, &error));
    CHECK(memory.peak >= memory.active && memory.total > 0 && memory.cache == 0);
    OK(mlxrocm_device_reset_peak_memory(device, &error));
    UNSUPPORTED(mlxrocm_device_set_memory_limit(device, 1, &error));
    UNSUPPORTED(mlxrocm_device_trim(device, &error));
    UNSUPPORTED(mlxrocm_device_set_graphs(device, 0, &error));
    UNSUPPORTED(mlxrocm_device_selftest(device, NULL, &error));
    UNSUPPORTED(mlxrocm_device_get_kernel(device, "x", MLXROCM_NUL, (mlxrocm_kernel **)&made, &error));
    UNSUPPORTED(mlxrocm_stream_new(device, (mlxrocm_stream **)&made, &error));
    UNSUPPORTED(mlxrocm_gpu_event_new(device, (mlxrocm_gpu_event **)&made, &error));
    UNSUPPORTED(mlxrocm_program_new(device, (mlxrocm_program **)&made, &error));
    UNSUPPORTED(mlxrocm_buffer_new(device, MLXROCM_BUFFER_DEVICE, 1, (mlxrocm_buffer **)&made, &error));
    UNSUPPORTED(mlxrocm_module_compile(device, "", MLXROCM_NUL, NULL, (mlxrocm_module **)&made, &error));
    UNSUPPORTED(mlxrocm_module_load(device, "x", 1, (mlxrocm_module **)&made, &error));
    CHECK(made == UNTOUCHED);
    mlxrocm_device_free(device);
}

static void buffers(void) {
    mlxrocm_buffer *buffer = UNTOUCHED;
    char bytes[64] = {0};
    NULL_ARGUMENT(mlxrocm_buffer_new(NULL, MLXROCM_BUFFER_DEVICE, 8, &buffer, &error));
    NULL_ARGUMENT(mlxrocm_buffer_new(gpu, MLXROCM_BUFFER_DEVICE, 8, NULL, &error));
    INVALID(mlxrocm_buffer_new(gpu, 0, 8, &buffer, &error));
    INVALID(mlxrocm_buffer_new(gpu, 3, 8, &buffer, &error));
    EXPECT(MLXROCM_ERROR_OUT_OF_MEMORY,
           mlxrocm_buffer_new(gpu, MLXROCM_BUFFER_DEVICE, UINT64_MAX, &buffer, &error));
    EXPECT(MLXROCM_ERROR_OUT_OF_MEMORY,
           mlxrocm_buffer_new(gpu, MLXROCM_BUFFER_DEVICE, UINT64_C(1) << 40, &buffer, &error));
    CHECK(buffer == UNTOUCHED);
    for (uint32_t kind = MLXROCM_BUFFER_DEVICE; kind <= MLXROCM_BUFFER_PINNED; kind++) {
        buffer = buffer_on(gpu, kind, 64);
        mlxrocm_buffer_info info = {0};
        NULL_ARGUMENT(mlxrocm_buffer_get_info(NULL, &info, &error));
        NULL_ARGUMENT(mlxrocm_buffer_get_info(buffer, NULL, &error));
        INVALID(mlxrocm_buffer_get_info(buffer, &info, &error));
        INVALID(mlxrocm_buffer_get_info((const void *)gpu, &info, &error));
        info.struct_size = sizeof info;
        OK(mlxrocm_buffer_get_info(buffer, &info, &error));
        CHECK(info.kind == kind && info.size == 64 && info.address != 0);
        CHECK((info.data != NULL) == (kind == MLXROCM_BUFFER_PINNED));
        CHECK(kind == MLXROCM_BUFFER_PINNED || info.address % 256 == 0);
        NULL_ARGUMENT(mlxrocm_buffer_write(NULL, 0, bytes, 1, &error));
        NULL_ARGUMENT(mlxrocm_buffer_write(buffer, 0, NULL, 1, &error));
        INVALID(mlxrocm_buffer_write(buffer, 1, bytes, 64, &error));
        INVALID(mlxrocm_buffer_write(buffer, 65, bytes, 0, &error));
        INVALID(mlxrocm_buffer_write(buffer, UINT64_MAX, bytes, 2, &error));
        INVALID(mlxrocm_buffer_write(buffer, 0, bytes, (size_t)-1, &error));
        NULL_ARGUMENT(mlxrocm_buffer_read(NULL, 0, bytes, 1, &error));
        NULL_ARGUMENT(mlxrocm_buffer_read(buffer, 0, NULL, 1, &error));
        INVALID(mlxrocm_buffer_read(buffer, 1, bytes, 64, &error));
        INVALID(mlxrocm_buffer_read(buffer, UINT64_MAX, bytes, 2, &error));
        OK(mlxrocm_buffer_write(buffer, 64, NULL, 0, &error));
        OK(mlxrocm_buffer_read(buffer, 64, NULL, 0, &error));
        OK(mlxrocm_buffer_write(buffer, 60, "abcd", 4, &error));
        OK(mlxrocm_buffer_read(buffer, 61, bytes, 3, &error));
        CHECK(memcmp(bytes, "bcd", 3) == 0);
        mlxrocm_buffer_free(buffer);
        INVALID(mlxrocm_buffer_read(buffer, 0, bytes, 1, &error));
    }
    buffer = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, 0);
    OK(mlxrocm_buffer_write(buffer, 0, NULL, 0, &error));
    INVALID(mlxrocm_buffer_write(buffer, 0, bytes, 1, &error));
    mlxrocm_buffer_free(buffer);
    mlxrocm_buffer_free(NULL);
    mlxrocm_buffer_free(NO_HANDLE);
}

static void streams(void) {
    mlxrocm_stream *stream = UNTOUCHED;
    mlxrocm_gpu_event *event = UNTOUCHED;
    double milliseconds = 7.0;
    NULL_ARGUMENT(mlxrocm_stream_new(NULL, &stream, &error));
    NULL_ARGUMENT(mlxrocm_stream_new(gpu, NULL, &error));
    NULL_ARGUMENT(mlxrocm_gpu_event_new(NULL, &event, &error));
    NULL_ARGUMENT(mlxrocm_gpu_event_new(gpu, NULL, &error));
    CHECK(stream == UNTOUCHED && event == UNTOUCHED);
    stream = stream_on(gpu);
    OK(mlxrocm_gpu_event_new(gpu, &event, &error));
    NULL_ARGUMENT(mlxrocm_stream_wait(NULL, 0, &error));
    NULL_ARGUMENT(mlxrocm_stream_query(NULL, &error));
    INVALID(mlxrocm_stream_query((const void *)event, &error));
    NULL_ARGUMENT(mlxrocm_stream_record(NULL, event, &error));
    NULL_ARGUMENT(mlxrocm_stream_record(stream, NULL, &error));
    NULL_ARGUMENT(mlxrocm_stream_wait_for(NULL, event, &error));
    NULL_ARGUMENT(mlxrocm_stream_wait_for(stream, NULL, &error));
    OK(mlxrocm_stream_wait_for(stream, event, &error)); /* never recorded */
    OK(mlxrocm_gpu_event_wait(event, 0, &error));
    OK(mlxrocm_gpu_event_query(event, &error));
    NULL_ARGUMENT(mlxrocm_gpu_event_wait(NULL, 0, &error));
    NULL_ARGUMENT(mlxrocm_gpu_event_query(NULL, &error));
    NULL_ARGUMENT(mlxrocm_gpu_event_elapsed(NULL, event, &milliseconds, &error));
    NULL_ARGUMENT(mlxrocm_gpu_event_elapsed(event, NULL, &milliseconds, &error));
    NULL_ARGUMENT(mlxrocm_gpu_event_elapsed(event, event, NULL, &error));
    INVALID(mlxrocm_gpu_event_elapsed(event, event, &milliseconds, &error)); /* not recorded */
    CHECK(milliseconds == 7.0);

    char bytes[64] = {0};
    mlxrocm_buffer *a = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, 64);
    mlxrocm_buffer *b = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, 64);
    mlxrocm_buffer *host = buffer_on(gpu, MLXROCM_BUFFER_PINNED, 64);
    NULL_ARGUMENT(mlxrocm_stream_write(NULL, a, 0, bytes, 1, &error));
    NULL_ARGUMENT(mlxrocm_stream_write(stream, NULL, 0, bytes, 1, &error));
    NULL_ARGUMENT(mlxrocm_stream_write(stream, a, 0, NULL, 1, &error));
    INVALID(mlxrocm_stream_write(stream, a, 1, bytes, 64, &error));
    INVALID(mlxrocm_stream_write(stream, host, 0, bytes, 1, &error));
    NULL_ARGUMENT(mlxrocm_stream_read(NULL, a, 0, bytes, 1, &error));
    NULL_ARGUMENT(mlxrocm_stream_read(stream, NULL, 0, bytes, 1, &error));
    NULL_ARGUMENT(mlxrocm_stream_read(stream, a, 0, NULL, 1, &error));
    INVALID(mlxrocm_stream_read(stream, a, 64, bytes, 1, &error));
    INVALID(mlxrocm_stream_read(stream, host, 0, bytes, 1, &error));
    NULL_ARGUMENT(mlxrocm_stream_copy(NULL, a, 0, b, 0, 1, &error));
    NULL_ARGUMENT(mlxrocm_stream_copy(stream, NULL, 0, b, 0, 1, &error));
    NULL_ARGUMENT(mlxrocm_stream_copy(stream, a, 0, NULL, 0, 1, &error));
    INVALID(mlxrocm_stream_copy(stream, a, 1, b, 0, 64, &error));
    INVALID(mlxrocm_stream_copy(stream, a, 0, b, 1, 64, &error));
    INVALID(mlxrocm_stream_copy(stream, a, 0, host, 1, 64, &error));
    INVALID(mlxrocm_stream_copy(stream, host, 1, a, 0, 64, &error));
    INVALID(mlxrocm_stream_copy(stream, a, 0, a, 8, 16, &error)); /* overlap */
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "memcpy",
                   mlxrocm_stream_copy(stream, host, 0, host, 8, 8, &error));
    NULL_ARGUMENT(mlxrocm_stream_fill(NULL, a, 0, 1, 0, &error));
    NULL_ARGUMENT(mlxrocm_stream_fill(stream, NULL, 0, 1, 0, &error));
    INVALID(mlxrocm_stream_fill(stream, a, 0, 65, 0, &error));
    INVALID(mlxrocm_stream_fill(stream, host, 0, 1, 0, &error));

    /* Another device. */
    mlxrocm_device *other = open_gpu(2);
    mlxrocm_buffer *far = buffer_on(other, MLXROCM_BUFFER_DEVICE, 64);
    INVALID(mlxrocm_stream_write(stream, far, 0, bytes, 1, &error));
    INVALID(mlxrocm_stream_copy(stream, far, 0, a, 0, 1, &error));
    INVALID(mlxrocm_stream_fill(stream, far, 0, 1, 0, &error));
    mlxrocm_buffer_free(far);
    mlxrocm_device_free(other);
    mlxrocm_buffer_free(a);
    mlxrocm_buffer_free(b);
    mlxrocm_buffer_free(host);
    mlxrocm_gpu_event_free(event);
    mlxrocm_stream_free(stream);
    INVALID(mlxrocm_stream_wait(stream, 0, &error));
    INVALID(mlxrocm_gpu_event_wait(event, 0, &error));
    mlxrocm_stream_free(NULL);
    mlxrocm_gpu_event_free(NULL);
}

static void kernels(void) {
    mlxrocm_module *module = UNTOUCHED;
    mlxrocm_kernel *kernel = UNTOUCHED;
    const char *source = "extern \"C\" __global__ void one(float *x) { x[threadIdx.x] = N; }\n";
    NULL_ARGUMENT(mlxrocm_module_compile(NULL, source, MLXROCM_NUL, NULL, &module, &error));
    NULL_ARGUMENT(mlxrocm_module_compile(gpu, NULL, MLXROCM_NUL, NULL, &module, &error));
    NULL_ARGUMENT(mlxrocm_module_compile(gpu, source, MLXROCM_NUL, NULL, NULL, &error));
    INVALID(mlxrocm_module_compile(gpu, "\xff\xff", MLXROCM_NUL, NULL, &module, &error));
    mlxrocm_compile_options options = {0};
    options.flag_count = 1;
    INVALID(mlxrocm_module_compile(gpu, source, MLXROCM_NUL, &options, &module, &error)); /* no struct_size */
    options.struct_size = sizeof options;
    NULL_ARGUMENT(mlxrocm_module_compile(gpu, source, MLXROCM_NUL, &options, &module, &error));
    const char *flags[] = {NULL};
    options.flags = flags;
    NULL_ARGUMENT(mlxrocm_module_compile(gpu, source, MLXROCM_NUL, &options, &module, &error));
    /* What does not compile: one line in the message, the log in the details. */
    mlxrocm_error *error = NULL;
    options.flag_count = 0;
    options.name = "one.hip";
    CHECK(mlxrocm_module_compile(gpu, source, MLXROCM_NUL, &options, &module, &error) ==
          MLXROCM_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(mlxrocm_error_message(error, NULL), "one.hip") && strstr(mlxrocm_error_message(error, NULL),
                                                                          "'N'"));
    CHECK(!strchr(mlxrocm_error_message(error, NULL), '\n') && strchr(mlxrocm_error_details(error, NULL),
                                                                      '\n'));
    mlxrocm_error_free(error);
    CHECK(mlxrocm_error_details(NULL, NULL)[0] == '\0' && mlxrocm_error_details(NO_HANDLE, NULL)[0] == '\0');
    NULL_ARGUMENT(mlxrocm_module_load(NULL, "x", 1, &module, &error));
    NULL_ARGUMENT(mlxrocm_module_load(gpu, NULL, 1, &module, &error));
    NULL_ARGUMENT(mlxrocm_module_load(gpu, "x", 1, NULL, &error));
    INVALID(mlxrocm_module_load(gpu, "x", 0, &module, &error));
    EXPECT(MLXROCM_ERROR_INVALID_FILE, mlxrocm_module_load(gpu, "no code", 7, &module, &error));
    CHECK(module == UNTOUCHED);

    flags[0] = "-DN=3";
    options.flag_count = 1;
    OK(mlxrocm_module_compile(gpu, source, MLXROCM_NUL, &options, &module, &error));
    NULL_ARGUMENT(mlxrocm_module_get_kernel(NULL, "one", MLXROCM_NUL, &kernel, &error));
    NULL_ARGUMENT(mlxrocm_module_get_kernel(module, NULL, MLXROCM_NUL, &kernel, &error));
    NULL_ARGUMENT(mlxrocm_module_get_kernel(module, "one", MLXROCM_NUL, NULL, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "two",
                   mlxrocm_module_get_kernel(module, "two", MLXROCM_NUL, &kernel, &error));
    NULL_ARGUMENT(mlxrocm_device_get_kernel(NULL, "one", MLXROCM_NUL, &kernel, &error));
    NULL_ARGUMENT(mlxrocm_device_get_kernel(gpu, NULL, MLXROCM_NUL, &kernel, &error));
    NULL_ARGUMENT(mlxrocm_device_get_kernel(gpu, "one", MLXROCM_NUL, NULL, &error));
    UNSUPPORTED(mlxrocm_device_get_kernel(gpu, "one", MLXROCM_NUL, &kernel, &error));
    CHECK(kernel == UNTOUCHED);
    OK(mlxrocm_module_get_kernel(module, "one", MLXROCM_NUL, &kernel, &error));
    mlxrocm_kernel_info info = {0};
    INVALID(mlxrocm_kernel_get_info(kernel, &info, &error));
    info.struct_size = sizeof info;
    NULL_ARGUMENT(mlxrocm_kernel_get_info(NULL, &info, &error));
    NULL_ARGUMENT(mlxrocm_kernel_get_info(kernel, NULL, &error));
    OK(mlxrocm_kernel_get_info(kernel, &info, &error));
    CHECK(strcmp(info.name, "one") == 0 && info.registers > 0 && info.scratch_bytes == 0);
    CHECK(info.max_block_threads > 0 && info.wave_size == 32);
    mlxrocm_module_free(module);
    INVALID(mlxrocm_module_get_kernel(module, "one", MLXROCM_NUL, &kernel, &error));
    mlxrocm_kernel_free(kernel);
    INVALID(mlxrocm_kernel_get_info(kernel, &info, &error));
    mlxrocm_module_free(NULL);
    mlxrocm_kernel_free(NULL);
}

/* What a launch refuses, on a stream and in a program. */
static mlxrocm_stream *launch_stream;
static mlxrocm_program *launch_program;
static mlxrocm_kernel *launch_kernel;
static void refused(const mlxrocm_launch *launch, mlxrocm_status status, const char *part) {
    EXPECT_MESSAGE(status, part, mlxrocm_stream_launch(launch_stream, launch_kernel, launch, &error));
    EXPECT_MESSAGE(status, part, mlxrocm_program_launch(launch_program, launch_kernel, launch, &error));
}

static void launches(void) {
    const mlxrocm_status invalid = MLXROCM_ERROR_INVALID_ARGUMENT;
    mlxrocm_buffer *buffer = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, 1024);
    mlxrocm_buffer *host = buffer_on(gpu, MLXROCM_BUFFER_PINNED, 1024);
    mlxrocm_arg args[49];
    launch_stream = stream_on(gpu);
    launch_kernel = kernel_on(gpu, "mlxrocm_vector_add_f32");
    OK(mlxrocm_program_new(gpu, &launch_program, &error));
    const mlxrocm_launch good = add_launch(args, buffer, buffer, buffer, 10);
    NULL_ARGUMENT(mlxrocm_stream_launch(NULL, launch_kernel, &good, &error));
    NULL_ARGUMENT(mlxrocm_stream_launch(launch_stream, NULL, &good, &error));
    NULL_ARGUMENT(mlxrocm_program_launch(NULL, launch_kernel, &good, &error));
    NULL_ARGUMENT(mlxrocm_program_launch(launch_program, NULL, &good, &error));
    refused(NULL, MLXROCM_ERROR_NULL_ARGUMENT, "launch");
    mlxrocm_launch launch = good;
    launch.struct_size = 0;
    refused(&launch, invalid, "struct_size");
    launch = good;
    launch.args = NULL;
    refused(&launch, MLXROCM_ERROR_NULL_ARGUMENT, "args");
    launch = good;
    launch.touched_count = 1;
    refused(&launch, MLXROCM_ERROR_NULL_ARGUMENT, "touched");
    launch = good;
    launch.block[0] = 0;
    refused(&launch, invalid, "block");
    launch.block[0] = 2048;
    refused(&launch, invalid, "2048");
    launch.block[0] = UINT32_MAX, launch.block[1] = UINT32_MAX;
    refused(&launch, invalid, "work items");
    launch = good;
    launch.grid[1] = 65536;
    refused(&launch, invalid, "grid");
    launch.grid[1] = 0, launch.grid[0] = UINT32_MAX;
    refused(&launch, invalid, "grid");
    launch = good;
    launch.dynamic_lds = 65537;
    refused(&launch, invalid, "local memory");

    /* Arguments: too few, too many, of the wrong kind. */
    launch = good;
    launch.arg_count = 3;
    refused(&launch, invalid, "4 arguments");
    launch.arg_count = 5, args[4] = mlxrocm_arg_u32(0);
    refused(&launch, invalid, "4 arguments");
    for (size_t i = 0; i < 49; i++) args[i] = mlxrocm_arg_u32(0);
    launch.arg_count = 49;
    refused(&launch, invalid, "48");
    launch = add_launch(args, buffer, buffer, buffer, 10);
    args[3] = mlxrocm_arg_u64(10);
    refused(&launch, invalid, "argument 3");
    args[3] = mlxrocm_arg_u32(10), args[1] = mlxrocm_arg_f32(1.0f);
    refused(&launch, invalid, "argument 1");
    memset(&args[1], 0, sizeof args[1]);
    refused(&launch, invalid, "args[1]");
    args[1] = mlxrocm_arg_input(NULL, 0);
    refused(&launch, MLXROCM_ERROR_NULL_ARGUMENT, "buffer");
    args[1] = mlxrocm_arg_input(NO_HANDLE, 0);
    refused(&launch, invalid, "args[1]");
    args[1] = mlxrocm_arg_input(host, 0);
    refused(&launch, invalid, "pinned");
    args[1] = mlxrocm_arg_input(buffer, 1025);
    refused(&launch, invalid, "1025");
    args[1] = mlxrocm_arg_input(buffer, UINT64_MAX);
    refused(&launch, invalid, "args[1]");
    args[1] = mlxrocm_arg_input(buffer, 8);
    args[1].size = 1017;
    refused(&launch, invalid, "1017");
    args[1].size = 0, args[1].access = 0;
    refused(&launch, invalid, "access");
    args[1].access = 4;
    refused(&launch, invalid, "access");
    args[1] = mlxrocm_arg_buffer(buffer, 0);
    args[3].value = UINT64_C(1) << 32;
    refused(&launch, invalid, "args[3]");
    args[3] = mlxrocm_arg_i32(10);
    args[4] = mlxrocm_arg_u32(1);
    launch.touched = args + 4, launch.touched_count = 1;
    refused(&launch, invalid, "touched[0]");
    mlxrocm_device *other = open_gpu(2);
    mlxrocm_buffer *far = buffer_on(other, MLXROCM_BUFFER_DEVICE, 1024);
    args[4] = mlxrocm_arg_input(far, 0);
    INVALID(mlxrocm_program_launch(launch_program, launch_kernel, &launch, &error));
    launch.touched_count = 0;
    args[1] = mlxrocm_arg_input(far, 0);
    refused(&launch, invalid, "another device");
    mlxrocm_kernel *strange = kernel_on(other, "mlxrocm_vector_add_f32");
    INVALID(mlxrocm_stream_launch(launch_stream, strange, &good, &error));

    NULL_ARGUMENT(mlxrocm_program_copy(NULL, buffer, 0, buffer, 0, 1, &error));
    NULL_ARGUMENT(mlxrocm_program_copy(launch_program, NULL, 0, buffer, 0, 1, &error));
    NULL_ARGUMENT(mlxrocm_program_copy(launch_program, buffer, 0, NULL, 0, 1, &error));
    INVALID(mlxrocm_program_copy(launch_program, buffer, 0, host, 0, 1, &error));
    INVALID(mlxrocm_program_copy(launch_program, buffer, 0, far, 0, 1, &error));
    INVALID(mlxrocm_program_copy(launch_program, buffer, 0, buffer, 4, 8, &error));
    INVALID(mlxrocm_program_copy(launch_program, buffer, 1020, buffer, 0, 8, &error));
    NULL_ARGUMENT(mlxrocm_program_fill(NULL, buffer, 0, 1, 0, &error));
    NULL_ARGUMENT(mlxrocm_program_fill(launch_program, NULL, 0, 1, 0, &error));
    INVALID(mlxrocm_program_fill(launch_program, buffer, 1, 1024, 0, &error));
    INVALID(mlxrocm_program_fill(launch_program, host, 0, 1, 0, &error));
    NULL_ARGUMENT(mlxrocm_program_barrier(NULL, &error));
    NULL_ARGUMENT(mlxrocm_program_end(NULL, &error));
    NULL_ARGUMENT(mlxrocm_program_new(NULL, &launch_program, &error));
    NULL_ARGUMENT(mlxrocm_program_new(gpu, NULL, &error));

    /* Before and after the end of the recording. */
    mlxrocm_program_info info = {0};
    char text[256];
    size_t needed = 0;
    info.struct_size = sizeof info;
    EXPECT_MESSAGE(invalid, "mlxrocm_program_end",
                   mlxrocm_program_run(launch_program, launch_stream, &error));
    INVALID(mlxrocm_program_get_info(launch_program, &info, &error));
    INVALID(mlxrocm_program_explain(launch_program, text, sizeof text, &needed, &error));
    OK(mlxrocm_program_end(launch_program, &error));
    INVALID(mlxrocm_program_end(launch_program, &error));
    INVALID(mlxrocm_program_barrier(launch_program, &error));
    INVALID(mlxrocm_program_launch(launch_program, launch_kernel, &good, &error));
    NULL_ARGUMENT(mlxrocm_program_get_info(NULL, &info, &error));
    NULL_ARGUMENT(mlxrocm_program_get_info(launch_program, NULL, &error));
    OK(mlxrocm_program_get_info(launch_program, &info, &error));
    CHECK(info.nodes == 0 && info.edges == 0); /* nothing that was refused is in it */
    NULL_ARGUMENT(mlxrocm_program_explain(NULL, text, sizeof text, &needed, &error));
    EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
           mlxrocm_program_explain(launch_program, text, 2, &needed, &error));
    CHECK(needed > 10);
    NULL_ARGUMENT(mlxrocm_program_run(NULL, launch_stream, &error));
    NULL_ARGUMENT(mlxrocm_program_run(launch_program, NULL, &error));
    mlxrocm_stream *elsewhere = stream_on(other);
    INVALID(mlxrocm_program_run(launch_program, elsewhere, &error));
    OK(mlxrocm_program_run(launch_program, launch_stream, &error));
    OK(mlxrocm_stream_wait(launch_stream, FOREVER, &error));
    mlxrocm_program_free(launch_program);
    INVALID(mlxrocm_program_run(launch_program, launch_stream, &error));
    mlxrocm_program_free(NULL);
    mlxrocm_stream_free(elsewhere);
    mlxrocm_kernel_free(strange);
    mlxrocm_buffer_free(far);
    mlxrocm_device_free(other);
    mlxrocm_kernel_free(launch_kernel);
    mlxrocm_stream_free(launch_stream);
    mlxrocm_buffer_free(host);
    mlxrocm_buffer_free(buffer);
}

int main(void) {
    gpu_configure("devices=gfx1151,gfx1151;integrated=0");
    gpu = open_gpu(1);
    devices();
    cpu();
    buffers();
    streams();
    kernels();
    launches();
    mlxrocm_device_free(gpu);
    gpu_no_violations();
    return 0;
}
