import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { onCore } from '../child-link.ts'
import { SUBJECT_CORE } from './measured-subject.ts'
import { SERVICE } from './service.ts'

const READY_WITHIN_MS = 30_000
const ASK_EVERY_MS = 250
/** USER_HZ of every Linux that Node supports. */
const TICKS_PER_SECOND = 100

/**
 * Another SIP server to compare with: a program that is started as `PATH PORT`, listens on 127.0.0.1:PORT over UDP, answers
 * every INVITE with 200, and ends by SIGTERM. The processor time of all processes of its group counts.
 */
export class PeerProgram {
  readonly port: number
  readonly #process: ChildProcess

  private constructor(port: number, process: ChildProcess) {
    this.port = port
    this.#process = process
  }

  /** Throws if it does not answer OPTIONS within 30 s. */
  static async start(path: string): Promise<PeerProgram> {
    const port = await freePort()
    const [program, ...args] = onCore(SUBJECT_CORE, path)
    const child = spawn(program!, [...args, String(port)], { detached: true, stdio: ['ignore', 'ignore', 'inherit'] })
    const peer = new PeerProgram(port, child)
    const failed = new Promise<never>((_, reject) => {
      child.once('error', reject)
      child.once('exit', code => reject(new Error(`${path} ended with code ${code}`)))
    })
    failed.catch(() => {})
    try {
      await Promise.race([answered(port), failed])
      return peer
    } catch (error) {
      await peer.stop()
      throw error
    }
  }

  /** User plus system time of its processes, ms. Linux only. */
  cpuMs(): number {
    const ticks = globSync('/proc/[0-9]*/stat').map(file => ticksOf(file, this.#process.pid))
    return (ticks.reduce((sum, each) => sum + each, 0) * 1000) / TICKS_PER_SECOND
  }

  async stop(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process
    if (pid === undefined) return
    const exited = exitCode === null && signalCode === null ? once(this.#process, 'exit') : null
    try {
      process.kill(-pid, 'SIGTERM')
    } catch (error) {
      // None of its processes is left.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    await exited
  }
}

function ticksOf(file: string, group: number | undefined): number {
  try {
    // The name of the program is in parentheses and may contain spaces.
    const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? []
    return Number(fields[2]) === group ? Number(fields[11]) + Number(fields[12]) : 0
  } catch {
    return 0
  }
}

async function answered(port: number): Promise<void> {
  const socket = createSocket('udp4')
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  const own = socket.address().port
  const until = performance.now() + READY_WITHIN_MS
  try {
    const reply = once(socket, 'message')
    for (let i = 0; performance.now() < until; i++) {
      socket.send(options(port, own, i), port, '127.0.0.1')
      const pause = new Promise<'pause'>(resolve => setTimeout(resolve, ASK_EVERY_MS, 'pause'))
      if ((await Promise.race([reply, pause])) !== 'pause') return
    }
  } finally {
    socket.close()
  }
  throw new Error(`nothing answered OPTIONS on port ${port} within ${READY_WITHIN_MS / 1000} s`)
}

function options(port: number, own: number, serial: number): string {
  return [
    `OPTIONS sip:${SERVICE}@127.0.0.1:${port} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${own};rport;branch=z9hG4bKready${serial}`,
    'Max-Forwards: 70',
    'From: <sip:ready@127.0.0.1>;tag=r',
    `To: <sip:${SERVICE}@127.0.0.1:${port}>`,
    `Call-ID: ready-${serial}`,
    'CSeq: 1 OPTIONS',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n')
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}
