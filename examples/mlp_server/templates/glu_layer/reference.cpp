extern "C" void hone_reference(const long long* dimensions, const char*, const char*, void* const* arguments,
                               long long first, long long last) {
  const long long n = dimensions[1], k = dimensions[2];
  const auto* a = static_cast<const float*>(arguments[0]);
  const auto* b = static_cast<const float*>(arguments[1]);
  const auto* bias = static_cast<const float*>(arguments[2]);
  const auto* y = static_cast<const float*>(arguments[3]);
  auto* out = static_cast<double*>(arguments[4]);
  for (long long row = first; row < last; ++row) {
    for (long long column = 0; column < n; ++column) {
      double x = bias[column];
      for (long long i = 0; i < k; ++i) x += double(a[row * k + i]) * b[i * n + column];
      out[row * n + column] = x + x * y[row * n + column];
    }
  }
}
