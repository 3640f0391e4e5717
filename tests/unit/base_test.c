#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Runs `action` in a process of its own: does it end in abort(), as BUG() does? */
static bool aborts(void (*action)(void))
{
    const pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        action();
        _exit(0);
    }
    int status = 0;
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void arena_alloc__many_sizes__aligned_and_zeroed(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    for (size_t bytes = 0; bytes < 300; bytes++) {
        unsigned char *memory = arena_alloc(&arena, bytes);
        assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
        for (size_t i = 0; i < bytes; i++) {
            assert_int_equal(memory[i], 0);
            memory[i] = 0xff; /* a later one that overlapped would not be zero */
        }
    }
}

static void arena_alloc__larger_than_a_block__works(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    char *small = arena_strdup(&arena, "small");
    char *large = arena_alloc(&arena, 1000000);
    memset(large, 'x', 1000000);
    assert_string_equal(small, "small");
    assert_true(arena.used_bytes >= 1000006);
}

static void arena_free__then_used_again__starts_empty(void **state)
{
    (void)state;
    struct arena arena = {0};
    (void)arena_alloc(&arena, 100);
    arena_free(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.used_bytes, 0);
    assert_string_equal(arena_printf(&arena, "%d-%s", 7, "x"), "7-x");
    arena_free(&arena);
}

static void arena_strndup__no_terminator__adds_one(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const char letters[] = {'a', 'b', 'c'};
    assert_string_equal(arena_strndup(&arena, letters, 2), "ab");
    assert_string_equal(arena_strndup(&arena, letters, 0), "");
    assert_memory_equal(arena_memdup(&arena, letters, 3), letters, 3);
}

static void allocate_too_much(void)
{
    struct arena arena = {0};
    (void)arena_array(&arena, SIZE_MAX / 2, 16);
}

static void arena_array__size_overflows__is_a_bug(void **state)
{
    (void)state;
    assert_true(aborts(allocate_too_much));
}

static void buf_append__past_the_cap__keeps_what_fits(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf buf = {.limit = 10};
    assert_true(buf_append_str(&buf, "0123456"));
    assert_false(buf.truncated);
    assert_false(buf_append_str(&buf, "789abc"));
    assert_string_equal(buf_text(&buf), "0123456789");
    assert_int_equal(buf.length, 10);
    assert_true(buf.truncated);
    assert_false(buf_append_char(&buf, 'x'));
    assert_true(buf_append(&buf, "", 0));
    assert_true(buf.truncated);
}

static void buf_append__exactly_the_cap__fits(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf buf = {.limit = 300};
    for (int i = 0; i < 300; i++)
        assert_true(buf_append_char(&buf, 'x'));
    assert_false(buf.truncated);
    assert_int_equal(strlen(buf_text(&buf)), 300);
}

static void buf_printf__past_the_cap__keeps_what_fits(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf buf = {.limit = 5};
    assert_false(buf_printf(&buf, "%d", 123456789));
    assert_string_equal(buf_text(&buf), "12345");
    buf_clear(&buf);
    assert_string_equal(buf_text(&buf), "");
    assert_false(buf.truncated);
    assert_true(buf_printf(&buf, "%s", "abcde"));
    assert_string_equal(buf_text(&buf), "abcde");
}

static void buf_text__nothing_appended__is_empty(void **state)
{
    (void)state;
    const struct buf buf = {0};
    assert_string_equal(buf_text(&buf), "");
}

static void str_parse_int64__edges__strict(void **state)
{
    (void)state;
    int64_t value = 42;
    assert_true(str_parse_int64("-9223372036854775808", &value));
    assert_true(value == INT64_MIN);
    assert_true(str_parse_int64("9223372036854775807", &value));
    assert_true(value == INT64_MAX);
    value = 42;
    static const char *const bad[] = {"",     " 1", "1 ", "1x", "x", "9223372036854775808",
                                      "0x10", "1.0"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_false(str_parse_int64(bad[i], &value));
        assert_true(value == 42);
    }
}

static void str_parse_double__edges__strict(void **state)
{
    (void)state;
    double value = 42.0;
    assert_true(str_parse_double("-1.5e3", &value));
    assert_true(value == -1500.0);
    assert_true(str_parse_double("1e-320", &value)); /* below the normal range is fine */
    assert_true(value > 0.0);
    value = 42.0;
    static const char *const bad[] = {"", " 1", "1 ", "1.5x", "1e999"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_false(str_parse_double(bad[i], &value));
        assert_true(value == 42.0);
    }
}

