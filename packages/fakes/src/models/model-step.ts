/**
 * What the fake of a model's service does with a request, step by step, in its vendor's words. An answer that no step
 * finishes ends as a broken one would.
 */
export type FakeModelStep =
  | { readonly do: 'say'; readonly text: string }
  /** What the model thinks before it speaks. */
  | { readonly do: 'think'; readonly text: string }
  | { readonly do: 'begin-tool'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly do: 'tool-arguments'; readonly index: number; readonly text: string }
  /** `input` includes `cached`. */
  | { readonly do: 'report-usage'; readonly input: number; readonly output: number; readonly cached?: number }
  /** `reason` as the service writes it. */
  | { readonly do: 'finish'; readonly reason: string }
  /** A sign of life that says nothing. */
  | { readonly do: 'ping' }
  /** Nothing for so long, on the fake's time. */
  | { readonly do: 'wait'; readonly ms: number }
  /** Nothing more comes, until the request is given up. */
  | { readonly do: 'stall' }
  /** 429. `retryAfter`: the header, as it stands there. */
  | { readonly do: 'turn-away'; readonly retryAfter?: string }
  /** 401; the body repeats the key, as some do. */
  | { readonly do: 'refuse' }
  /** An error of the service's own, 500 and above. */
  | { readonly do: 'go-down'; readonly status: number }
  /** The connection breaks; as the first step, before a byte of an answer. */
  | { readonly do: 'break-off' }
  /** The stream ends as if it were complete, without the vendor's own end. */
  | { readonly do: 'end' }
  /** An error object inside the stream. */
  | { readonly do: 'fail'; readonly error: unknown }
  /** Bytes of the stream as they stand here. */
  | { readonly do: 'write'; readonly text: string }
  /** An answer that is no stream. */
  | {
      readonly do: 'answer'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body: string
    }

/** How a service writes its streams, whoever the vendor. */
export interface FakeStreamStyle {
  readonly lineEnd?: '\n' | '\r\n'
  /** "data:{" instead of "data: {". */
  readonly tight?: boolean
  /** Comment lines between events, as proxies send them to keep a connection open. */
  readonly comments?: boolean
  /** One JSON document instead of a stream. */
  readonly whole?: boolean
  /** Every write is cut into pieces of 1 to so many bytes. Default: not at all. */
  readonly pieces?: number
}

/** One server-sent event; `event`: its name, where the vendor gives names. */
export function eventText(style: FakeStreamStyle, data: string, event: string | null = null): string {
  const end = style.lineEnd ?? '\n'
  const space = style.tight === true ? '' : ' '
  const name = event === null ? '' : `event:${space}${event}${end}`
  return `${style.comments === true ? `: still here${end}${end}` : ''}${name}data:${space}${data}${end}${end}`
}
