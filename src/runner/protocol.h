/*
 * What kope-runner (the boxed child) and target/cpu (its parent) share: descriptor numbers, the
 * control page and the doorbell.
 *
 * The parent fills `struct runner_config`, starts the runner and waits for `phase`. Every word that
 * the child can write is hostile once a candidate has run: the parent reads each one once, through
 * an atomic load, checks it against the value that it waits for, and believes nothing else. Only
 * what the child wrote before RUNNER_READY (the addresses, the missing layers) was written by the
 * runner alone.
 *
 * A round: the parent fills `calls`, `count` and `touch`, raises `sequence` and posts `wake`; the
 * child prepares and acknowledges READY(sequence). The parent stores `bell` = ARM(sequence); the
 * child gives the processor up once, so that the kernel's account of its CPU time is exact at this
 * moment, and acknowledges ARMED. The parent stamps its clock and stores `bell` = RING(sequence);
 * the child calls the candidate, acknowledges DONE, then PARKED, and sleeps on `wake`, which makes
 * the account exact again.
 *
 * Where `sleeps` is set there is no arming: the child sleeps on `wake` until the bell says RING.
 * The account is then exact at both ends whenever the parent comes to read it.
 *
 * A child of several threads that is timed is not armed either: once it is READY the parent stops
 * the whole process (SIGSTOP), writes RING, and the bell is that it lets it go on (SIGCONT). Its
 * threads were awake and looking for work, and are so again at once; nobody else has to wake them.
 *
 * Where `posts` is set the parent sleeps too (it shares the child's processors): the child posts
 * `done` after READY and after PARKED. Nothing depends on that but how soon the parent looks.
 */
#ifndef KOPE_RUNNER_PROTOCOL_H
#define KOPE_RUNNER_PROTOCOL_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
    RUNNER_MAGIC = 0x4b4f5045,
    RUNNER_VERSION = 4,
    RUNNER_MAX_BUFFERS = 16,
    RUNNER_MAX_CALLS = 256,
    RUNNER_MAX_INTS = 32,
    RUNNER_MAX_REALS = 16,
    RUNNER_MAX_THREADS = 256,
    RUNNER_ERROR_BYTES = 256,
    RUNNER_LINE_BYTES = 128, /* two cache lines: the prefetcher fetches pairs */
    RUNNER_GUARD_BYTES = 1024 * 1024,
    RUNNER_STACK_BYTES = 8 * 1024 * 1024
};

/* Inherited descriptors. */
enum { RUNNER_FD_CONTROL = 3, RUNNER_FD_IMAGE = 4, RUNNER_FD_BUFFERS = 5 };

/* The function of the image that the runner calls; made by target/cpu from the task's signature. */
#define RUNNER_ENTRY "kope_call"

/* The section of the runner's program that its own functions are in (runner.ld). */
#define RUNNER_SECTION ".text.kope_runner"

enum runner_phase {
    RUNNER_STARTING,
    RUNNER_BOXED,   /* boxed; waits on `wake` for its image */
    RUNNER_IDLE,    /* boxed, image loaded */
    RUNNER_REFUSED, /* the image cannot be loaded; see `error`; the child leaves */
    RUNNER_FAILED   /* the host cannot do it; likewise */
};

/* Layers of the box that this host lacks; a bit each in `missing_layers`. Without seccomp filters
 * there is no box: RUNNER_FAILED. */
enum runner_layer {
    RUNNER_LAYER_LANDLOCK = 1 << 0,
    RUNNER_LAYER_NAMESPACES = 1 << 1, /* own user, network and IPC namespace */
    RUNNER_LAYER_TSC = 1 << 2,        /* the time-stamp counter is not hidden */
    RUNNER_LAYER_VDSO = 1 << 3,       /* the kernel's shared page of clocks is not hidden */
    RUNNER_LAYER_HIDDEN = 1 << 4      /* others of the same user may look into the process */
};

struct runner_buffer {
    uint64_t bytes;    /* a multiple of the page size */
    uint32_t writable; /* by the child */
    uint32_t unused;
};

/* Written by the parent before the start, then only read. */
struct runner_config {
    uint32_t magic, version;
    uint64_t image_room;         /* bytes of the image's memory, which is empty at first */
    uint64_t image_bytes;        /* written with the image, before the first `wake` */
    uint64_t memory_limit_bytes; /* address space beyond image and buffers */
    uint32_t buffer_count, int_count, real_count;
    uint32_t threads; /* that may work at a time; the process has one more where it is not 1 */
    uint32_t yields;  /* too few processors for all: give them up while waiting */
    uint32_t processor_count;                /* 0: not pinned */
    uint16_t processors[RUNNER_MAX_THREADS]; /* of the first thread, and of each other */
    int64_t parent;                          /* process id */
    uint32_t is_watched; /* waits on `wake` before it hides, so that the parent can ask for samples
                            of it */
    struct runner_buffer buffers[RUNNER_MAX_BUFFERS];
    int64_t ints[RUNNER_MAX_INTS];
    double reals[RUNNER_MAX_REALS];
};

/* The bell and its acknowledgement: a sequence number and how far the round is. */
enum runner_stage {
    RUNNER_READY = 1,
    RUNNER_ARMED,
    RUNNER_DONE,
    RUNNER_PARKED,
    RUNNER_ARM = 1, /* of the bell */
    RUNNER_RING
};
static inline uint64_t runner_word(uint64_t sequence, enum runner_stage stage)
{
    return sequence * 8 + (uint64_t)stage;
}
/* Arming may be asked for several times in a round: the attempt is in the highest byte. */
static inline uint64_t runner_attempt(uint64_t word, unsigned attempt)
{
    return word | (uint64_t)attempt << 56;
}

/* The first fault of the child, written by its signal handler. */
struct runner_fault {
    _Atomic uint32_t signal; /* 0: none; stored last */
    int32_t code;            /* si_code */
    uint64_t address;        /* si_addr; for SIGSYS the number of the system call */
    uint64_t error;          /* of a page fault: bit 1 is set for a write */
    uint64_t instruction;    /* where */
    uint64_t stack;
    uint8_t bytes[8]; /* of the instruction, where it lies in the image; else 0 */
};

struct runner_control {
    struct runner_config config;

    /* Written by the runner before the candidate can run. */
    _Atomic uint32_t phase;
    uint32_t missing_layers;
    char error[RUNNER_ERROR_BYTES];
    uint64_t address;       /* of this structure in the child */
    uint64_t image_address; /* where address 0 of the image lies */
    uint64_t buffer_address[RUNNER_MAX_BUFFERS];

    /* Written by the parent before each round. */
    _Alignas(RUNNER_LINE_BYTES) sem_t wake;
    _Alignas(RUNNER_LINE_BYTES) _Atomic uint64_t sequence;
    uint32_t count, touch, sleeps, posts;

    _Alignas(RUNNER_LINE_BYTES) _Atomic uint64_t bell; /* by the parent */

    _Alignas(RUNNER_LINE_BYTES) _Atomic uint64_t ack; /* by the child */
    sem_t done;                                       /* posted by the child where `posts` is set */
    _Atomic uint32_t environment_changed;             /* MXCSR or x87 control word */
    _Atomic uint32_t threads_left; /* threads of the candidate that nobody has joined */

    _Alignas(RUNNER_LINE_BYTES) struct runner_fault fault; /* by the child */

    /* Offsets in the buffers, call after call, `buffer_count` to a call. */
    _Alignas(RUNNER_LINE_BYTES) uint64_t offsets[RUNNER_MAX_CALLS * RUNNER_MAX_BUFFERS];
};

#endif
