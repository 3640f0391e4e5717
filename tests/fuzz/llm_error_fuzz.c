/* Any bytes as the body of an error: a message of one short line, a fault that is known. */
#include "base/arena.h"
#include "base/err.h"
#include "llm/peer_error.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const long status = size > 0 ? 400 + data[0] % 200 : 500;
    const char *body = arena_strndup(&arena, (const char *)data, size);
    const struct peer_error error = peer_error_from_body(status, body, size, &arena);
    const char *line = peer_text_line(error.message, 400, &arena);
    if (strlen(line) > 403 || line[strcspn(line, "\n\r\t\033")] != '\0')
        BUG("fuzz: not one short line");
    for (int word = -1; word <= 1; word++) {
        if ((int)peer_error_classify(&error, word) > (int)PEER_FAULT_REQUEST)
            BUG("fuzz: an unknown fault");
    }
    return 0;
}
