/**
 * The connections that requests go out on. Those that nobody uses are kept for the next; whatever swallowed what was said on one of
 * them (a firewall that forgot, a gateway that was moved) has swallowed the others as well, and so all can be dropped at once.
 */

/** What is heard of an answer: its head, and its body as it comes. */
export interface Heard {
  readonly status: number
  header(name: string): string | undefined
  readonly body: AsyncIterable<Uint8Array>
}

export interface Asked {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal: AbortSignal
  /** Something has fallen silent: by a connection that nobody has used yet, where that can be chosen. */
  readonly isFresh: boolean
}

export interface Lines {
  ask(url: string, asked: Asked): Promise<Heard>
  /** Those that nobody uses, or those in use as well. The next request is made by a new one. */
  drop(which: 'idle' | 'all'): void
}

/**
 * By `fetch`, which keeps its connections to itself: a request that is called off has its own closed, no other. Bun takes a new
 * one for a request that is not to be kept; others do not look at that.
 */
export const fetchLines = (fetch: typeof globalThis.fetch): Lines => ({
  async ask(url, { isFresh, ...asked }) {
    const { body, ...rest } = asked
    const init = {
      ...rest,
      redirect: 'manual' as const,
      ...(body !== undefined && { body }),
      ...(isFresh && { keepalive: false }),
    }
    const { status, headers, body: told } = await fetch(url, init)
    return { status, header: (name) => headers.get(name) ?? undefined, body: told ?? nothing() }
  },
  drop() {},
})

async function* nothing(): AsyncGenerator<Uint8Array> {}
