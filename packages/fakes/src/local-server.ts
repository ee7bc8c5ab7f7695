import type { Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'

/** Listens on 127.0.0.1 and resolves with the port. `port` 0: any free one. Rejects with the server's error. */
export async function listenLocally(server: NetServer, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}

/** Breaks all HTTP connections and resolves when the server is closed. The owner of upgraded sockets closes them. */
export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>(resolve => server.close(() => resolve()))
}
