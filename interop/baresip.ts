import { appendFileSync, closeSync, existsSync, fstatSync, globSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Samples } from '@parley/kernel'
import type { AtTestEnd } from './clean-up.ts'
import { freePeerPorts, type PeerPorts, rtpRange } from './ports.ts'
import { type Recipe, readRunFile, startRecipe } from './recipe.ts'

/** One event of baresip's control port, such as CALL_MENC (SRTP is on), CALL_DTMF_START, CALL_CLOSED. */
interface BaresipEvent {
  readonly type: string
  /** Detail of the event: the digit, the suite, the reason of the end; '' without detail. */
  readonly param: string
  /** Seconds since 1970, from the peer's clock. */
  readonly atSeconds: number
}

interface BaresipOptions {
  /** Default: free ones. */
  readonly ports?: PeerPorts
  /** "SECONDS-AFTER-ANSWER:COMMAND", such as "2:sndcode 12#", "4:hold", "6:resume". Default: none. */
  readonly actions?: readonly string[]
  /** It hangs up this long after the answer. Default: 10 as a caller, 60 as a callee. */
  readonly callSeconds?: number
  /** Microphone, 8 kHz mono 16-bit WAV; must outlast the call. Default: a spoken sentence. */
  readonly wavIn?: string
  /** "srtp-mand" refuses anything but SDES on RTP/SAVP, "" is plain RTP. Default: "srtp-mand". */
  readonly mediaEncryption?: 'srtp-mand' | ''
  /** Default: "PCMU/8000/1". */
  readonly codecs?: string
  /** Which certificate it presents; "stranger" bears another host's name. Default: "baresip". */
  readonly certificate?: 'baresip' | 'stranger'
  readonly atTestEnd?: AtTestEnd
}

interface CallerOptions extends BaresipOptions {
  /** Such as "sip:agent@127.0.0.1:5061;transport=tls". */
  readonly target: string
  /** It gives up when the call is not answered within this time. Default: 30. */
  readonly answerSeconds?: number
  /** User part of its own address. Default: "caller". */
  readonly user?: string
  /** Answers a 401 or 407 with these. Default: none. */
  readonly credentials?: { readonly user: string; readonly password: string }
}

interface CalleeOptions extends BaresipOptions {
  /** It exits when no call arrives within this time. Default: 60. */
  readonly waitSeconds?: number
  /** It rings for this long before it answers. Default: 0. */
  readonly ringSeconds?: number
  /** User part of its own address. Default: "callee". */
  readonly user?: string
  /** It declines the call instead of answering it. Default: false. */
  readonly rejects?: boolean
  /** Proxy for the calls that it places, such as "sip:127.0.0.1:5061;transport=tls". Default: none. */
  readonly outboundProxy?: string
}

interface BaresipResult {
  /** 0: a call was established and has ended; 1: none was; 2: baresip could not start. */
  readonly exitCode: number
  readonly events: readonly BaresipEvent[]
  /** baresip's own output with every SIP message in and out. */
  readonly log: string
  /** What the recipe printed: read it when `exitCode` is not what it should be. */
  readonly output: string
  /** Recording of the received audio without gaps, 8 kHz mono 16-bit; undefined when there was none. The test's end removes it. */
  readonly heardWav: string | undefined
  /** The audio that it sent. */
  readonly microphoneWav: string
}

export interface BaresipCallee {
  /** Its address: over TLS, or over UDP and TCP without media encryption. */
  readonly uri: string
  readonly ports: PeerPorts
  readonly finished: Promise<BaresipResult>
  stop(): Promise<BaresipResult>
}

interface BaresipCall {
  /** The audio received so far from a sample on, without gaps, 8 kHz. */
  readonly received: (from: Samples) => Int16Array
  /** Presses keys, now. */
  press(digits: string): void
  readonly finished: Promise<BaresipResult>
}

/** Calls `target`, runs the actions, hangs up; resolves when all is over. Only inside a test. */
export async function runBaresipCaller(options: CallerOptions): Promise<BaresipResult> {
  return resultOf(await startCaller(options, {}), options)
}

/** Calls `target`; resolves with a call to control when it is answered. Only inside a test. Throws when the call is not answered. */
export async function startBaresipCall(options: CallerOptions): Promise<BaresipCall> {
  const recipe = await startCaller(options, { OBEY: 'yes' })
  const finished = resultOf(recipe, options)
  if (!(await recipe.printed(/^established/m))) throw new Error(`${options.target} did not answer:\n${recipe.output()}`)
  return {
    received: from => recordedSoFar(recipe.directory, from),
    press: digits => appendFileSync(join(recipe.directory, 'commands'), `sndcode ${digits}\n`),
    finished,
  }
}

