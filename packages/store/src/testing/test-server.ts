import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import type { ServerProcess } from '../io/postgres-server.ts'
import { copyCluster, PASSWORD, startSomewhere, TEMPLATE, temporaryPlace } from './cluster-template.ts'

/** A server that lives as long as the process that started it, also when that process is killed. */
export interface TestServer {
  /** Owner's URL of its template, which nobody may be connected to while it is copied. */
  readonly templateUrl: string
  /** Of the server process: for tests that kill it. */
  readonly pid: number
  stop(): Promise<void>
}

/** Starts a Postgres of its own in a temporary directory, without durability. About 0.3 s. */
export async function startTestServer(): Promise<TestServer> {
  const { directory, ...place } = await temporaryPlace()
  let watch: ChildProcess | undefined
  try {
    await copyCluster(place)
    const { server, port } = await startSomewhere(place)
    watch = outlive(server.pid, directory)
    const templateUrl = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${TEMPLATE}`
    return { templateUrl, pid: server.pid, stop: () => stop(server, watch, directory) }
  } catch (error) {
    watch?.stdin?.end()
    if (watch === undefined) await rm(directory, { recursive: true, force: true })
    throw error
  }
}

/** `url` with another database. */
export function withDatabase(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

/** A shell that reads from us until we are gone, however we went; then it ends the server and its directory. */
function outlive(pid: number, home: string): ChildProcess {
  const watch = spawn('/bin/sh', ['-c', 'read _; kill -QUIT "$0"; sleep 1; rm -rf "$1"', String(pid), home], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.on('error', () => {})
  watch.stdin.on('error', () => {})
  watch.unref()
  // Node types: the stream of a pipe is a socket, which keeps the process alive until it is unreferenced.
  if ('unref' in watch.stdin && typeof watch.stdin.unref === 'function') watch.stdin.unref()
  return watch
}

async function stop(server: ServerProcess, watch: ChildProcess | undefined, home: string): Promise<void> {
  // Immediate: nothing in it is kept.
  await server.stop('SIGQUIT')
  await rm(home, { recursive: true, force: true })
  watch?.kill('SIGKILL')
}
