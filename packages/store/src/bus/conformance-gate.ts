import { connect, createServer, type Server, type Socket } from 'node:net'

/** A way to a server of 127.0.0.1 that can be shut and opened again, and looked at. */
export class Gate {
  readonly #target: number
  readonly #sockets = new Set<Socket>()
  #server: Server | null = null
  #port = 0

  private constructor(target: number) {
    this.#target = target
  }

  static async to(port: number): Promise<Gate> {
    const gate = new Gate(port)
    await gate.open()
    return gate
  }

  get port(): number {
    return this.#port
  }

  /** On the same port as before. */
  async open(): Promise<void> {
    const server = createServer(inside => this.#join(inside))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve)
    })
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
    this.#port = address.port
    this.#server = server
  }

  /** Cuts everybody off; who comes is refused. */
  async shut(): Promise<void> {
    const server = this.#server
    this.#server = null
    const closed = new Promise(resolve => server?.close(resolve) ?? resolve(undefined))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #join(inside: Socket): void {
    const outside = connect(this.#target, '127.0.0.1')
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      this.#sockets.add(one)
      one
        .on('error', () => {})
        .on('close', () => {
          this.#sockets.delete(one)
          other.destroy()
        })
      one.pipe(other)
    }
  }
}
