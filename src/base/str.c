#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool str_equal(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

bool str_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends_with(const char *text, const char *suffix)
{
    const size_t n = strlen(text);
    const size_t m = strlen(suffix);
    return n >= m && memcmp(text + n - m, suffix, m) == 0;
}

bool str_parse_int64(const char *text, int64_t *out)
{
    char *end = NULL;
    if (*text == '\0' || isspace((unsigned char)*text))
        return false;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *out = value;
    return true;
}

bool str_parse_double(const char *text, double *out)
{
    char *end = NULL;
    if (*text == '\0' || isspace((unsigned char)*text))
        return false;
    errno = 0;
    const double value = strtod(text, &end);
    if (*end != '\0' || (errno == ERANGE && !isfinite(value)))
        return false;
    *out = value;
    return true;
}

bool str_parse_duration_ns(const char *text, int64_t *out_ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9},  {"ns", 1},   {"us", 1e3},  {"ms", 1e6},
                 {"s", 1e9}, {"m", 6e10}, {"h", 3.6e12}};
    char *end = NULL;
    if (!isdigit((unsigned char)*text))
        return false;
    const double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (str_equal(end, units[i].unit) && value * units[i].ns < 9e18) {
            *out_ns = (int64_t)(value * units[i].ns);
            return true;
        }
    }
    return false;
}

bool str_is_identifier(const char *text)
{
    const size_t length = strlen(text);
    if (length == 0 || length > 63 || isdigit((unsigned char)*text))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    }
    return true;
}

void str_make_printable(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        if ((*at < 0x20 && *at != '\n' && *at != '\t') || *at == 0x7f)
            *at = '?';
        if (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
            at[0] = at[1] = '?';
    }
}

size_t str_cut_length(const char *text, size_t length, size_t most_bytes)
{
    if (length <= most_bytes)
        return length;
    size_t kept = most_bytes;
    while (kept > 0 && ((unsigned char)text[kept] & 0xC0U) == 0x80U)
        kept--;
    return kept;
}

enum { WORD_MAX = 32 };

size_t str_edit_distance(const char *a, const char *b)
{
    const size_t n = strlen(a);
    const size_t m = strlen(b);
    size_t row[WORD_MAX + 1];
    if (n > WORD_MAX || m > WORD_MAX)
        return n > m ? n : m;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t up = row[j];
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best)
                best = up + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
            diagonal = up;
        }
    }
    return row[m];
}

const char *str_nearest(const char *word, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    size_t nearest_distance = strlen(word) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        const size_t distance = str_edit_distance(word, words[i]);
        if (distance < nearest_distance) {
            nearest = words[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}
