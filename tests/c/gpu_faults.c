/* Faults of a device become statuses: at the call, or out of the next wait; never a hang; and what can
 * be used afterwards is used. */
#include "gpu.h"

#include <time.h>

static mlxrocm_device *gpu;
static mlxrocm_stream *stream;
static mlxrocm_buffer *buffer;
static mlxrocm_kernel *add;
static mlxrocm_arg args[4];

/* Calls until one fails; some faults are tried again by the library. */
#define FAILS(wanted, call) EXPECT(wanted, call)

static void setup(void) {
    gpu_configure("devices=gfx1151;integrated=0;sticky=0;hang_limit_ms=20000");
    gpu = open_gpu(1);
    stream = stream_on(gpu);
    buffer = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, 1024);
    add = kernel_on(gpu, "mlxrocm_vector_add_f32");
    OK(mlxrocm_stream_fill(stream, buffer, 0, 1024, 0, &error));
    OK(mlxrocm_stream_wait(stream, FOREVER, &error));
}

static void teardown(void) {
    mlxrocm_kernel_free(add);
    mlxrocm_buffer_free(buffer);
    mlxrocm_stream_free(stream);
    mlxrocm_device_free(gpu);
    gpu = NULL;
}

static mlxrocm_launch launch(void) { return add_launch(args, buffer, buffer, buffer, 256); }

/* The device does what it did before. */
static void still_works(void) {
    float numbers[256];
    gpu_fault("none");
    for (int i = 0; i < 256; i++) numbers[i] = (float)i;
    OK(mlxrocm_stream_write(stream, buffer, 0, numbers, sizeof numbers, &error));
    const mlxrocm_launch doubling = launch();
    OK(mlxrocm_stream_launch(stream, add, &doubling, &error));
    OK(mlxrocm_stream_read(stream, buffer, 0, numbers, sizeof numbers, &error));
    for (int i = 0; i < 256; i++) CHECK(numbers[i] == 2.0f * (float)i);
}

static void at_the_call(void) {
    setup();
    mlxrocm_buffer *more = NULL;
    gpu_fault("alloc@1+");
    FAILS(MLXROCM_ERROR_OUT_OF_MEMORY,
          mlxrocm_buffer_new(gpu, MLXROCM_BUFFER_DEVICE, 64 << 20, &more, &error));
    still_works();
    gpu_fault("host_alloc@1+");
    FAILS(MLXROCM_ERROR_OUT_OF_MEMORY,
          mlxrocm_buffer_new(gpu, MLXROCM_BUFFER_PINNED, 64 << 20, &more, &error));
    still_works();
    mlxrocm_stream *other = NULL;
    gpu_fault("stream@1");
    FAILS(MLXROCM_ERROR_OUT_OF_MEMORY, mlxrocm_stream_new(gpu, &other, &error));
    still_works();
    mlxrocm_gpu_event *event = NULL;
    gpu_fault("event@1");
    FAILS(MLXROCM_ERROR_OUT_OF_MEMORY, mlxrocm_gpu_event_new(gpu, &event, &error));
    still_works();
    mlxrocm_kernel *kernel = NULL;
    gpu_fault("module@1");
    FAILS(MLXROCM_ERROR_OUT_OF_MEMORY,
          mlxrocm_device_get_kernel(gpu, "mlxrocm_fill_u32", MLXROCM_NUL, &kernel, &error));
    still_works();
    CHECK(!more && !other && !event && !kernel);
    mlxrocm_error *error = NULL;
    const mlxrocm_launch doubling = launch();
    gpu_fault("launch@1");
    CHECK(mlxrocm_stream_launch(stream, add, &doubling, &error) == MLXROCM_ERROR_DEVICE_FAILED);
    CHECK(mlxrocm_error_vendor_code(error) == 701); /* out of resources */
    mlxrocm_error_free(error);
    still_works();
    gpu_fault("copy@1");
    FAILS(MLXROCM_ERROR_DEVICE_FAILED, mlxrocm_stream_fill(stream, buffer, 0, 4, 0, &error));
    still_works();
    teardown();
}

