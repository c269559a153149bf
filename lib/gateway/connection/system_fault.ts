/** What the operating system says about a connection, in whatever language. */
export type SystemFault =
  | "refused"
  | "silent"
  | "unreachable"
  | "reset"
  | "no descriptors"
  | "unknown name";

/** By the error numbers of Linux, macOS and Windows, which do not overlap here. */
export const SYSTEM_FAULTS: Readonly<Record<number, SystemFault>> = {
  111: "refused",
  61: "refused",
  10061: "refused",
  110: "silent",
  60: "silent",
  10060: "silent",
  101: "unreachable",
  113: "unreachable",
  51: "unreachable",
  65: "unreachable",
  10051: "unreachable",
  10065: "unreachable",
  103: "reset",
  104: "reset",
  107: "reset", // It was reset before it was used.
  53: "reset",
  54: "reset",
  57: "reset",
  10053: "reset",
  10054: "reset",
  10057: "reset",
  23: "no descriptors",
  24: "no descriptors",
  10024: "no descriptors",
  11001: "unknown name",
  11002: "unknown name", // No name server answered.
  11003: "unknown name",
  11004: "unknown name",
};