async function startCaller(options: CallerOptions, more: Readonly<Record<string, string>>): Promise<Recipe> {
  const ports = options.ports ?? (await freePeerPorts())
  const env = {
    ...commonEnvironment(options, ports, options.callSeconds ?? 10),
    TARGET_URI: options.target,
    CALLER: options.user ?? 'caller',
    ANSWER_SECONDS: String(options.answerSeconds ?? 30),
    AUTH_USER: options.credentials?.user ?? 'caller',
    AUTH_PASS: options.credentials?.password ?? '',
    ...more,
  }
  return startRecipe('baresip-caller/run.sh', env, options.atTestEnd)
}

/** Skips the 44 bytes of the WAV header, whose lengths are not valid while baresip still writes the file. Reads only what is asked for. */
function recordedSoFar(directory: string, from: Samples): Int16Array {
  const [file] = globSync(join(directory, 'dump-*-dec.wav'))
  if (file === undefined) return new Int16Array(0)
  const descriptor = openSync(file, 'r')
  try {
    const start = 44 + 2 * from
    const samples = new Int16Array(Math.max(0, (fstatSync(descriptor).size - start) >> 1))
    const read = readSync(descriptor, samples, 0, samples.byteLength, start)
    return samples.subarray(0, read >> 1)
  } finally {
    closeSync(descriptor)
  }
}

/** Resolves when it listens; it takes one call. Only inside a test. Throws when baresip cannot start. */
export async function startBaresipCallee(options: CalleeOptions = {}): Promise<BaresipCallee> {
  const ports = options.ports ?? (await freePeerPorts())
  const user = options.user ?? 'callee'
  const env = {
    ...commonEnvironment(options, ports, options.callSeconds ?? 60),
    CALLEE: user,
    WAIT_SECONDS: String(options.waitSeconds ?? 60),
    RING_SECONDS: String(options.ringSeconds ?? 0),
    REJECT: options.rejects === true ? 'yes' : '',
    OUTBOUND_PROXY: options.outboundProxy ?? '',
  }
  const recipe = startRecipe('baresip-callee/run.sh', env, options.atTestEnd)
  if (!(await recipe.printed(/^ready/m))) throw new Error(`baresip did not start:\n${recipe.output()}`)
  const finished = resultOf(recipe, options)
  const secure = (options.mediaEncryption ?? 'srtp-mand') !== ''
  return {
    uri: secure ? `sip:${user}@127.0.0.1:${ports.tls};transport=tls` : `sip:${user}@127.0.0.1:${ports.tls - 1}`,
    ports,
    finished,
    stop: async () => {
      await recipe.stop()
      return finished
    },
  }
}

/** Digits that the peer received by RFC 4733, in order. */
export function digitsReceived(result: BaresipResult): string {
  return result.events
    .filter(event => event.type === 'CALL_DTMF_START')
    .map(event => event.param)
    .join('')
}

function commonEnvironment(options: BaresipOptions, ports: PeerPorts, callSeconds: number): Record<string, string> {
  return {
    PORT: String(ports.tls),
    CTRL_PORT: String(ports.control),
    RTP_PORTS: rtpRange(ports),
    ACTIONS: (options.actions ?? []).join('|'),
    CALL_SECONDS: String(callSeconds),
    MEDIAENC: options.mediaEncryption ?? 'srtp-mand',
    CODECS: options.codecs ?? 'PCMU/8000/1',
    CERT_NAME: options.certificate ?? 'baresip',
    WAV_IN: options.wavIn ?? '',
  }
}

async function resultOf(recipe: Recipe, options: BaresipOptions): Promise<BaresipResult> {
  const exitCode = await recipe.exited
  const received = join(recipe.directory, 'heard.wav')
  return {
    exitCode,
    events: parseEvents(readRunFile(recipe.directory, 'events.log')),
    log: readRunFile(recipe.directory, 'baresip.log'),
    output: recipe.output(),
    heardWav: existsSync(received) ? received : undefined,
    microphoneWav: options.wavIn ?? join(recipe.directory, 'mic.wav'),
  }
}

/** Lines of "SECONDS JSON"; answers to commands lie between the events. */
function parseEvents(text: string): BaresipEvent[] {
  const events: BaresipEvent[] = []
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ')
    if (space < 0) continue
    const message = parseObject(line.slice(space + 1))
    if (message?.event !== true) continue
    events.push({
      type: String(message.type),
      param: String(message.param ?? ''),
      atSeconds: Number(line.slice(0, space)),
    })
  }
  return events
}

/** A recipe that was stopped may leave half a line. */
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
