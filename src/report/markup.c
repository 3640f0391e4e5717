#include "report/markup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Length of the valid UTF-8 sequence at `s` (`left` bytes are there) and its code point; 0 where it
 * is none: overlong, a surrogate, over U+10FFFF, cut off. */
static size_t utf8_decode(const unsigned char *s, size_t left, uint32_t *code)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned lead = s[0];
    size_t length = 0;
    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    if (lead >= 0xf0 && lead < 0xf8)
        length = 4;
    else if (lead >= 0xe0)
        length = 3;
    else if (lead >= 0xc0)
        length = 2;
    if (length == 0 || lead >= 0xf8 || length > left)
        return 0;
    uint32_t value = lead & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (s[i] & 0x3fu);
    }
    if (value < lowest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    *code = value;
    return length;
}

/* Characters that change the order in which a reader sees the others ("Trojan Source",
 * CVE-2021-42574), or that cannot be seen at all. */
static bool is_deceptive(uint32_t code)
{
    return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           (code >= 0x200b && code <= 0x200f) || code == 0x061c || code == 0xfeff;
}

/* Not allowed in XML, or without a meaning in text. */
static bool is_control(uint32_t code)
{
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) ||
           (code & 0xfffe) == 0xfffe;
}

static void put_code(struct buf *out, const char *bytes, size_t length, uint32_t code)
{
    switch (code) {
    case '<':
        (void)buf_append_str(out, "&lt;");
        break;
    case '>':
        (void)buf_append_str(out, "&gt;");
        break;
    case '&':
        (void)buf_append_str(out, "&amp;");
        break;
    case '"':
        (void)buf_append_str(out, "&quot;");
        break;
    case '\'':
        (void)buf_append_str(out, "&#39;");
        break;
    default:
        if (is_deceptive(code))
            (void)buf_printf(out, "[U+%04" PRIX32 "]", code);
        else if (is_control(code))
            (void)buf_append_str(out, "\xEF\xBF\xBD");
        else
            (void)buf_append(out, bytes, length);
    }
}

/* Writes at most `characters` and returns how many bytes of `text` they took. */
static size_t put_characters(struct buf *out, const char *text, size_t length, size_t characters)
{
    size_t i = 0;
    for (size_t n = 0; i < length && n < characters; n++) {
        uint32_t code = 0;
        const size_t step = utf8_decode((const unsigned char *)text + i, length - i, &code);
        if (step == 0)
            (void)buf_append_str(out, "\xEF\xBF\xBD");
        else if (code != '\r' || i + 1 >= length || text[i + 1] != '\n')
            put_code(out, text + i, step, code);
        i += step ? step : 1;
    }
    return i;
}

void markup_span(struct buf *out, const char *text, size_t length)
{
    (void)put_characters(out, text, length, SIZE_MAX);
}

void markup_text(struct buf *out, const char *text)
{
    if (text)
        markup_span(out, text, strlen(text));
}

bool markup_clipped(struct buf *out, const char *text, size_t characters)
{
    if (!text)
        return false;
    const size_t length = strlen(text);
    const bool is_cut = put_characters(out, text, length, characters) < length;
    if (is_cut)
        (void)buf_append_str(out, "…");
    return is_cut;
}

static const struct label unknown = {"–"};

/* A positive number with two or three significant digits. */
static void print_number(char *text, size_t size, double value)
{
    if (value >= 1e6 || (value > 0 && value < 0.0995))
        (void)snprintf(text, size, "%.2g", value);
    else
        (void)snprintf(text, size, "%.*f", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value);
}

struct label label_ratio(double log_ratio)
{
    char number[24];
    struct label label;
    const double ratio = exp(log_ratio);
    if (!isfinite(log_ratio) || !isfinite(ratio))
        return unknown;
    print_number(number, sizeof number, ratio);
    (void)snprintf(label.text, sizeof label.text, "%s×", number);
    return label;
}

struct label label_interval(double low, double high)
{
    char from[20];
    char to[20];
    struct label label;
    if (!isfinite(exp(low)) || !isfinite(exp(high)) || !isfinite(low) || !isfinite(high))
        return unknown;
    print_number(from, sizeof from, exp(low));
    print_number(to, sizeof to, exp(high));
    (void)snprintf(label.text, sizeof label.text, "%s–%s", from, to);
    return label;
}

struct label label_percent(double share)
{
    struct label label;
    if (!isfinite(share) || fabs(share) > 1e4)
        return unknown;
    const double percent = share * 100;
    (void)snprintf(label.text, sizeof label.text, "%.*f\xC2\xA0%%", fabs(percent) < 9.95 ? 1 : 0,
                   percent);
    return label;
}

/* "1 min 23 s", "2 h 05 min": a minute and more in two units. */
static struct label long_duration(int64_t ns)
{
    static const int64_t second = INT64_C(1000000000);
    struct label label;
    const int64_t seconds = ns / second + (ns % second >= second / 2);
    const int64_t minutes = (seconds + 30) / 60;
    if (seconds < 3600)
        (void)snprintf(label.text, sizeof label.text,
                       "%" PRId64 "\xC2\xA0min\xC2\xA0%" PRId64 "\xC2\xA0s", seconds / 60,
                       seconds % 60);
    else
        (void)snprintf(label.text, sizeof label.text,
                       "%" PRId64 "\xC2\xA0h\xC2\xA0%02" PRId64 "\xC2\xA0min", minutes / 60,
                       minutes % 60);
    return label;
}

struct label label_duration(int64_t ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    struct label label;
    if (ns <= 0)
        return unknown;
    if (ns >= INT64_C(59950000000))
        return long_duration(ns);
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof *units && (double)ns < units[i].ns * 0.9995)
        i++;
    const double value = (double)ns / units[i].ns;
    const int decimals = units[i].ns <= 1 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    (void)snprintf(label.text, sizeof label.text, "%.*f\xC2\xA0%s", decimals, value, units[i].unit);
    return label;
}

struct label label_count(int64_t count)
{
    char digits[24];
    struct label label;
    size_t at = 0;
    (void)snprintf(digits, sizeof digits, "%" PRId64, count);
    const size_t length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-') {
            memcpy(label.text + at, "\xE2\x80\xAF", 3);
            at += 3;
        }
        label.text[at++] = digits[i];
    }
    label.text[at] = '\0';
    return label;
}

struct label label_date(int64_t wall_ms)
{
    struct tm tm;
    struct label label;
    const time_t seconds = (time_t)(wall_ms / 1000);
    if (wall_ms <= 0 || wall_ms > INT64_C(253402300799000) || !gmtime_r(&seconds, &tm) ||
        strftime(label.text, sizeof label.text, "%Y-%m-%d %H:%M UTC", &tm) == 0)
        return unknown;
    return label;
}
