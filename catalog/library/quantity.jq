# Kubernetes quantities ("500m", "1.5Gi", 4) as numbers. Exact up to 2^53 thousandths, which is 8 PiB.

def unit_factor($unit; $power):
  {"n": 1e-6, "u": 1e-3, "m": 1, "": 1000, "k": 1e6, "M": 1e9, "G": 1e12, "T": 1e15, "P": 1e18, "E": 1e21,
   "Ki": 1024, "Mi": 1048576, "Gi": 1073741824, "Ti": 1099511627776, "Pi": 1125899906842624, "Ei": 1152921504606846976} as $units
  | if $power != "" then pow(10; $power | tonumber) * 1000
    elif $unit | endswith("i") then $units[$unit] * 1000
    else $units[$unit] end;

def thousandths:
  tostring
  | capture("^(?<sign>[-+]?)(?<whole>[0-9]*)\\.?(?<part>[0-9]*)(?<unit>[A-Za-z]*)(?<power>[-+]?[0-9]*)\\z")
    // error("no quantity")
  | unit_factor(.unit; .power | ltrimstr("+")) as $factor
  | ("\(.sign | ltrimstr("+"))0\(.whole).\(.part)0" | tonumber) * $factor;

# Of a count, such as that of a device: rounded up, as a scheduler does.
def whole: thousandths / 1000 | ceil;
