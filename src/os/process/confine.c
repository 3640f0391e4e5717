#include "os/process/confine.h"

#include "os/file.h"
#include "os/process.h"
#include "os/process/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Landlock's interface, from Documentation/userspace-api/landlock.rst: the headers of older systems
 * stop at the second version, the kernel tells which one it has. A right that the kernel does not
 * know must not be asked for.
 */
enum {
    NR_LANDLOCK_CREATE_RULESET = 444, /* these numbers are the same on every architecture */
    NR_LANDLOCK_ADD_RULE = 445,
    NR_LANDLOCK_RESTRICT_SELF = 446,
    CREATE_RULESET_VERSION = 1,
    RULE_PATH_BENEATH = 1,
};

#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_REMOVE_DIR (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR (UINT64_C(1) << 7)
#define FS_MAKE_REG (UINT64_C(1) << 8)
#define FS_MAKE_FIFO (UINT64_C(1) << 10)
#define FS_MAKE_SYM (UINT64_C(1) << 12)
#define FS_ALL_V1 ((UINT64_C(1) << 13) - 1)
#define FS_REFER (UINT64_C(1) << 13)     /* version 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14)  /* version 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* version 5 */
#define NET_BIND_TCP (UINT64_C(1) << 0)  /* version 4 */
#define NET_CONNECT_TCP (UINT64_C(1) << 1)
#define SCOPE_ABSTRACT_UNIX_SOCKET (UINT64_C(1) << 0) /* version 6 */
#define SCOPE_SIGNAL (UINT64_C(1) << 1)

#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define FS_READ (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR)
/* No execution, no sockets and no devices in a folder that the child writes. */
#define FS_WRITE                                                                                   \
    (FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE |   \
     FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER)

struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net; /* version 4 */
    uint64_t scoped;             /* version 6 */
};

struct path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

/* Devices that every program may expect; none of them leads anywhere. */
static const struct {
    const char *path;
    uint64_t access;
} devices[] = {
    {"/dev/null", FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV},
    {"/dev/zero", FS_READ_FILE},
    {"/dev/urandom", FS_READ_FILE},
};

int os_landlock_abi(void)
{
    const long abi = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, (size_t)0, CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

static struct ruleset_attr rules_of_abi(int abi)
{
    struct ruleset_attr attr = {.handled_access_fs = FS_ALL_V1};
    if (abi >= 2)
        attr.handled_access_fs |= FS_REFER;
    if (abi >= 3)
        attr.handled_access_fs |= FS_TRUNCATE;
    if (abi >= 5)
        attr.handled_access_fs |= FS_IOCTL_DEV;
    if (abi >= 4)
        attr.handled_access_net = NET_BIND_TCP | NET_CONNECT_TCP;
    if (abi >= 6)
        attr.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
    return attr;
}

static size_t attr_bytes_of_abi(int abi)
{
    if (abi < 4)
        return offsetof(struct ruleset_attr, handled_access_net);
    return abi < 6 ? offsetof(struct ruleset_attr, scoped) : sizeof(struct ruleset_attr);
}

/* `handled` keeps the rights to those of this kernel. */
static bool allow_path(int ruleset_fd, const char *path, uint64_t access, uint64_t handled,
                       struct err *err)
{
    CLEANUP(os_close) int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat status;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
        return true; /* nothing there that the child could open */
    if (fd < 0 || fstat(fd, &status) != 0)
        return err_set_errno(err, errno, "cannot open '%s' to allow it", path);
    if (!S_ISDIR(status.st_mode))
        access &= FS_OF_FILES;
    const struct path_beneath_attr rule = {.allowed_access = access & handled, .parent_fd = fd};
    if (syscall(NR_LANDLOCK_ADD_RULE, ruleset_fd, RULE_PATH_BENEATH, &rule, 0) != 0)
        return err_set_errno(err, errno, "cannot allow '%s'", path);
    return true;
}

static bool allow_all(int ruleset_fd, const char *const *read_paths, const char *const *write_paths,
                      uint64_t handled, struct err *err)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (!allow_path(ruleset_fd, devices[i].path, devices[i].access, handled, err))
            return false;
    }
    for (; read_paths && *read_paths; read_paths++) {
        if (!allow_path(ruleset_fd, *read_paths, FS_READ, handled, err))
            return false;
    }
    for (; write_paths && *write_paths; write_paths++) {
        if (!allow_path(ruleset_fd, *write_paths, FS_WRITE, handled, err))
            return false;
    }
    return true;
}

/*
 * The filter. Refused with EPERM: every way to a network or to another process, and the parts of
 * the kernel that no compiler needs and that most holes were in. setsid and setpgid too, so that
 * nothing leaves the process group that a time limit kills.
 */
static const uint32_t refused_calls[] = {
    SYS_socket,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_getfd,
    SYS_setsid,
    SYS_setpgid,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_open_by_handle_at,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
};

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define NATIVE_ARCH AUDIT_ARCH_RISCV64
#endif

/* The bit of x86-64's second table of calls (x32); no other architecture has such numbers. */
#define X32_CALL_BIT UINT32_C(0x40000000)
#define NEW_NAMESPACES                                                                             \
    ((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |      \
                CLONE_NEWPID | CLONE_NEWNET))

