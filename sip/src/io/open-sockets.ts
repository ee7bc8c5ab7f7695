import type { Socket } from 'node:net'

/** The open sockets, so that they can be cut and their end awaited. */
export class OpenSockets {
  readonly #sockets = new Set<Socket>()
  #drained: PromiseWithResolvers<void> | undefined

  add(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      if (this.#sockets.size === 0) this.#drained?.resolve()
    })
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Resolves when none is left. */
  async drained(): Promise<void> {
    if (this.#sockets.size === 0) return
    this.#drained ??= Promise.withResolvers()
    await this.#drained.promise
  }
}
