/** An event of a stream of server-sent events (WHATWG HTML, 9.2). */
export interface ServerEvent {
  data: string;
}

/** Reads the events of a stream. It remembers the last id, even of blocks without an event. */
export class EventSourceReader {
  #lastId: string | undefined;

  /** The value of Last-Event-ID that continues after what was read. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  /** Ends with the stream. @throws if the connection breaks */
  async *read(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body) {
      rest += decoder.decode(chunk, { stream: true });
      for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
        const event = this.#parse(rest.slice(0, end));
        rest = rest.slice(end + 2);
        if (event) yield event;
      }
    }
  }

  #parse(block: string): ServerEvent | undefined {
    const data: string[] = [];
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (name === 'data') data.push(value);
      if (name === 'id') this.#lastId = value;
    }
    return data.length === 0 ? undefined : { data: data.join('\n') };
  }
}
