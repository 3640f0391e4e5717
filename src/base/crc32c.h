/* Inside base/: the table of hash_crc32c. */
#ifndef KOPE_BASE_CRC32C_H
#define KOPE_BASE_CRC32C_H

#include <stdint.h>

enum { CRC32C_ROWS = 8 };

extern const uint32_t crc32c_rows[CRC32C_ROWS][256];

#endif