static void out_of_the_next_wait(void) {
    setup();
    const mlxrocm_launch doubling = launch();
    gpu_fault("kernel@1");
    OK(mlxrocm_stream_launch(stream, add, &doubling, &error));
    mlxrocm_error *error = NULL;
    CHECK(mlxrocm_stream_wait(stream, FOREVER, &error) == MLXROCM_ERROR_DEVICE_FAILED);
    CHECK(mlxrocm_error_vendor_code(error) == 700); /* illegal address */
    mlxrocm_error_free(error);
    OK(mlxrocm_stream_wait(stream, FOREVER, &error)); /* once */
    still_works();
    /* Also out of a wait for an event, and out of a read. */
    mlxrocm_gpu_event *event = NULL;
    OK(mlxrocm_gpu_event_new(gpu, &event, &error));
    gpu_fault("kernel@1");
    OK(mlxrocm_stream_launch(stream, add, &doubling, &error));
    OK(mlxrocm_stream_record(stream, event, &error));
    FAILS(MLXROCM_ERROR_DEVICE_FAILED, mlxrocm_gpu_event_wait(event, FOREVER, &error));
    mlxrocm_gpu_event_free(event);
    mlxrocm_stream_wait(stream, FOREVER, NULL); /* it may tell of it too */
    still_works();
    float number;
    gpu_fault("kernel@1");
    OK(mlxrocm_stream_launch(stream, add, &doubling, &error));
    FAILS(MLXROCM_ERROR_DEVICE_FAILED, mlxrocm_stream_read(stream, buffer, 0, &number, 4, &error));
    still_works();
    teardown();
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void hang(void) {
    setup();
    const mlxrocm_launch doubling = launch();
    gpu_fault("hang@1");
    OK(mlxrocm_stream_launch(stream, add, &doubling, &error));
    const double start = now();
    EXPECT(MLXROCM_ERROR_TIMEOUT, mlxrocm_stream_wait(stream, SECOND / 20, &error));
    EXPECT(MLXROCM_ERROR_TIMEOUT, mlxrocm_stream_wait(stream, 0, &error));
    EXPECT(MLXROCM_PENDING, mlxrocm_stream_query(stream, &error));
    mlxrocm_gpu_event *event = NULL;
    OK(mlxrocm_gpu_event_new(gpu, &event, &error));
    OK(mlxrocm_stream_record(stream, event, &error));
    EXPECT(MLXROCM_PENDING, mlxrocm_gpu_event_query(event, &error));
    EXPECT(MLXROCM_ERROR_TIMEOUT, mlxrocm_gpu_event_wait(event, SECOND / 20, &error));
    CHECK(now() - start < 10.0);
    mlxrocm_gpu_event_free(event);
    teardown(); /* leaves behind what cannot be freed; does not hang */
    CHECK(now() - start < 40.0);
}

static void lost(void) {
    setup();
    const mlxrocm_launch doubling = launch();
    mlxrocm_buffer *more = NULL;
    float number;
    gpu_fault("lost@1");
    mlxrocm_error *error = NULL;
    mlxrocm_status status = mlxrocm_stream_launch(stream, add, &doubling, &error);
    if (status == MLXROCM_OK) status = mlxrocm_stream_wait(stream, FOREVER, &error);
    CHECK(status == MLXROCM_ERROR_DEVICE_LOST && mlxrocm_error_message(error, NULL)[0]);
    mlxrocm_error_free(error);
    FAILS(MLXROCM_ERROR_DEVICE_LOST, mlxrocm_stream_launch(stream, add, &doubling, &error));
    FAILS(MLXROCM_ERROR_DEVICE_LOST, mlxrocm_stream_wait(stream, FOREVER, &error));
    FAILS(MLXROCM_ERROR_DEVICE_LOST, mlxrocm_stream_query(stream, &error));
    FAILS(MLXROCM_ERROR_DEVICE_LOST, mlxrocm_stream_read(stream, buffer, 0, &number, 4, &error));
    FAILS(MLXROCM_ERROR_DEVICE_LOST, mlxrocm_stream_fill(stream, buffer, 0, 4, 0, &error));
    FAILS(MLXROCM_ERROR_DEVICE_LOST,
          mlxrocm_buffer_new(gpu, MLXROCM_BUFFER_DEVICE, 4, &more, &error));
    FAILS(MLXROCM_ERROR_DEVICE_LOST, mlxrocm_buffer_write(buffer, 0, &number, 4, &error));
    FAILS(MLXROCM_ERROR_DEVICE_LOST, mlxrocm_device_trim(gpu, &error));
    FAILS(MLXROCM_ERROR_DEVICE_LOST, mlxrocm_device_selftest(gpu, NULL, &error));
    CHECK(!more);
    teardown();
    setup(); /* another machine: nothing of the lost device sticks to the process */
    still_works();
    teardown();
}

int main(void) {
    at_the_call();
    out_of_the_next_wait();
    lost();
    hang();
    return 0;
}
