import { join } from 'node:path'
import type { AtTestEnd } from './clean-up.ts'
import { freePeerPorts } from './ports.ts'
import { readRunFile, startRecipe } from './recipe.ts'

export interface SippOptions {
  /** A file of `sipp/` without ".xml": "uac-…" calls, "uas…" is called. */
  readonly scenario: string
  /** "host:port", for the calling scenarios. */
  readonly target?: string
  /** User part that is called. Default: "callee". */
  readonly service?: string
  /** Default: "udp". */
  readonly transport?: 'udp' | 'tcp'
  /** Default: "127.0.0.1". */
  readonly address?: string
  /** Its own SIP port and first RTP port. Default: free ones. */
  readonly port?: number
  readonly mediaPort?: number
  /** Length of the scenario's pauses; each scenario file describes them. */
  readonly pauseMs?: number
  /** "uas" hangs up after this long. */
  readonly hangUpMs?: number
  /** What the scenario calls [name]: "hold" is the direction offered on hold, "sink_port" where its audio goes. */
  readonly keys?: Readonly<Record<string, string | number>>
  /** Default: 1 call, 1 a second. */
  readonly calls?: number
  readonly callsPerSecond?: number
  /** It gives up after this long. Default: 60. */
  readonly maxSeconds?: number
  readonly atTestEnd?: AtTestEnd
}

/** One SIP message of a run, as SIPp saw it. */
interface SippMessage {
  readonly direction: 'sent' | 'received'
  /** From SIPp's clock. */
  readonly atMs: number
  readonly text: string
}

export interface SippResult {
  /** 0 when every call followed the scenario. */
  readonly exitCode: number
  /** Every message in and out. */
  readonly messages: string
  readonly output: string
  readonly microphoneWav: string
}

export interface SippRun {
  /** "host:port" of its SIP port. */
  readonly address: string
  readonly port: number
  readonly finished: Promise<SippResult>
  stop(): Promise<SippResult>
}

/** Runs one scenario to its end. Only inside a test. */
export async function runSipp(options: SippOptions): Promise<SippResult> {
  return (await startSipp(options)).finished
}

/** Starts one scenario; one that is called is ready when this resolves. Only inside a test. Throws when SIPp cannot start. */
export async function startSipp(options: SippOptions): Promise<SippRun> {
  const ports = await freePeerPorts()
  const port = options.port ?? ports.tls - 1
  const address = options.address ?? '127.0.0.1'
  const env: Record<string, string> = {
    SCENARIO: options.scenario,
    TRANSPORT: options.transport ?? 'udp',
    IP: address,
    PORT: String(port),
    MEDIA_PORT: String(options.mediaPort ?? ports.rtp),
    SERVICE: options.service ?? 'callee',
    CALLS: String(options.calls ?? 1),
    RATE: String(options.callsPerSecond ?? 1),
    MAX_SECONDS: String(options.maxSeconds ?? 60),
    KEYS: Object.entries(options.keys ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(' '),
  }
  if (options.target !== undefined) env.TARGET = options.target
  if (options.pauseMs !== undefined) env.PAUSE_MS = String(options.pauseMs)
  if (options.hangUpMs !== undefined) env.HANGUP_MS = String(options.hangUpMs)
  const recipe = startRecipe('sipp/run.sh', env, options.atTestEnd)
  const finished = recipe.exited.then(exitCode => ({
    exitCode,
    messages: readRunFile(recipe.directory, 'messages.log'),
    output: recipe.output(),
    microphoneWav: join(recipe.directory, 'mic.wav'),
  }))
  if (options.scenario.startsWith('uas') && !(await recipe.printed(/^ready/m)))
    throw new Error(`SIPp did not start:\n${recipe.output()}`)
  return {
    address: `${address}:${port}`,
    port,
    finished,
    stop: async () => {
      await recipe.stop()
      return finished
    },
  }
}

/** SIPp's trace, message by message. */
export function sippMessages(result: SippResult): SippMessage[] {
  const found: SippMessage[] = []
  for (const part of result.messages.split(/^-{20,} /m)) {
    const head = /^(\d{4}-\d\d-\d\d)\s(\d\d:\d\d:\d\d\.\d+)\s+(?:UDP|TCP) message (sent|received)[^\n]*\n+/.exec(part)
    if (head === null) continue
    found.push({
      direction: head[3] as SippMessage['direction'],
      atMs: Date.parse(`${head[1]}T${head[2]?.slice(0, 12)}Z`),
      text: part.slice(head[0].length),
    })
  }
  return found
}

/** Call-ID of the only or first call. */
export function callIdOf(result: SippResult): string {
  return /^Call-ID: *(\S+)/im.exec(result.messages)?.[1] ?? ''
}
