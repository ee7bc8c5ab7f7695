/** What a connection reports; never after it was closed. */
export interface CarrierEvents {
  readonly message: (text: string) => void
  /** The connection is of no use any more; once. */
  readonly lost: (error: unknown) => void
}

/** One connection to a server that hands each message to everybody who is connected, the sender included. */
export interface CarrierConnection {
  /** Resolves when the server has the message. Rejects within 5 s. */
  send(text: string): Promise<void>
  /** Resolves when the server answered. Rejects within 5 s. */
  check(): Promise<void>
  /** Never rejects. */
  close(): Promise<void>
}

/** A server that carries the messages of the bus. */
export interface Carrier {
  /** Resolves when messages arrive. Rejects within 10 s, leaving nothing open, when the server is not to be had or `signal` fires. */
  open(events: CarrierEvents, signal: AbortSignal): Promise<CarrierConnection>
}
