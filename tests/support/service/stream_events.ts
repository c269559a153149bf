/** One event of a run's stream: the JSON object behind `data: `. */
export type StreamEvent = Readonly<Record<string, unknown>>;

/** What a stream is made of: an event, or text or bytes to send as they are. */
export type StreamItem = StreamEvent | string | Uint8Array;

/** How {@linkcode encodeItem} writes an event. */
export interface EncodeOptions {
  /** What ends each line. `"\n"` unless told. */
  readonly newline?: "\n" | "\r\n" | undefined;
  /** The event's `id:` line. None unless told. */
  readonly id?: string | number | undefined;
}

const encoder = new TextEncoder();

/** The event that says a run has reached a node. */
export function progress(node: string, status: string): StreamEvent {
  return { event: "progress", node, status };
}

/** The event that ends a run and holds its reply. */
export function complete(explanation: string): StreamEvent {
  return { event: "complete", instructorState: { explanation } };
}

/** The bytes of one item as it travels: an event becomes a `data:` line. */
export function encodeItem(
  item: StreamItem,
  { newline = "\n", id }: EncodeOptions = {},
): Uint8Array {
  if (item instanceof Uint8Array) return item;
  if (typeof item === "string") return encoder.encode(item);
  const idLine = id === undefined ? "" : `id: ${id}${newline}`;
  return encoder.encode(
    `${idLine}data: ${JSON.stringify(item)}${newline}${newline}`,
  );
}
