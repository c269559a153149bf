export { afterEach, beforeEach, it } from "node:test";
