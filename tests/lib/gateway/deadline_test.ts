import {
  assertEquals,
  assertFalse,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { Deadline, pause, Timeout } from "../../../lib/gateway/deadline.ts";
import { stopFor } from "../../support/stopped_process.ts";

// No timer may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

/** The events, in order. A timeout is recorded as "expired". */
class Record {
  readonly events: string[] = [];
  readonly expired = Promise.withResolvers<void>();
  readonly expire = () => {
    this.events.push("expired");
    this.expired.resolve();
  };

  after(milliseconds: number, event: string): Promise<void> {
    return new Promise((resolve) =>
      setTimeout(() => {
        this.events.push(event);
        resolve();
      }, milliseconds)
    );
  }
}

Deno.test("Timeout expires once", async () => {
  const record = new Record();
  new Timeout(1, 60_000, record.expire);
  await record.expired.promise;
  await record.after(5, "later");
  assertEquals(record.events, ["expired", "later"]);
});

Deno.test("Timeout does not expire when it is cleared", async () => {
  const record = new Record();
  const timeout = new Timeout(5, 0, record.expire);
  timeout.clear();
  await record.after(20, "later");
  assertEquals(record.events, ["later"]);
});

Deno.test("Timeout that fires late leaves the grace period to what waits", async () => {
  const record = new Record();
  const timeout = new Timeout(1, 60_000, record.expire);
  stopFor(300);
  await record.after(5, "later");
  assertEquals(record.events, ["later"]);
  timeout.clear();
});

Deno.test("Timeout expires after the grace period", async () => {
  const record = new Record();
  new Timeout(1, 30, record.expire);
  stopFor(300);
  const later = record.after(5, "later");
  await record.expired.promise;
  await later;
  assertEquals(record.events, ["later", "expired"]);
});

Deno.test("Timeout that is late twice has the grace period twice", async () => {
  const record = new Record();
  const timeout = new Timeout(1, 1, record.expire);
  stopFor(300);
  await new Promise((resolve) => setTimeout(resolve, 0));
  stopFor(300);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(record.events, []);
  timeout.clear();
});

Deno.test("Deadline aborts its signal when the time is over", async () => {
  const { signal } = new AbortController();
  const deadline = new Deadline(signal, 1, 0);
  await new Promise((resolve) =>
    deadline.signal.addEventListener("abort", resolve)
  );
  assertEquals(deadline.expired, true);
  deadline.end();
});

Deno.test("Deadline that was met is aborted by the outer signal alone", async () => {
  const controller = new AbortController();
  const deadline = new Deadline(controller.signal, 5, 0);
  deadline.meet();
  deadline.end();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertFalse(deadline.signal.aborted);
  const reason = new Error("Enough");
  controller.abort(reason);
  assertStrictEquals(deadline.signal.reason, reason);
  assertFalse(deadline.expired);
  deadline.drop();
});

Deno.test("pause() rejects with the reason of a signal that is aborted already", async () => {
  const reason = new Error("Enough");
  const pending = pause(60_000, AbortSignal.abort(reason));
  assertStrictEquals(await assertRejects(() => pending), reason);
});

Deno.test("pause() rejects with the signal's reason as soon as it is aborted", async () => {
  const controller = new AbortController();
  const reason = new Error("Enough");
  const pending = pause(60_000, controller.signal);
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => pending), reason);
});
