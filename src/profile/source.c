/* Places in the candidate's text, as tools name them. */
#include "profile/internal.h"

#include <string.h>

bool source_is_candidate(const char *path, size_t length)
{
    const size_t name = strlen(CANDIDATE_FILE);
    return length >= name && strncmp(path + length - name, CANDIDATE_FILE, name) == 0 &&
           (length == name || path[length - name - 1] == '/');
}

int source_line(int64_t line, int line_count)
{
    return line > 0 && line <= (line_count ? line_count : SOURCE_MOST_LINE) ? (int)line : 0;
}
