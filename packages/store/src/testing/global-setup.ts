import { createServer, type Socket } from 'node:net'
import type { TestProject } from 'vitest/node'
import { startTestServer, type TestServer } from './test-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Port of 127.0.0.1 that answers one line: the URL of the migrated template, or `error: …`. */
    parleyTestPostgres: number
  }
}

/**
 * One Postgres for all test files of a run, started when the first of them asks, stopped with the run. The asking goes
 * through a socket since each test file is a process of its own.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<TestServer> | undefined
  const open = new Set<Socket>()
  const door = createServer(socket => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    starting ??= startTestServer()
    starting.then(
      server => socket.end(`${server.templateUrl}\n`),
      error => socket.end(`error: ${String(error).replaceAll('\n', ' ')}\n`),
    )
  })
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  // A run without databases ends as if this were not here.
  door.unref()
  const address = door.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  project.provide('parleyTestPostgres', address.port)
  return async () => {
    door.close()
    for (const socket of open) socket.destroy()
    const server = await starting?.catch(() => undefined)
    await server?.stop()
  }
}
