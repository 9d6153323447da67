/* A race of this program's own that only an instrumented library can show: one thread changes bytes
 * while another has the library read them. ThreadSanitizer must report it (tests/tsan.sh); anything
 * else ends with 0. */
#include "../c/gpu.h"

#include <pthread.h>

static char bytes[4096];
static int go_on = 1;

static void *change(void *unused) {
    (void)unused;
    for (size_t i = 0; __atomic_load_n(&go_on, __ATOMIC_RELAXED); i++) bytes[i % sizeof bytes]++;
    return NULL;
}

int main(void) {
    mlxrocm_device *gpu = open_gpu(1);
    mlxrocm_buffer *pinned = buffer_on(gpu, MLXROCM_BUFFER_PINNED, sizeof bytes);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, change, NULL) == 0);
    for (int i = 0; i < 1000; i++)
        OK(mlxrocm_buffer_write(pinned, 0, bytes, sizeof bytes, &error));
    __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    mlxrocm_buffer_free(pinned);
    mlxrocm_device_free(gpu);
    return 0;
}
