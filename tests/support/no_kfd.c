/* Where a process may not change its view of /dev (a container without namespaces of its own), this
 * library, loaded before the C library, gives the kernel's answers about a /dev/kfd that nobody may
 * open. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static int forbidden(const char *path) { return strcmp(path, "/dev/kfd") == 0; }

int access(const char *path, int mode) {
    int (*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "access");
    if (!forbidden(path)) return next(path, mode);
    if (mode == F_OK) return 0;
    errno = EACCES;
    return -1;
}

int open(const char *path, int flags, ...) {
    int (*next)(const char *, int, ...);
    *(void **)&next = dlsym(RTLD_NEXT, "open");
    va_list more;
    va_start(more, flags);
    const unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, unsigned) : 0;
    va_end(more);
    if (!forbidden(path)) return next(path, flags, mode);
    errno = EACCES;
    return -1;
}
