# GPUs of cloud machines by the name of their size, as far as KAITO knows them: Azure, Azure Arc and AWS. Sizes with
# other accelerators than NVIDIA's are left out: what is not here is not known, which is never none.
def machine_gpus:
  {"Standard_NC4as_T4_v3": 1, "Standard_NC8as_T4_v3": 1, "Standard_NC16as_T4_v3": 1, "Standard_NC64as_T4_v3": 4,
   "Standard_NV36ads_A10_v5": 1, "Standard_NV72ads_A10_v5": 2,
   "Standard_NC24ads_A100_v4": 1, "Standard_NC48ads_A100_v4": 2, "Standard_NC96ads_A100_v4": 4,
   "Standard_ND96asr_A100_v4": 8, "Standard_ND96amsr_A100_v4": 8,
   "Standard_NC40ads_H100_v5": 1, "Standard_NC80adis_H100_v5": 2, "Standard_NCC40ads_H100_v5": 1,
   "Standard_ND96isr_H100_v5": 8, "Standard_ND96isr_H200_v5": 8,
   "Standard_NV12s_v3": 1, "Standard_NV24s_v3": 2, "Standard_NV48s_v3": 4,
   "Standard_NK6": 1, "Standard_NK12": 2,
   "Standard_NC4_A2": 1, "Standard_NC8_A2": 1, "Standard_NC16_A2": 2, "Standard_NC32_A2": 2,
   "Standard_NC4_A16": 1, "Standard_NC8_A16": 1, "Standard_NC16_A16": 2, "Standard_NC32_A16": 2,
   "p2.xlarge": 1, "p2.8xlarge": 8, "p2.16xlarge": 16,
   "p3.2xlarge": 1, "p3.8xlarge": 4, "p3.16xlarge": 8, "p3dn.24xlarge": 8,
   "p4d.24xlarge": 8, "p4de.24xlarge": 8, "p5.48xlarge": 8, "p5e.48xlarge": 8, "p5en.48xlarge": 8,
   "g3s.xlarge": 1,
   "g4dn.xlarge": 1, "g4dn.2xlarge": 1, "g4dn.4xlarge": 1, "g4dn.8xlarge": 1, "g4dn.16xlarge": 1, "g4dn.12xlarge": 4, "g4dn.metal": 8,
   "g5.xlarge": 1, "g5.2xlarge": 1, "g5.4xlarge": 1, "g5.8xlarge": 1, "g5.16xlarge": 1,
   "g5.12xlarge": 4, "g5.24xlarge": 4, "g5.48xlarge": 8,
   "g5g.xlarge": 1, "g5g.2xlarge": 1, "g5g.4xlarge": 1, "g5g.8xlarge": 1, "g5g.16xlarge": 2, "g5g.metal": 2,
   "g6.xlarge": 1, "g6.2xlarge": 1, "g6.4xlarge": 1, "g6.8xlarge": 1, "g6.16xlarge": 1,
   "g6.12xlarge": 4, "g6.24xlarge": 4, "g6.48xlarge": 8, "gr6.4xlarge": 1, "gr6.8xlarge": 1};