static void str_parse_duration_ns__units__are_known(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"90", INT64_C(90000000000)},
                {"90s", INT64_C(90000000000)},
                {"10m", INT64_C(600000000000)},
                {"2h", INT64_C(7200000000000)},
                {"250ms", 250000000},
                {"3us", 3000},
                {"7ns", 7},
                {"0", 0},
                {"1.5s", 1500000000}};
    int64_t ns = -1;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_true(str_parse_duration_ns(good[i].text, &ns));
        assert_true(ns == good[i].ns);
    }
    ns = -1;
    static const char *const bad[] = {"", "-1s", "s", "5 s", "5d", "99999999999h"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_false(str_parse_duration_ns(bad[i], &ns));
        assert_true(ns == -1);
    }
}

static void str_cut_length__inside_a_character__before_it(void **state)
{
    (void)state;
    assert_int_equal(str_cut_length("abc", 3, 3), 3);
    assert_int_equal(str_cut_length("abc", 3, 2), 2);
    assert_int_equal(str_cut_length("a\303\251c", 4, 2), 1);
    assert_int_equal(str_cut_length("a\303\251c", 4, 3), 3);
    assert_int_equal(str_cut_length("\342\202\254", 3, 2), 0);
    assert_int_equal(str_cut_length("\200\200\200", 3, 1), 0);
}

static void str_is_identifier__edges__as_in_c(void **state)
{
    (void)state;
    char name[65] = {0};
    memset(name, 'a', 63);
    assert_true(str_is_identifier("_a9"));
    assert_true(str_is_identifier(name));
    name[63] = 'a';
    assert_false(str_is_identifier(name));
    assert_false(str_is_identifier(""));
    assert_false(str_is_identifier("9a"));
    assert_false(str_is_identifier("a-b"));
    assert_false(str_is_identifier("\xc3\xa4"));
}

static void str_nearest__typo__finds_the_word(void **state)
{
    (void)state;
    static const char *const words[] = {"budget", "target", "task"};
    assert_string_equal(str_nearest("budgte", words, COUNT_OF(words)), "budget");
    assert_string_equal(str_nearest("tsk", words, COUNT_OF(words)), "task");
    assert_null(str_nearest("zzzzzz", words, COUNT_OF(words)));
    assert_int_equal(str_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(str_edit_distance("", "abc"), 3);
}

static void str_starts_and_ends__edges__hold(void **state)
{
    (void)state;
    assert_true(str_starts_with("kernel.c", "kern"));
    assert_false(str_starts_with("ker", "kern"));
    assert_true(str_ends_with("kernel.c", ".c"));
    assert_false(str_ends_with("c", ".c"));
    assert_true(str_ends_with("x", ""));
}

static void err_set__every_kind__has_name_and_exit_code(void **state)
{
    (void)state;
    for (int a = ERR_USAGE; a < ERR_KIND_COUNT; a++) {
        assert_non_null(err_kind_name((enum err_kind)a));
        assert_true(err_kind_exit_code((enum err_kind)a) > 0);
        for (int b = ERR_USAGE; b < a; b++) {
            assert_string_not_equal(err_kind_name((enum err_kind)a),
                                    err_kind_name((enum err_kind)b));
            assert_int_not_equal(err_kind_exit_code((enum err_kind)a),
                                 err_kind_exit_code((enum err_kind)b));
        }
    }
    assert_string_equal(err_kind_name(ERR_BAD_INPUT), "bad-input");
    assert_int_equal(err_kind_exit_code(ERR_INTERRUPTED), 130);
}

static void err_set__after_a_hint__forgets_it(void **state)
{
    (void)state;
    struct err err;
    assert_false(err_set(&err, ERR_LIMIT, "'%s' is large", "x"));
    assert_false(err_hint(&err, "use %d", 5));
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_string_equal(err.message, "'x' is large");
    assert_string_equal(err.hint, "use 5");
    assert_false(err_within(&err, "reading '%s'", "y"));
    assert_string_equal(err.message, "reading 'y': 'x' is large");
    assert_string_equal(err.hint, "use 5");
    assert_false(err_set_errno(&err, ENOENT, "cannot open '%s'", "z"));
    assert_int_equal(err.kind, ERR_IO);
    assert_string_equal(err.hint, "");
    assert_true(str_starts_with(err.message, "cannot open 'z': "));
}

static void err_set__long_message__ends_in_dots(void **state)
{
    (void)state;
    struct err err;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)err_set(&err, ERR_IO, "%s", text);
    assert_int_equal(strlen(err.message), ERR_MESSAGE_BYTES - 1);
    assert_true(str_ends_with(err.message, "x..."));
    (void)err_within(&err, "%s", text);
    assert_true(str_ends_with(err.message, "..."));
}

