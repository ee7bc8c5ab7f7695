/** Events of a connection; none after it was closed. */
export interface CarrierEvents {
  readonly message: (text: string) => void
  /** The connection failed. Called once. */
  readonly lost: (error: unknown) => void
}

/** One connection to a server that sends each message to all connections, the sender's included. */
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
  /** Resolves once messages arrive. Rejects within 10 s, with nothing left open, if the server is unavailable or `signal` aborts. */
  open(events: CarrierEvents, signal: AbortSignal): Promise<CarrierConnection>
}
