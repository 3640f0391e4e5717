/* What the tests of a session of the engine share: a place with a task, a memory and options. */
#ifndef KOPE_TESTS_ENGINE_SESSION_FIXTURE_H
#define KOPE_TESTS_ENGINE_SESSION_FIXTURE_H

#include "engine_place.h"

#include "engine/session.h"

#include <stdlib.h>

struct place {
    struct arena arena;
    char *dir;
    struct engine_session_opts opts;
};

static inline int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    struct err err = {0};
    assert_non_null(p);
    assert_true(os_make_temp_dir("kope-session", &p->arena, &p->dir, &err));
    p->opts.run = (struct optimize_opts){.task_path = write_task(&p->arena, p->dir),
                                         .memory_dir = os_path_join(&p->arena, p->dir, "memory"),
                                         .target = "fake",
                                         .proposer = "mcp",
                                         .budget = 4};
    *state = p;
    return 0;
}

static inline int remove_place(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    os_interrupt_set(false);
    assert_true(os_remove_tree(p->dir, &err));
    arena_free(&p->arena);
    free(p);
    return 0;
}

#define PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

#endif