static void hash_content__sha256_vectors__first_half(void **state)
{
    (void)state;
    /* FIPS 180-2, appendix B, and the empty message. */
    assert_string_equal(hash_content("abc", 3).text, "ba7816bf8f01cfea414140de5dae2223");
    assert_string_equal(hash_content("", 0).text, "e3b0c44298fc1c149afbf4c8996fb924");
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_string_equal(hash_content(two_blocks, 56).text, "248d6a61d20638b8e5c026930c3e6039");
}

static void hash_strings__boundaries_differ__ids_differ(void **state)
{
    (void)state;
    const struct hash_id a = hash_strings((const char *const[]){"ab", "c"}, 2);
    const struct hash_id b = hash_strings((const char *const[]){"a", "bc"}, 2);
    const struct hash_id c = hash_strings((const char *const[]){"ab", NULL}, 2);
    const struct hash_id d = hash_strings((const char *const[]){"ab", ""}, 2);
    assert_string_not_equal(a.text, b.text);
    assert_string_not_equal(c.text, d.text);
    assert_int_equal(strlen(a.text), HASH_ID_CHARS);
    assert_string_equal(a.text, hash_strings((const char *const[]){"ab", "c"}, 2).text);
}

/* Bit by bit from the polynomial. */
static uint32_t slow_crc32c(uint32_t crc, const unsigned char *data, size_t length)
{
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

static void hash_crc32c__any_bytes_in_any_pieces__as_bit_by_bit(void **state)
{
    unsigned char data[1024];
    struct rng rng = rng_seeded(5);
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)rng_next(&rng);
    for (int i = 0; i < 2000; i++) {
        const size_t from = rng_below(&rng, sizeof data);
        const size_t length = rng_below(&rng, sizeof data - from + 1);
        const size_t cut = rng_below(&rng, length + 1);
        const uint32_t first = hash_crc32c(0, data + from, cut);
        assert_int_equal(hash_crc32c(first, data + from + cut, length - cut),
                         slow_crc32c(0, data + from, length));
    }
}

