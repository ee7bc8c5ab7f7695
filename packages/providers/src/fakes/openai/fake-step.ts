/** What the fake does with a request, step by step. An answer that no step finishes ends as a broken one would. */
export type FakeStep =
  | { readonly do: 'say'; readonly text: string }
  | { readonly do: 'begin-tool'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly do: 'tool-arguments'; readonly index: number; readonly text: string }
  | { readonly do: 'report-usage'; readonly input: number; readonly output: number; readonly cached?: number }
  /** `reason` as the service writes it. */
  | { readonly do: 'finish'; readonly reason: string }
  /** Nothing for so long, on the fake's time. */
  | { readonly do: 'wait'; readonly ms: number }
  /** Nothing more comes, until the request is given up. */
  | { readonly do: 'stall' }
  /** 429. `retryAfter`: the header, as it stands there. */
  | { readonly do: 'turn-away'; readonly retryAfter?: string }
  /** 401; the body repeats the key, as some do. */
  | { readonly do: 'refuse' }
  /** The connection breaks; as the first step, before a byte of an answer. */
  | { readonly do: 'break-off' }
  /** The stream ends as if it were complete, without "[DONE]". */
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

/** How the service writes its streams. The defaults are OpenAI's. */
export interface FakeStyle {
  readonly lineEnd?: '\n' | '\r\n'
  /** "data:{" instead of "data: {". */
  readonly tight?: boolean
  /** Comment lines between events, as proxies send them to keep a connection open. */
  readonly comments?: boolean
  /** Tool calls have no id. */
  readonly withoutIds?: boolean
  /** Tool calls have no index. */
  readonly withoutIndexes?: boolean
  /** Every fragment of a tool call repeats its id and name. */
  readonly repeating?: boolean
  /** Tool calls end with the reason "stop". */
  readonly alwaysStop?: boolean
  /** Content is null in chunks without text. */
  readonly nulls?: boolean
  /** No "[DONE]" at the end. */
  readonly withoutDone?: boolean
  /** One JSON document instead of a stream. */
  readonly whole?: boolean
  /** Every write is cut into pieces of 1 to so many bytes. Default: not at all. */
  readonly pieces?: number
}
