export interface DecodeOptions {
  /** "auto" (default): a datagram unless … */
  readonly kind?: 'auto' | 'datagram' | 'stream'
}

export interface DecodeOutcome {
  /** 0: a user agent takes the message; 2: it is refused or dropped. */
  readonly exitCode: 0 | 2
  readonly json: Readonly<Record<string, unknown>>
}

/** What `parley sip decode FILE` prints. */
export function decodeFile(_bytes: Uint8Array, _options: DecodeOptions = {}): DecodeOutcome {
  throw new Error('being written')
}
