import { spawn, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { freePort } from '../io/postgres-server.ts'

/** Moto answers its first request this much later at most: it is Python, and loads all of itself. */
const READY_WITHIN_MS = 30_000

/** Why there is no S3 server of others on this machine; null: there is. */
export function s3ServerMissing(): string | null {
  // Asked for anything, it takes seconds.
  return spawnSync('/bin/sh', ['-c', 'command -v moto_server']).status === 0
    ? null
    : 'skipped: no moto_server on PATH (Python package moto[server]; .ci/run installs it)'
}

export interface S3Server {
  readonly endpoint: string
  /** Makes an empty bucket. */
  bucket(name: string): Promise<void>
  stop(): Promise<void>
}

/** Moto's S3 on a free port of 127.0.0.1, which ends with the process that started it, however that ends. */
export async function startS3Server(): Promise<S3Server> {
  const port = await freePort()
  // The shell's standard input closes with this process; it then ends the server.
  const script = 'exec 3<&0; moto_server "$@" </dev/null & server=$!; (read _ <&3; kill -9 "$server") & wait "$server"'
  const shell = spawn('/bin/sh', ['-c', script, 'sh', '-H', '127.0.0.1', '-p', String(port)], {
    cwd: tmpdir(),
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const gone = new Promise<void>(resolve => shell.on('close', () => resolve()))
  shell.stdin.on('error', () => {})
  const endpoint = `http://127.0.0.1:${port}`
  const stop = async () => {
    shell.stdin.end()
    await gone
  }
  const until = performance.now() + READY_WITHIN_MS
  while (!(await isReady(endpoint)))
    if (performance.now() > until || shell.exitCode !== null) {
      await stop()
      throw new Error('moto_server did not start')
    }
  return {
    endpoint,
    async bucket(name) {
      const { status } = await fetch(`${endpoint}/${name}`, { method: 'PUT' })
      if (status !== 200) throw new Error(`no bucket: ${status}`)
    },
    stop,
  }
}

async function isReady(endpoint: string): Promise<boolean> {
  const answer = await fetch(endpoint, { signal: AbortSignal.timeout(5000) }).catch(() => null)
  if (answer === null) await new Promise(resolve => setTimeout(resolve, 100))
  return answer?.ok === true
}
