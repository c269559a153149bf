/** Where text is drawn on a terminal, unless it is muted. */
export class Screen {
  /** Whether what is drawn is dropped. */
  muted = true;
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** How many columns the terminal has at this moment. */
  get columns(): number {
    try {
      return Deno.consoleSize().columns || 80;
    } catch {
      return 80; // none of the standard streams tells
    }
  }

  write(text: string): void {
    if (!this.muted) this.#write(text);
  }
}
