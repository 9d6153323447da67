/* Random calls of the engine group in random order from four threads on shared objects: live, freed,
 * NULL and of the wrong type. No result is wrong but a crash, a hang, a failure without an error
 * object, an internal error, or a failed device.
 *
 *     gpu_random SEED STEPS                                                                  */
#include "gpu.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS 4
#define SLOTS 6
#define SIZE 4096
#define SECONDS 300

static unsigned long steps;
static void *slots[SLOTS * 8];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { DEVICES, STREAMS, EVENTS, BUFFERS, PINNED, KERNELS, MODULES, PROGRAMS, KINDS };

static void *take(uint64_t *state, int kind) {
    const size_t dice = below(state, 40);
    if (dice == 0) return NULL;
    if (dice == 1) return NO_HANDLE;
    if (dice == 2) kind = (int)below(state, KINDS);
    pthread_mutex_lock(&lock);
    void *handle = slots[(size_t)kind * SLOTS + below(state, SLOTS)];
    pthread_mutex_unlock(&lock);
    return handle;
}

static void *put(uint64_t *state, int kind, void *handle) {
    const size_t slot = (size_t)kind * SLOTS + below(state, SLOTS);
    pthread_mutex_lock(&lock);
    void *old = slots[slot];
    slots[slot] = handle;
    pthread_mutex_unlock(&lock);
    return old;
}

static void free_kind(int kind, void *handle) {
    switch (kind) {
    case DEVICES: mlxrocm_device_free(handle); break;
    case STREAMS: mlxrocm_stream_free(handle); break;
    case EVENTS: mlxrocm_gpu_event_free(handle); break;
    case BUFFERS:
    case PINNED: mlxrocm_buffer_free(handle); break;
    case KERNELS: mlxrocm_kernel_free(handle); break;
    case MODULES: mlxrocm_module_free(handle); break;
    default: mlxrocm_program_free(handle); break;
    }
}

static void judge(const char *call, mlxrocm_status status, mlxrocm_error *error) {
    CHECK((status < 0) == (error != NULL));
    if (error) CHECK(mlxrocm_error_status(error) == status && mlxrocm_error_message(error, NULL)[0]);
    if (status < 0 && status != MLXROCM_ERROR_INVALID_ARGUMENT && status != MLXROCM_ERROR_NULL_ARGUMENT &&
        status != MLXROCM_ERROR_TIMEOUT && status != MLXROCM_ERROR_UNSUPPORTED) {
        fprintf(stderr, "%s\n  %s: %s\n", call, mlxrocm_status_name(status, NULL),
                mlxrocm_error_message(error, NULL));
        exit(1);
    }
    mlxrocm_error_free(error);
}

