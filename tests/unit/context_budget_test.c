/* The budget is never passed, whatever the memory and the request hold. The same on 10,000 memories
 * and against real tokenizers: './dev test tokens'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../tokens/random_world.h"

#include "base/tokens.h"

enum { MEMORIES = 80 };

/* What the ledger says is shown stands in the text, and what is withheld does not count. */
static void check_ledger(const struct context *context)
{
    int64_t shown = 0;
    for (size_t i = 0; i < context->item_count; i++) {
        const struct context_item *item = &context->items[i];
        assert_true(item->tokens >= 0 && item->bytes >= 0);
        assert_true(item->propensity > 0.0 && item->propensity <= 1.0);
        shown += item->withheld ? 0 : item->bytes;
    }
    assert_true(shown <= context->bytes);
}

static void context_build__random_memories_and_budgets__bound_holds(void **state)
{
    int refused = 0;
    for (uint64_t seed = 0; seed < MEMORIES; seed++) {
        struct random_world world;
        struct context context;
        struct err err = {0};
        bool is_refused = false;
        if (!random_context(seed, &world, &is_refused, &context, &err))
            fail_msg("seed %d: %s", (int)seed, err.message);
        if (!is_refused) {
            assert_true(context.tokens <= context.budget_tokens);
            assert_true(tokens_bound(context.text, strlen(context.text)) + 2 * TOKENS_PER_MESSAGE <=
                        context.tokens);
            assert_int_equal(strlen(context.text), context.bytes);
            check_ledger(&context);
        }
        refused += is_refused;
        random_world_close(&world);
    }
    assert_true(refused > 0 && refused < MEMORIES / 2);
    (void)state;
}

/* Counted by real tokenizers (OpenAI's o200k, Qwen 3, Llama 2), the largest of them; the bound must
 * not be below. */
static void tokens_bound__letters_without_sense__is_not_fooled(void **state)
{
    static const struct {
        const char *text;
        int64_t tokens;
    } counted[] = {
        {"qzvkwjxhtrbgpfmdqcnlszvtwkxqhjrg", 23},
        {"rhqzrrewsvtiuepgfuwvcmtjhjxwklveeijnzmtflwvinwscpcrksgjkkylagdra", 36},
        {"HHKFUMNWPSAOLNRHMYFNXPAQQKURHUZMEORWOSCYCGLUIWGUKLAISVUZPWHAGNQR", 45},
        {"RFP6RiKnRCuRwypvhI+SH0ZuEEi4waMygihhXTSwnE7ug4w+opL+qUt0sHUHSRri", 49},
        {"c02775ba956695ee96e4066ef0662e4fbfc7ae4c9a81eb0a4dbf8e313ec45dcb", 55},
        {"sfvv tfec gimm biqx ebgu mqoc vlqq idpo ulbz uugf rykm zrmr", 30},
        {"badokipulemanorasitovegudifahocu", 15},
        {"_ZN4llvm16SelectionDAGISel9runOnFunctionERNS_8FunctionE", 23},
        {"for (int64_t i = 0; i < n; i++) acc[j] += a[i] * b[j];", 32},
        {"the inner loop is bound by the latency of an addition", 12},
        {"VFMADD231PS_AVX512VNNI_BF16", 20},
    };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        const int64_t bound = tokens_bound(counted[i].text, strlen(counted[i].text));
        if (bound < counted[i].tokens)
            fail_msg("%d tokens, bound %d: %s", (int)counted[i].tokens, (int)bound,
                     counted[i].text);
        assert_true(bound <= (int64_t)strlen(counted[i].text));
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(context_build__random_memories_and_budgets__bound_holds),
        cmocka_unit_test(tokens_bound__letters_without_sense__is_not_fooled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
