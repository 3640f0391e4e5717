#include "base/rng.h"

#include "base/err.h"

#include <assert.h>
#include <math.h>
#include <openssl/evp.h>
#include <string.h>

static uint64_t splitmix64(uint64_t *x)
{
    uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct rng rng_seeded(uint64_t seed)
{
    struct rng rng = {0};
    for (int i = 0; i < 4; i++)
        rng.state[i] = splitmix64(&seed);
    return rng;
}

struct rng rng_secret(const unsigned char key[RNG_KEY_BYTES])
{
    struct rng rng = {.is_secret = true, .used = RNG_WORDS};
    static_assert(sizeof rng.state == RNG_KEY_BYTES, "the key lies in the state");
    memcpy(rng.state, key, sizeof rng.state);
    return rng;
}

/* The next kibibyte of the keystream: a nonce of its own, counted from 0. libcrypto's iv is the
 * 32-bit block counter and the 96-bit nonce, both little-endian. */
static void refill(struct rng *rng)
{
    unsigned char iv[16] = {0};
    int length = 0;
    for (size_t i = 0; i < sizeof rng->refills; i++)
        iv[4 + i] = (unsigned char)(rng->refills >> (8 * i));
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    memset(rng->words, 0, sizeof rng->words);
    if (!cipher ||
        EVP_EncryptInit_ex(cipher, EVP_chacha20(), NULL, (unsigned char *)rng->state, iv) != 1 ||
        EVP_EncryptUpdate(cipher, (unsigned char *)rng->words, &length,
                          (const unsigned char *)rng->words, (int)sizeof rng->words) != 1 ||
        length != (int)sizeof rng->words)
        BUG("libcrypto has no ChaCha20");
    EVP_CIPHER_CTX_free(cipher);
    rng->refills++;
    rng->used = 0;
}

static uint64_t next_secret(struct rng *rng)
{
    if (rng->used == RNG_WORDS)
        refill(rng);
    const uint64_t word = rng->words[rng->used];
    rng->words[rng->used++] = 0; /* what was drawn is kept nowhere */
    return word;
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_next(struct rng *rng)
{
    if (rng->is_secret)
        return next_secret(rng);
    uint64_t *s = rng->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double rng_uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    if (bound < 2)
        return 0;
    const uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        const uint64_t x = rng_next(rng);
        if (x >= threshold)
            return x % bound;
    }
}

double rng_normal(struct rng *rng)
{
    for (;;) {
        const double u = 2.0 * rng_uniform(rng) - 1.0;
        const double v = 2.0 * rng_uniform(rng) - 1.0;
        const double s = u * u + v * v;
        if (s > 0.0 && s < 1.0)
            return u * sqrt(-2.0 * log(s) / s);
    }
}