static void hash_crc32c__check_value__as_published(void **state)
{
    (void)state;
    const unsigned char zeros[32] = {0};
    assert_int_equal(hash_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(hash_crc32c(0, zeros, 32), 0x8a9136aa); /* RFC 3720, B.4 */
    assert_int_equal(hash_crc32c(hash_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
    assert_int_equal(hash_crc32c(0, "", 0), 0);
}

static void hash_fnv1a__reference_values__match(void **state)
{
    (void)state;
    assert_true(hash_fnv1a("", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_fnv1a("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_fnv1a("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void rng_next__reference_state__reference_stream(void **state)
{
    (void)state;
    /* The authors' xoshiro256starstar.c started with s = {1, 2, 3, 4}. */
    static const uint64_t want[] = {UINT64_C(11520),
                                    0,
                                    UINT64_C(1509978240),
                                    UINT64_C(1215971899390074240),
                                    UINT64_C(1216172134540287360),
                                    UINT64_C(607988272756665600),
                                    UINT64_C(16172922978634559625)};
    struct rng rng = {.state = {1, 2, 3, 4}};
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_true(rng_next(&rng) == want[i]);
}

static void rng_seeded__same_seed__same_stream(void **state)
{
    (void)state;
    struct rng a = rng_seeded(7);
    struct rng b = rng_seeded(7);
    struct rng c = rng_seeded(8);
    /* splitmix64 from 0 begins with this published value. */
    assert_true(rng_seeded(0).state[0] == UINT64_C(0xe220a8397b1dcdaf));
    int same = 0;
    for (int i = 0; i < 100; i++) {
        const uint64_t x = rng_next(&a);
        assert_true(x == rng_next(&b));
        same += x == rng_next(&c);
    }
    assert_int_equal(same, 0);
}

/* RFC 8439, appendix A.1, test vector 1: key, nonce and counter of zeros. */
static void rng_secret__key_of_zeros__published_keystream(void **state)
{
    (void)state;
    static const unsigned char want[] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90,
                                         0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28};
    const unsigned char key[RNG_KEY_BYTES] = {0};
    struct rng rng = rng_secret(key);
    const uint64_t got[2] = {rng_next(&rng), rng_next(&rng)};
    assert_memory_equal(got, want, sizeof want);
}

static void rng_secret__long_stream__never_repeats_a_refill(void **state)
{
    (void)state;
    const unsigned char key[RNG_KEY_BYTES] = {1};
    struct rng a = rng_secret(key);
    struct rng b = a;
    const uint64_t first = rng_next(&a);
    assert_true(first == rng_next(&b));
    for (int i = 1; i < 4 * RNG_WORDS; i++)
        assert_true(rng_next(&a) != first);
    assert_true(rng_next(&a) != rng_next(&b));
}

static void rng_below__small_bound__uniform_and_in_range(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(1);
    int seen[6] = {0};
    for (int i = 0; i < 60000; i++) {
        const uint64_t x = rng_below(&rng, 6);
        assert_true(x < 6);
        seen[x]++;
    }
    for (int i = 0; i < 6; i++)
        assert_in_range(seen[i], 9500, 10500);
    assert_true(rng_below(&rng, 0) == 0);
    assert_true(rng_below(&rng, 1) == 0);
}

static void rng_normal__many_draws__mean_0_sd_1(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(3);
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < 100000; i++) {
        const double u = rng_uniform(&rng);
        assert_true(u >= 0.0 && u < 1.0);
        const double x = rng_normal(&rng);
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / 1e5) < 0.02);
    assert_true(fabs(squares / 1e5 - 1.0) < 0.03);
}

static void vec_reserve_one__grows__keeps_the_items(void **state)
{
    (void)state;
    int *items = NULL;
    size_t capacity = 0;
    for (size_t count = 0; count < 1000; count++) {
        items = vec_reserve_one(items, count, &capacity, sizeof *items);
        assert_true(capacity > count);
        items[count] = (int)count;
    }
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], (int)i);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_alloc__many_sizes__aligned_and_zeroed),
        cmocka_unit_test(arena_alloc__larger_than_a_block__works),
        cmocka_unit_test(arena_free__then_used_again__starts_empty),
        cmocka_unit_test(arena_strndup__no_terminator__adds_one),
        cmocka_unit_test(arena_array__size_overflows__is_a_bug),
        cmocka_unit_test(buf_append__past_the_cap__keeps_what_fits),
        cmocka_unit_test(buf_append__exactly_the_cap__fits),
        cmocka_unit_test(buf_printf__past_the_cap__keeps_what_fits),
        cmocka_unit_test(buf_text__nothing_appended__is_empty),
        cmocka_unit_test(str_parse_int64__edges__strict),
        cmocka_unit_test(str_parse_double__edges__strict),
        cmocka_unit_test(str_parse_duration_ns__units__are_known),
        cmocka_unit_test(str_cut_length__inside_a_character__before_it),
        cmocka_unit_test(str_is_identifier__edges__as_in_c),
        cmocka_unit_test(str_nearest__typo__finds_the_word),
        cmocka_unit_test(str_starts_and_ends__edges__hold),
        cmocka_unit_test(err_set__every_kind__has_name_and_exit_code),
        cmocka_unit_test(err_set__after_a_hint__forgets_it),
        cmocka_unit_test(err_set__long_message__ends_in_dots),
        cmocka_unit_test(hash_content__sha256_vectors__first_half),
        cmocka_unit_test(hash_strings__boundaries_differ__ids_differ),
        cmocka_unit_test(hash_crc32c__check_value__as_published),
        cmocka_unit_test(hash_crc32c__any_bytes_in_any_pieces__as_bit_by_bit),
        cmocka_unit_test(hash_fnv1a__reference_values__match),
        cmocka_unit_test(rng_next__reference_state__reference_stream),
        cmocka_unit_test(rng_seeded__same_seed__same_stream),
        cmocka_unit_test(rng_secret__key_of_zeros__published_keystream),
        cmocka_unit_test(rng_secret__long_stream__never_repeats_a_refill),
        cmocka_unit_test(rng_below__small_bound__uniform_and_in_range),
        cmocka_unit_test(rng_normal__many_draws__mean_0_sd_1),
        cmocka_unit_test(vec_reserve_one__grows__keeps_the_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
