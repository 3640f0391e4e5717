/*
 * What the hostile image tries, one line each: group, name, the layers that stop it each by itself,
 * and what it may need.
 *
 * Layers: s seccomp, l Landlock, n namespaces, r limits, d closed descriptors, p hidden process,
 * c hidden clock, v hidden clock of the kernel (p: of an ordinary user, root may look anyway), m
 * sealed memory and guards (always there, the others can be taken away in a test build). Only those
 * that must stop it are listed; another may as well. Needs: '-' nothing; 'k' kernel, hardware or
 * privilege may refuse it without any layer; 'f' a fresh child afterwards, since it changed the
 * process that tried it; 'b' one before.
 */
#ifndef KOPE_SANDBOX_ATTEMPTS_H
#define KOPE_SANDBOX_ATTEMPTS_H

#define ATTEMPTS(A)                                                                                \
    A(network, tcp4_connect, "slnr", "-")                                                          \
    A(network, tcp6_connect, "slnr", "k")                                                          \
    A(network, udp4_send, "snr", "-")                                                              \
    A(network, unix_path_connect, "sr", "-")                                                       \
    A(network, unix_abstract_connect, "slnr", "-")                                                 \
    A(network, netlink_bind, "sr", "-")                                                            \
    A(network, packet_socket, "sr", "k")                                                           \
    A(network, raw_socket, "sr", "k")                                                              \
    A(network, socketpair_make, "sr", "-")                                                         \
    A(files, open_for_reading, "slr", "-")                                                         \
    A(files, open_for_writing, "slr", "-")                                                         \
    A(files, open_a_folder, "slr", "-")                                                            \
    A(files, create_a_file, "slr", "-")                                                            \
    A(files, openat2_a_file, "slr", "-")                                                           \
    A(files, truncate_a_file, "sl", "-")                                                           \
    A(files, link_a_file, "sl", "-")                                                               \
    A(files, make_a_symlink, "sl", "-")                                                            \
    A(files, make_a_folder, "sl", "-")                                                             \
    A(files, make_a_pipe_node, "sl", "-")                                                          \
    A(files, change_mode, "s", "-")                                                                \
    A(files, look_at_a_file, "s", "-")                                                             \
    A(files, change_folder, "s", "-")                                                              \
    A(files, rename_a_file, "sl", "-")                                                             \
    A(files, unlink_a_file, "sl", "-")                                                             \
    A(files, proc_self_mem_into_input, "slr", "k")                                                 \
    A(files, proc_parent_mem, "slr", "-")                                                          \
    A(files, proc_parent_environ, "slr", "-")                                                      \
    A(files, proc_parent_maps, "slr", "-")                                                         \
    A(files, shared_memory_file, "slr", "-")                                                       \
    A(processes, process_vm_readv_parent, "sl", "-")                                               \
    A(processes, process_vm_writev_parent, "sl", "-")                                              \
    A(processes, process_vm_readv_sibling, "slp", "-")                                             \
    A(processes, ptrace_seize_parent, "sl", "-")                                                   \
    A(processes, ptrace_traceme, "s", "f")                                                         \
    A(processes, fork_a_child, "s", "f")                                                           \
    A(processes, vfork_a_child, "s", "f")                                                          \
    A(processes, clone_a_child, "s", "f")                                                          \
    A(processes, clone3_a_child, "s", "f")                                                         \
    A(processes, clone_a_thread, "s", "f")                                                         \
    A(processes, prlimit_parent, "s", "-")                                                         \
    A(processes, raise_own_limit, "s", "k")                                                        \
    A(processes, change_user, "s", "-")                                                            \
    A(processes, set_affinity_of_parent, "s", "-")                                                 \
    A(processes, set_own_affinity, "s", "-")                                                       \
    A(processes, realtime_priority, "s", "k")                                                      \
    A(processes, nice_value, "s", "-")                                                             \
    A(processes, io_priority, "s", "-")                                                            \
    A(processes, leave_process_group, "s", "f")                                                    \
    A(signals, signal_parent, "sl", "-")                                                           \
    A(signals, tgkill_parent, "sl", "-")                                                           \
    A(signals, signal_everybody, "s", "-")                                                         \
    A(signals, signal_own_group, "s", "-")                                                         \
    A(signals, queue_signal_to_parent, "sl", "-")                                                  \
    A(signals, pidfd_signal_parent, "sr", "-")                                                     \
    A(signals, set_a_handler, "s", "f")                                                            \
    A(signals, block_signals, "s", "f")                                                            \
    A(signals, signal_stack, "s", "f")                                                             \
    A(signals, interval_timer, "s", "f")                                                           \
    A(memory, map_executable, "s", "-")                                                            \
    A(memory, protect_executable, "s", "-")                                                        \
    A(memory, map_above_limit, "r", "-")                                                           \
    A(memory, break_above_limit, "r", "k")                                                         \
    A(memory, map_descriptor, "sd", "-")                                                           \
    A(memory, write_an_input, "m", "f")                                                            \
    A(memory, protect_input_writable, "m", "f")                                                    \
    A(memory, map_over_input, "m", "f")                                                            \
    A(memory, remap_input, "m", "f")                                                               \
    A(memory, punch_hole_in_input, "m", "-")                                                       \
    A(memory, write_own_code, "m", "f")                                                            \
    A(memory, lock_memory, "s", "-")                                                               \
    A(memory, system_v_memory, "s", "-")                                                           \
    A(memory, userfault_descriptor, "s", "k")                                                      \
    A(memory, protection_key, "s", "k")                                                            \
    A(time, rdtsc_instruction, "c", "f")                                                           \
    A(time, rdtscp_instruction, "c", "f")                                                          \
    A(time, clock_gettime_call, "s", "-")                                                          \
    A(time, gettimeofday_call, "s", "-")                                                           \
    A(time, time_call, "s", "-")                                                                   \
    A(time, times_call, "s", "-")                                                                  \
    A(time, rusage_call, "s", "-")                                                                 \
    A(time, nanosleep_call, "s", "-")                                                              \
    A(time, futex_timeout, "s", "-")                                                               \
    A(time, vdso_clock, "v", "f")                                                                  \
    A(time, vdso_coarse_clock, "v", "f")                                                           \
    A(time, vsyscall_time, "s", "kf")                                                              \
    A(time, timer_descriptor, "sr", "-")                                                           \
    A(descriptors, inherited_ones, "sd", "b")                                                      \
    A(descriptors, write_standard_output, "sd", "-")                                               \
    A(descriptors, duplicate, "sd", "-")                                                           \
    A(descriptors, pidfd_getfd_parent, "slr", "-")                                                 \
    A(descriptors, pipe_make, "sr", "-")                                                           \
    A(descriptors, eventfd_make, "sr", "-")                                                        \
    A(descriptors, memfd_make, "sr", "-")                                                          \
    A(descriptors, terminal_ioctl, "sd", "k")                                                      \
    A(kernel, io_uring_setup_call, "sr", "k")                                                      \
    A(kernel, bpf_call, "s", "k")                                                                  \
    A(kernel, perf_event_open_call, "sr", "k")                                                     \
    A(kernel, add_key_call, "s", "-")                                                              \
    A(kernel, kernel_log, "s", "k")                                                                \
    A(kernel, i386_call, "s", "kf")                                                                \
    A(kernel, x32_call, "s", "kf")                                                                 \
    A(kernel, personality_call, "s", "-")                                                          \
    A(kernel, mount_call, "s", "kf")                                                               \
    A(kernel, chroot_call, "s", "kf")                                                              \
    A(kernel, setns_call, "s", "kf")                                                               \
    A(kernel, unshare_call, "s", "kf")                                                             \
    A(kernel, prctl_dumpable, "s", "f")                                                            \
    A(kernel, prctl_clock_on, "s", "f")                                                            \
    A(kernel, prctl_outlive_parent, "s", "f")                                                      \
    A(kernel, thread_base, "s", "-")                                                               \
    A(kernel, another_filter, "s", "kf")                                                           \
    A(exec, exec_a_program, "sl", "f")                                                             \
    A(exec, exec_a_descriptor, "slr", "f")

enum attempt {
#define NAME(group, name, layers, needs) ATTEMPT_##name,
    ATTEMPTS(NAME)
#undef NAME
        ATTEMPT_COUNT
};

/* The read-only buffer: what the image is told. */
struct told {
    char file[256];   /* of the test, readable and writable */
    char folder[256]; /* where the user may create files */
    char unix_path[108];
    char unix_abstract[108]; /* without the leading NUL */
    long parent, sibling;
    void *sibling_word;
    long tcp4_port, tcp6_port, udp4_port;
    void *parent_word; /* an address in the parent */
};

/* The writable buffer: what it found. */
struct found {
    long is_tried, has_worked, value;
};

#endif
