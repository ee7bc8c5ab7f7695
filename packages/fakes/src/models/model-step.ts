/**
 * The steps with which a fake model service answers a request, in the vendor's format. An answer without the step
 * "finish" ends with a broken connection.
 */
export type FakeModelStep =
  | { readonly do: 'say'; readonly text: string }
  /** Reasoning before the answer. */
  | { readonly do: 'think'; readonly text: string }
  | { readonly do: 'begin-tool'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly do: 'tool-arguments'; readonly index: number; readonly text: string }
  /** `input` includes `cached`. */
  | { readonly do: 'report-usage'; readonly input: number; readonly output: number; readonly cached?: number }
  /** `reason`: the vendor's name of it. */
  | { readonly do: 'finish'; readonly reason: string }
  /** A keep-alive without content. */
  | { readonly do: 'ping' }
  /** Waits, on the fake's clock. */
  | { readonly do: 'wait'; readonly ms: number }
  /** Sends nothing more until the client abandons the request. */
  | { readonly do: 'stall' }
  /** 429. `retryAfter`: value of the header. */
  | { readonly do: 'turn-away'; readonly retryAfter?: string }
  /** 401; the body repeats the key, as some services do. */
  | { readonly do: 'refuse' }
  /** An internal error of the service, 500 and above. */
  | { readonly do: 'go-down'; readonly status: number }
  /** The connection breaks; as the first step, before the first byte of the answer. */
  | { readonly do: 'break-off' }
  /** The stream ends regularly, without the vendor's end marker. */
  | { readonly do: 'end' }
  /** An error object inside the stream. */
  | { readonly do: 'fail'; readonly error: unknown }
  /** Raw text in the stream. */
  | { readonly do: 'write'; readonly text: string }
  /** An answer that is not a stream. */
  | {
      readonly do: 'answer'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body: string
    }

/** Variants of a stream that all vendors share. */
export interface FakeStreamStyle {
  readonly lineEnd?: '\n' | '\r\n'
  /** "data:{" instead of "data: {". */
  readonly tight?: boolean
  /** Comment lines between events, as proxies send them to keep a connection open. */
  readonly comments?: boolean
  /** One JSON document instead of a stream. */
  readonly whole?: boolean
  /** Splits every write into pieces of 1 to this many bytes. Default: no splitting. */
  readonly pieces?: number
}

/** One server-sent event; `event`: its name, for vendors with named events. */
export function eventText(style: FakeStreamStyle, data: string, event: string | null = null): string {
  const end = style.lineEnd ?? '\n'
  const space = style.tight === true ? '' : ' '
  const name = event === null ? '' : `event:${space}${event}${end}`
  return `${style.comments === true ? `: still here${end}${end}` : ''}${name}data:${space}${data}${end}${end}`
}
