/**
 * Text that was typed, text that was pasted, or a key that was pressed. Keys have
 * the names `enter`, `backspace`, `tab`, `escape`, `up`, `down`, `left`, `right`,
 * `home`, `end`, `delete`, `ctrl-` or `alt-` with a character, and these with the
 * modifiers `ctrl-`, `alt-` and `shift-`, in this order. `\r` is Enter, and `\n` is
 * Ctrl-J.
 */
export type Key =
  | { readonly kind: "text"; readonly text: string }
  | {
    readonly kind: "paste";
    readonly text: string;
    readonly isContinued: boolean;
  }
  | { readonly kind: "press"; readonly name: string };

export function press(name: string): Key {
  return { kind: "press", name };
}

/** The key of a control character of ASCII. */
export function controlKey(code: number): string {
  switch (code) {
    case 0x08:
    case 0x7f:
      return "backspace";
    case 0x09:
      return "tab";
    case 0x0d:
      return "enter";
    case 0x1b:
      return "escape";
    default:
      return `ctrl-${String.fromCharCode(code + 0x40).toLowerCase()}`;
  }
}
