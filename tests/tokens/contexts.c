/*
 * use: token_contexts COUNT. Contexts of COUNT random memories as JSON lines for count.mjs: the
 * budget, the bound that the context claims, and both messages.
 */
#include "random_world.h"

#include "base/str.h"

#include <stdio.h>

static bool print_context(uint64_t seed, bool *is_refused, struct err *err)
{
    struct random_world world;
    struct context context;
    CLEANUP(buf_free) struct buf line = {0};
    const bool ok = random_context(seed, &world, is_refused, &context, err);
    if (ok && !*is_refused) {
        struct json_writer w = {.out = &line};
        json_begin_object(&w);
        json_put_int(&w, "seed", (int64_t)seed);
        json_put_int(&w, "budget", context.budget_tokens);
        json_put_int(&w, "bound", context.tokens);
        json_put_string(&w, "system", context.system_text);
        json_put_string(&w, "user", context.user_text);
        json_end_object(&w);
        printf("%s\n", buf_text(&line));
    }
    random_world_close(&world);
    return ok;
}

int main(int argc, char **argv)
{
    int64_t count = 0;
    int64_t refused = 0;
    if (argc != 2 || !str_parse_int64(argv[1], &count) || count <= 0) {
        fprintf(stderr, "use: token_contexts COUNT\n");
        return 2;
    }
    for (int64_t i = 0; i < count; i++) {
        struct err err = {0};
        bool is_refused = false;
        if (!print_context((uint64_t)i, &is_refused, &err)) {
            fprintf(stderr, "seed %lld: %s\n", (long long)i, err.message);
            return 1;
        }
        refused += is_refused;
    }
    fprintf(stderr, "%lld memories, %lld budgets too small for what is required\n",
            (long long)count, (long long)refused);
    return ferror(stdout) || fflush(stdout) != 0;
}
