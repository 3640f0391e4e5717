/* cause: foreign-language CUDA */
__global__ void f(const float *x, float *y, int64_t n)
{
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
