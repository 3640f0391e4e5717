#include "base/hash.h"

#include "base/crc32c.h"
#include "base/err.h"

#include <openssl/evp.h>
#include <string.h>

static struct hash_id id_of_digest(const unsigned char *digest)
{
    static const char digits[] = "0123456789abcdef";
    struct hash_id id = {{0}};
    for (size_t i = 0; i < HASH_ID_CHARS / 2; i++) {
        id.text[2 * i] = digits[digest[i] >> 4];
        id.text[2 * i + 1] = digits[digest[i] & 15];
    }
    return id;
}

struct hash_id hash_content(const void *data, size_t length)
{
    unsigned char digest[HASH_SHA256_BYTES];
    if (EVP_Digest(data, length, digest, NULL, EVP_sha256(), NULL) != 1)
        BUG("hash: libcrypto has no SHA-256");
    return id_of_digest(digest);
}

struct hash_id hash_strings(const char *const *strings, size_t count)
{
    unsigned char digest[HASH_SHA256_BYTES];
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    if (!md || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1)
        BUG("hash: libcrypto has no SHA-256");
    for (size_t i = 0; i < count; i++) {
        const uint64_t length = strings[i] ? strlen(strings[i]) : UINT64_MAX;
        unsigned char prefix[8];
        for (int byte = 0; byte < 8; byte++)
            prefix[byte] = (unsigned char)(length >> (8 * byte));
        if (EVP_DigestUpdate(md, prefix, sizeof prefix) != 1 ||
            (strings[i] && EVP_DigestUpdate(md, strings[i], (size_t)length) != 1))
            BUG("hash: SHA-256 update failed");
    }
    if (EVP_DigestFinal_ex(md, digest, NULL) != 1)
        BUG("hash: SHA-256 failed");
    EVP_MD_CTX_free(md);
    return id_of_digest(digest);
}

uint32_t hash_crc32c(uint32_t crc, const void *data, size_t length)
{
    const unsigned char *at = data;
    crc = ~crc;
    for (; length >= CRC32C_ROWS; length -= CRC32C_ROWS, at += CRC32C_ROWS) {
        crc ^=
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        crc = crc32c_rows[7][crc & 255] ^ crc32c_rows[6][crc >> 8 & 255] ^
              crc32c_rows[5][crc >> 16 & 255] ^ crc32c_rows[4][crc >> 24] ^ crc32c_rows[3][at[4]] ^
              crc32c_rows[2][at[5]] ^ crc32c_rows[1][at[6]] ^ crc32c_rows[0][at[7]];
    }
    for (; length != 0; length--, at++)
        crc = crc >> 8 ^ crc32c_rows[0][(crc ^ *at) & 255];
    return ~crc;
}

uint64_t hash_fnv1a(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}
