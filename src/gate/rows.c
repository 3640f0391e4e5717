/* What lies between the rows of an argument with a leading dimension: poison that must stay (M11).
 */
#include "gate/internal.h"

#include <math.h>
#include <string.h>

static size_t gap_bytes(const struct task_rows *rows, size_t element)
{
    return (rows->pitch - rows->used) * element;
}

static size_t gap_count(const struct task_rows *rows)
{
    return rows->pitch == rows->used || rows->used == 0 || rows->count == 0 ? 0 : rows->count - 1;
}

static size_t gap_at(const struct task_rows *rows, size_t row, size_t element)
{
    return (row * rows->pitch + rows->used) * element;
}

void rows_poison(const struct data *data, enum poison kind, size_t place, size_t offset,
                 const struct task_rows *rows, size_t element, void *argument)
{
    for (size_t row = 0; row < gap_count(rows); row++) {
        const size_t at = gap_at(rows, row, element);
        data_poison(data, kind, place, offset + at, (char *)argument + at,
                    gap_bytes(rows, element));
    }
}

bool rows_intact(const struct data *data, enum poison kind, size_t place, size_t offset,
                 const struct task_rows *rows, size_t element, const void *argument, size_t *where)
{
    for (size_t row = 0; row < gap_count(rows); row++) {
        const size_t at = gap_at(rows, row, element);
        if (data_poison_intact(data, kind, place, offset + at, (const char *)argument + at,
                               gap_bytes(rows, element), where))
            continue;
        *where = (at + *where) / element;
        return false;
    }
    return true;
}

bool rows_equal(const struct task_rows *rows, size_t element, const void *argument,
                const void *before, size_t *where)
{
    for (size_t row = 0; row < gap_count(rows); row++)
        for (size_t i = 0; i < rows->pitch - rows->used; i++) {
            *where = row * rows->pitch + rows->used + i;
            if (memcmp((const char *)argument + *where * element,
                       (const char *)before + *where * element, element) != 0)
                return false;
        }
    return true;
}

void rows_blank(const struct task_rows *rows, enum dtype dtype, void *argument)
{
    const size_t element = dtype_bytes(dtype);
    for (size_t row = 0; row < gap_count(rows); row++) {
        char *gap = (char *)argument + gap_at(rows, row, element);
        if (!dtype_is_float(dtype))
            memset(gap, 0, gap_bytes(rows, element));
        for (size_t i = 0; dtype_is_float(dtype) && i < rows->pitch - rows->used; i++)
            dtype_store(dtype, gap, i, (double)NAN);
    }
}
