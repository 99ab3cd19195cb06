/* librocm_smi64 with three devices: one throttled, one not, one whose metrics do not tell. */
#include <stdint.h>

#define API __attribute__((visibility("default")))

API int rsmi_init(uint64_t flags);
API int rsmi_num_monitor_devices(uint32_t* count);
API int rsmi_dev_pci_id_get(uint32_t device, uint64_t* id);
API int rsmi_dev_metrics_throttle_status_get(uint32_t device, uint32_t* reasons);

int rsmi_init(uint64_t flags) { return flags == 0 ? 0 : 1; }

int rsmi_num_monitor_devices(uint32_t* count) {
  *count = 3;
  return 0;
}

int rsmi_dev_pci_id_get(uint32_t device, uint64_t* id) {
  if (device >= 3) return 1;
  *id = (uint64_t)2 << 28 | (uint64_t)(0xc1 + device) << 8; /* of partition 2 */
  return 0;
}

int rsmi_dev_metrics_throttle_status_get(uint32_t device, uint32_t* reasons) {
  static const uint32_t answers[3] = {1U << 16, 0, 0xFFFFFFFFU};
  *reasons = answers[device];
  return 0;
}
