#include "os/sampling.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RING_PAGES = 64 }; /* a power of two; with the first page below what anybody may lock */

struct os_sampling {
    int fd;
    struct perf_event_mmap_page *page; /* the ring follows it */
    size_t ring_bytes, mapped_bytes;
};

static int perf_event_open(struct perf_event_attr *attributes, pid_t pid)
{
    return (int)syscall(SYS_perf_event_open, attributes, pid, -1, -1,
                        (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

static bool refused(int error_number, struct err *err)
{
    (void)err_set_errno(err, error_number, "the kernel refuses samples of the CPU clock");
    return error_number == EACCES || error_number == EPERM
               ? err_hint(err, "kernel.perf_event_paranoid must be 2 or less, and a container must "
                               "allow perf_event_open")
               : err_hint(err, "a kernel with CONFIG_PERF_EVENTS");
}

bool os_sampling_open(pid_t pid, int64_t period_ns, struct os_sampling **out, struct err *err)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_SW_CPU_CLOCK,
                                         .sample_period = (uint64_t)period_ns,
                                         .sample_type = PERF_SAMPLE_IP,
                                         .disabled = 1,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    const size_t ring_bytes = RING_PAGES * page_bytes;
    const int fd = perf_event_open(&attributes, pid);
    if (fd < 0)
        return refused(errno, err);
    void *at = mmap(NULL, page_bytes + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        const int error_number = errno;
        (void)close(fd);
        return err_set_errno(err, error_number, "no memory for samples of the CPU clock");
    }
    struct os_sampling *sampling = malloc(sizeof *sampling);
    if (!sampling)
        BUG("os: out of memory");
    *sampling = (struct os_sampling){
        .fd = fd, .page = at, .ring_bytes = ring_bytes, .mapped_bytes = page_bytes + ring_bytes};
    *out = sampling;
    return true;
}

void os_sampling_close(struct os_sampling **sampling)
{
    struct os_sampling *s = *sampling;
    if (!s)
        return;
    (void)munmap(s->page, s->mapped_bytes);
    (void)close(s->fd);
    free(s);
    *sampling = NULL;
}

void os_sampling_set(struct os_sampling *sampling, bool is_on)
{
    (void)ioctl(sampling->fd, is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* Bytes of the ring from `position` on, which goes on at its beginning behind its end. */
static void copy_out(const struct os_sampling *s, uint64_t position, void *out, size_t bytes)
{
    const char *ring = (const char *)s->page + (s->mapped_bytes - s->ring_bytes);
    const size_t at = (size_t)(position % s->ring_bytes);
    const size_t first = bytes < s->ring_bytes - at ? bytes : s->ring_bytes - at;
    memcpy(out, ring + at, first);
    memcpy((char *)out + first, ring, bytes - first);
}

size_t os_sampling_read(struct os_sampling *sampling, uint64_t *addresses, size_t capacity,
                        uint64_t *lost)
{
    /* The kernel's type of a shared word is no atomic one; each access is one aligned load. */
    const uint64_t head = *(volatile __u64 *)&sampling->page->data_head;
    uint64_t tail = sampling->page->data_tail;
    size_t count = 0;
    atomic_thread_fence(memory_order_acquire);
    *lost = 0;
    while (tail < head && count < capacity) {
        struct perf_event_header header;
        uint64_t words[2] = {0};
        copy_out(sampling, tail, &header, sizeof header);
        if (header.size < sizeof header || header.size > head - tail) {
            tail = head; /* no record begins here: nothing behind it can be read */
            break;
        }
        const size_t body = header.size - sizeof header;
        copy_out(sampling, tail + sizeof header, words, body < sizeof words ? body : sizeof words);
        if (header.type == PERF_RECORD_SAMPLE)
            addresses[count++] = words[0];
        else if (header.type == PERF_RECORD_LOST)
            *lost += words[1];
        tail += header.size;
    }
    atomic_thread_fence(memory_order_release);
    *(volatile __u64 *)&sampling->page->data_tail = tail;
    return count;
}