enum {
    REFUSED_CALLS = sizeof refused_calls / sizeof *refused_calls,
    FILTER_LENGTH = 4 + REFUSED_CALLS + 7,
};
static_assert((int)FILTER_LENGTH <= (int)CONFINE_FILTER_MAX, "the filter fits");

bool os_has_seccomp(void)
{
#ifdef NATIVE_ARCH
    const uint32_t action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#else
    return false;
#endif
}

#ifdef NATIVE_ARCH
enum {
    NEXT = 0, /* as the target of a jump: the instruction after it */
    MISSING_AT = FILTER_LENGTH - 3,
    REFUSE_AT,
    ALLOW_AT
};

static void emit(struct confinement *out, uint16_t code, size_t value)
{
    const struct sock_filter instruction = BPF_STMT(code, (uint32_t)value);
    out->filter[out->filter_length++] = instruction;
}

/* Jumps to an instruction further on; the kernel counts from the one after the jump. */
static void emit_jump(struct confinement *out, uint16_t test, size_t value, int then_at,
                      int else_at)
{
    const int here = out->filter_length + 1;
    const struct sock_filter instruction =
        BPF_JUMP((uint16_t)(BPF_JMP | BPF_K | test), (uint32_t)value,
                 (uint8_t)(then_at == NEXT ? 0 : then_at - here),
                 (uint8_t)(else_at == NEXT ? 0 : else_at - here));
    out->filter[out->filter_length++] = instruction;
}

static void build_filter(struct confinement *out)
{
    const uint16_t load = BPF_LD | BPF_W | BPF_ABS;
    const uint16_t give = BPF_RET | BPF_K;
    emit(out, load, offsetof(struct seccomp_data, arch));
    emit_jump(out, BPF_JEQ, NATIVE_ARCH, NEXT, REFUSE_AT);
    emit(out, load, offsetof(struct seccomp_data, nr));
    emit_jump(out, BPF_JGE, X32_CALL_BIT, REFUSE_AT, NEXT);
    for (size_t i = 0; i < REFUSED_CALLS; i++)
        emit_jump(out, BPF_JEQ, refused_calls[i], REFUSE_AT, NEXT);
    /* clone3 hides its flags from a filter: say that it is missing, and libc takes clone. */
    emit_jump(out, BPF_JEQ, SYS_clone3, MISSING_AT, NEXT);
    emit_jump(out, BPF_JEQ, SYS_clone, NEXT, ALLOW_AT);
    emit(out, load, offsetof(struct seccomp_data, args));
    emit_jump(out, BPF_JSET, NEW_NAMESPACES, REFUSE_AT, ALLOW_AT);
    emit(out, give, SECCOMP_RET_ERRNO | ENOSYS);
    emit(out, give, SECCOMP_RET_ERRNO | EPERM);
    emit(out, give, SECCOMP_RET_ALLOW);
    if (out->filter_length != FILTER_LENGTH)
        BUG("the filter has %d instructions, not %d", out->filter_length, FILTER_LENGTH);
}
#else
static void build_filter(struct confinement *out)
{
    out->filter_length = 0;
}
#endif

bool confine_prepare(const char *const *read_paths, const char *const *write_paths,
                     struct confinement *out, struct err *err)
{
    CLEANUP(os_close) int ruleset_fd = -1;
    const int abi = os_landlock_abi();
    if (abi > 0) {
        const struct ruleset_attr attr = rules_of_abi(abi);
        ruleset_fd = (int)syscall(NR_LANDLOCK_CREATE_RULESET, &attr, attr_bytes_of_abi(abi), 0);
        if (ruleset_fd < 0 || !child_lift_fd(&ruleset_fd))
            return err_set_errno(err, errno, "cannot create Landlock rules");
        if (!allow_all(ruleset_fd, read_paths, write_paths, attr.handled_access_fs, err))
            return false;
    }
    *out = (struct confinement){.ruleset_fd = os_take_fd(&ruleset_fd),
                                .own_proc_access = FS_READ_FILE | FS_READ_DIR};
    if (os_has_seccomp())
        build_filter(out);
    return true;
}

void confine_release(struct confinement *confinement)
{
    os_close(&confinement->ruleset_fd);
}

/* What /proc/self is, only the child itself knows. */
static bool allow_own_proc(const struct confinement *confinement)
{
    const int fd = open("/proc/self", O_PATH | O_CLOEXEC);
    const struct path_beneath_attr rule = {.allowed_access = confinement->own_proc_access,
                                           .parent_fd = fd};
    if (fd < 0)
        return errno == ENOENT;
    const bool ok =
        syscall(NR_LANDLOCK_ADD_RULE, confinement->ruleset_fd, RULE_PATH_BENEATH, &rule, 0) == 0;
    (void)close(fd);
    return ok;
}

bool confine_self(const struct confinement *confinement)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    if (confinement->ruleset_fd >= 0 && confinement->reads_own_proc && !allow_own_proc(confinement))
        return false;
    if (confinement->ruleset_fd >= 0 &&
        syscall(NR_LANDLOCK_RESTRICT_SELF, confinement->ruleset_fd, 0) != 0)
        return false;
    if (confinement->filter_length == 0)
        return true;
    struct sock_filter filter[CONFINE_FILTER_MAX]; /* the kernel's type has no const */
    memcpy(filter, confinement->filter, sizeof filter);
    const struct sock_fprog program = {.len = confinement->filter_length, .filter = filter};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