#define JUDGE(call)                                                                               \
    do {                                                                                          \
        const mlxrocm_status status = (call);                                                     \
        judge(#call, status, error);                                                              \
    } while (0)

static const char *const source = "extern \"C\" __global__ void one(unsigned *x, unsigned count) {\n"
                                  "    if (threadIdx.x < count) x[threadIdx.x] = 1;\n"
                                  "}\n";

static const char *const names[] = {"mlxrocm_vector_add_f32", "one", "mlxrocm_no_such"};

static void make(uint64_t *state, int kind) {
    mlxrocm_error *error = NULL;
    mlxrocm_status status = MLXROCM_OK;
    void *made = NULL;
    switch (kind) {
    case DEVICES: {
        mlxrocm_device *device = NULL;
        status = mlxrocm_device_open(below(state, 16) ? 1 : 0, &device, &error);
        made = device;
        break;
    }
    case STREAMS: {
        mlxrocm_stream *stream = NULL;
        status = mlxrocm_stream_new(take(state, DEVICES), &stream, &error);
        made = stream;
        break;
    }
    case EVENTS: {
        mlxrocm_gpu_event *event = NULL;
        status = mlxrocm_gpu_event_new(take(state, DEVICES), &event, &error);
        made = event;
        break;
    }
    case BUFFERS:
    case PINNED: {
        mlxrocm_buffer *buffer = NULL;
        static const char zeros[SIZE];
        const uint32_t which = kind == BUFFERS ? MLXROCM_BUFFER_DEVICE : MLXROCM_BUFFER_PINNED;
        status = mlxrocm_buffer_new(take(state, DEVICES), which, SIZE, &buffer, &error);
        if (status == MLXROCM_OK) OK(mlxrocm_buffer_write(buffer, 0, zeros, SIZE, &error));
        made = buffer;
        break;
    }
    case KERNELS: {
        mlxrocm_kernel *kernel = NULL;
        const char *name = names[below(state, 3)];
        if (below(state, 2))
            status = mlxrocm_device_get_kernel(take(state, DEVICES), name, MLXROCM_NUL, &kernel, &error);
        else
            status = mlxrocm_module_get_kernel(take(state, MODULES), name, MLXROCM_NUL, &kernel, &error);
        made = kernel;
        break;
    }
    case MODULES: {
        mlxrocm_module *module = NULL;
        status = mlxrocm_module_compile(take(state, DEVICES), source, MLXROCM_NUL, NULL, &module, &error);
        made = module;
        break;
    }
    default: {
        mlxrocm_program *program = NULL;
        status = mlxrocm_program_new(take(state, DEVICES), &program, &error);
        made = program;
    }
    }
    judge("make", status, error);
    if (status == MLXROCM_OK) {
        CHECK(made);
        free_kind(kind, put(state, kind, made));
    }
}

static mlxrocm_launch some_launch(uint64_t *state, mlxrocm_arg *args) {
    mlxrocm_launch launch;
    if (below(state, 2)) {
        const uint32_t count = (uint32_t)below(state, SIZE / 4 + 1);
        launch = add_launch(args, take(state, BUFFERS), take(state, BUFFERS), take(state, BUFFERS), count);
    } else {
        memset(&launch, 0, sizeof launch);
        args[0] = mlxrocm_arg_output(take(state, BUFFERS), 4 * below(state, 8));
        args[1] = mlxrocm_arg_u32((uint32_t)below(state, 65));
        launch.struct_size = sizeof launch;
        launch.grid[0] = 1;
        launch.block[0] = 64;
        launch.args = args;
        launch.arg_count = 2;
    }
    return launch;
}

static void use(uint64_t *state) {
    mlxrocm_error *error = NULL;
    char bytes[64] = {0};
    mlxrocm_arg args[4];
    switch (below(state, 22)) {
    case 0: JUDGE(mlxrocm_stream_wait(take(state, STREAMS), (int64_t)below(state, 3) * 1000000, &error)); break;
    case 1: JUDGE(mlxrocm_stream_query(take(state, STREAMS), &error)); break;
    case 2: JUDGE(mlxrocm_stream_record(take(state, STREAMS), take(state, EVENTS), &error)); break;
    case 3: JUDGE(mlxrocm_stream_wait_for(take(state, STREAMS), take(state, EVENTS), &error)); break;
    case 4:
        JUDGE(mlxrocm_stream_write(take(state, STREAMS), take(state, BUFFERS), below(state, SIZE), bytes,
                                   below(state, 64), &error));
        break;
    case 5:
        JUDGE(mlxrocm_stream_read(take(state, STREAMS), take(state, BUFFERS), below(state, SIZE), bytes,
                                  below(state, 64), &error));
        break;
    case 6:
        JUDGE(mlxrocm_stream_copy(take(state, STREAMS), take(state, BUFFERS), below(state, SIZE),
                                  take(state, below(state, 2) ? BUFFERS : PINNED), below(state, SIZE),
                                  below(state, 512), &error));
        break;
    case 7:
        JUDGE(mlxrocm_stream_copy(take(state, STREAMS), take(state, PINNED), below(state, SIZE),
                                  take(state, BUFFERS), below(state, SIZE), below(state, 512), &error));
        break;
    case 8:
        JUDGE(mlxrocm_stream_fill(take(state, STREAMS), take(state, BUFFERS), below(state, SIZE),
                                  below(state, 512), 0, &error));
        break;
    case 9:
    case 10:
    case 11: {
        const mlxrocm_launch launch = some_launch(state, args);
        JUDGE(mlxrocm_stream_launch(take(state, STREAMS), take(state, KERNELS), &launch, &error));
        break;
    }
    case 12: JUDGE(mlxrocm_gpu_event_wait(take(state, EVENTS), 1000000, &error)); break;
    case 13: {
        double milliseconds;
        JUDGE(mlxrocm_gpu_event_elapsed(take(state, EVENTS), take(state, EVENTS), &milliseconds, &error));
        break;
    }
    case 14:
    case 15: {
        const mlxrocm_launch launch = some_launch(state, args);
        JUDGE(mlxrocm_program_launch(take(state, PROGRAMS), take(state, KERNELS), &launch, &error));
        break;
    }
    case 16:
        JUDGE(mlxrocm_program_fill(take(state, PROGRAMS), take(state, BUFFERS), below(state, SIZE),
                                   below(state, 512), 0, &error));
        break;
    case 17: JUDGE(mlxrocm_program_end(take(state, PROGRAMS), &error)); break;
    case 18: JUDGE(mlxrocm_program_run(take(state, PROGRAMS), take(state, STREAMS), &error)); break;
    case 19: {
        mlxrocm_program_info info = {0};
        info.struct_size = sizeof info;
        JUDGE(mlxrocm_program_get_info(take(state, PROGRAMS), &info, &error));
        break;
    }
    case 20: {
        mlxrocm_device_memory memory = {0};
        memory.struct_size = sizeof memory;
        JUDGE(mlxrocm_device_get_memory(take(state, DEVICES), &memory, &error));
        break;
    }
    default:
        if (below(state, 8) == 0) JUDGE(mlxrocm_device_trim(take(state, DEVICES), &error));
        else JUDGE(mlxrocm_device_set_graphs(take(state, DEVICES), (uint32_t)below(state, 4), &error));
    }
}

static void *thread_main(void *seed) {
    uint64_t state = *(uint64_t *)seed;
    for (unsigned long step = 0; step < steps; step++) {
        const size_t dice = below(&state, 100);
        if (dice < 14) {
            make(&state, (int)below(&state, KINDS));
        } else if (dice < 20) {
            /* Freed, but it stays in its slot for others to stumble over. */
            const int kind = (int)below(&state, KINDS);
            free_kind(kind, take(&state, kind));
        } else {
            use(&state);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    steps = strtoul(argv[2], NULL, 10);
    alarm(SECONDS); /* a hang ends the process */
    uint64_t state = strtoull(argv[1], NULL, 10);
    for (int round = 0; round < SLOTS; round++)
        for (int kind = 0; kind < KINDS; kind++) make(&state, kind);
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        seeds[i] = next_random(&state);
        CHECK(pthread_create(&threads[i], NULL, thread_main, &seeds[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < SLOTS; i++) free_kind(kind, slots[(size_t)kind * SLOTS + i]);
    return 0;
}
