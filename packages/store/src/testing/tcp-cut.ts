import { createServer, connect as dial, type Socket } from 'node:net'

/** A TCP relay between a client and a server that a test can cut, or make swallow. */
export interface TcpCut {
  readonly port: number
  /** Ends every connection now; new ones are accepted unless `closed`. */
  cut(): void
  /** Whether new connections are refused. */
  closed: boolean
  /** Called with each piece the client sends, before it is passed on; false: the piece is swallowed and the connections are cut. */
  onClientData: ((piece: Buffer) => boolean) | null
  /** Called with each piece the server sends; false as above. */
  onServerData: ((piece: Buffer) => boolean) | null
  close(): Promise<void>
}

/** Whether this piece of a client of ours commits a transaction: by COMMIT, or as a transaction of one trip. */
export function commits(piece: Buffer): boolean {
  return piece.includes('commit\0') || (piece.includes('parley_scope\0') && !piece.includes('parley_begin\0'))
}

/** Relays a port of 127.0.0.1 to another. */
export async function tcpCut(targetPort: number): Promise<TcpCut> {
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    if (relay.closed) {
      client.destroy()
      return
    }
    const target = dial(targetPort, '127.0.0.1')
    join(client, target, piece => relay.onClientData?.(piece) ?? true)
    join(target, client, piece => relay.onServerData?.(piece) ?? true)
  })
  const join = (from: Socket, to: Socket, mayPass: (piece: Buffer) => boolean) => {
    sockets.add(from)
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    from.on('data', piece => {
      if (mayPass(piece)) to.write(piece)
      else relay.cut()
    })
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  const relay: TcpCut = {
    port: address.port,
    closed: false,
    onClientData: null,
    onServerData: null,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      relay.cut()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return relay
}
