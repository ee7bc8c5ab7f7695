import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AtTestEnd } from './clean-up.ts'
import { freePeerPorts } from './ports.ts'
import { type Recipe, readRunFile, startRecipe } from './recipe.ts'

interface PjsipOptions {
  /** "SECONDS-AFTER-ANSWER:ACTION", such as "2:digits 12#", "3:info 5", "4:hold", "6:resume", "7:reinvite", "8:update". Default: none. */
  readonly actions?: readonly string[]
  /** It hangs up this long after the answer. Default: 10. */
  readonly callSeconds?: number
  /** In order of preference, of PCMU, PCMA and G722. Default: PCMU. */
  readonly codecs?: readonly string[]
  /** "none": UDP and plain RTP. Default: TLS and mandatory SDES. */
  readonly srtp?: 'mandatory' | 'none'
  /** Its calls require reliable provisional responses. Default: false. */
  readonly requiresPrack?: boolean
  readonly atTestEnd?: AtTestEnd
}

interface PjsipResult {
  /** 0: a call was established and has ended; 1: none was; 2: PJSIP could not start. */
  readonly exitCode: number
  /** PJSIP's log with every SIP message in and out. */
  readonly log: string
  /** One line for each event, such as "digit 5". */
  readonly output: string
  /** Recording of the received audio; undefined when there was none. The test's end removes it. */
  readonly heardWav: string | undefined
  readonly microphoneWav: string
}

interface PjsipCallee {
  readonly uri: string
  readonly finished: Promise<PjsipResult>
}

/** Calls `target`; resolves when the call is over. Only inside a test. */
export async function runPjsipCaller(target: string, options: PjsipOptions = {}): Promise<PjsipResult> {
  const { env } = await environment(options)
  return resultOf(startRecipe('pjsip/run.sh', { ...env, ROLE: 'caller', TARGET_URI: target }, options.atTestEnd))
}

/** Resolves when it listens; it takes one call and rings for `ringSeconds`. Only inside a test. Throws when it cannot start. */
export async function startPjsipCallee(
  options: PjsipOptions & { readonly ringSeconds?: number } = {},
): Promise<PjsipCallee> {
  const { env, port } = await environment(options)
  const recipe = startRecipe(
    'pjsip/run.sh',
    { ...env, ROLE: 'callee', RING_SECONDS: String(options.ringSeconds ?? 0) },
    options.atTestEnd,
  )
  if (!(await recipe.printed(/^ready/m))) throw new Error(`PJSIP did not start:\n${recipe.output()}`)
  const transport = options.srtp === 'none' ? 'udp' : 'tls'
  return { uri: `sip:pjsip@127.0.0.1:${port};transport=${transport}`, finished: resultOf(recipe) }
}

async function environment(
  options: PjsipOptions,
): Promise<{ readonly env: Record<string, string>; readonly port: number }> {
  const ports = await freePeerPorts()
  const port = options.srtp === 'none' ? ports.tls - 1 : ports.tls
  const env = {
    PORT: String(port),
    RTP_PORT: String(ports.rtp),
    ACTIONS: (options.actions ?? []).join('|'),
    CALL_SECONDS: String(options.callSeconds ?? 10),
    CODECS: (options.codecs ?? ['PCMU']).join(','),
    SRTP: options.srtp ?? 'mandatory',
    PRACK: options.requiresPrack ? 'yes' : '',
  }
  return { env, port }
}

async function resultOf(recipe: Recipe): Promise<PjsipResult> {
  const exitCode = await recipe.exited
  const received = join(recipe.directory, 'heard.wav')
  return {
    exitCode,
    log: readRunFile(recipe.directory, 'pjsip.log'),
    output: recipe.output(),
    heardWav: existsSync(received) ? received : undefined,
    microphoneWav: join(recipe.directory, 'mic.wav'),
  }
}
