import { connect, createServer, type Socket } from 'node:net'

/**
 * A TCP proxy between a connection pool and Postgres. Once armed it cuts the connection at the next COMMIT of a writing
 * transaction: `before` the COMMIT reaches the server, or `after` the server has answered, so that only the answer is lost.
 */
export interface CuttingProxy {
  readonly port: number
  arm(when: 'before' | 'after'): void
  /** Number of cut connections. */
  readonly cuts: () => number
  /** Cuts all connections and refuses new ones until `open`. */
  shut(): void
  open(): void
  close(): Promise<void>
}

/** Writing transactions send COMMIT by itself; reads send it in one piece with their query. */
const COMMIT = Buffer.from('commit\0')
const READ_ONLY = Buffer.from('begin read only\0')

export async function cuttingProxy(serverPort: number): Promise<CuttingProxy> {
  let armed: 'before' | 'after' | null = null
  let cuts = 0
  let isShut = false
  const pairs = new Set<[Socket, Socket]>()
  const server = createServer(client => {
    if (isShut) return void client.destroy()
    const upstream = connect(serverPort, '127.0.0.1')
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    const cut = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    let isLastAnswerLost = false
    client.on('data', piece => {
      if (armed !== null && piece.includes(COMMIT) && !piece.includes(READ_ONLY)) {
        cuts += 1
        if (armed === 'before') {
          armed = null
          return cut()
        }
        armed = null
        isLastAnswerLost = true
      }
      upstream.write(piece)
    })
    upstream.on('data', piece => (isLastAnswerLost ? cut() : client.write(piece)))
    for (const socket of pair) socket.on('error', cut).on('close', cut)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  const shut = () => {
    isShut = true
    for (const sockets of pairs) for (const socket of sockets) socket.destroy()
  }
  return {
    port: address.port,
    arm: when => {
      armed = when
    },
    cuts: () => cuts,
    shut,
    open: () => {
      isShut = false
    },
    close: () => {
      shut()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}
