/** One event of a run's stream: the JSON object after `data: `. */
export type StreamEvent = Readonly<Record<string, unknown>>;

/** An item of a stream: an event, or text or bytes to send unchanged. */
export type StreamItem = StreamEvent | string | Uint8Array;

/** The format of {@linkcode encodeItem}. */
export interface EncodeOptions {
  /** The line end. The default is `"\n"`. */
  readonly newline?: "\n" | "\r\n" | undefined;
  /** The event's `id:` line. By default there is none. */
  readonly id?: string | number | undefined;
}

const encoder = new TextEncoder();

/** The event for a node that a run has reached. */
export function progress(node: string, status: string): StreamEvent {
  return { event: "progress", node, status };
}

/** The event that ends a run and holds its reply. */
export function complete(explanation: string): StreamEvent {
  return { event: "complete", instructorState: { explanation } };
}

/** The bytes of one item: an event becomes a `data:` line. */
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
