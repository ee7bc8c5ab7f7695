import { spawn, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { freePort } from '../io/postgres-server.ts'

/** Why there is no Redis on this machine; null: there is. */
export function redisMissing(): string | null {
  return spawnSync('redis-server', ['--version']).status === 0
    ? null
    : 'skipped: no redis-server on PATH (Debian package redis-server)'
}

interface RedisServer {
  readonly port: number
  stop(): Promise<void>
}

/** A Redis of its own on a free port of 127.0.0.1, which ends with the process that started it, however that ends. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort()
  const options = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', tmpdir()]
  // The shell's standard input closes with this process; it then ends the server.
  const script = 'exec 3<&0; redis-server "$@" </dev/null & server=$!; (read _ <&3; kill "$server") & wait "$server"'
  const shell = spawn('/bin/sh', ['-c', script, 'sh', ...options], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const gone = new Promise<void>(resolve => shell.on('close', () => resolve()))
  shell.stdin.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    let output = ''
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4000)
      if (output.includes('Ready to accept connections')) resolve()
    })
    shell.on('error', reject)
    shell.on('exit', () => reject(new Error(`redis-server did not start: ${output}`)))
  })
  return {
    port,
    async stop() {
      shell.stdin.end()
      await gone
    },
  }
}
