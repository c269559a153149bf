/** The programs that the tests of this file looked for and did not find. */
export const missingTools = new Set<string>();
