/*
 * The functions by which compiled OpenMP reaches the threads of team.h: gcc's (openmp.c) and
 * clang's (openmp_clang.c). Only symbols.c needs their names; their types are those of the
 * compilers' ABIs.
 */
#ifndef KOPE_RUNNER_OPENMP_H
#define KOPE_RUNNER_OPENMP_H

#include "runner/team.h"

int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_get_thread_limit(void);
int omp_in_parallel(void);
int omp_get_dynamic(void);
void omp_set_dynamic(int is_dynamic);
void omp_set_num_threads(int count);
void omp_init_lock(void *lock);
void omp_destroy_lock(void *lock);
void omp_set_lock(void *lock);
int omp_test_lock(void *lock);
void omp_unset_lock(void *lock);

void GOMP_parallel(team_body body, void *data, unsigned count, unsigned flags);
void GOMP_barrier(void);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_critical_name_start(void **name);
void GOMP_critical_name_end(void **name);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);
bool GOMP_single_start(void);
void *GOMP_single_copy_start(void);
void GOMP_single_copy_end(void *data);
bool GOMP_loop_dynamic_start(long start, long end, long step, long chunk, long *from, long *to);
bool GOMP_loop_guided_start(long start, long end, long step, long chunk, long *from, long *to);
bool GOMP_loop_runtime_start(long start, long end, long step, long *from, long *to);
bool GOMP_loop_next(long *from, long *to);
void GOMP_loop_end_nowait(void);
void GOMP_loop_end(void);
void GOMP_parallel_loop_dynamic(team_body body, void *data, unsigned count, long start, long end,
                                long step, long chunk, unsigned flags);
void GOMP_parallel_loop_guided(team_body body, void *data, unsigned count, long start, long end,
                               long step, long chunk, unsigned flags);
void GOMP_parallel_loop_runtime(team_body body, void *data, unsigned count, long start, long end,
                                long step, unsigned flags);
bool GOMP_loop_ull_dynamic_start(bool is_up, unsigned long long start, unsigned long long end,
                                 unsigned long long step, unsigned long long chunk,
                                 unsigned long long *from, unsigned long long *to);
bool GOMP_loop_ull_guided_start(bool is_up, unsigned long long start, unsigned long long end,
                                unsigned long long step, unsigned long long chunk,
                                unsigned long long *from, unsigned long long *to);
bool GOMP_loop_ull_next(unsigned long long *from, unsigned long long *to);
unsigned GOMP_sections_start(unsigned count);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);
void GOMP_sections_end(void);
void GOMP_parallel_sections(team_body body, void *data, unsigned threads, unsigned count,
                            unsigned flags);

/* `where` is clang's note of the place in the source, `thread` what __kmpc_global_thread_num gave.
 */
void __kmpc_fork_call(const void *where, int32_t count, runner_function body, ...);
int32_t __kmpc_global_thread_num(const void *where);
void __kmpc_push_num_threads(const void *where, int32_t thread, int32_t count);
void __kmpc_serialized_parallel(const void *where, int32_t thread);
void __kmpc_end_serialized_parallel(const void *where, int32_t thread);
void __kmpc_barrier(const void *where, int32_t thread);
void __kmpc_flush(const void *where);
void __kmpc_critical(const void *where, int32_t thread, void *lock);
void __kmpc_critical_with_hint(const void *where, int32_t thread, void *lock, uint32_t hint);
void __kmpc_end_critical(const void *where, int32_t thread, void *lock);
int32_t __kmpc_master(const void *where, int32_t thread);
void __kmpc_end_master(const void *where, int32_t thread);
int32_t __kmpc_single(const void *where, int32_t thread);
void __kmpc_end_single(const void *where, int32_t thread);
int32_t __kmpc_reduce(const void *where, int32_t thread, int32_t count, size_t bytes, void *data,
                      void (*combine)(void *, void *), void *lock);
int32_t __kmpc_reduce_nowait(const void *where, int32_t thread, int32_t count, size_t bytes,
                             void *data, void (*combine)(void *, void *), void *lock);
void __kmpc_end_reduce(const void *where, int32_t thread, void *lock);
void __kmpc_end_reduce_nowait(const void *where, int32_t thread, void *lock);
void __kmpc_for_static_fini(const void *where, int32_t thread);
void __kmpc_dispatch_deinit(const void *where, int32_t thread);

void __kmpc_for_static_init_4(const void *where, int32_t thread, int32_t schedule, int32_t *is_last,
                              int32_t *low, int32_t *high, int32_t *stride, int32_t step,
                              int32_t chunk);
void __kmpc_for_static_init_4u(const void *where, int32_t thread, int32_t schedule,
                               int32_t *is_last, uint32_t *low, uint32_t *high, int32_t *stride,
                               int32_t step, int32_t chunk);
void __kmpc_for_static_init_8(const void *where, int32_t thread, int32_t schedule, int32_t *is_last,
                              int64_t *low, int64_t *high, int64_t *stride, int64_t step,
                              int64_t chunk);
void __kmpc_for_static_init_8u(const void *where, int32_t thread, int32_t schedule,
                               int32_t *is_last, uint64_t *low, uint64_t *high, int64_t *stride,
                               int64_t step, int64_t chunk);
void __kmpc_dispatch_init_4(const void *where, int32_t thread, int32_t schedule, int32_t low,
                            int32_t high, int32_t step, int32_t chunk);
void __kmpc_dispatch_init_4u(const void *where, int32_t thread, int32_t schedule, uint32_t low,
                             uint32_t high, int32_t step, int32_t chunk);
void __kmpc_dispatch_init_8(const void *where, int32_t thread, int32_t schedule, int64_t low,
                            int64_t high, int64_t step, int64_t chunk);
void __kmpc_dispatch_init_8u(const void *where, int32_t thread, int32_t schedule, uint64_t low,
                             uint64_t high, int64_t step, int64_t chunk);
int __kmpc_dispatch_next_4(const void *where, int32_t thread, int32_t *is_last, int32_t *low,
                           int32_t *high, int32_t *step);
int __kmpc_dispatch_next_4u(const void *where, int32_t thread, int32_t *is_last, uint32_t *low,
                            uint32_t *high, int32_t *step);
int __kmpc_dispatch_next_8(const void *where, int32_t thread, int32_t *is_last, int64_t *low,
                           int64_t *high, int64_t *step);
int __kmpc_dispatch_next_8u(const void *where, int32_t thread, int32_t *is_last, uint64_t *low,
                            uint64_t *high, int64_t *step);

#endif
