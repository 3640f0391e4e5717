#include <stdbool.h>
#include <stdint.h>
typedef struct { uint16_t bits; } float16;
typedef struct { uint16_t bits; } bfloat16;
#define real float
#define real_acc float
#define real_load(x) ((real_acc)(x))
#define real_store(x) ((real)(x))
