#include "llm/secret.h"

#include "base/buf.h"
#include "os/os.h"

#include <string.h>

enum { SECRET_MIN_BYTES = 8, SECRET_MAX_BYTES = 16 * 1024 };

bool secret_read(const char *variable, const char **out, struct err *err)
{
    const char *value = os_env(variable);
    if (value) {
        const size_t length = strlen(value);
        for (size_t i = 0; i < length; i++) {
            if (length <= SECRET_MAX_BYTES && value[i] > 0x20 && value[i] < 0x7f)
                continue;
            (void)err_set(err, ERR_BAD_INPUT,
                          "the value of variable '%s' cannot be a key: it is too long, or holds a "
                          "space, a line break or a byte that is not ASCII",
                          variable);
            return err_hint(err, "set it again without quotes and line breaks");
        }
    }
    *out = value;
    return true;
}

const char *secret_redact(const char *secret, const char *text, struct arena *arena)
{
    const size_t length = secret ? strlen(secret) : 0;
    const char *hit = length >= SECRET_MIN_BYTES ? strstr(text, secret) : NULL;
    if (!hit)
        return text;
    CLEANUP(buf_free) struct buf clean = {0};
    while (hit) {
        (void)buf_append(&clean, text, (size_t)(hit - text));
        (void)buf_append_str(&clean, "[key]");
        text = hit + length;
        hit = strstr(text, secret);
    }
    (void)buf_append_str(&clean, text);
    return arena_strdup(arena, buf_text(&clean));
}
