import type { Socket } from 'node:net'

/** Sockets that have not closed yet, so that somebody can cut them and wait until the last is gone. */
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
