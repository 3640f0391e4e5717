#include "base/tokens.h"

#include <ctype.h>

int64_t tokens_estimate(const char *text, size_t length)
{
    int64_t tokens = 0;
    size_t i = 0;
    while (i < length) {
        const unsigned char c = (unsigned char)text[i];
        if (isalpha(c) && c < 128) {
            const size_t start = i;
            for (i++; i < length && isalpha((unsigned char)text[i]); i++) {
                if (islower((unsigned char)text[i - 1]) && isupper((unsigned char)text[i]))
                    tokens++;
            }
            tokens += (int64_t)((i - start + 3) / 4);
        } else if (c == ' ') {
            const size_t start = i;
            while (i < length && text[i] == ' ')
                i++;
            tokens += i - start >= 2;
        } else {
            tokens++;
            i++;
        }
    }
    return tokens;
}

int64_t tokens_bound(const char *text, size_t length)
{
    const int64_t estimate = tokens_estimate(text, length);
    const int64_t bound = (estimate * 11 + 9) / 10;
    return bound < (int64_t)length ? bound : (int64_t)length;
}
