// A Response of a text. A built-in one puts its text into a stream at once, and that costs more than a small answer's text.

/** Its stream is made when somebody asks for it; mostly the text is wanted, and whole. */
export class TextResponse extends Response {
  readonly #text: string;
  #isRead = false;
  #whole: Response | undefined;

  constructor(text: string, init: ResponseInit) {
    super(null, init);
    this.#text = text;
  }

  /** The text of one whose body nobody has asked for. */
  static textOf(response: Response): string | undefined {
    return response instanceof TextResponse && !response.bodyUsed && !response.#whole ? response.#text : undefined;
  }

  get #streamed(): Response {
    if (this.#isRead) throw new TypeError('the body has been read');
    return (this.#whole ??= new Response(this.#text, { status: this.status, headers: this.headers }));
  }

  override get body() {
    return this.#isRead ? null : this.#streamed.body;
  }

  override get bodyUsed() {
    return this.#isRead || this.#whole?.bodyUsed === true;
  }

  override async text(): Promise<string> {
    if (this.#isRead || this.#whole) return this.#streamed.text();
    this.#isRead = true;
    return this.#text;
  }

  override async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#streamed.arrayBuffer();
  }

  override async blob(): Promise<Blob> {
    return this.#streamed.blob();
  }

  override async formData(): Promise<FormData> {
    return this.#streamed.formData();
  }

  override clone(): Response {
    return this.#streamed.clone();
  }
}
